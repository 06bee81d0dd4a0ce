"""A full-text index over the rows of some table, by their numbers.

An index is an FTS5 table with two columns of tokens joined by blanks, `terms` (what a text says)
and `names` (what it is called by), and keeps both, so that candidates are ranked by what stands
there and need not be analysed again. The names end with tokens of the *scope* a row belongs to,
which no text can forge.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from pathlib import Path

from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.storage.sqlite.remembered import Known

STATEMENTS = load(Path(__file__).with_name("textindex.sql"))
NO_NUMBER = 2**63 - 1
SEGMENTS_LEFT = 3
UNITED_AT = 16  # of so many parts of the largest segment, the others have one
_SECOND_STRUCTURE = b"\xff\x00\x00\x01"
COUNTED_TOGETHER = 8
_SCOPE = "＠"


def scope_token(*parts: int | str) -> str:
    """The token of a part of a vault, such as the drafts of one store."""
    return _SCOPE + "".join(map(str, parts))


class TextIndex:
    """One index, over one connection. `known`: what it said before of this moment."""

    def __init__(self, conn: apsw.Connection, table: str, known: Known | None = None) -> None:
        self._conn = conn
        self._known = {} if known is None else known
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

    def unite(self, pages: int) -> bool:
        """Begin to merge all segments into one, where they are many and those beside the largest
        have become a good part of it; `merge` goes on with it. True where that has begun."""
        sizes = sorted(self.segments())
        if len(sizes) <= SEGMENTS_LEFT or sum(sizes[:-1]) * UNITED_AT < sizes[-1]:
            return False
        self._conn.execute(self._sql("merge"), (-pages,))
        return True

    def segments(self) -> list[int]:
        """The pages of each segment, by FTS5's own record."""
        row = next(fetch(self._conn, self._sql("structure")), None)
        block: bytes = row[0] if row else bytes(7)
        is_second = block[4:8] == _SECOND_STRUCTURE
        fields = _varints(block[8 if is_second else 4 :])
        levels, *_ = islice(fields, 3)  # behind it, how many segments and how many writes
        found: list[int] = []
        for _ in range(levels):
            next(fields)  # how many of the level are being merged
            for _ in range(next(fields)):
                _, first, last, *_ = islice(fields, 8 if is_second else 3)
                found.append(last - first + 1)
        return found

    def numbers(self, expression: str, limit: int, below: int = NO_NUMBER) -> list[int]:
        """The newest of the rows that meet an expression, the newest first."""
        statement = _statement("numbers", self.table, limit)
        row: Any = self._conn.execute(statement, (expression, below)).fetchone()
        return json.loads(row[0])

    def counted(self, expression: str, limit: int) -> tuple[int, int]:
        """How many rows meet an expression, up to a limit, and the oldest of those."""
        statement = _statement("counted", self.table, limit)
        row: Any = self._conn.execute(statement, (expression,)).fetchone()
        return row

    def holders(self, expressions: Sequence[str], limit: int) -> list[int]:
        """How many rows meet each expression: exactly where they are fewer than the limit, else by
        how far back so many of the newest reach."""
        known, place = self._known, (self.table, limit)
        unknown = [each for each in dict.fromkeys(expressions) if (*place, each) not in known]
        for first in range(0, len(unknown), COUNTED_TOGETHER):
            part = unknown[first : first + COUNTED_TOGETHER]
            statement = _counted_up_to(self.table, limit, len(part))
            row: Any = self._conn.execute(statement, part).fetchone()
            for expression, count in zip(part, row, strict=True):
                held = (count, 0) if count < limit else self.counted(expression, limit)
                known[(*place, expression)] = self.estimated(*held, limit)
        return [known[(*place, each)] for each in expressions]

    def estimated(self, count: int, oldest: int, limit: int) -> int:
        """How many there are in all, by how far back the newest of them reach."""
        if count < limit:
            return count
        head = self.newest()
        return min(self.totals()[0], count * head // (head - oldest + 1))

    def newest(self) -> int:
        return next(fetch(self._conn, self._sql("newest_text")))[0]

    def totals(self) -> tuple[int, int]:
        """How many texts there are and how many tokens their terms have, by FTS5's own record."""
        found = self._known.get(self.table)
        if found is None:
            row = next(fetch(self._conn, self._sql("totals")), None)
            texts, tokens, *_ = (*_varints(row[0] if row else b""), 0, 0)
            found = self._known[self.table] = texts, tokens
        return found

    def _sql(self, name: str) -> str:
        return _statement(name, self.table)


@cache
def _statement(name: str, table: str, limit: int = 0) -> str:
    return STATEMENTS[name].replace("{index}", table).replace("{limit}", str(limit))


@cache
def _counted_up_to(table: str, limit: int, count: int) -> str:
    """The statement that counts what meets so many expressions, each up to the limit."""
    return f"SELECT {', '.join([_statement('counted_up_to', table, limit)] * count)}"


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
