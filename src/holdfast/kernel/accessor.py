"""What handlers and programs use: values by key, in one namespace.

An accessor knows its namespace and cannot leave it. That of a process ends with the process:
whatever still holds it, a thread that was given up for one, gets Closed and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.core.jsonvalue import check_key, check_prefix
from holdfast.core.keyvalue import expiry_us
from holdfast.errors import Closed, Unsupported
from holdfast.kernel.defaults import rich
from holdfast.kernel.feed import Feed
from holdfast.kernel.names import SHARED
from holdfast.model.keyvalue import MISSING, Delete, Increment, Set
from holdfast.model.times import from_us
from holdfast.ports.values import STATS_NOW, capabilities_of, limits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.model.keyvalue import Missing, Operation, Outcome, Stored, ValueChange
    from holdfast.ports import Clock
    from holdfast.ports.values import (
        Keys,
        MemoryBackend,
        MemoryBackendStats,
        RichBackend,
        SupportsStatsNow,
    )


class MemoryAccessor:
    """`ctx.memory`, and what `kernel.memory` gives. Made by the kernel only."""

    def __init__(
        self, backend: RichBackend, namespace: str, clock: Clock, bytes_max: int | None
    ) -> None:
        self.namespace = namespace
        self.bytes_max = bytes_max
        self._backend = backend
        self._clock = clock
        self._over = ""
        self._feeds: list[Feed[ValueChange]] = []

    async def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default where the key is missing. A stored None comes back as None."""
        self._check_open()
        value = await self._backend.get(self.namespace, key)
        return default if value is MISSING else value

    async def set(self, key: str, value: object, *, ttl_s: float | None = None) -> None:
        """Keep the value; with `ttl_s`, for so many seconds. Kept is what it is now."""
        self._check_open()
        if ttl_s is None and self.bytes_max is None:
            await self._backend.set(self.namespace, key, value)
        else:
            await self._apply(Set(key=key, value=value, expires_at=self._until(ttl_s)))

    async def delete(self, key: str) -> bool:
        """Remove the key. Whether it was there."""
        self._check_open()
        return await self._backend.delete(self.namespace, key)

    async def list(self, prefix: str = "") -> Keys:
        """The keys that start with the prefix, exactly, in the order of their code points."""
        self._check_open()
        check_prefix(prefix)
        return await self._backend.list(self.namespace, prefix)

    async def clear(self) -> None:
        """Remove every key of this namespace."""
        self._check_open()
        await self._backend.clear(self.namespace)

    async def stored(self, key: str) -> Stored | None:
        """The value with its revision and expiry; None where the key is missing."""
        self._check_open()
        return await self._backend.stored(self.namespace, key)

    async def compare_and_set(
        self, key: str, value: object, expected: str | Missing, *, ttl_s: float | None = None
    ) -> str:
        """Keep the value if the key is at this revision (MISSING: if it is not there).

        The new revision, or Conflict. Without `ttl_s` the value stays.
        """
        until = self._until(ttl_s)
        outcome = await self._apply(Set(key=key, value=value, expires_at=until, expected=expected))
        return cast("str", outcome.revision)

    async def increment(self, key: str, by: float = 1) -> Any:
        """Add to a number, which starts at 0 and keeps its expiry. The sum."""
        return (await self._apply(Increment(key=key, by=by))).number

    async def batch(self, operations: Sequence[Set | Delete | Increment]) -> list[Outcome]:
        """Carry out all operations, on different keys, or none."""
        self._check_open()
        return await self._backend.apply(self.namespace, operations, self.bytes_max)

    def watch(self, prefix: str = "", *, key: str | None = None) -> Feed[ValueChange]:
        """The changes from now on of one key, or of all keys that start with the prefix."""
        self._check_open()
        check_prefix(prefix)
        if key is not None:
            check_key(key, limits_of(self._backend))
        feed: Feed[ValueChange] = Feed()

        def listen(changes: Sequence[ValueChange]) -> None:
            for change in changes:
                if change.key == key if key is not None else change.key.startswith(prefix):
                    feed.push(change)

        unsubscribe = self._backend.subscribe(self.namespace, listen)
        self._feeds.append(feed)

        def stop() -> None:
            unsubscribe()
            self._feeds.remove(feed)

        feed.stop = stop
        return feed

    def end(self, reason: str) -> None:
        """Refuse everything from now on, and end the feeds."""
        self._over = reason
        for feed in tuple(self._feeds):
            feed.close()

    async def _apply(self, operation: Operation) -> Outcome:
        return (await self.batch((operation,)))[0]

    def _until(self, ttl_s: float | None) -> datetime | None:
        return None if ttl_s is None else from_us(expiry_us(self._clock(), ttl_s))

    def _check_open(self) -> None:
        if self._over:
            raise Closed("memory_closed", self._over, hint="spawn the agent again")


class KernelMemory:
    """`kernel.memory`: the values of all processes, and the shared ones."""

    def __init__(
        self,
        backend: MemoryBackend,
        clock: Clock,
        bytes_max: int | None,
        find: Callable[[str], MemoryAccessor],
    ) -> None:
        self.backend = backend
        self.capabilities = capabilities_of(backend)
        self._rich = rich(backend, clock)
        self._clock = clock
        self._bytes_max = bytes_max
        self._find = find
        self._shared = self.accessor(SHARED, None)

    def get_shared_accessor(self) -> MemoryAccessor:
        """The values that all processes of all kernels on this backend share."""
        return self._shared

    def get_accessor(self, process_id: str) -> MemoryAccessor:
        """The values of a live process."""
        return self._find(process_id)

    @property
    def stats(self) -> MemoryBackendStats:
        """What the backend holds, where it can say so at once."""
        if STATS_NOW not in self.capabilities:
            raise Unsupported(
                "stats_async_only",
                f"the backend {self.backend.name} can count only asynchronously",
                hint="await kernel.memory.stats_async()",
            )
        return cast("SupportsStatsNow", self.backend).stats_now()

    async def stats_async(self) -> MemoryBackendStats:
        """What the backend holds: `backend`, `namespaces`, `totalEntries`."""
        return await self._rich.stats()

    async def sweep(self) -> int:
        """Remove what has expired now, rather than when it is next in the way."""
        return await self._rich.sweep()

    def accessor(self, namespace: str, bytes_max: int | None) -> MemoryAccessor:
        limit = self._bytes_max if bytes_max is None else bytes_max
        return MemoryAccessor(self._rich, namespace, self._clock, limit)

    @property
    def rich(self) -> RichBackend:
        return self._rich
