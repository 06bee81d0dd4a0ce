"""What `verify` looks at in a SQLite vault.

SQLite's own check finds broken pages and indexes; it does not see a flipped bit in a text. So every
row carries the digest of what it says, every row must be what the log says of it, the log's chain
must hold, the full-text index must have exactly the terms of the rows, and the schema must be the
one that this program makes.
"""

from __future__ import annotations

import json

from holdfast.core.canonical import digest, row_digest
from holdfast.model.names import shown
from holdfast.storage.migrate import steps_in
from holdfast.storage.sqlite import holdings
from holdfast.storage.sqlite.contents import mention_problems
from holdfast.storage.sqlite.index import indexed
from holdfast.storage.sqlite.ledger import rows_against_log
from holdfast.storage.sqlite.links import LINKS, unlike
from holdfast.storage.sqlite.look import (
    REPAIR,
    RESTORE,
    UNREADABLE,
    Look,
    Lost,
    entries,
    lost,
    name_of,
    problem,
    readable,
)
from holdfast.storage.sqlite.objects import object_problems
from holdfast.storage.sqlite.queries import QUERIES
from holdfast.storage.sqlite.rows import DIGESTED, digest_of, entry_from
from holdfast.storage.sqlite.schema import HERE, expected_schema
from holdfast.storage.sqlite.transaction import seal_digest
from holdfast.storage.sqlite.values import STATEMENTS
from holdfast.storage.sqlite.verify_messages import message_problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from holdfast.model.problem import Problem

HEADER = (
    *("seq", "at_us", "said_us", "actor", "session", "space", "store", "kind", "target", "op"),
    *("prior", "digest"),
)
_MASK = 2**64 - 1
KEPT_TERMS = "SELECT id, c0, c1 FROM entry_terms_content"


def problems(look: Look) -> Iterator[Problem]:
    """Everything that is not as it was written. Only reads."""
    yield from _structure(look)
    yield from _schema(look)
    for table in DIGESTED:
        yield from _rows(look, table)
    yield from _log(look)
    yield from _chain(look)
    yield from rows_against_log(look)
    yield from _index_against_rows(look)
    yield from _links_against_rows(look)
    yield from _holdings_against_log(look)
    yield from mention_problems(look)
    yield from message_problems(look)
    yield from object_problems(look.rows, UNREADABLE)
    for number, name, _ in miscounted(look):
        what = f"what namespace {shown(name)} (number {number}) counts"
        yield problem("count_differs", what, "it is not what its values come to", REPAIR)


def _structure(look: Look) -> Iterator[Problem]:
    """What SQLite itself finds: pages, cells, indexes."""
    try:
        found = [text for (text,) in look.rows("PRAGMA integrity_check(100)") if text != "ok"]
    except UNREADABLE as exc:
        found = [str(exc)]
    for text in found:
        yield problem("structure_damaged", "the file", text.strip(), RESTORE)


