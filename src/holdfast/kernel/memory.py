"""Values in RAM: the default backend, gone with its process.

Each value is kept as the JSON it was encoded to (scalars, which nobody can change, as they are),
so that no caller shares an object with the backend. Nothing here awaits, so every method is one
step for all tasks; a lock makes it one for all threads too. A value that has expired is invisible
at once, and removed by whichever write, listing or count comes next.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from functools import partial
from threading import Lock

from holdfast.core.jsonvalue import (
    LIMITS,
    check_key,
    check_namespace,
    check_prefix,
    decode,
    encode,
)
from holdfast.core.keyvalue import check_quota, data_of, plan, size_of
from holdfast.errors import Closed
from holdfast.kernel.clock import now_us
from holdfast.model.keyvalue import MISSING, Outcome, Stored, ValueChange
from holdfast.model.times import from_us, to_us
from holdfast.ports.values import (
    EPHEMERAL,
    NAMESPACES,
    STATS_NOW,
    TRANSACTIONS,
    WATCH,
    MemoryBackendStats,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.core.jsonvalue import Limits
    from holdfast.core.keyvalue import Planned
    from holdfast.model.keyvalue import Operation
    from holdfast.ports import Clock
    from holdfast.ports.values import Keys, Listener, Names

    # what is kept (JSON in bytes, or a scalar), revision, expiry in microseconds, bytes counted
    Row = tuple[Any, int, int | None, int]

_FEW = 64
_DUE = 1024


class InMemoryBackend:
    name = "memory"
    capabilities = frozenset({TRANSACTIONS, WATCH, STATS_NOW, NAMESPACES, EPHEMERAL})

    def __init__(self, *, limits: Limits = LIMITS, clock: Clock = now_us) -> None:
        self.limits = limits
        self._clock = clock
        self._spaces: dict[str, _Space] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._due: list[tuple[int, str, str]] = []
        self._due_max = _DUE
        self._revision = 0
        self._closed = False
        self._lock = Lock()

    async def get(self, namespace: str, key: str) -> Any:
        space = self._spaces.get(namespace) if type(namespace) is str else None
        row = space.rows.get(key) if space is not None and type(key) is str else None
        if row is None:
            self._check(namespace, key)
            return MISSING
        kept, _, expires_us, _ = row
        if expires_us is not None and expires_us <= self._clock():
            return MISSING
        return decode(kept) if type(kept) is bytes else kept

    async def set(self, namespace: str, key: str, value: object) -> None:
        self._check(namespace, key)
        data = encode(value, self.limits)
        with self._lock:
            self._begin()
            self._put(namespace, key, value, data, None)
        self._tell(namespace, [key])

    async def delete(self, namespace: str, key: str) -> bool:
        self._check(namespace, key)
        with self._lock:
            self._begin()
            found = self._drop(namespace, key)
        if found:
            self._tell(namespace, [key], deleted=True)
        return found

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        check_prefix(prefix)
        self._check(namespace)
        with self._lock:
            self._begin()
            return self._keys(namespace, prefix)

    async def clear(self, namespace: str) -> None:
        self._check(namespace)
        with self._lock:
            self._begin()
            keys = self._keys(namespace, "") if namespace in self._listeners else []
            self._spaces.pop(namespace, None)
        self._tell(namespace, keys, deleted=True)

    async def delete_namespace(self, namespace: str) -> None:
        await self.clear(namespace)

    async def stats(self) -> MemoryBackendStats:
        return self.stats_now()

    def stats_now(self) -> MemoryBackendStats:
        with self._lock:
            self._begin()
            return MemoryBackendStats(
                backend=self.name,
                namespaces=len(self._spaces),
                totalEntries=sum(len(space.rows) for space in self._spaces.values()),
            )

    async def close(self) -> None:
        with self._lock:
            self._closed = True
            self._spaces.clear()
            self._due.clear()

    async def namespaces(self) -> Names:
        with self._lock:
            self._begin()
            return sorted(self._spaces)

    async def stored(self, namespace: str, key: str) -> Stored | None:
        self._check(namespace, key)
        with self._lock:
            self._begin()
            return self._stored(namespace, key)

    async def snapshot(self, namespace: str, prefix: str = "") -> list[Stored]:
        check_prefix(prefix)
        self._check(namespace)
        with self._lock:
            self._begin()
            found = [self._stored(namespace, key) for key in self._keys(namespace, prefix)]
        return [each for each in found if each is not None]

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> list[Outcome]:
        self._check(namespace)
        data = data_of(operations, self.limits)
        with self._lock:
            self._begin()
            before = {key: self._stored(namespace, key) for key in data}
            planned = plan(operations, before, data, self.limits)
            self._check_quota(namespace, planned, bytes_max)
            outcomes = [self._carry_out(namespace, each) for each in planned]
        for each in planned:
            if each.data is not None or each.existed:
                self._tell(namespace, [each.key], deleted=each.data is None)
        return outcomes

    async def sweep(self) -> int:
        with self._lock:
            return self._begin()

    def subscribe(self, namespace: str, listener: Listener) -> Callable[[], None]:
        self._check(namespace)
        with self._lock:
            self._listeners.setdefault(namespace, []).append(listener)
        return partial(self._unsubscribe, namespace, listener)

    def _unsubscribe(self, namespace: str, listener: Listener) -> None:
        with self._lock:
            listeners = self._listeners.get(namespace, [])
            if listener in listeners:
                listeners.remove(listener)
            if not listeners:
                self._listeners.pop(namespace, None)

    def _tell(self, namespace: str, keys: Sequence[str], *, deleted: bool = False) -> None:
        if keys and namespace in self._listeners:
            changes = [ValueChange(namespace=namespace, key=key, deleted=deleted) for key in keys]
            for listener in tuple(self._listeners.get(namespace, ())):
                listener(changes)

    def _check(self, namespace: str, key: str = "any") -> None:
        self._check_open()
        if type(namespace) is not str or namespace not in self._spaces:
            check_namespace(namespace)
        check_key(key, self.limits)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("backend_closed", "the memory backend is closed", hint="make another one")

    def _begin(self) -> int:
        """Start of whatever holds the lock: drop what has expired; how many values that were."""
        self._check_open()
        dropped = 0
        while self._due and self._due[0][0] <= self._clock():
            due_us, namespace, key = heapq.heappop(self._due)
            if self._is_due(due_us, namespace, key):
                dropped += self._drop(namespace, key)
        return dropped

    def _keys(self, namespace: str, prefix: str) -> Keys:
        space = self._spaces.get(namespace)
        return [] if space is None else space.keys.starting(prefix)

    def _stored(self, namespace: str, key: str) -> Stored | None:
        space = self._spaces.get(namespace)
        row = space.rows.get(key) if space is not None else None
        if row is None:
            return None
        kept, revision, expires_us, _ = row
        return Stored(
            key=key,
            value=decode(kept) if type(kept) is bytes else kept,
            revision=str(revision),
            expires_at=None if expires_us is None else from_us(expires_us),
        )

    def _carry_out(self, namespace: str, planned: Planned) -> Outcome:
        if planned.data is None:
            self._drop(namespace, planned.key)
            return Outcome(existed=planned.existed, revision=None)
        expires_us = None if planned.expires_at is None else to_us(planned.expires_at)
        self._put(namespace, planned.key, planned.value, planned.data, expires_us)
        revision = str(self._revision)
        return Outcome(existed=planned.existed, revision=revision, number=planned.number)

    def _put(
        self, namespace: str, key: str, value: Any, data: bytes, expires_us: int | None
    ) -> None:
        space = self._spaces.get(namespace)
        if space is None:
            space = self._spaces[namespace] = _Space()
        kept = data if type(value) is dict or type(value) is list else value
        size = size_of(key, data)
        before = space.rows.get(key)
        if before is None:
            space.keys.add(key)
        space.used += size - (before[3] if before else 0)
        self._revision += 1
        space.rows[key] = (kept, self._revision, expires_us, size)
        if expires_us is not None:
            self._expect(expires_us, namespace, key)

    def _expect(self, expires_us: int, namespace: str, key: str) -> None:
        """Note when to drop the value. A value that is renewed for ever must not fill the heap."""
        heapq.heappush(self._due, (expires_us, namespace, key))
        if len(self._due) > self._due_max:
            self._due = [each for each in set(self._due) if self._is_due(*each)]
            heapq.heapify(self._due)
            self._due_max = max(_DUE, 2 * len(self._due))

    def _is_due(self, due_us: int, namespace: str, key: str) -> bool:
        """Whether this is the expiry that the value has now."""
        space = self._spaces.get(namespace)
        row = space.rows.get(key) if space is not None else None
        return row is not None and row[2] == due_us

    def _drop(self, namespace: str, key: str) -> bool:
        space = self._spaces.get(namespace)
        row = space.rows.pop(key, None) if space is not None else None
        if space is None or row is None:
            return False
        space.used -= row[3]
        space.keys.discard(key)
        if not space.rows:
            del self._spaces[namespace]
        return True

    def _check_quota(
        self, namespace: str, planned: Sequence[Planned], bytes_max: int | None
    ) -> None:
        space = self._spaces.get(namespace)
        used = would_use = space.used if space is not None else 0
        for each in planned:
            row = space.rows.get(each.key) if space is not None else None
            would_use -= row[3] if row else 0
            would_use += size_of(each.key, each.data) if each.data is not None else 0
        check_quota(namespace, used, would_use, bytes_max)


class _Space:
    """One namespace: it exists while it holds a value."""

    __slots__ = ("keys", "rows", "used")

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.keys = _Keys()
        self.used = 0


class _Keys:
    """The keys of a namespace, put in order when somebody asks for them and no earlier."""

    __slots__ = ("_added", "_gone", "_order")

    def __init__(self) -> None:
        self._order: list[str] = []
        self._added: set[str] = set()
        self._gone: set[str] = set()

    def add(self, key: str) -> None:
        if key in self._gone:
            self._gone.discard(key)
        else:
            self._added.add(key)

    def discard(self, key: str) -> None:
        if key in self._added:
            self._added.discard(key)
        else:
            self._gone.add(key)

    def starting(self, prefix: str) -> list[str]:
        self._settle()
        start = bisect_left(self._order, prefix)
        chars = len(prefix)
        end = bisect_right(self._order, prefix, lo=start, key=lambda key: key[:chars])
        return self._order[start:end]

    def _settle(self) -> None:
        if len(self._gone) < _FEW:
            for key in self._gone:
                del self._order[bisect_left(self._order, key)]
        else:
            self._order = [key for key in self._order if key not in self._gone]
        self._gone.clear()
        if len(self._added) < _FEW:
            for key in self._added:
                insort(self._order, key)
        else:
            self._order += sorted(self._added)
            self._order.sort()
        self._added.clear()
