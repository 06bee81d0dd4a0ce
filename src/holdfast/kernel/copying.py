"""Values from one backend to another, proved to be equal there.

Three passes over the source, a few hundred keys at a time. The first only looks: a key of the
target with another value is a Conflict, and nothing has been written. The second writes what is
not there yet, so an interrupted copy is finished by the same call. The third reads every key from
both sides again and compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.core.canonical import canonical
from holdfast.errors import Conflict, InvalidInput, StorageFailed, Unsupported
from holdfast.kernel.clock import now_us
from holdfast.kernel.defaults import rich
from holdfast.kernel.names import OWN
from holdfast.model.keyvalue import Set
from holdfast.model.names import shown
from holdfast.model.value import Value
from holdfast.ports.values import NAMESPACES, capabilities_of, check_backend

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from typing import Literal

    from holdfast.model.keyvalue import Stored
    from holdfast.ports import Clock
    from holdfast.ports.values import MemoryBackend, RichBackend, SupportsNamespaces

    Step = Literal["look", "write", "prove"]

KEYS_AT_ONCE = 256


class CopyProgress(Value):
    """So many of the keys have passed this step."""

    step: Step
    done: int
    of: int


class CopyReport(Value):
    """So many values, in so many namespaces, are in both backends; `written` are new there."""

    namespaces: int
    entries: int
    written: int


class Pair(Value):
    """A key as both sides hold it."""

    namespace: str
    key: str
    here: Stored
    there: Stored | None

    @property
    def same(self) -> bool:
        return (
            self.there is not None
            and self.here.expires_at == self.there.expires_at
            and canonical(self.here.value) == canonical(self.there.value)
        )


async def copy(
    source: MemoryBackend,
    target: MemoryBackend,
    *,
    namespaces: Iterable[str] | None = None,
    overwrite: bool = False,
    progress: Callable[[CopyProgress], None] | None = None,
    clock: Clock = now_us,
) -> CopyReport:
    """Copy all values with their expiry, and prove it.

    Name the namespaces where the source cannot list them. With `overwrite`, a key that the target
    holds with another value is replaced. Neither side should be written to meanwhile.
    """
    if source is target:
        raise InvalidInput("copy_onto_itself", "source and target are one", hint="open another")
    check_backend(source)
    check_backend(target)
    job = _Copy(rich(source, clock), rich(target, clock), progress)
    for namespace in await _namespaces(source, namespaces):
        job.keys[namespace] = await job.source.list(namespace)
    if not overwrite:
        await job.look()
    written = await job.write()
    await job.prove()
    return CopyReport(
        namespaces=sum(1 for keys in job.keys.values() if keys), entries=job.total, written=written
    )


class _Copy:
    def __init__(
        self,
        source: RichBackend,
        target: RichBackend,
        progress: Callable[[CopyProgress], None] | None,
    ) -> None:
        self.source = source
        self.target = target
        self.keys: dict[str, list[str]] = {}
        self._progress = progress

    @property
    def total(self) -> int:
        return sum(len(keys) for keys in self.keys.values())

    async def look(self) -> None:
        async for pairs in self._pairs("look"):
            for pair in pairs:
                if pair.there is not None and not pair.same:
                    raise Conflict(
                        "copy_conflict",
                        f"{shown(pair.key)} in {shown(pair.namespace)} has another value in "
                        f"{self.target.name}; nothing was copied",
                        hint="copy into an empty backend, or say overwrite=True",
                    )

    async def write(self) -> int:
        written = 0
        async for pairs in self._pairs("write"):
            new = [pair for pair in pairs if not pair.same]
            if new:
                operations = [
                    Set(key=each.key, value=each.here.value, expires_at=each.here.expires_at)
                    for each in new
                ]
                await self.target.apply(new[0].namespace, operations)
                written += len(new)
        return written

    async def prove(self) -> None:
        async for pairs in self._pairs("prove"):
            for pair in pairs:
                if not pair.same:
                    raise StorageFailed(
                        "copy_not_equal",
                        f"{shown(pair.key)} in {shown(pair.namespace)} is not the same in "
                        f"{self.source.name} and {self.target.name}",
                        hint="copy again while nobody writes to either",
                    )

    async def _pairs(self, step: Step) -> AsyncGenerator[list[Pair]]:
        """All keys with what both sides hold, in lists of one namespace each."""
        done, of = 0, self.total
        for namespace, keys in self.keys.items():
            for start in range(0, len(keys), KEYS_AT_ONCE):
                some = keys[start : start + KEYS_AT_ONCE]
                yield [pair for key in some if (pair := await self._pair(namespace, key))]
                done += len(some)
                if self._progress is not None:
                    self._progress(CopyProgress(step=step, done=done, of=of))

    async def _pair(self, namespace: str, key: str) -> Pair | None:
        here = await self.source.stored(namespace, key)
        if here is None:  # it has expired since it was listed
            return None
        there = await self.target.stored(namespace, key)
        return Pair(namespace=namespace, key=key, here=here, there=there)


async def _namespaces(source: MemoryBackend, given: Iterable[str] | None) -> list[str]:
    if given is not None:
        return sorted(set(given))
    if NAMESPACES not in capabilities_of(source):
        raise Unsupported(
            "namespaces_unknown",
            f"the backend {source.name} cannot list its namespaces",
            hint="name them: namespaces=[SHARED, process_namespace('counter')]",
        )
    found = await cast("SupportsNamespaces", source).namespaces()
    return [name for name in found if not name.startswith(OWN)]
