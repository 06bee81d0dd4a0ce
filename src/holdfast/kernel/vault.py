"""Process values in a vault: the eight methods, and more, over one `keyvalue` store of a space.

A value is encoded before anything is awaited, so that what is kept is what it was at the call. A
write is on disk when the call returns; those of several tasks are committed together, without a
thread for each (rounds.py). Cancelled, a write still happens.

A read of one key, or of a listing that is short, runs where it is called: handing it to a thread
costs more than the read itself. It may wait for the disk, when the row is in no cache. What can be
long goes to a thread: listings beyond 1,000 keys, snapshots, statistics. A long value does not,
since most of its time is the reading of JSON, which holds the interpreter in any thread.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.core.jsonvalue import (
    LIMITS,
    check_key,
    check_namespace,
    check_prefix,
    decode,
    encode,
)
from holdfast.core.keyvalue import data_of
from holdfast.errors import Closed
from holdfast.kernel.rounds import Rounds
from holdfast.model.keyvalue import MISSING, Delete
from holdfast.ports.values import NAMESPACES, STATS_NOW, TRANSACTIONS, MemoryBackendStats
from holdfast.strategies import keyvalue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.model.keyvalue import Operation, Outcome, Stored
    from holdfast.model.space import Store
    from holdfast.ports import View
    from holdfast.ports.values import Keys, Names

HERE_KEYS_MAX = 1_000
SHORT_KEYS_MAX = 16
SHORT_BYTES_MAX = 65_536


class VaultBackend:
    """The values of a space's `keyvalue` store, for a kernel. The vault stays open at `close`."""

    name = "vault"
    capabilities = frozenset({TRANSACTIONS, STATS_NOW, NAMESPACES})
    limits = LIMITS

    def __init__(self, space: Space, store: str | None = None) -> None:
        self._desk = space.desk(keyvalue.NAME, store)
        self._rounds = Rounds(self._desk)
        self._closed = False

    async def get(self, namespace: str, key: str) -> Any:
        self._check(namespace, key)
        data = self._desk.value_data(namespace, key)
        return MISSING if data is None else decode(data)

    async def set(self, namespace: str, key: str, value: object) -> None:
        self._check(namespace, key)
        data = encode(value, self.limits)
        await self._rounds.write(
            lambda values, store, at_us: keyvalue.put(values, store, namespace, key, data, at_us),
            is_long=len(data) > SHORT_BYTES_MAX,
        )

    async def delete(self, namespace: str, key: str) -> bool:
        return (await self.apply(namespace, (Delete(key=key),)))[0].existed

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        check_prefix(prefix)
        self._check(namespace)
        some = self._keys(namespace, prefix, HERE_KEYS_MAX + 1)
        if len(some) <= HERE_KEYS_MAX:
            return some
        return await asyncio.to_thread(self._keys, namespace, prefix, None)

    async def clear(self, namespace: str) -> None:
        await self._clear(namespace, forget=False)

    async def delete_namespace(self, namespace: str) -> None:
        await self._clear(namespace, forget=True)

    async def stats(self) -> MemoryBackendStats:
        self._check_open()
        return await asyncio.to_thread(self.stats_now)

    def stats_now(self) -> MemoryBackendStats:
        self._check_open()
        spaces, entries = self._desk.read(
            lambda view, store: view.values.value_totals(store, view.at_us)
        )
        return MemoryBackendStats(backend=self.name, namespaces=spaces, totalEntries=entries)

    async def close(self) -> None:
        self._closed = True
        self._rounds.hand_over()

    async def namespaces(self) -> Names:
        self._check_open()
        found = await asyncio.to_thread(
            self._desk.read, lambda view, store: view.values.value_namespaces(store, view.at_us)
        )
        return [name for name, _, _ in found]

    async def stored(self, namespace: str, key: str) -> Stored | None:
        self._check(namespace, key)
        return self._desk.read(
            lambda view, store: view.values.value(store, namespace, key, view.at_us)
        )

    async def snapshot(self, namespace: str, prefix: str = "") -> Sequence[Stored]:
        check_prefix(prefix)
        self._check(namespace)
        return await asyncio.to_thread(
            self._desk.read,
            lambda view, store: view.values.values(store, namespace, prefix, view.at_us),
        )

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> Sequence[Outcome]:
        self._check(namespace)
        asked = tuple(operations)
        data = data_of(asked, self.limits)
        return list(
            await self._rounds.write(
                lambda values, store, at_us: keyvalue.apply(
                    values, store, namespace, asked, data, at_us, bytes_max=bytes_max
                ),
                is_long=_is_long(data),
            )
        )

    async def sweep(self) -> int:
        self._check_open()
        swept = 0
        while some := await self._rounds.write(
            lambda values, _, at_us: values.sweep_values(at_us), is_long=True
        ):
            swept += some
        return swept

    async def _clear(self, namespace: str, *, forget: bool) -> None:
        self._check(namespace)
        await self._rounds.write(
            lambda values, store, at_us: values.clear_values(
                store, namespace, at_us, forget=forget
            ),
            is_long=True,
        )

    def _keys(self, namespace: str, prefix: str, limit: int | None) -> Keys:
        def unit(view: View, store: Store) -> Keys:
            return view.values.value_keys(store, namespace, prefix, view.at_us, limit)

        return self._desk.read(unit)

    def _check(self, namespace: str, key: str = "any") -> None:
        self._check_open()
        check_namespace(namespace)
        check_key(key, self.limits)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed(
                "backend_closed", f"the {self.name} backend is closed", hint="open it again"
            )


def _is_long(data: Mapping[str, bytes | None]) -> bool:
    """Whether a batch is more than an event loop should wait for."""
    return (
        len(data) > SHORT_KEYS_MAX
        or sum(len(each) for each in data.values() if each is not None) > SHORT_BYTES_MAX
    )
