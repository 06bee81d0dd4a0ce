"""What a backend does not declare, built on its eight methods.

`WithTransactions` gives expiry, compare-and-set, batches and increments. A value that expires, or
that looks like what follows, is kept as `{"$holdfast": {"expires_us": …}, "value": …}`, in one
`set`, so that no crash parts a value from its expiry; namespaces where that happened are noted
under `holdfast/ttl`, and only there does a listing look into values. A revision is a digest of
the value. Every write to a namespace waits its turn.

What this cannot promise: the turn is that of one event loop, so another process, or a write past
this layer, can come between a read and its write; a batch is undone when a write of it fails, but
readers may see half of it meanwhile, and a process killed in the middle leaves half; a quota
counts what this process knows of. A backend that can do better declares `transactions`.

`WithWatch` tells watchers in this process of the writes that are made through it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, cast
from weakref import WeakValueDictionary

from holdfast.core.canonical import canonical, digest
from holdfast.core.jsonvalue import check_key, encode
from holdfast.core.keyvalue import check_quota, data_of, plan, size_of
from holdfast.errors import InvalidInput, StorageFailed, Unsupported
from holdfast.kernel.names import OWN
from holdfast.model.keyvalue import MISSING, Outcome, Stored, ValueChange
from holdfast.model.names import shown
from holdfast.model.times import from_us, to_us
from holdfast.ports.values import (
    TRANSACTIONS,
    WATCH,
    MemoryBackendStats,
    capabilities_of,
    limits_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from holdfast.core.keyvalue import Planned
    from holdfast.model.keyvalue import Operation
    from holdfast.ports import Clock
    from holdfast.ports.values import (
        Keys,
        Listener,
        MemoryBackend,
        RichBackend,
        SupportsTransactions,
    )

    class TransactionalBackend(MemoryBackend, SupportsTransactions, Protocol): ...


_MARK = "$holdfast"
_BOOK = OWN + "ttl"


def rich(backend: MemoryBackend, clock: Clock) -> RichBackend:
    """The backend, with what it does not declare built on top.

    All users of one backend in this process share the layers, and so the turns and the watchers.
    """
    declared = capabilities_of(backend)
    if declared >= {TRANSACTIONS, WATCH}:
        return cast("RichBackend", backend)
    layer = _layers.get(id(backend))
    if layer is None:
        if TRANSACTIONS in declared:
            layer = WithWatch(cast("TransactionalBackend", backend), clock)
        else:
            layer = WithWatch(WithTransactions(backend, clock), clock)
        _layers[id(backend)] = layer
    if layer.clock is not clock:
        raise InvalidInput(
            "clock_differs",
            f"the backend {backend.name} is in use by a kernel with another clock",
            hint="give all kernels of one backend the same clock",
        )
    return layer


class WithTransactions:
    """The eight methods, and `stored`, `snapshot`, `apply` and `sweep` made of them."""

    def __init__(self, backend: MemoryBackend, clock: Clock) -> None:
        self.name = backend.name
        self.close = backend.close
        self._backend = backend
        self._clock = clock
        self.limits = limits_of(backend)
        self.capabilities = frozenset({TRANSACTIONS})
        self._turns: dict[str, _Turn] = {}
        self._noted: set[str] = set()
        self._sizes: dict[str, _Sizes] = {}

    async def get(self, namespace: str, key: str) -> Any:
        check_key(key, self.limits)
        return self._opened(await self._backend.get(namespace, key))[0]

    async def set(self, namespace: str, key: str, value: object) -> None:
        check_key(key, self.limits)
        data = encode(value, self.limits)
        async with self._turn(namespace):
            await self._put(namespace, key, _wrap(value, None), size_of(key, data))

    async def delete(self, namespace: str, key: str) -> bool:
        check_key(key, self.limits)
        async with self._turn(namespace):
            live = await self.get(namespace, key) is not MISSING
            return await self._drop(namespace, key) and live

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        keys = await self._backend.list(namespace, prefix)
        if not keys or not await self._may_expire(namespace):
            return keys
        return [key for key in keys if await self.get(namespace, key) is not MISSING]

    async def clear(self, namespace: str) -> None:
        async with self._turn(namespace):
            self._sizes.pop(namespace, None)
            await self._backend.clear(namespace)

    async def delete_namespace(self, namespace: str) -> None:
        async with self._turn(namespace):
            self._sizes.pop(namespace, None)
            await self._backend.delete_namespace(namespace)

    async def stats(self) -> MemoryBackendStats:
        notes = len(await self._backend.list(_BOOK))
        if notes:
            await self.sweep()
        stats = await self._backend.stats()
        return MemoryBackendStats(
            backend=self.name,
            namespaces=stats["namespaces"] - (1 if notes else 0),
            totalEntries=stats["totalEntries"] - notes,
        )

    async def stored(self, namespace: str, key: str) -> Stored | None:
        check_key(key, self.limits)
        return self._stored(key, await self._backend.get(namespace, key))

    async def snapshot(self, namespace: str, prefix: str = "") -> list[Stored]:
        async with self._turn(namespace):
            keys = await self._backend.list(namespace, prefix)
            found = [self._stored(key, await self._backend.get(namespace, key)) for key in keys]
        return [each for each in found if each is not None]

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> list[Outcome]:
        data = data_of(operations, self.limits)
        async with self._turn(namespace):
            before = {key: await self._backend.get(namespace, key) for key in data}
            held = {key: self._stored(key, raw) for key, raw in before.items()}
            planned = plan(operations, held, data, self.limits)
            if bytes_max is not None:
                await self._check_quota(namespace, planned, bytes_max)
            if any(each.expires_at for each in planned):
                await self._note(namespace)
            await self._write_all(namespace, planned, before)
        return [_outcome(each) for each in planned]

    async def sweep(self) -> int:
        swept = 0
        for namespace in await self._backend.list(_BOOK):
            async with self._turn(namespace):
                swept += await self._sweep(namespace)
        return swept

    def _opened(self, raw: Any) -> tuple[Any, int | None]:
        """What was kept without its wrapping: a value, or MISSING when it has expired."""
        value, expires_us = _unwrap(raw)
        if expires_us is not None and expires_us <= self._clock():
            return MISSING, None
        return value, expires_us

    def _stored(self, key: str, raw: Any) -> Stored | None:
        value, expires_us = self._opened(raw)
        if value is MISSING:
            return None
        until = None if expires_us is None else from_us(expires_us)
        return Stored(key=key, value=value, revision=_revision(raw), expires_at=until)

    async def _put(self, namespace: str, key: str, raw: object, size: int) -> None:
        await self._backend.set(namespace, key, raw)
        if sizes := self._sizes.get(namespace):
            sizes.put(key, size)

    async def _drop(self, namespace: str, key: str) -> bool:
        found = await self._backend.delete(namespace, key)
        if sizes := self._sizes.get(namespace):
            sizes.put(key, 0)
        return found

    async def _write_all(
        self, namespace: str, planned: Sequence[Planned], before: dict[str, Any]
    ) -> None:
        """Write what was planned; when a write fails, put back what was there before."""
        begun: list[str] = []
        try:
            for each in planned:
                begun.append(each.key)
                if each.data is not None:
                    raw = _wrap(each.value, each.expires_at)
                    await self._put(namespace, each.key, raw, size_of(each.key, each.data))
                elif before[each.key] is not MISSING:
                    await self._drop(namespace, each.key)
        except BaseException:
            self._sizes.pop(namespace, None)
            if len(planned) > 1:
                await self._put_back(namespace, {key: before[key] for key in begun})
            raise

    async def _put_back(self, namespace: str, before: dict[str, Any]) -> None:
        try:
            for key, raw in before.items():
                if raw is MISSING:
                    await self._backend.delete(namespace, key)
                else:
                    await self._backend.set(namespace, key, raw)
        except BaseException as exc:
            raise StorageFailed(
                "batch_half_written",
                f"a batch in {shown(namespace)} failed, and so did putting it back",
                hint="read the keys again; use a backend that declares transactions",
            ) from exc

    async def _check_quota(
        self, namespace: str, planned: Sequence[Planned], bytes_max: int
    ) -> None:
        sizes = self._sizes.get(namespace) or await self._measure(namespace)
        if sizes.used_after(planned) > bytes_max and await self._may_expire(namespace):
            await self._sweep(namespace)
        check_quota(namespace, sizes.used, sizes.used_after(planned), bytes_max)

    async def _measure(self, namespace: str) -> _Sizes:
        sizes = _Sizes()
        for key in await self._backend.list(namespace):
            value, _ = _unwrap(await self._backend.get(namespace, key))
            if value is not MISSING:
                sizes.put(key, size_of(key, encode(value, self.limits)))
        self._sizes[namespace] = sizes
        return sizes

    async def _note(self, namespace: str) -> None:
        """Note, before the first value that expires is kept, that such values are here."""
        if not await self._may_expire(namespace):
            await self._backend.set(_BOOK, namespace, True)
            self._noted.add(namespace)

    async def _may_expire(self, namespace: str) -> bool:
        if namespace not in self._noted:
            if await self._backend.get(_BOOK, namespace) is MISSING:
                return False
            self._noted.add(namespace)
        return True

    async def _sweep(self, namespace: str) -> int:
        swept = 0
        for key in await self._backend.list(namespace):
            raw = await self._backend.get(namespace, key)
            if raw is not MISSING and self._opened(raw)[0] is MISSING:
                swept += await self._drop(namespace, key)
        return swept

    @asynccontextmanager
    async def _turn(self, namespace: str) -> AsyncGenerator[None]:
        """One writer a namespace at a time, in the order in which they came."""
        loop = asyncio.get_running_loop()
        turn = self._turns.setdefault(namespace, _Turn(loop))
        if turn.loop is not loop:
            raise Unsupported(
                "two_event_loops",
                f"two event loops write to {shown(namespace)} of the backend {self.name}",
                hint="use one event loop, or a backend that declares transactions",
            )
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if turn.users == 0:
                del self._turns[namespace]


class WithWatch:
    """A backend that tells watchers in this process of the writes that go through it."""

    def __init__(self, inner: TransactionalBackend, clock: Clock) -> None:
        self.clock = clock
        self.name = inner.name
        self.get = inner.get
        self.list = inner.list
        self.stats = inner.stats
        self.close = inner.close
        self.stored = inner.stored
        self.snapshot = inner.snapshot
        self.sweep = inner.sweep
        self.limits = limits_of(inner)
        self.capabilities = frozenset({TRANSACTIONS, WATCH})
        self._inner = inner
        self._listeners: dict[str, list[Listener]] = {}

    async def set(self, namespace: str, key: str, value: object) -> None:
        await self._inner.set(namespace, key, value)
        self._tell(namespace, [ValueChange(namespace=namespace, key=key)])

    async def delete(self, namespace: str, key: str) -> bool:
        found = await self._inner.delete(namespace, key)
        if found:
            self._tell(namespace, [ValueChange(namespace=namespace, key=key, deleted=True)])
        return found

    async def clear(self, namespace: str) -> None:
        keys = await self._watched_keys(namespace)
        await self._inner.clear(namespace)
        self._tell(namespace, keys)

    async def delete_namespace(self, namespace: str) -> None:
        keys = await self._watched_keys(namespace)
        await self._inner.delete_namespace(namespace)
        self._tell(namespace, keys)

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> list[Outcome]:
        outcomes = await self._inner.apply(namespace, operations, bytes_max)
        changes = [
            ValueChange(namespace=namespace, key=operation.key, deleted=outcome.revision is None)
            for operation, outcome in zip(operations, outcomes, strict=True)
            if outcome.existed or outcome.revision is not None
        ]
        self._tell(namespace, changes)
        return outcomes

    def subscribe(self, namespace: str, listener: Listener) -> Callable[[], None]:
        self._listeners.setdefault(namespace, []).append(listener)
        return partial(self._unsubscribe, namespace, listener)

    def _unsubscribe(self, namespace: str, listener: Listener) -> None:
        listeners = self._listeners.get(namespace, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self._listeners.pop(namespace, None)

    async def _watched_keys(self, namespace: str) -> list[ValueChange]:
        if namespace not in self._listeners:
            return []
        keys = await self._inner.list(namespace)
        return [ValueChange(namespace=namespace, key=key, deleted=True) for key in keys]

    def _tell(self, namespace: str, changes: Sequence[ValueChange]) -> None:
        if changes:
            for listener in tuple(self._listeners.get(namespace, ())):
                listener(changes)


_layers: WeakValueDictionary[int, WithWatch] = WeakValueDictionary()


class _Turn:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.lock = asyncio.Lock()
        self.users = 0


class _Sizes:
    """What each key of a namespace counts for, and all of them."""

    def __init__(self) -> None:
        self.used = 0
        self._of: dict[str, int] = {}

    def put(self, key: str, size: int) -> None:
        self.used += size - self._of.pop(key, 0)
        if size:
            self._of[key] = size

    def used_after(self, planned: Sequence[Planned]) -> int:
        return self.used + sum(
            (0 if each.data is None else size_of(each.key, each.data)) - self._of.get(each.key, 0)
            for each in planned
        )


def _wrap(value: Any, until: datetime | None) -> Any:
    """The value as it is kept: itself, unless it expires or could be taken for a wrapping."""
    if until is None and not (_is(dict, value) and _MARK in value):
        return value
    return {_MARK: {"expires_us": None if until is None else to_us(until)}, "value": value}


def _unwrap(raw: Any) -> tuple[Any, int | None]:
    if _is(dict, raw) and raw.keys() == {_MARK, "value"}:
        note = raw[_MARK]
        if _is(dict, note) and note.keys() == {"expires_us"}:
            return raw["value"], note["expires_us"]
    return raw, None


def _is(kind: type[object], value: object) -> bool:
    """`isinstance`, which leaves what is known of JSON at Any."""
    return isinstance(value, kind)


def _revision(raw: Any) -> str:
    return digest("value", canonical(raw)).hex()[:32]


def _outcome(planned: Planned) -> Outcome:
    if planned.data is None:
        return Outcome(existed=planned.existed, revision=None)
    revision = _revision(_wrap(planned.value, planned.expires_at))
    return Outcome(existed=planned.existed, revision=revision, number=planned.number)
