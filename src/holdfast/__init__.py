"""Holdfast: the memory that AI agents keep.

    import holdfast

    with holdfast.open("memory") as vault:
        vault.space().notes().save("Deploys go out on Tuesdays")
        print(vault.space().context().text)

Names are imported when they are first used, so that `import holdfast` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast import aio
    from holdfast.engine.history import LogQuery
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.errors import HoldfastError
    from holdfast.kernel import (
        MISSING,
        Agent,
        InMemoryBackend,
        Kernel,
        MemoryBackend,
        MemoryBackendStats,
    )
    from holdfast.kernel.vault import VaultBackend
    from holdfast.model.write import Actor, Caller
    from holdfast.wiring import open_vault as open  # noqa: A004
    from holdfast.wiring.backends import PostgresBackend, RedisBackend, SqliteBackend

__version__ = "0.1.0"

__all__ = [
    "MISSING",
    "Actor",
    "Agent",
    "Caller",
    "HoldfastError",
    "InMemoryBackend",
    "Kernel",
    "LogQuery",
    "MemoryBackend",
    "MemoryBackendStats",
    "PostgresBackend",
    "RedisBackend",
    "Space",
    "SqliteBackend",
    "Vault",
    "VaultBackend",
    "aio",
    "open",
]

_HOMES = {
    "MISSING": ("holdfast.kernel", "MISSING"),
    "Agent": ("holdfast.kernel", "Agent"),
    "InMemoryBackend": ("holdfast.kernel", "InMemoryBackend"),
    "Kernel": ("holdfast.kernel", "Kernel"),
    "MemoryBackend": ("holdfast.kernel", "MemoryBackend"),
    "MemoryBackendStats": ("holdfast.kernel", "MemoryBackendStats"),
    "Actor": ("holdfast.model.write", "Actor"),
    "Caller": ("holdfast.model.write", "Caller"),
    "HoldfastError": ("holdfast.errors", "HoldfastError"),
    "LogQuery": ("holdfast.engine.history", "LogQuery"),
    "Space": ("holdfast.engine.space", "Space"),
    "Vault": ("holdfast.engine.vault", "Vault"),
    "PostgresBackend": ("holdfast.wiring.backends", "PostgresBackend"),
    "RedisBackend": ("holdfast.wiring.backends", "RedisBackend"),
    "SqliteBackend": ("holdfast.wiring.backends", "SqliteBackend"),
    "VaultBackend": ("holdfast.kernel.vault", "VaultBackend"),
    "open": ("holdfast.wiring", "open_vault"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "aio":
        return import_module("holdfast.aio")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    found = getattr(import_module(home[0]), home[1])
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
