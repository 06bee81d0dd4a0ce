"""Values in PostgreSQL: for programs on several machines that share one server.

Every change is one transaction that has its namespace alone (an advisory lock, which ends with the
transaction), so what it rests on cannot move under it; what an operation comes to is decided by
`core.keyvalue.plan`, as for every backend. The server's clock says what has expired.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.core.jsonvalue import LIMITS, check_key, check_namespace, check_prefix, decode
from holdfast.core.keyvalue import check_quota, data_of, plan, size_of
from holdfast.errors import InvalidInput, Unsupported
from holdfast.model.keyvalue import MISSING, Delete, Outcome, Set, Stored
from holdfast.model.times import from_us, to_us
from holdfast.ports.values import NAMESPACES, TRANSACTIONS, MemoryBackendStats
from holdfast.storage.postgres.connections import Connections, check_installed
from holdfast.storage.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from psycopg import AsyncConnection

    from holdfast.core.jsonvalue import Limits
    from holdfast.core.keyvalue import Planned
    from holdfast.model.keyvalue import Operation
    from holdfast.ports.values import Keys, Names

SQL: dict[str, Any] = load(Path(__file__).with_suffix(".sql"))

FORMAT = 1
MAKING = 0x686F6C6466617374  # the lock under which the tables are made


class PostgresBackend:
    """Made by `connect`. It belongs to the event loop that made it."""

    name = "postgres"
    capabilities = frozenset({TRANSACTIONS, NAMESPACES})

    def __init__(self, connections: Connections, prefix: bytes, limits: Limits) -> None:
        self.limits = limits
        self._connections = connections
        self._prefix = prefix

    @classmethod
    async def connect(
        cls, url: str, *, prefix: str = "holdfast", limits: Limits = LIMITS, **options: Any
    ) -> Self:
        """Connect to `postgresql://USER@HOST:PORT/DATABASE`; tables are made where missing.

        Programs with different prefixes do not see each other's values. `options` go to psycopg.
        """
        if not url.startswith(("postgresql://", "postgres://")):
            raise InvalidInput(
                "where_invalid",
                "this is no url of a PostgreSQL server",
                hint="write postgresql://USER@HOST:PORT/DATABASE",
            )
        check_installed()
        made = cls(Connections(url, options), prefix.encode(), limits)
        try:
            await made._make()
        except BaseException:
            await made.close()
            raise
        return made

    async def get(self, namespace: str, key: str) -> Any:
        held = await self.stored(namespace, key)
        return MISSING if held is None else held.value

    async def set(self, namespace: str, key: str, value: object) -> None:
        await self.apply(namespace, (Set(key=key, value=value),))

    async def delete(self, namespace: str, key: str) -> bool:
        return (await self.apply(namespace, (Delete(key=key),)))[0].existed

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        return [bytes(row[0]).decode() for row in await self._under("keys", namespace, prefix)]

    async def clear(self, namespace: str) -> None:
        self._check(namespace)
        async with self._connections.transaction() as connection:
            await self._alone(connection, namespace)
            for statement in ("clear", "forget"):
                await connection.execute(SQL[statement], self._place(namespace))

    async def delete_namespace(self, namespace: str) -> None:
        await self.clear(namespace)

    async def stats(self) -> MemoryBackendStats:
        found = await self._rows("live", {"prefix": self._prefix})
        return MemoryBackendStats(
            backend=self.name, namespaces=len(found), totalEntries=sum(row[1] for row in found)
        )

    async def close(self) -> None:
        await self._connections.close()

    async def namespaces(self) -> Names:
        found = await self._rows("live", {"prefix": self._prefix})
        return [bytes(row[0]).decode() for row in found]

    async def stored(self, namespace: str, key: str) -> Stored | None:
        self._check(namespace, key)
        rows = await self._rows("one", {**self._place(namespace), "key": key.encode()})
        return _stored(key, *rows[0]) if rows else None

    async def snapshot(self, namespace: str, prefix: str = "") -> Sequence[Stored]:
        rows = await self._under("snapshot", namespace, prefix)
        return [_stored(bytes(key).decode(), *rest) for key, *rest in rows]

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> Sequence[Outcome]:
        self._check(namespace)
        asked = tuple(operations)
        data = data_of(asked, self.limits)
        if not asked:
            return []
        async with self._connections.transaction() as connection:
            now_us = await self._alone(connection, namespace)
            grown = -sum(await self._drop_due(connection, namespace, now_us))
            held, sizes = await self._held(connection, namespace, list(data))
            planned = plan(asked, held, data, self.limits)
            new = {p.key: 0 if p.data is None else size_of(p.key, p.data) for p in planned}
            more = sum(new.values()) - sum(sizes.values())
            if bytes_max is not None:
                used = await self._used(connection, namespace) + grown
                check_quota(namespace, used, used + more, bytes_max)
            outcomes = [await self._write(connection, namespace, p, new[p.key]) for p in planned]
            await self._use(connection, namespace, grown + more)
        return outcomes

    async def sweep(self) -> int:
        swept = 0
        for (name,) in await self._rows("namespaces_due", {"prefix": self._prefix}):
            namespace = bytes(name).decode()
            async with self._connections.transaction() as connection:
                now_us = await self._alone(connection, namespace)
                sizes = await self._drop_due(connection, namespace, now_us)
                await self._use(connection, namespace, -sum(sizes))
            swept += len(sizes)
        return swept

    async def _make(self) -> None:
        async with self._connections.transaction() as connection:
            await connection.execute(SQL["alone"], (MAKING,))
            there = await (await connection.execute(SQL["is_there"])).fetchone()
            if there == (False,):
                await connection.execute(SQL["make"], prepare=False)
            found = await (await connection.execute(SQL["format"])).fetchone()
        if found is None or found[0] != FORMAT:
            raise Unsupported(
                "schema_newer",
                "the values on this PostgreSQL server were written by a newer version",
                hint="update holdfast",
            )

    async def _alone(self, connection: AsyncConnection[Any], namespace: str) -> int:
        """Wait for the namespace, and keep it to the end of the transaction. Gives the time."""
        place = b"%d:%b%b" % (len(self._prefix), self._prefix, namespace.encode())
        lock = int.from_bytes(blake2b(place, digest_size=8).digest(), "big", signed=True)
        row = await (await connection.execute(SQL["alone"], (lock,))).fetchone()
        assert row is not None
        return row[1]

    async def _drop_due(
        self, connection: AsyncConnection[Any], namespace: str, now_us: int
    ) -> Sequence[int]:
        """Remove what has expired; how many bytes each counted for."""
        place = {**self._place(namespace), "now_us": now_us}
        rows = await (await connection.execute(SQL["drop_due"], place)).fetchall()
        return [row[0] for row in rows]

    async def _held(
        self, connection: AsyncConnection[Any], namespace: str, keys: Sequence[str]
    ) -> tuple[dict[str, Stored | None], dict[str, int]]:
        """What is there under these keys, and what it counts for."""
        place = {**self._place(namespace), "keys": [key.encode() for key in keys]}
        held: dict[str, Stored | None] = dict.fromkeys(keys)
        sizes: dict[str, int] = {}
        for raw, *rest, size in await (await connection.execute(SQL["held"], place)).fetchall():
            key = bytes(raw).decode()
            held[key], sizes[key] = _stored(key, *rest), size
        return held, sizes

    async def _write(
        self, connection: AsyncConnection[Any], namespace: str, planned: Planned, size: int
    ) -> Outcome:
        place = {**self._place(namespace), "key": planned.key.encode()}
        revision = None
        if planned.data is not None:
            until = planned.expires_at
            row = {"expires_us": None if until is None else to_us(until), "size": size}
            put = {**place, **row, "data": planned.data}
            made = await (await connection.execute(SQL["put"], put)).fetchone()
            assert made is not None
            revision = str(made[0])
        elif planned.existed:
            await connection.execute(SQL["drop"], place)
        return Outcome(existed=planned.existed, revision=revision, number=planned.number)

    async def _used(self, connection: AsyncConnection[Any], namespace: str) -> int:
        row = await (await connection.execute(SQL["used"], self._place(namespace))).fetchone()
        return row[0] if row else 0

    async def _use(self, connection: AsyncConnection[Any], namespace: str, more: int) -> None:
        if more:
            await connection.execute(SQL["use"], {**self._place(namespace), "bytes": more})

    async def _under(self, statement: str, namespace: str, prefix: str) -> list[Any]:
        check_prefix(prefix)
        self._check(namespace)
        try:
            first = prefix.encode()
        except UnicodeEncodeError:  # no key has half a character
            return []
        # No text has the byte 255.
        bounds = {"first": first, "beyond": first + b"\xff" if first else None}
        return await self._rows(statement, {**self._place(namespace), **bounds})

    async def _rows(self, statement: str, values: dict[str, Any]) -> list[Any]:
        async with self._connections.transaction() as connection:
            return await (await connection.execute(SQL[statement], values)).fetchall()

    def _place(self, namespace: str) -> dict[str, Any]:
        return {"prefix": self._prefix, "namespace": namespace.encode()}

    def _check(self, namespace: str, key: str = "any") -> None:
        self._connections.check_open()
        check_namespace(namespace)
        check_key(key, self.limits)


def _stored(key: str, revision: int, expires_us: int | None, data: bytes) -> Stored:
    until = None if expires_us is None else from_us(expires_us)
    return Stored(key=key, value=decode(bytes(data)), revision=str(revision), expires_at=until)