def _schema(look: Look) -> Iterator[Problem]:
    """The tables, indexes and steps must be those that this program makes."""
    try:
        found = dict(look.rows("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))
        applied = dict(look.rows("SELECT number, digest FROM migration"))
    except UNREADABLE as exc:
        yield problem("schema_unreadable", "the schema", str(exc), RESTORE)
        return
    if applied != {step.number: step.digest for step in steps_in(HERE)}:
        yield problem("schema_altered", "the record of the steps", "it was altered", RESTORE)
    expected = expected_schema()
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            what = "it is not as the schema's steps make it"
            yield problem("schema_altered", f"{name} in the schema", what, RESTORE)


def _rows(look: Look, table: str) -> Iterator[Problem]:
    columns = DIGESTED[table]
    for row in readable(look, table, (*columns, "digest")):
        if isinstance(row, Lost):
            yield lost(row)
        elif table != "seal" and digest_of(table, row[:-1]) != row[-1]:
            name, cure = name_of(table, row), REPAIR if table == "entry" else RESTORE
            yield problem("row_damaged", name, "it does not say what was written", cure)


def _log(look: Look) -> Iterator[Problem]:
    expected, erased = 1, _erased(look)
    for row in readable(look, "change", (*HEADER, "header", "salt", "body")):
        if isinstance(row, Lost):
            yield lost(row)
            expected = 0
            continue
        header, (kept, salt, body) = row[: len(HEADER)], row[len(HEADER) :]
        if expected and header[0] != expected:
            yield problem("log_gap", f"change {expected}", "it is missing from the log", RESTORE)
        expected = header[0] + 1
        if row_digest("change", header) != kept:
            what = "it does not say what was written"
            yield problem("row_damaged", f"change {header[0]}", what, RESTORE)
        elif body is None and salt is None and header[8] in erased:
            continue
        elif body is None or digest("body", salt or b"", body.encode()) != header[-1]:
            what = "its body is gone" if body is None else "its body is not what was written"
            yield problem("row_damaged", f"change {header[0]}", what, RESTORE)


def _erased(look: Look) -> set[str]:
    """The targets of which the log may say nothing any more, by the records that are sound."""
    columns = DIGESTED["erasure"]
    found: set[str] = set()
    for row in readable(look, "erasure", (*columns, "digest")):
        if not isinstance(row, Lost) and digest_of("erasure", row[:-1]) == row[-1]:
            found.update(json.loads(row[columns.index("body")])["targets"])
    return found


def _chain(look: Look) -> Iterator[Problem]:
    before, next_seq = b"", 1
    for row in readable(look, "seal", (*DIGESTED["seal"], "digest")):
        if isinstance(row, Lost):
            return
        number, first, last, at_us, kept = row
        try:
            covered = look.rows(QUERIES["headers"], (first - 1, last - first + 1))
        except UNREADABLE:
            return
        if (
            first != next_seq
            or seal_digest(before, first, last, at_us, [h for _, _, h in covered]) != kept
        ):
            what = f"seal {number} over the changes {first} to {last}"
            yield problem("seal_broken", what, "what it sealed was altered afterwards", RESTORE)
        before, next_seq = kept, last + 1


def _index_against_rows(look: Look) -> Iterator[Problem]:
    """Terms by entry, from the rows and from the index, as sums that no order changes; and the
    texts that the index keeps."""
    expected: dict[int, int] = {}
    kept: dict[int, int] = {}
    for row in entries(look):
        held = indexed(entry_from(row), row[2])
        if held is not None:
            expected[row[0]] = sum(map(hash, _places(*held))) & _MASK
            kept[row[0]] = hash(held)
    found: dict[int, int] = {}
    try:
        for number, column, place, term in look.rows(
            'SELECT doc, col, "offset", term FROM entry_places'
        ):
            found[number] = (found.get(number, 0) + hash((column, place, term))) & _MASK
        texts = {row[0]: hash(row[1:]) for row in look.rows(KEPT_TERMS)}
    except UNREADABLE as exc:
        yield problem("index_unreadable", "the full-text index", str(exc), REPAIR)
        return
    for number in sorted(expected.keys() | found.keys() | texts.keys()):
        if expected.get(number, 0) != found.get(number, 0) or kept.get(number) != texts.get(number):
            what = "it does not have exactly the words of the entry"
            yield problem(
                "index_differs", f"the full-text index of entry number {number}", what, REPAIR
            )


def _places(terms: str, names: str) -> Iterator[tuple[str, int, str]]:
    for column, text in (("terms", terms), ("names", names)):
        for place, term in enumerate(text.split()):
            yield column, place, term


def _links_against_rows(look: Look) -> Iterator[Problem]:
    known = [entry_from(row) for row in entries(look)]
    try:
        found = look.rows(LINKS["links"])
    except UNREADABLE as exc:
        yield problem("links_unreadable", "the links between entries", str(exc), REPAIR)
        return
    for number in unlike(found, known):
        what = "they are not those that the entry has"
        yield problem("links_differ", f"the links of entry number {number}", what, REPAIR)


def _holdings_against_log(look: Look) -> Iterator[Problem]:
    try:
        found = list(holdings.unlike(look.rows))
    except UNREADABLE as exc:
        yield problem("holdings_unreadable", "what entries hold", str(exc), REPAIR)
        return
    for number in found:
        what = "it is not what the log says of it"
        yield problem("holdings_differ", f"what entry number {number} holds", what, REPAIR)


def miscounted(look: Look) -> Iterator[tuple[int, str, tuple[int, int | None, int | None]]]:
    """The namespaces whose row does not say what their values come to, and what it should say."""
    try:
        found = look.rows(STATEMENTS["verify_counts"])
    except UNREADABLE:  # the rows that cannot be read are named already
        return
    for number, name, revision, size, due_us, real_size, first_due in found:
        early = first_due is None or (due_us is not None and due_us <= first_due)
        if size not in (None, real_size) or not early:
            yield number, name, (revision, None if size is None else real_size, first_due)


def recounts(conn: apsw.Connection) -> Iterator[str]:
    """Count again what namespaces hold, where they count otherwise."""
    look = Look(conn, None)
    for number, name, real in list(miscounted(look)):
        look.rows(STATEMENTS["keep_namespace"], (*real, number))
        yield f"what namespace {shown(name)} counts was counted again"
