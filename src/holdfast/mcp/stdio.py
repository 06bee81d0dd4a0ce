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

import mcp_types as types
from anyio import EndOfStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from holdfast.mcp.server import instructions, server_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType
    from typing import Any, Self

    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from holdfast.engine.space import Space

    Writing = WriteStream[SessionMessage]

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
            heard = Answering(read, write)
            await server.run(heard, write, server.create_initialization_options())
    finally:
        pool.shutdown(cancel_futures=True)  # what has begun ends before the vault is closed


class Answering:
    """What the client sends, as the server is to read it: a line that is no message is answered
    here, with an error that names no request and says nothing of what the line held."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], write: Writing) -> None:
        self._read, self._write = read, write

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(item := await self._read.receive(), ValidationError):
            if (error := _fault(item)) is not None:
                said = types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
                await self._write.send(SessionMessage(said))
        return item

    @property
    def last_context(self) -> Any:
        return getattr(self._read, "last_context", None)

    async def aclose(self) -> None:
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._read.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._read.__aexit__(exc_type, exc_val, exc_tb)


def _fault(exc: ValidationError) -> types.ErrorData | None:
    """What is wrong with a line; nothing with an empty one."""
    first = exc.errors(include_url=False)[0]
    if first["type"] != "json_invalid":
        return types.ErrorData(code=types.INVALID_REQUEST, message="this is no message of MCP")
    if not str(first["input"]).strip():
        return None
    why = str(first.get("ctx", {}).get("error", "this is no JSON"))
    return types.ErrorData(code=types.PARSE_ERROR, message=f"this is no JSON: {why}")


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
