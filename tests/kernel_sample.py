"""Backends for the kernel's tests, each as small as it can be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from holdfast.errors import Closed, StorageFailed
from holdfast.kernel import (
    MISSING,
    InMemoryBackend,
    Limits,
    MemoryBackendStats,
    check_key,
    check_namespace,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from holdfast.ports import Clock

SMALL = Limits(value_bytes_max=2**20)


class BareBackend:
    """The eight methods over a dict that outlives it, declaring nothing."""

    name = "bare"

    def __init__(self, held: dict[tuple[str, str], bytes] | None = None) -> None:
        self.limits = SMALL
        self.held = {} if held is None else held
        self.closed = False

    async def get(self, namespace: str, key: str) -> Any:
        self._check(namespace, key)
        data = self.held.get((namespace, key))
        return MISSING if data is None else decode(data)

    async def set(self, namespace: str, key: str, value: object) -> None:
        self._check(namespace, key)
        self.held[namespace, key] = encode(value, self.limits)

    async def delete(self, namespace: str, key: str) -> bool:
        self._check(namespace, key)
        return self.held.pop((namespace, key), None) is not None

    async def list(self, namespace: str, prefix: str = "") -> list[str]:
        self._check(namespace, "any")
        return sorted(k for n, k in self.held if n == namespace and k.startswith(prefix))

    async def clear(self, namespace: str) -> None:
        for key in await self.list(namespace):
            del self.held[namespace, key]

    async def delete_namespace(self, namespace: str) -> None:
        await self.clear(namespace)

    async def stats(self) -> MemoryBackendStats:
        self._check("any", "any")
        names = {namespace for namespace, _ in self.held}
        return MemoryBackendStats(
            backend=self.name, namespaces=len(names), totalEntries=len(self.held)
        )

    async def close(self) -> None:
        self.closed = True

    def _check(self, namespace: str, key: str) -> None:
        if self.closed:
            raise Closed("backend_closed", "it is closed", hint="open another")
        check_namespace(namespace)
        check_key(key, self.limits)


class SlowBackend(BareBackend):
    """Lets every other task run before and after each step, so that a missing lock shows."""

    async def get(self, namespace: str, key: str) -> Any:
        await asyncio.sleep(0)
        value = await super().get(namespace, key)
        await asyncio.sleep(0)
        return value

    async def set(self, namespace: str, key: str, value: object) -> None:
        await asyncio.sleep(0)
        await super().set(namespace, key, value)
        await asyncio.sleep(0)

    async def delete(self, namespace: str, key: str) -> bool:
        await asyncio.sleep(0)
        return await super().delete(namespace, key)


class FaultyBackend(BareBackend):
    """Fails at the writes whose numbers it is told, counted from one."""

    def __init__(self, held: dict[tuple[str, str], bytes] | None = None) -> None:
        super().__init__(held)
        self.fail_at: set[int] = set()
        self.writes = 0

    async def set(self, namespace: str, key: str, value: object) -> None:
        self._count()
        await super().set(namespace, key, value)

    async def delete(self, namespace: str, key: str) -> bool:
        self._count()
        return await super().delete(namespace, key)

    async def delete_namespace(self, namespace: str) -> None:
        self._count()
        await super().delete_namespace(namespace)

    def _count(self) -> None:
        self.writes += 1
        if self.writes in self.fail_at:
            raise StorageFailed("disk_full", "no room is left", hint="make room")


def in_memory(clock: Clock) -> InMemoryBackend:
    return InMemoryBackend(clock=clock, limits=SMALL)


def bare(clock: Clock) -> BareBackend:
    """A backend without a clock: what expires is Holdfast's affair."""
    return BareBackend()


def runs(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """An async test as a plain one, in an event loop of its own."""
    import functools

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run
