"""Agents and their processes: who runs, under which name, and in which state.

A process is created, then running; it may be paused and resumed; it ends as terminated (somebody
asked for it) or crashed (its handler raised, or ran out of time). `after` is the whole rule.
"""

from __future__ import annotations

import asyncio
import threading
from inspect import iscoroutine
from typing import TYPE_CHECKING

from holdfast.errors import Closed, HoldfastError, InvalidInput, Refused, Unsupported
from holdfast.kernel.names import check_process_name, process_namespace
from holdfast.model.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from datetime import datetime
    from typing import Any, Literal, TypeVar

    from holdfast.kernel.accessor import MemoryAccessor
    from holdfast.kernel.checkpoint import Checkpoint
    from holdfast.kernel.execution import Execution

    T = TypeVar("T")
    State = Literal["created", "running", "paused", "terminated", "crashed"]
    Verb = Literal["start", "execute", "checkpoint", "pause", "resume", "terminate", "crash"]
    Handler = Callable[["Context"], Any]

_NEXT: dict[tuple[State, Verb], State] = {
    ("created", "start"): "running",
    ("running", "execute"): "running",
    ("running", "checkpoint"): "running",
    ("paused", "checkpoint"): "paused",
    ("running", "pause"): "paused",
    ("paused", "resume"): "running",
    ("created", "terminate"): "terminated",
    ("running", "terminate"): "terminated",
    ("paused", "terminate"): "terminated",
    ("running", "crash"): "crashed",
    ("paused", "crash"): "crashed",
}
_HINTS = {
    "created": "wait for spawn to return",
    "running": "it runs already",
    "paused": "resume it first",
    "terminated": "spawn the agent again",
    "crashed": "process.error says why; spawn the agent again",
}
ENDED = frozenset({"terminated", "crashed"})


def after(state: State, verb: Verb, name: str) -> State:
    """The state that a verb leads to; where it leads nowhere, Refused as `process_STATE`."""
    following = _NEXT.get((state, verb))
    if following is None:
        raise Refused(
            f"process_{state}",
            f"cannot {verb} the process {shown(name)}: it is {state}",
            hint=_HINTS[state],
        )
    return following


class ProcessFailed(HoldfastError):
    """A handler raised, ran out of time, or was stopped. Its own error is the `__cause__`.

    Cure: read the cause; the process has ended, so spawn the agent again. Its values are in
    `process.checkpoint`, and still in place where they persist.
    """


class Agent:
    """A handler with a name, from which processes are spawned.

    The handler takes a Context. An async one runs in the event loop, any other in a thread of its
    own. `timeout_s` bounds each execution, `namespace_bytes_max` what a process may keep (both
    outrank the kernel's); with `persistent=False` values go when the process ends.
    """

    def __init__(
        self,
        name: str,
        handler: Handler,
        *,
        persistent: bool = True,
        timeout_s: float | None = None,
        namespace_bytes_max: int | None = None,
    ) -> None:
        if not callable(handler):
            raise InvalidInput(
                "handler_invalid",
                f"the handler of the agent {shown(name)} cannot be called",
                hint="use a function that takes a context: async def handler(ctx): ...",
            )
        self.name = check_process_name(name, "an agent")
        self.handler = handler
        self.persistent = persistent
        self.timeout_s = check_timeout(timeout_s)
        self.namespace_bytes_max = namespace_bytes_max

    def __repr__(self) -> str:
        return f"Agent({self.name!r})"


class Process:
    """One life of an agent. Made and changed by the kernel; read by everybody."""

    def __init__(
        self, process_id: str, agent: Agent, name: str, memory: MemoryAccessor, at: datetime
    ) -> None:
        self.id = process_id
        self.agent = agent
        self.name = name
        self.memory = memory
        self.created_at = at
        self.ended_at: datetime | None = None
        self.state: State = "created"
        self.error: ProcessFailed | None = None
        self.checkpoint: Checkpoint | None = None
        self.turn = asyncio.Lock()
        self.gone = asyncio.Event()
        self.execution: Execution | None = None

    @property
    def namespace(self) -> str:
        return process_namespace(self.name)

    def move(self, verb: Verb) -> None:
        self.state = after(self.state, verb, self.name)

    def __repr__(self) -> str:
        return f"Process({self.name!r}, {self.state}, id={self.id!r})"


class Context:
    """What a handler is given: its input, its memory, and who it is."""

    def __init__(self, process: Process, input: Any, emit: Callable[[str, Any], None]) -> None:
        self.input = input
        self.memory = process.memory
        self.process_id = process.id
        self.agent_name = process.agent.name
        self.name = process.name
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._over = False

    def emit(self, kind: str, data: Any = None) -> None:
        """Tell whoever watches the kernel's events, as `agent:KIND`."""
        self._check_open()
        self._loop.call_soon_threadsafe(self._emit, f"agent:{kind}", data)

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """For handlers that are not async: run a coroutine in the event loop and wait for it.

        `ctx.wait(ctx.memory.get("key"))`
        """
        if not iscoroutine(coroutine):
            raise InvalidInput("not_awaitable", "ctx.wait takes a coroutine", hint="call it first")
        if self._over or threading.get_ident() == self._thread:
            coroutine.close()
            self._check_open()
            raise Unsupported("wait_in_loop", "an async handler cannot wait", hint="use await")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def end(self) -> None:
        self._over = True

    def _check_open(self) -> None:
        if self._over:
            raise Closed(
                "execution_over",
                f"this execution of {shown(self.name)} is over",
                hint="a handler that ran out of time can do nothing more",
            )


def check_timeout(timeout_s: float | None) -> float | None:
    """A number of seconds; infinity, like None, waits for ever."""
    if timeout_s is not None and not timeout_s > 0:
        raise InvalidInput(
            "timeout_invalid", "timeout_s must be more than 0", hint="leave it out to wait for ever"
        )
    return timeout_s
