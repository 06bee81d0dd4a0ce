"""Connections to a PostgreSQL server: a few that take turns, and its errors as ours.

A connection is one call's at a time and comes back only when the call ended well or was refused;
one that broke, or whose call was cancelled, is closed. So no call finds half of another's work.
Every commit waits for the server's disk, whatever the server's own setting says.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from holdfast.errors import Closed, HoldfastError, StorageFailed, Unsupported

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from psycopg import AsyncConnection

CONNECTIONS_MAX = 8


class Connections:
    """At most `CONNECTIONS_MAX` at once; more callers wait for their turn."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self._url = url
        self._options = options
        self._turns = asyncio.Semaphore(CONNECTIONS_MAX)
        self._idle: list[AsyncConnection[Any]] = []
        self._closed = False

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncConnection[Any]]:
        """A connection in a transaction, which commits when the block ends well."""
        import psycopg

        self.check_open()
        async with self._turns:
            connection = None
            try:
                connection = self._idle.pop() if self._idle else await self._connect()
                async with connection.transaction():
                    yield connection
            except (psycopg.Error, OSError) as exc:
                await self._let_go(connection)
                raise failure(exc) from exc
            except HoldfastError:
                await self._give_back(connection)
                raise
            except BaseException:
                await self._let_go(connection)
                raise
            await self._give_back(connection)

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await self._idle.pop().close()

    def check_open(self) -> None:
        if self._closed:
            raise Closed("backend_closed", "the postgres backend is closed", hint="connect again")

    async def _connect(self) -> AsyncConnection[Any]:
        from psycopg import AsyncConnection, IsolationLevel

        connection = await AsyncConnection.connect(self._url, autocommit=True, **self._options)
        try:
            await connection.set_isolation_level(IsolationLevel.READ_COMMITTED)
            await connection.execute("SET synchronous_commit = on")
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _give_back(self, connection: AsyncConnection[Any] | None) -> None:
        if connection is not None and not connection.closed and not self._closed:
            self._idle.append(connection)
        else:
            await self._let_go(connection)

    async def _let_go(self, connection: AsyncConnection[Any] | None) -> None:
        if connection is not None:
            await connection.close()


def check_installed() -> None:
    if find_spec("psycopg") is None:
        raise Unsupported(
            "postgres_not_installed",
            "the package psycopg is not installed",
            hint="pip install 'holdfast[team]'",
        )


_DENIED = ("postgres_denied", "it refuses this user", "correct user, password and rights")
_FULL = ("storage_full", "it has no room left", "give it more, or delete what is not needed")
# By the class of the SQLSTATE, or by all of it.
_FAULTS = {
    "28": _DENIED,
    "42501": _DENIED,
    "53100": _FULL,
    "53200": _FULL,
    "25006": ("storage_readonly", "it is read only", "connect to the one that is written"),
}
_REFUSED = ("postgres_failed", "it refused a command", "look at the cause and its log")
_AWAY = (
    "postgres_unreachable",
    "it let nobody in or did not answer; a write that was under way may have happened",
    "start it, or correct the url, and read before writing again",
)
_CONNECTION = ("08", "57", "53")


def failure(exc: Exception) -> StorageFailed:
    """What the server or the way to it did wrong, as an error of ours; never with the url."""
    state: str | None = getattr(exc, "sqlstate", None)
    if state is None:
        code, what, cure = _AWAY  # so too where it let nobody in: the driver tells no difference
    else:
        otherwise = _AWAY if state[:2] in _CONNECTION else _REFUSED
        code, what, cure = _FAULTS.get(state) or _FAULTS.get(state[:2]) or otherwise
    return StorageFailed(code, f"the PostgreSQL server: {what}", hint=cure)
