"""What a connection that only reads need not read again until the vault changes.

Each reader remembers for itself, by SQLite's own count of what others committed; whoever may write
remembers nothing. So a small thing that every call needs costs one look at that count.
"""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")
    Known = dict[Any, Any]

REMEMBERED_MAX = 8_192


class Remembering:
    """A snapshot that reads once what it is asked for often."""

    _conn: apsw.Connection

    @cached_property
    def known(self) -> Known | None:
        return known_to(self._conn)

    def once(self, key: tuple[str, str | int], read: Callable[[], T]) -> T:
        """What was read of this moment before, or is read now."""
        known = self.known
        if known is None:
            return read()
        if key not in known:
            known[key] = read()
        return known[key]


def known_to(conn: apsw.Connection) -> Known | None:
    """What was read before of the snapshot that this connection has; None where it may change.

    The caller is in a transaction, and puts in what it reads.
    """
    if conn.txn_state() == apsw.SQLITE_TXN_WRITE or not conn.in_transaction:
        return None
    version: Any = conn.execute("PRAGMA data_version").fetchone()
    at, known = _known.get(conn, _NOTHING)
    if at != version[0] or len(known) > REMEMBERED_MAX:
        known = {}
        _known[conn] = version[0], known
    return known


_NOTHING: tuple[int, Known] = -1, {}
_known: WeakKeyDictionary[apsw.Connection, tuple[int, Known]] = WeakKeyDictionary()
