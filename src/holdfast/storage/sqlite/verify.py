"""What `verify` looks at in a SQLite vault, and what `doctor --repair` makes again.

SQLite's own check finds broken pages and indexes; it does not see a flipped bit in a text. So every
row carries the digest of what it says, every entry must be what the log says of it, the log's chain
must hold, and the full-text index must have exactly the terms of the rows. A ciphered file fails by
whole pages: what cannot be read at once is asked for row by row, and each lost row is named.
"""

from __future__ import annotations

import json

import apsw

from holdfast.core.canonical import canonical_text, digest, keyed, row_digest
from holdfast.core.images import entry_from_image, entry_image
from holdfast.core.text import normal_form, tokens
from holdfast.model.problem import Problem
from holdfast.model.value import Value
from holdfast.storage.sqlite.index import indexed_text, rebuild
from holdfast.storage.sqlite.queries import QUERIES, fetch
from holdfast.storage.sqlite.rows import DIGESTED, entry_from, entry_row
from holdfast.storage.sqlite.transaction import seal_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

UNREADABLE = (apsw.Error, UnicodeDecodeError)
HEADER = (
    *("seq", "at_us", "said_us", "actor", "session", "space", "store", "kind", "target", "op"),
    *("prior", "digest"),
)
RESTORE = "holdfast backup restore"
REPAIR = "holdfast doctor --repair"

# Where the keys of a table also stand, so that rows on a page that cannot be read are still named.
_KEYS = {
    "space": "SELECT number, id FROM space ORDER BY id",
    "store": "SELECT number, id FROM store ORDER BY id",
    "session": "SELECT number, id FROM session ORDER BY id",
    "entry": "SELECT number, id FROM entry INDEXED BY entry_id ORDER BY substr(id, -8), id",
}
_SMALL = ("vault", "seal", "answer", "frozen")
STRETCH = 1_000
_MASK = 2**64 - 1


