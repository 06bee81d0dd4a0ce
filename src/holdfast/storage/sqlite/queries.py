"""The statements of `queries.sql` by name, and rows as they come."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import Damaged
from holdfast.storage.sql import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import apsw

    from holdfast.storage.sqlite.rows import Row

QUERIES = load(Path(__file__).with_name("queries.sql"))


def fetch(conn: apsw.Connection, statement: str, bindings: Any = ()) -> Iterator[Row]:
    """The rows of a statement, as tuples of whatever the schema says."""
    found: Any = conn.execute(statement, bindings)
    return _readable(found)


def fetch_all(conn: apsw.Connection, statement: str, bindings: Any = ()) -> list[Any]:
    """All rows of a statement at once, for few rows that are all needed."""
    found: Any = conn.execute(statement, bindings)
    try:
        return found.fetchall()
    except UnicodeDecodeError as exc:
        raise _unreadable() from exc


def _readable(found: Any) -> Iterator[Row]:
    try:
        yield from found
    except UnicodeDecodeError as exc:
        raise _unreadable() from exc


def _unreadable() -> Damaged:
    return Damaged(
        "row_damaged", "a row holds text that is not UTF-8", hint="holdfast verify names it"
    )
