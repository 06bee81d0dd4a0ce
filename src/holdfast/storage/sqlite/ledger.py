"""Rows against the log: each must be there, and be what its newest change says of it.

A row can be sound by its own digest and yet be wrong: an older version of it, after a write of its
page was lost, or one that somebody took away. The log knows the newest change of every target.
"""

from __future__ import annotations

import json

from holdfast.core.canonical import canonical_text, digest, keyed, row_digest
from holdfast.core.images import entry_from_image, entry_image, message_image
from holdfast.core.text import normal_form
from holdfast.model.value import Value
from holdfast.storage.sqlite.contents import make_mentions_anew
from holdfast.storage.sqlite.holdings import hold_again
from holdfast.storage.sqlite.index import rebuild
from holdfast.storage.sqlite.links import relink
from holdfast.storage.sqlite.look import REPAIR, RESTORE, UNREADABLE, Look, entries, problem
from holdfast.storage.sqlite.messages import message_from
from holdfast.storage.sqlite.messages import rebuild as rebuild_messages
from holdfast.storage.sqlite.queries import QUERIES
from holdfast.storage.sqlite.rows import DIGESTED, entry_from, entry_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import apsw

    from holdfast.model.problem import Problem

# The kinds of targets whose rows stand in a table of that name.
KINDS = ("space", "store", "session", "proposal", "entry", "message", "run", "erasure", "artifact")
_REVISION = DIGESTED["entry"].index("revision")


class Newest(Value):
    """The newest change of an entry: the image that the row must have."""

    seq: int
    store: int
    image: dict[str, Any]


def rows_against_log(look: Look) -> Iterator[Problem]:
    for kind in KINDS:
        try:
            newest = _newest_changes(look, kind)
            rows = look.rows(f"SELECT number, id, revision FROM {kind} ORDER BY number")
        except UNREADABLE:
            continue  # what cannot be read is named by the walk over the table
        yield from _kind_against_log(look, kind, newest, rows)


def _kind_against_log(
    look: Look, kind: str, newest: dict[str, int], rows: list[tuple[Any, ...]]
) -> Iterator[Problem]:
    cure = REPAIR if kind == "entry" else RESTORE
    for number, target, revision in rows:
        name = f"{kind} {target} (number {number})"
        seq = newest.pop(target, None)
        if seq is None or not isinstance(revision, int) or revision > seq:
            yield problem("log_lacks_row", name, "the log has no change for it", RESTORE)
        elif revision < seq:
            yield problem("row_stale", name, f"it is older than its change {seq}", cure)
        elif (kind == "entry" and not _says(look, number, seq)) or (
            kind == "message" and not _said(look, number, seq)
        ):
            yield problem("row_differs", name, "it is not what the log says of it", cure)
    for target, seq in newest.items():
        yield problem("row_missing", f"{kind} {target}", f"the log has it, by change {seq}", cure)


def _newest_changes(look: Look, kind: str) -> dict[str, int]:
    wanted = "SELECT target, max(seq) FROM change WHERE kind = ? GROUP BY target"
    return dict(look.rows(wanted, (kind,)))


def _says(look: Look, number: int, seq: int) -> bool:
    """Whether a sound entry row is what a sound change says. What is unsound is named elsewhere."""
    newest, row = _change(look, seq), _entry(look, number)
    return newest is None or row is None or newest.image == image_of(row)


def _said(look: Look, number: int, seq: int) -> bool:
    """The same of a message: the log has the digest of what was said."""
    columns = ", ".join(f"m.{name}" for name in DIGESTED["message"] if name != "session")
    wanted = f"""SELECT {columns}, m.digest, s.id, m.session FROM message m
        JOIN session s ON s.number = m.session WHERE m.number = ?"""
    newest = _change(look, seq)
    try:
        ((number, name, *rest, kept, session_id, session),) = look.rows(wanted, (number,))
    except (*UNREADABLE, ValueError):
        return True  # named by the walk over the table
    if newest is None or row_digest("message", (number, name, session, *rest)) != kept:
        return True
    message = message_from((number, name, session_id, *rest))
    return newest.image == json.loads(canonical_text(message_image(message)))


def _change(look: Look, seq: int) -> Newest | None:
    """The image of an entry's change; None where it cannot be read or is not what was written."""
    try:
        ((store, salt, body, kept),) = look.rows(
            "SELECT store, salt, body, digest FROM change WHERE seq = ?", (seq,)
        )
        if digest("body", salt, body.encode()) != kept:
            return None
    except (*UNREADABLE, ValueError, TypeError, AttributeError):
        return None
    return Newest(seq=seq, store=store, image=json.loads(body)["after"])


def _entry(look: Look, number: int) -> tuple[Any, ...] | None:
    """The columns of an entry; None where it cannot be read or does not say what was written."""
    columns = ", ".join(DIGESTED["entry"])
    try:
        found = look.rows(f"SELECT {columns}, digest FROM entry WHERE number = ?", (number,))
    except UNREADABLE:
        return None
    sound = [row[:-1] for row in found if row_digest("entry", row[:-1]) == row[-1]]
    return sound[0] if sound else None


def image_of(row: tuple[Any, ...]) -> dict[str, Any]:
    return json.loads(canonical_text(entry_image(entry_from(row))))


def repairs(conn: apsw.Connection) -> Iterator[str]:
    """Write entries again that are not what the log says, and make the full-text index anew."""
    look = Look(conn, None)
    indexes = _dropped_where_no_json(look)
    for (secret,) in look.rows("SELECT secret FROM vault"):
        for seq in sorted(_newest_changes(look, "entry").values()):
            newest = _change(look, seq)
            if newest is not None and not _is_so(look, newest):
                entry = entry_from_image(newest.image, seq)
                fingerprint = keyed(secret, normal_form(entry.text))
                look.rows("DELETE FROM entry WHERE number = ?", (entry.number,))
                look.rows(QUERIES["put_entry"], entry_row(entry, newest.store, fingerprint))
                yield f"entry {entry.id} was written again from the log"
    if indexes:  # what nothing mends is still named by its digest, and keeps its letters
        look.rows("UPDATE entry SET extra = json_quote(extra) WHERE NOT json_valid(extra)")
        for statement in indexes:
            look.rows(statement)
        yield f"{len(indexes)} indexes over what entries hold as JSON were made anew"
    yield f"the full-text index of {rebuild(conn):,} entries was made anew"
    links = relink(conn, (entry_from(row) for row in entries(look)))
    yield f"{links:,} links between entries were made anew"
    yield f"the {hold_again(conn):,} contents that entries hold were noted anew"
    yield f"{make_mentions_anew(conn, look):,} references to artifacts were made anew"
    yield f"the full-text index of {rebuild_messages(conn):,} messages was made anew"


def _dropped_where_no_json(look: Look) -> list[str]:
    """The statements that make the indexes over the JSON of entries again, once they are dropped.
    A row whose JSON is none can be neither changed nor removed while such an index is there."""
    try:
        if not look.rows("SELECT 1 FROM entry WHERE NOT json_valid(extra) LIMIT 1"):
            return []
    except UNREADABLE:
        return []
    wanted = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'entry'"
    found = [row for row in look.rows(wanted) if "->>" in (row[1] or "")]
    for name, _ in found:
        look.rows(f"DROP INDEX {name}")
    return [statement for _, statement in found]


def _is_so(look: Look, newest: Newest) -> bool:
    row = _entry(look, newest.image["number"])
    return row is not None and row[_REVISION] == newest.seq and image_of(row) == newest.image
