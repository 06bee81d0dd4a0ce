"""Values by key in SQLite: reads of one snapshot, and writes that are exact in one transaction.

A write reads one row (the store, the namespace and what stands under the key) and writes one: the
value. How many values there are is counted when it is asked; how many bytes, too, until somebody
sets a limit: from then on the namespace's row has the sum, and every write keeps it true. What has
expired is invisible at once and still counted as stored, until a write comes upon it, a quota needs
its room, or a sweep removes it: so the row also says when the first value may expire, and only from
then on does anybody look for such values.

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
_PLACE, _PUT = STATEMENTS["place"], STATEMENTS["put"]
ALL = -1
SWEPT_AT_ONCE = 256
_LAST = 0x10FFFF
_NO_ROW: Row = (None, 0, None, None)


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
        return [(name, held, size) for name, held, size in found]

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

    def put_value(self, store: Store, namespace: str, key: str, data: bytes) -> int | None:
        place = _look(self._conn, store, namespace, key)
        if place is None or place[0] is None or place[2] is not None:
            return None
        number, gone, _, _, revision, *_ = place
        return _put(self._conn, (number, key, data, 1 + (revision or gone), None))

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
    ) -> tuple[Outcome, ...] | None:
        space = Namespace(self._conn, store, namespace)
        heads: dict[str, Row | None] = {}
        before: dict[str, Stored | None] = {}
        for each in operations:
            if not space.look(each.key):
                return None
            heads[each.key] = head = space.head
            before[each.key] = None if head is None else self._held(space, each, head, at_us)
        planned = plan(operations, before, data, ends_at=ends_at)
        if bytes_max is not None:
            self._check_quota(space, planned, heads, bytes_max, at_us)
        outcomes = [space.carry_out(each, heads[each.key]) for each in planned]
        space.keep()
        return tuple(outcomes)

    def clear_values(self, store: Store, namespace: str, at_us: int, *, forget: bool) -> int | None:
        space = Namespace(self._conn, store, namespace)
        if not space.look(""):
            return None
        if space.number is None:
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
            swept = Namespace(self._conn, None, "", row).sweep(at_us, limit)
            if swept:
                return swept
        return 0

    def _held(self, space: Namespace, operation: Operation, head: Row, at_us: int) -> Stored | None:
        """What is there as far as `plan` needs it: the value itself only to add to it."""
        if head[1] is not None and head[1] <= at_us:
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
                space.look(each.key)
                heads[each.key] = space.head
        check_quota(space.name, space.used(), space.bytes_after(planned, heads), bytes_max)


class Namespace:
    """A namespace's row while it is worked on; it is made by the first value."""

    def __init__(
        self, conn: apsw.Connection, store: Store | None, name: str, row: Row | None = None
    ) -> None:
        self._conn = conn
        self._store = store
        self.name = name
        self.head: Row | None = None
        self.number: int | None
        self.bytes: int | None
        self.number, self._gone, self.bytes, self._due_us = self._known = row or _NO_ROW

    def look(self, key: str) -> bool:
        """See what is there: `head` is revision, expiry and length of what is stored under the key,
        expired or not. False where the store is not what it was."""
        assert self._store is not None
        row = _look(self._conn, self._store, self.name, key)
        if row is None:
            return False
        if self._known is _NO_ROW and row[0] is not None:
            self.number, self._gone, self.bytes, self._due_us = self._known = row[:4]
        self.head = None if row[4] is None else row[4:]
        return True

    def may_be_due(self, at_us: int) -> bool:
        return self._due_us is not None and self._due_us <= at_us

    def used(self) -> int:
        """What is stored, in bytes; from the first time that it is asked, it is kept."""
        if self.bytes is None:
            self.bytes = next(self._rows("bytes_in", (self.number,)))[0]
            assert self.bytes is not None
        return self.bytes

    def bytes_after(self, planned: Sequence[Planned], heads: Mapping[str, Row | None]) -> int:
        return self.used() + sum(
            _size(each.key, None if each.data is None else len(each.data))
            - _size_held(each.key, heads[each.key])
            for each in planned
        )

    def carry_out(self, planned: Planned, head: Row | None) -> Outcome:
        key, data = planned.key, planned.data
        if self.bytes is not None:
            length = None if data is None else len(data)
            self.bytes += _size(key, length) - _size_held(key, head)
        if data is None:
            if head is not None:
                self._drop(key, head[0])
            return Outcome(existed=planned.existed, revision=None)
        if self.number is None:
            self._make()
        expires_us = None if planned.expires_at is None else to_us(planned.expires_at)
        if expires_us is not None:
            due_us = self._due_us
            self._due_us = expires_us if due_us is None else min(expires_us, due_us)
        after = self._gone if head is None else head[0]
        revision = _put(self._conn, (self.number, key, data, 1 + after, expires_us))
        return Outcome(existed=planned.existed, revision=str(revision), number=planned.number)

    def sweep(self, at_us: int, limit: int) -> int:
        """Remove what has expired, and find out when the next value may."""
        wanted = {"number": self.number, "at": at_us, "most": limit}
        due = list(self._rows("due", wanted))
        for key, revision, length in due:
            self._drop(key, revision)
            if self.bytes is not None:
                self.bytes -= _size(key, length)
        self._due_us = next(self._rows("next_due", (self.number,)))[0]
        self.keep()
        return len(due)

    def clear(self) -> None:
        newest = next(self._rows("newest_in", (self.number,)))[0]
        self._gone = max(self._gone, newest or 0)
        self._do("clear", (self.number,))
        self.bytes, self._due_us = None if self.bytes is None else 0, None

    def go(self) -> None:
        """Remove the row; whoever makes the namespace anew goes on with its revisions."""
        self._do("raise_floor", (self._gone,))
        self._do("drop_namespace", (self.number,))

    def keep(self) -> None:
        now = (self.number, self._gone, self.bytes, self._due_us)
        if now != self._known and self.number is not None:
            self._do("keep_namespace", (*now[1:], self.number))
            self._known = now

    def _drop(self, key: str, revision: int) -> None:
        self._do("drop", (self.number, key))
        self._gone = max(self._gone, revision)

    def _make(self) -> None:
        assert self._store is not None
        store = self._store.number
        self.number, self._gone = next(self._rows("add_namespace", (store, self.name)))
        sealed = row_digest("namespace", (self.number, store, self.name))
        self._do("seal_namespace", (sealed, self.number))
        self._known = (self.number, self._gone, None, None)

    def _rows(self, name: str, bindings: Any) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def _do(self, name: str, bindings: Any) -> None:
        self._conn.execute(STATEMENTS[name], bindings)


def _look(conn: apsw.Connection, store: Store, namespace: str, key: str) -> Row | None:
    """The row of `place`. The statement has ended when it is given: one that is still open when
    another writes would stay open beyond the transaction."""
    found = None
    for found in conn.execute(_PLACE, (store.number, store.revision, namespace, key)):  # noqa: B007
        break
    return found


def _put(conn: apsw.Connection, columns: Row) -> int:
    conn.execute(_PUT, (*columns, value_digest(columns)))
    return columns[3]


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
