"""What entries hold of the stored contents, in SQLite: a table that can be made again from the log.

A content that an entry holds is not collected, in whichever version it was that named it: an older
one can be read, and what was forgotten can come back until it is erased.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.model.tree import DIGEST_TAG
from holdfast.storage.sql import load
from holdfast.storage.sqlite.objects import TAG_HEX, to_blob
from holdfast.storage.sqlite.queries import fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    import apsw

HOLDINGS = load(Path(__file__).with_name("holdings.sql"))


class HoldingReads:
    """`ports.trees.HoldingReads` on a connection."""

    _conn: apsw.Connection

    def held(self, after: int) -> Iterator[str]:
        for (name,) in fetch(self._conn, HOLDINGS["held"], (after,)):
            yield DIGEST_TAG + name.lower().removeprefix(TAG_HEX)


class HoldingWrites(HoldingReads):
    """`ports.trees.HoldingWrites` on a connection that writes."""

    def hold(self, entry: int, names: Iterable[str], seq: int) -> None:
        for name in names:
            self._conn.execute(HOLDINGS["hold"], (to_blob(name), entry, seq))


def unlike(rows: Callable[[str], list[tuple[Any, ...]]]) -> Iterator[int]:
    """The numbers of the entries that do not hold what the log says."""
    return (number for (number,) in rows(HOLDINGS["unlike"]))


def hold_again(conn: apsw.Connection) -> int:
    """Make the table anew from the log; how many contents are held."""
    said = list(fetch(conn, HOLDINGS["said_to_hold"]))
    conn.execute(HOLDINGS["hold_nothing"])
    conn.executemany(HOLDINGS["hold"], said)
    return len({name for name, _, _ in said})
