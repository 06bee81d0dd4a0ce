"""A full-text index over the rows of some table, by their numbers.

An index is an FTS5 table with two columns of tokens joined by blanks, `terms` (what a text says)
and `names` (what it is called by), and keeps both, so that candidates are ranked by what stands
there and need not be analysed again. The names end with tokens of the *scope* a row belongs to,
which no text can forge.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import apsw

STATEMENTS = load(Path(__file__).with_name("textindex.sql"))
NO_NUMBER = 2**63 - 1
_SCOPE = "＠"


def scope_token(*parts: int | str) -> str:
    """The token of a part of a vault, such as the drafts of one store."""
    return _SCOPE + "".join(map(str, parts))


class TextIndex:
    """One index, over one connection."""

    def __init__(self, conn: apsw.Connection, table: str) -> None:
        self._conn = conn
        self.table = table

    def put(self, number: int, terms: str, names: str) -> None:
        self._conn.execute(self._sql("put_text"), (number, terms, names))

    def change(self, number: int, terms: str, names: str) -> None:
        self._conn.execute(self._sql("change_text"), (terms, names, number))

    def drop(self, number: int) -> None:
        self._conn.execute(self._sql("drop_text"), (number,))

    def make_anew(self, texts: Iterator[tuple[int, str, str]]) -> int:
        """Throw everything away that the index holds, and index these; how many they were."""
        self._conn.execute(self._sql("drop_all_texts"))
        count = 0
        for row in texts:
            self._conn.execute(self._sql("put_content"), row)
            count += 1
        self._conn.execute(self._sql("index_again"))
        return count

    def merge(self, pages: int) -> bool:
        """One bounded step of merging segments, for a quiet moment; True when more remains."""
        before = self._conn.total_changes()
        self._conn.execute(self._sql("merge"), (pages,))
        return self._conn.total_changes() - before > 1

    def numbers(self, expression: str, limit: int, below: int = NO_NUMBER) -> list[int]:
        """The newest of the rows that meet an expression, the newest first."""
        found: Any = self._conn.execute(self._sql("numbers"), (expression, below, limit)).fetchall()
        return [number for (number,) in found]

    def counted(self, expression: str, limit: int) -> tuple[int, int]:
        """How many rows meet an expression, up to a limit, and the oldest of those."""
        row: Any = next(fetch(self._conn, self._sql("counted"), (expression, limit)))
        return row

    def newest(self) -> int:
        return next(fetch(self._conn, self._sql("newest_text")))[0]

    def totals(self) -> tuple[int, int]:
        """How many texts there are and how many tokens their terms have, by FTS5's own record."""
        row = next(fetch(self._conn, self._sql("totals")), None)
        texts, tokens, *_ = (*_varints(row[0] if row else b""), 0, 0)
        return texts, tokens

    def _sql(self, name: str) -> str:
        return STATEMENTS[name].replace("{index}", self.table)


def _varints(record: bytes) -> Iterator[int]:
    """The whole numbers of a record in SQLite's way of writing them, seven bits a byte."""
    value = length = 0
    for byte in record:
        length += 1
        if length == 9:
            yield value << 8 | byte
        elif byte < 0x80:
            yield value << 7 | byte
        else:
            value = value << 7 | byte & 0x7F
            continue
        value = length = 0
