"""The official client, and the program as it starts it: what the tests of the protocol stand on."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager

from cli_snapshot import environment
from mcp import Client, StdioServerParameters, stdio_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path
    from typing import Any, TextIO


def parameters(vault: Path, *words: str, cwd: Path | None = None, **env: str) -> Any:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp", *words],
        env=environment({"HOLDFAST_VAULT": str(vault), **env}),
        cwd=cwd or vault.parent,
    )


@asynccontextmanager
async def connected(
    vault: Path,
    *words: str,
    mode: str = "auto",
    errlog: TextIO | None = None,
    cwd: Path | None = None,
    **env: str,
) -> AsyncGenerator[Client]:
    """A client that talks to the program in a process of its own."""
    started = parameters(vault, *words, cwd=cwd, **env)
    transport = stdio_client(started, errlog=errlog or sys.stderr)
    async with Client(transport, mode=mode, read_timeout_seconds=60) as client:
        yield client


def talk(vault: Path, *words: str, **options: Any) -> Callable[..., Any]:
    """Runs a coroutine function of a client: `talk(vault)(async def (client): …)`."""

    def run(conversation: Callable[[Client], Awaitable[Any]]) -> Any:
        async def whole() -> Any:
            async with connected(vault, *words, **options) as client:
                return await conversation(client)

        return asyncio.run(whole())

    return run
