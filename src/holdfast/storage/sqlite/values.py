"""Values by key in SQLite: reads of one snapshot, and writes that are exact in one transaction.

A namespace's row counts what the namespace holds; every write reads it, keeps it true, and takes
the next revision from it. What has expired is invisible at once and still counted as stored, until
a write comes upon it, a quota needs its room, or a sweep removes it: so the row also says when the
first value may expire, and only from then on does anybody look for such values.

A prefix is a range of keys. Text is compared by its UTF-8, which is the order of code points.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.canonical import row_digest
from holdfast.core.jsonvalue import decode
from holdfast.core.keyvalue import check_quota, plan
from holdfast.model.keyvalue import Increment, Outcome, Stored
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import value_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    import apsw

    from holdfast.core.keyvalue import Planned
    from holdfast.model.keyvalue import Operation
    from holdfast.model.space import Store
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("values.sql"))
ALL = -1
SWEPT_AT_ONCE = 256
_LAST = 0x10FFFF


class ValueReads:
    """`ports.values.ValueReads` on a connection."""

    _conn: apsw.Connection

    def _values(self, name: str, bindings: Any) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def value_data(self, store: Store, namespace: str, key: str, at_us: int) -> bytes | None:
        wanted = (store.number, store.revision, namespace, key)
        for data, expires_us in self._conn.execute(STATEMENTS["get"], wanted):
            if expires_us is None or expires_us > at_us:
                return data
        return None

    def value(self, store: Store, namespace: str, key: str, at_us: int) -> Stored | None:
        wanted = {"store": store.number, "name": namespace, "key": key, "at": at_us}
        row = next(self._values("stored", wanted), None)
        return None if row is None else _stored(row)

    def values(self, store: Store, namespace: str, prefix: str, at_us: int) -> list[Stored]:
        found = self._under("values", store, namespace, prefix, at_us)
        return [_stored(row) for row in found]

    def value_keys(
        self, store: Store, namespace: str, prefix: str, at_us: int, limit: int | None
    ) -> list[str]:
        found = self._under("keys", store, namespace, prefix, at_us, limit)
        return [key for (key,) in found]

    def value_namespaces(self, store: Store, at_us: int) -> list[tuple[str, int, int]]:
        found = self._values("live", {"store": store.number, "at": at_us})
        return [(row[0], row[2], row[4] - int(row[3])) for row in found]

    def value_totals(self, store: Store, at_us: int) -> tuple[int, int]:
        row = next(self._values("totals", {"store": store.number, "at": at_us}))
        return row[0], row[1]

    def _under(
        self,
        name: str,
        store: Store,
        namespace: str,
        prefix: str,
        at_us: int,
        limit: int | None = None,
    ) -> Iterator[Row]:
        try:
            prefix.encode()
        except UnicodeEncodeError:  # no key has half a character
            return iter(())
        wanted: dict[str, Any] = {
            "store": store.number,
            "name": namespace,
            "first": prefix,
            "at": at_us,
        }
        after = after_prefix(prefix)
        if after is not None:
            wanted["after"] = after
        if name == "keys":
            wanted["most"] = ALL if limit is None else limit
        return self._values(name if after is not None else f"all_{name}", wanted)


class ValueWrites(ValueReads):
    """`ports.values.ValueWrites` on a connection that is in a transaction."""

    def apply_values(
        self,
        store: Store,
        namespace: str,
        operations: Sequence[Operation],
        data: Mapping[str, bytes | None],
        at_us: int,
        *,
        bytes_max: int | None = None,
        ends_at: datetime | None = None,
    ) -> tuple[Outcome, ...]:
        space = Namespace.find(self._conn, store.number, namespace)
        heads = {each.key: space.head(each.key) for each in operations}
        before = {each.key: self._held(space, each, heads[each.key], at_us) for each in operations}
        planned = plan(operations, before, data, ends_at=ends_at)
        if bytes_max is not None:
            self._check_quota(space, planned, heads, bytes_max, at_us)
        outcomes = tuple(space.carry_out(each, heads[each.key]) for each in planned)
        space.keep()
        return outcomes

    def clear_values(self, store: Store, namespace: str, at_us: int, *, forget: bool) -> int:
        space = Namespace.find(self._conn, store.number, namespace)
        if space.number == 0:
            return 0
        wanted = {"number": space.number, "at": at_us}
        live = next(self._values("live_in", wanted))[0]
        space.clear()
        if forget:
            space.go()
        else:
            space.keep()
        return live

    def sweep_values(self, at_us: int, limit: int = SWEPT_AT_ONCE) -> int:
        """Remove some of what has expired; 0 when nothing more has."""
        while row := next(self._values("due_namespace", (at_us,)), None):
            swept = Namespace(self._conn, row).sweep(at_us, limit)
            if swept:
                return swept
        return 0

    def _held(
        self, space: Namespace, operation: Operation, head: Row | None, at_us: int
    ) -> Stored | None:
        """What is there as far as `plan` needs it: the value itself only to add to it."""
        if head is None or (head[1] is not None and head[1] <= at_us):
            return None
        value = None
        if isinstance(operation, Increment):
            found = next(self._values("data", (space.number, operation.key)))
            value = decode(found[0])
        return Stored(
            key=operation.key,
            value=value,
            revision=str(head[0]),
            expires_at=None if head[1] is None else from_us(head[1]),
        )

    def _check_quota(
        self,
        space: Namespace,
        planned: Sequence[Planned],
        heads: dict[str, Row | None],
        bytes_max: int,
        at_us: int,
    ) -> None:
        """Refuse growth beyond the limit, counting what has not expired."""
        if space.bytes_after(planned, heads) > bytes_max and space.may_be_due(at_us):
            space.sweep(at_us, ALL)
            for each in planned:
                heads[each.key] = space.head(each.key)
        check_quota(space.name, space.bytes, space.bytes_after(planned, heads), bytes_max)


class Namespace:
    """A namespace's row while it is worked on; it is made by the first value."""

    def __init__(self, conn: apsw.Connection, row: Row, store: int = 0, name: str = "") -> None:
        self._conn = conn
        self._store = store
        self.name = name
        self.number, self._entries, self.bytes, self._revision, self._due_us = row
        self._known = row

    @classmethod
    def find(cls, conn: apsw.Connection, store: int, name: str) -> Namespace:
        row = next(fetch(conn, STATEMENTS["namespace"], (store, name)), None)
        return cls(conn, row or (0, 0, 0, 0, None), store, name)

    def head(self, key: str) -> Row | None:
        """Revision, expiry and length of what is stored under the key, expired or not."""
        if self._entries == 0:
            return None
        return next(self._rows("head", (self.number, key)), None)

    def may_be_due(self, at_us: int) -> bool:
        return self._due_us is not None and self._due_us <= at_us

    def bytes_after(self, planned: Sequence[Planned], heads: Mapping[str, Row | None]) -> int:
        return self.bytes + sum(
            _size(each.key, None if each.data is None else len(each.data))
            - _size_held(each.key, heads[each.key])
            for each in planned
        )

    def carry_out(self, planned: Planned, head: Row | None) -> Outcome:
        key, data = planned.key, planned.data
        self.bytes -= _size_held(key, head)
        self._entries -= head is not None
        if data is None:
            if head is not None:
                self._do("drop", (self.number, key))
            return Outcome(existed=planned.existed, revision=None)
        if self.number == 0:
            self._make()
        self._entries += 1
        self.bytes += _size(key, len(data))
        self._revision += 1
        expires_us = None if planned.expires_at is None else to_us(planned.expires_at)
        if expires_us is not None:
            self._due_us = min(expires_us, self._due_us or expires_us)
        revision = self._revision
        columns = (self.number, key, data, revision, expires_us)
        self._do("put", (*columns, value_digest(columns)))
        return Outcome(existed=planned.existed, revision=str(revision), number=planned.number)

    def sweep(self, at_us: int, limit: int) -> int:
        """Remove what has expired, and find out when the next value may."""
        wanted = {"number": self.number, "at": at_us, "most": limit}
        due = list(self._rows("due", wanted))
        for key, length in due:
            self._do("drop", (self.number, key))
            self._entries -= 1
            self.bytes -= _size(key, length)
        self._due_us = next(self._rows("next_due", (self.number,)))[0]
        self.keep()
        return len(due)

    def clear(self) -> None:
        self._do("clear", (self.number,))
        self._entries, self.bytes, self._due_us = 0, 0, None

    def go(self) -> None:
        """Remove the row; whoever makes the namespace anew goes on with its revisions."""
        self._do("raise_floor", (self._revision,))
        self._do("drop_namespace", (self.number,))

    def keep(self) -> None:
        now = (self.number, self._entries, self.bytes, self._revision, self._due_us)
        if now != self._known:
            self._do("count_namespace", (*now[1:], self.number))
            self._known = now

    def _make(self) -> None:
        row = next(self._rows("add_namespace", (self._store, self.name)))
        self.number, _, _, self._revision, _ = row
        sealed = row_digest("namespace", (self.number, self._store, self.name))
        self._do("seal_namespace", (sealed, self.number))

    def _rows(self, name: str, bindings: Any) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def _do(self, name: str, bindings: Any) -> None:
        self._conn.execute(STATEMENTS[name], bindings)


def after_prefix(prefix: str) -> str | None:
    """The first text, in the order of code points, after all that begin so; None: there is none."""
    kept = prefix.rstrip(chr(_LAST))
    if not kept:
        return None
    after = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if after == 0xD800 else after)


def _stored(row: Row) -> Stored:
    key, data, revision, expires_us = row
    return Stored(
        key=key,
        value=decode(data),
        revision=str(revision),
        expires_at=None if expires_us is None else from_us(expires_us),
    )


def _size(key: str, length: int | None) -> int:
    """What a value counts for in a quota; nothing where there is none."""
    return 0 if length is None else len(key.encode()) + length


def _size_held(key: str, head: Row | None) -> int:
    return 0 if head is None else _size(key, head[2])