class Look:
    """Where `verify` looks: a connection, and another one when that is spent.

    Under a cipher, a connection that met a page it cannot read fails from then on.
    """

    def __init__(
        self, conn: apsw.Connection, another: Callable[[], apsw.Connection] | None
    ) -> None:
        self._conn = conn
        self._another = another

    def rows(self, statement: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        try:
            return list(fetch(self._conn, statement, bindings))
        except UNREADABLE:
            if self._another is not None:
                self._conn.close(True)
                self._conn = self._another()
            raise

    def close(self) -> None:
        if self._another is not None:
            self._conn.close(True)


class Lost(Value):
    """A row, or a whole table, that cannot be read."""

    name: str
    why: str


class Logged(Value):
    """What a change says of an entry; no image once its body was erased."""

    store: int
    image: dict[str, Any] | None


def problems(look: Look) -> Iterator[Problem]:
    """Everything that is not as it was written. Only reads."""
    yield from _structure(look)
    for table in DIGESTED:
        yield from _rows(look, table)
    yield from _log(look)
    yield from _chain(look)
    yield from _entries_against_log(look)
    yield from _index_against_rows(look)


def _structure(look: Look) -> Iterator[Problem]:
    """What SQLite itself finds: pages, cells, indexes."""
    try:
        found = [text for (text,) in look.rows("PRAGMA integrity_check(100)") if text != "ok"]
    except UNREADABLE as exc:
        found = [str(exc)]
    for text in found:
        yield _problem("structure_damaged", "the file", text.strip(), RESTORE)


def _rows(look: Look, table: str) -> Iterator[Problem]:
    columns = DIGESTED[table]
    for row in _readable(look, table, (*columns, "digest")):
        if isinstance(row, Lost):
            yield _lost(row)
        elif table != "seal" and row_digest(table, row[:-1]) != row[-1]:
            name = _name(table, row)
            yield _problem("row_damaged", name, "it does not say what was written", REPAIR)


def _log(look: Look) -> Iterator[Problem]:
    expected = 1
    for row in _readable(look, "change", (*HEADER, "header", "salt", "body")):
        if isinstance(row, Lost):
            yield _lost(row)
            expected = 0
            continue
        header, (kept, salt, body) = row[: len(HEADER)], row[len(HEADER) :]
        if expected and header[0] != expected:
            yield _problem("log_gap", f"change {expected}", "it is missing from the log", RESTORE)
        expected = header[0] + 1
        if row_digest("change", header) != kept:
            what = "it does not say what was written"
            yield _problem("row_damaged", f"change {header[0]}", what, RESTORE)
        elif body is not None and digest("body", salt, body.encode()) != header[-1]:
            what = "its body does not say what was written"
            yield _problem("row_damaged", f"change {header[0]}", what, RESTORE)


def _chain(look: Look) -> Iterator[Problem]:
    before, next_seq = b"", 1
    for row in _readable(look, "seal", (*DIGESTED["seal"], "digest")):
        if isinstance(row, Lost):
            return
        number, first, last, _, kept = row
        try:
            covered = look.rows(QUERIES["headers"], (first - 1, last - first + 1))
        except UNREADABLE:
            return
        if (
            first != next_seq
            or seal_digest(before, first, last, [h for _, _, h in covered]) != kept
        ):
            what = f"seal {number} over the changes {first} to {last}"
            yield _problem("seal_broken", what, "what it sealed was altered afterwards", RESTORE)
        before, next_seq = kept, last + 1


def _entries_against_log(look: Look) -> Iterator[Problem]:
    """Every entry must say what the change says that its revision names."""
    for row in _entries(look):
        logged = _logged(look, row)
        name = _name("entry", row)
        if logged is None:
            yield _problem("log_lacks_entry", name, "the log has no change for it", RESTORE)
        elif logged.image is not None and logged.image != _image_of(row):
            yield _problem("entry_differs", name, "it is not what the log says of it", REPAIR)


def _logged(look: Look, row: tuple[Any, ...]) -> Logged | None:
    """What the log says of an entry, by the change that its revision names."""
    wanted = "SELECT store, body FROM change WHERE seq = ? AND kind = 'entry'"
    try:
        found = next(iter(look.rows(wanted, (row[14],))), None)
        if found is None:
            return None
        image = None if found[1] is None else json.loads(found[1])["after"]
    except (*UNREADABLE, ValueError):
        return None
    if image is not None and image["number"] != row[0]:
        return None
    return Logged(store=found[0], image=image)


def _index_against_rows(look: Look) -> Iterator[Problem]:
    """Terms by entry, from the rows and from the index, as sums that no order changes."""
    expected: dict[int, int] = {}
    for row in _entries(look):
        text = indexed_text(entry_from(row))
        places = enumerate(tokens(text)) if text is not None else ()
        expected[row[0]] = sum(map(hash, places)) & _MASK
    found: dict[int, int] = {}
    try:
        for number, place, term in look.rows('SELECT doc, "offset", term FROM entry_places'):
            found[number] = (found.get(number, 0) + hash((place, term))) & _MASK
    except UNREADABLE as exc:
        yield _problem("index_unreadable", "the full-text index", str(exc), REPAIR)
        return
    for number in sorted(expected.keys() | found.keys()):
        if expected.get(number, 0) != found.get(number, 0):
            what = "it does not have exactly the words of the entry"
            yield _problem(
                "index_differs", f"the full-text index of entry number {number}", what, REPAIR
            )


def _entries(look: Look) -> Iterator[tuple[Any, ...]]:
    """The entries that can be read and are what was written."""
    columns = DIGESTED["entry"]
    for row in _readable(look, "entry", (*columns, "digest")):
        if not isinstance(row, Lost) and row_digest("entry", row[:-1]) == row[-1]:
            yield row[:-1]


def _readable(look: Look, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...] | Lost]:
    """The rows of a table in the order of their keys, and those that are lost.

    Rows are fetched in stretches; a stretch with something unreadable in it, row by row.
    """
    fields, key = ", ".join(columns), columns[0]
    if table in _SMALL:
        try:
            yield from look.rows(f"SELECT {fields} FROM {table}")
        except UNREADABLE as exc:
            yield Lost(name=f"the table {table}", why=str(exc))
        return
    stretch = f"SELECT {fields} FROM {table} WHERE {key} > ? AND {key} <= ? ORDER BY {key}"
    newest = _newest(look)
    for low in range(0, newest, STRETCH):
        high = min(low + STRETCH, newest)
        try:
            yield from look.rows(stretch, (low, high))
        except UNREADABLE:
            one = f"SELECT {fields} FROM {table} WHERE {key} = ?"
            yield from _row_by_row(look, table, one, range(low + 1, high + 1))


