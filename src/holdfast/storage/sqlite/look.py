"""Looking at a vault that may be damaged: rows that can be read, and those that are lost.

A ciphered file fails by whole pages: what cannot be read at once is asked for row by row, by keys
that another b-tree has, and each lost row is named.
"""

from __future__ import annotations

import apsw

from holdfast.core.canonical import row_digest
from holdfast.errors import Damaged
from holdfast.model.names import shown
from holdfast.model.problem import Problem
from holdfast.model.value import Value
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import DIGESTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

UNREADABLE = (apsw.Error, UnicodeDecodeError, Damaged)
RESTORE = "restore a backup"
REPAIR = "holdfast doctor --repair"

# Where the keys of a table also stand, so that rows on a page that cannot be read are still named.
_KEYS = {
    "space": "SELECT number, id FROM space ORDER BY id",
    "store": "SELECT number, id FROM store ORDER BY id",
    "session": "SELECT number, id FROM session ORDER BY id",
    "message": "SELECT number, id FROM message ORDER BY id",
    "directory": "SELECT number, id FROM directory ORDER BY id",
    "version": "SELECT number, id FROM version ORDER BY id",
    "proposal": "SELECT number, id FROM proposal ORDER BY id",
    "run": "SELECT number, id FROM run ORDER BY id",
    "erasure": "SELECT number, id FROM erasure ORDER BY id",
    "artifact": "SELECT number, id FROM artifact ORDER BY id",
    "entry": "SELECT number, id FROM entry INDEXED BY entry_id ORDER BY substr(id, -8), id",
}
_SMALL = ("vault", "seal", "answer", "frozen", "namespace", "job", "model_call", "run_output")
STRETCH = 1_000
STRETCH_OF_VALUES = 64


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


def entries(look: Look) -> Iterator[tuple[Any, ...]]:
    """The entries that can be read and are what was written."""
    columns = DIGESTED["entry"]
    for row in readable(look, "entry", (*columns, "digest")):
        if not isinstance(row, Lost) and row_digest("entry", row[:-1]) == row[-1]:
            yield row[:-1]


def messages(look: Look) -> Iterator[tuple[Any, ...]]:
    """The messages that can be read and are what was written."""
    columns = DIGESTED["message"]
    for row in readable(look, "message", (*columns, "digest")):
        if not isinstance(row, Lost) and row_digest("message", row[:-1]) == row[-1]:
            yield row[:-1]


def readable(look: Look, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...] | Lost]:
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
    newest, step = _newest(look), STRETCH
    if table == "value":
        newest, step = _newest_value(look), STRETCH_OF_VALUES
    for low in range(0, newest, step):
        high = min(low + step, newest)
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
    return {row[0]: name_of(table, row) for row in sorted(known) if row[0] in numbers}


def _newest(look: Look) -> int:
    """The newest number that any table knows of, so that a damaged last page hides nothing."""
    known = [0]
    for statement in (
        "SELECT max(seq) FROM change",
        "SELECT max(revision) FROM entry",
        "SELECT max(number) FROM entry",
        "SELECT max(revision) FROM session",
        "SELECT max(revision) FROM message",
        "SELECT max(number) FROM artifact",
    ):
        try:
            newest = look.rows(statement)[0][0]
        except UNREADABLE:
            continue
        known += [newest] if isinstance(newest, int) else []
    return max(known)


def _newest_value(look: Look) -> int:
    try:
        return look.rows("SELECT max(number) FROM value")[0][0] or 0
    except UNREADABLE:
        return 0


def name_of(table: str, row: tuple[Any, ...]) -> str:
    if table == "value":
        return f"value {shown(row[2])} (number {row[0]}, in namespace {row[1]})"
    return f"{table} {row[1]} (number {row[0]})" if table in _KEYS else f"{table} {row[0]}"


def lost(row: Lost) -> Problem:
    return problem("row_unreadable", row.name, row.why, RESTORE)


def problem(code: str, what: str, message: str, cure: str) -> Problem:
    return Problem(code=code, what=what, message=message, cure=cure)
