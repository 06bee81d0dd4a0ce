"""What `verify` looks at of messages: the full-text index, and what sessions count."""

from __future__ import annotations

from holdfast.core.text import tokens
from holdfast.storage.sqlite.look import REPAIR, UNREADABLE, messages, problem
from holdfast.storage.sqlite.messages import STATEMENTS, searched_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from holdfast.model.problem import Problem
    from holdfast.storage.sqlite.look import Look

_MASK = 2**64 - 1


def message_problems(look: Look) -> Iterator[Problem]:
    """Words that the index has or lacks, and counts that are not what messages come to."""
    expected: dict[int, int] = {}
    for row in messages(look):
        text = searched_text(row)
        if text is not None:
            expected[row[0]] = sum(map(hash, enumerate(tokens(text)))) & _MASK
    found: dict[int, int] = {}
    try:
        for number, place, term in look.rows('SELECT doc, "offset", term FROM message_places'):
            found[number] = (found.get(number, 0) + hash((place, term))) & _MASK
    except UNREADABLE as exc:
        yield problem("index_unreadable", "the full-text index of messages", str(exc), REPAIR)
        return
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number, 0) != found.get(number, 0):
            name = f"the full-text index of message number {number}"
            what = "it does not have exactly the words of the message"
            yield problem("index_differs", name, what, REPAIR)
    yield from _counts(look)


def _counts(look: Look) -> Iterator[Problem]:
    try:
        found = look.rows(STATEMENTS["use_differs"])
    except UNREADABLE:  # the rows that cannot be read are named already
        return
    for _, session, *_ in found:
        what = "it is not what its messages come to"
        yield problem("count_differs", f"what session {session} counts", what, REPAIR)


def recounts(conn: apsw.Connection) -> Iterator[str]:
    """Count again what sessions hold, where they count otherwise."""
    for number, name, count, last_us, turns in list(conn.execute(STATEMENTS["use_differs"])):
        conn.execute(STATEMENTS["put_use"], (count, last_us, turns, number))
        yield f"what session {name} counts was counted again"