def _row_by_row(
    look: Look, table: str, statement: str, numbers: range
) -> Iterator[tuple[Any, ...] | Lost]:
    ids = _ids(look, table, numbers)
    if ids is None:
        yield Lost(name=f"rows of {table} numbered {numbers[0]} to {numbers[-1]}", why="unreadable")
        return
    for number in ids:
        try:
            yield from look.rows(statement, (number,))
        except UNREADABLE as exc:
            yield Lost(name=ids[number], why=f"it cannot be read: {exc}")


def _ids(look: Look, table: str, numbers: range) -> dict[int, str] | None:
    """The rows that a table should have there, by name; None where nothing can tell."""
    if table not in _KEYS:
        return {number: f"{table} {number}" for number in numbers}
    try:
        known = look.rows(_KEYS[table])
    except UNREADABLE:
        return None
    return {row[0]: _name(table, row) for row in sorted(known) if row[0] in numbers}


def _newest(look: Look) -> int:
    """The newest number that any table knows of, so that a damaged last page hides nothing."""
    known = [0]
    for statement in (
        "SELECT max(seq) FROM change",
        "SELECT max(revision) FROM entry",
        "SELECT max(number) FROM entry",
        "SELECT max(revision) FROM session",
    ):
        try:
            known.append(look.rows(statement)[0][0] or 0)
        except UNREADABLE:
            continue
    return max(known)


def repairs(conn: apsw.Connection) -> Iterator[str]:
    """Rewrite damaged entries from the log, and make the full-text index anew."""
    look = Look(conn, None)
    secret = look.rows("SELECT secret FROM vault")[0][0]
    for row in _readable(look, "entry", (*DIGESTED["entry"], "digest")):
        if isinstance(row, Lost) or _sound(look, row):
            continue
        logged = _logged(look, row)
        if logged is not None and logged.image is not None:
            entry = entry_from_image(logged.image, row[14])
            fingerprint = keyed(secret, normal_form(entry.text))
            look.rows("DELETE FROM entry WHERE number = ?", (row[0],))
            look.rows(QUERIES["put_entry"], entry_row(entry, logged.store, fingerprint))
            yield f"entry {entry.id} was written again from the log"
    count = rebuild(conn)
    yield f"the full-text index of {count:,} entries was made anew"


def _sound(look: Look, row: tuple[Any, ...]) -> bool:
    """Whether an entry says what was written, and what the log says of it."""
    if row_digest("entry", row[:-1]) != row[-1]:
        return False
    logged = _logged(look, row)
    return logged is None or logged.image in (None, _image_of(row))


def _image_of(row: tuple[Any, ...]) -> dict[str, Any]:
    return json.loads(canonical_text(entry_image(entry_from(row))))


def _name(table: str, row: tuple[Any, ...]) -> str:
    return f"{table} {row[1]} (number {row[0]})" if table in _KEYS else f"{table} {row[0]}"


def _lost(row: Lost) -> Problem:
    return _problem("row_unreadable", row.name, row.why, RESTORE)


def _problem(code: str, what: str, message: str, cure: str) -> Problem:
    return Problem(code=code, what=what, message=message, cure=cure)
