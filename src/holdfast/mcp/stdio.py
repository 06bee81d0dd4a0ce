"""The protocol over standard input and output: one client, one connection, one session.

Standard output carries messages of the protocol and nothing else: while it serves, whatever prints
goes to standard error. The connection ends when the client closes it or a signal asks for it; what
was acknowledged is on disk however it ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from select import select
from threading import Thread

from mcp.server.stdio import stdio_server

from holdfast.mcp.server import instructions, server_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from holdfast.engine.space import Space

SOURCE = "mcp"
THREADS = 32
_CHUNK_BYTES = 65_536


def serve(space: Space, *, budget: int | None = None) -> None:
    """Answer one client until it goes."""
    with _as_session(space) as here, _input_that_signals_end():
        asyncio.run(_serve(here, instructions(here, budget)))


async def _serve(space: Space, told: str) -> None:
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="holdfast-mcp")

    async def call(function: Callable[..., Any], /, *args: Any) -> Any:
        return await asyncio.wrap_future(pool.submit(function, *args))

    server = server_for(space, call, told)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        pool.shutdown(cancel_futures=True)  # what has begun ends before the vault is closed


@contextmanager
def _as_session(space: Space) -> Generator[Space]:
    """The session that the caller works in; without one, one for this connection."""
    if space.caller.session is not None:
        yield space
        return
    with space.session(agent=space.caller.actor.name, source=SOURCE) as here:
        yield here


@contextmanager
def _input_that_signals_end() -> Generator[None]:
    """Standard input by way of a pipe that a signal closes, so that a read that waits for the
    client does not keep the process: the session ends as if the client had gone."""
    source, (ours, theirs), (stop, stopping) = os.dup(0), os.pipe(), os.pipe()
    os.dup2(ours, 0)
    os.close(ours)
    seen: list[int] = []

    def end(number: int, _frame: object) -> None:
        seen.append(number)
        os.write(stopping, b".")

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    Thread(target=_pump, args=(source, theirs, stop), daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.dup2(source, 0)
    if signal.SIGINT in seen:
        raise KeyboardInterrupt


def _pump(source: int, sink: int, stop: int) -> None:
    """Hand on what comes, until nothing more does or somebody says stop."""
    with open(sink, "wb", buffering=0) as out:
        while stop not in (ready := select([source, stop], [], [])[0]):
            data = os.read(source, _CHUNK_BYTES) if source in ready else b""
            if not data:
                return
            while data:
                data = data[out.write(data) or 0 :]
