"""Backends of process values that are opened by where they live."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput
from holdfast.kernel.vault import VaultBackend
from holdfast.model.names import shown
from holdfast.storage.postgres.values import PostgresBackend
from holdfast.storage.redis import RedisBackend
from holdfast.wiring import clock_us, open_vault

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from holdfast.engine.vault import Vault
    from holdfast.ports import Clock

__all__ = ["PostgresBackend", "RedisBackend", "SqliteBackend"]


class SqliteBackend(VaultBackend):
    """Values in one SQLite file, durable when a call returns, for many processes at once.

    The file is a vault's, and the values are those of its space `default` in the store `keyvalue`:
    `holdfast.open("sqlite:///FILE")` opens it too, also while it is in use here.
    """

    name = "sqlite"

    def __init__(self, vault: Vault) -> None:
        super().__init__(vault.space())
        self._vault = vault

    @classmethod
    async def create(
        cls,
        path: str | os.PathLike[str],
        *,
        key: str | Path | None = None,
        clock: Clock = clock_us,
    ) -> Self:
        """Open the file; it and its folders are made where they are missing.

        With a `key`, as `holdfast.open` takes it, the whole file is encrypted.
        """
        return await asyncio.to_thread(cls._open, os.fspath(path), key, clock)

    @classmethod
    def _open(cls, path: str, key: str | Path | None, clock: Clock) -> Self:
        return cls(open_vault(_url(path), key=key, clock=clock))

    async def close(self) -> None:
        await super().close()
        await asyncio.to_thread(self._vault.close)


def _url(path: str) -> str:
    from urllib.parse import quote

    if path.startswith("sqlite:"):
        return path
    if not path or "\0" in path or "://" in path or path == "memory:":
        raise InvalidInput(
            "where_invalid",
            f"{shown(path)} is no file that values can be kept in",
            hint="name a file, such as ./data/agents.db; InMemoryBackend keeps them in memory",
        )
    return f"sqlite:///{quote(path)}"
