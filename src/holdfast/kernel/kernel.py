"""The kernel: agents, their processes, and what is done to them.

Executions of one process follow one another, in the order in which they were asked for, so that a
handler may read, compute and write; executions of different processes run side by side. A handler
that raises or runs out of time crashes its process and nothing else: its values are kept as a
checkpoint, its error is raised from `execute`, and its name is free again.

A kernel belongs to the event loop that it is used in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import Closed, Conflict, NotFound, Refused
from holdfast.kernel.accessor import KernelMemory
from holdfast.kernel.checkpoint import Checkpoint, put_back, read_checkpoint, take, write_checkpoint
from holdfast.kernel.clock import now_us, random_bytes
from holdfast.kernel.execution import GRACE_S, Execution, inside
from holdfast.kernel.feed import Feed
from holdfast.kernel.memory import InMemoryBackend
from holdfast.kernel.names import check_process_name, free_name, process_namespace
from holdfast.kernel.processes import (
    ENDED,
    Agent,
    Context,
    Process,
    after,
    check_timeout,
)
from holdfast.model.ids import RANDOM_BYTES, make_id
from holdfast.model.names import shown
from holdfast.model.times import from_us
from holdfast.model.value import Value
from holdfast.ports.values import EPHEMERAL, capabilities_of, check_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from datetime import datetime
    from os import PathLike
    from typing import Any, Self

    from holdfast.kernel.accessor import MemoryAccessor
    from holdfast.kernel.processes import ProcessFailed, State
    from holdfast.ports import Clock, Random
    from holdfast.ports.values import MemoryBackend

PROCESSES_MAX = 1000
ENDED_KEPT = 100


class ExecutionResult(Value):
    """What a handler returned, and how long it took."""

    process_id: str
    agent_name: str
    output: Any
    duration_s: float


class Event(Value):
    """Something that happened to a process; `kind` is one of `docs/reference/processes.md`."""

    kind: str
    at: datetime
    process_id: str
    agent_name: str
    name: str
    data: Any = None


class Kernel:
    """Spawns processes from agents and runs their handlers.

    Limits: `processes_max` live processes, `namespace_bytes_max` for the keys and values of each,
    `timeout_s` for each execution; an agent may set its own. A handler that is to stop has
    `grace_s` to do so. With a `checkpoint_folder`, the checkpoint of a crash is written there too.
    """

    def __init__(
        self,
        memory_backend: MemoryBackend | None = None,
        *,
        processes_max: int = PROCESSES_MAX,
        namespace_bytes_max: int | None = None,
        timeout_s: float | None = None,
        grace_s: float = GRACE_S,
        checkpoint_folder: str | PathLike[str] | None = None,
        clock: Clock = now_us,
        random: Random = random_bytes,
    ) -> None:
        backend = InMemoryBackend(clock=clock) if memory_backend is None else memory_backend
        check_backend(backend)
        self._own_backend = backend if memory_backend is None else None
        self._forgets = EPHEMERAL in capabilities_of(backend)
        self._processes_max = processes_max
        self._timeout_s = check_timeout(timeout_s)
        self._grace_s = grace_s
        self._checkpoint_folder = checkpoint_folder
        self._clock = clock
        self._random = random
        self._agents: dict[str, Agent] = {}
        self._processes: dict[str, Process] = {}
        self._live: dict[str, Process] = {}
        self._ended: deque[str] = deque()
        self._ending: set[asyncio.Future[None]] = set()
        self._feeds: list[Feed[Event]] = []
        self._callbacks: list[tuple[str, Callable[[Event], object]]] = []
        self._closed = False
        self.memory = KernelMemory(backend, clock, namespace_bytes_max, self._memory_of)

    # Agents and processes

    def register(self, *agents: Agent) -> None:
        """Make agents known. A name is given once."""
        for agent in agents:
            bearer = self._live.get(agent.name)
            if agent.name in self._agents or (bearer is not None and bearer.agent is not agent):
                raise Conflict(
                    "agent_name_taken",
                    f"the name {shown(agent.name)} belongs to another agent or a live process",
                    hint="give the agent another name",
                )
            self._agents[agent.name] = agent

    @property
    def agents(self) -> list[Agent]:
        return list(self._agents.values())

    def get_agent(self, name: str) -> Agent:
        agent = self._agents.get(name)
        if agent is None:
            known = ", ".join(shown(each) for each in self._agents) or "none"
            raise NotFound(
                "agent_unknown",
                f"no agent {shown(name)} is registered",
                hint=f"kernel.register(Agent(...)) first; registered: {known}",
            )
        return agent

    def get_process(self, process_id: str) -> Process:
        """A process, live or among the last thousand that ended."""
        process = self._processes.get(process_id)
        if process is None:
            raise NotFound(
                "process_unknown",
                f"this kernel has no process {shown(process_id)}",
                hint="use process.id of what spawn returned",
            )
        return process

    def processes(self, state: State | None = None) -> list[Process]:
        """All processes in the order of their spawning, or those in one state."""
        return [each for each in self._processes.values() if state in (None, each.state)]

    # Life

    async def spawn(self, agent_name: str, *, name: str | None = None) -> Process:
        """A running process of the agent, under the agent's name unless another is asked for.

        Where a live process bears the name, this one becomes `name-2`.
        """
        process = self._claim(agent_name, name)
        process.move("start")
        self._emit(process, "process:spawned")
        return process

    async def execute(
        self, process_id: str, input: Any = None, *, timeout_s: float | None = None
    ) -> ExecutionResult:
        """Run the handler with this input and return what it returned.

        Waits for earlier executions of the process. The time runs from the handler's start; what
        it may not exceed is said here, else by the agent, else by the kernel. Raises
        ProcessFailed when the handler raises, runs out of time or is terminated.
        """
        check_timeout(timeout_s)
        self._check_open()
        process = self.get_process(process_id)
        after(process.state, "execute", process.name)
        self._check_outside(process, "execute")
        async with process.turn:
            after(process.state, "execute", process.name)
            limits = (timeout_s, process.agent.timeout_s, self._timeout_s)
            limit = next((each for each in limits if each is not None), inf)
            return await self._execute(process, input, None if limit == inf else limit)

    async def pause(self, process_id: str) -> None:
        """Take no more executions. One that is going on goes on to its end."""
        process = self.get_process(process_id)
        process.move("pause")
        self._emit(process, "process:paused")

    async def resume(self, process_id: str) -> None:
        process = self.get_process(process_id)
        process.move("resume")
        self._emit(process, "process:resumed")

    async def terminate(self, process_id: str) -> None:
        """End the process and stop its handler. Its values stay where they persist."""
        process = self.get_process(process_id)
        self._check_outside(process, "terminate")
        process.move("terminate")
        await self._to_the_end(self._stop(process))

    async def shutdown(self) -> None:
        """Terminate every process and end the feeds. May be repeated."""
        live = list(self._live.values())
        for process in live:
            self._check_outside(process, "shut down the kernel of")
        self._closed = True
        ending = (self._see_off(process) for process in live)
        failures = [
            each
            for each in await asyncio.gather(*ending, return_exceptions=True)
            if each is not None
        ]
        for feed in tuple(self._feeds):
            feed.close()
        if self._own_backend is not None:
            await self._own_backend.close()
        if failures:
            raise failures[0]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    # Checkpoints

    async def checkpoint(
        self, process_id: str, path: str | PathLike[str] | None = None
    ) -> Checkpoint:
        """The values of a live process as of now, or of a crashed one as of its crash."""
        process = self.get_process(process_id)
        checkpoint = process.checkpoint
        if checkpoint is None:
            process.move("checkpoint")
            checkpoint = await self._take(process)
        if path is not None:
            await asyncio.to_thread(write_checkpoint, checkpoint, path)
        return checkpoint

    async def restore(
        self, checkpoint: Checkpoint | str | PathLike[str], *, name: str | None = None
    ) -> Process:
        """A new process of the checkpoint's agent and name, with its values and no others.

        What the name held before is replaced, at once or not at all.
        """
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = await asyncio.to_thread(read_checkpoint, checkpoint)
        wanted = checkpoint.name if name is None else name
        if wanted in self._live:
            raise Conflict(
                "process_live",
                f"a process named {shown(wanted)} is live",
                hint="terminate it first, or restore under another name",
            )
        process = self._claim(checkpoint.agent, wanted)
        try:
            await put_back(
                self.memory.rich, process.namespace, checkpoint, process.memory.bytes_max
            )
            process.move("start")
        except BaseException:
            process.state = "terminated"
            self._cut_off(process)
            if not process.gone.is_set():
                await self._bury(process, wipe=False)
            raise
        self._emit(process, "process:restored")
        return process

    # Events

    def events(self) -> Feed[Event]:
        """What happens to processes from now on. The feed ends with the kernel."""
        feed: Feed[Event] = Feed()
        feed.stop = partial(self._feeds.remove, feed)
        self._feeds.append(feed)
        return feed

    def on(self, kind: str, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Call back, in the event loop, after each event of a kind, or `*` for all.

        What a callback raises goes to the loop's exception handler. The answer ends it.
        """
        entry = (kind, callback)
        self._callbacks.append(entry)
        return partial(self._callbacks.remove, entry)

    # Inside

    def _claim(self, agent_name: str, wanted: str | None) -> Process:
        """A created process with a name of its own. Nothing is awaited: no other can get it."""
        self._check_open()
        agent = self.get_agent(agent_name)
        if len(self._live) >= self._processes_max:
            raise Refused(
                "processes_max",
                f"{len(self._live)} processes are live; the limit is {self._processes_max}",
                hint="terminate one, or raise processes_max",
            )
        wanted = agent.name if wanted is None else check_process_name(wanted, "a process")
        if wanted != agent.name and wanted in self._agents:
            raise Refused(
                "name_of_agent",
                f"{shown(wanted)} is the name of another agent, whose values are its own",
                hint="choose a name that no agent bears",
            )
        name = free_name(wanted, {*self._live, *self._agents.keys() - {wanted}})
        memory = self.memory.accessor(process_namespace(name), agent.namespace_bytes_max)
        at_us = self._clock()
        process_id = make_id(at_us, self._random(RANDOM_BYTES))
        process = Process(process_id, agent, name, memory, from_us(at_us))
        self._processes[process_id] = self._live[name] = process
        return process

    async def _execute(
        self, process: Process, input: Any, timeout_s: float | None
    ) -> ExecutionResult:
        loop = asyncio.get_running_loop()
        started = loop.time()
        context = Context(process, input, partial(self._emit, process))
        self._emit(process, "execution:started")
        execution = process.execution = Execution(process, context)
        try:
            await execution.finish(timeout_s, self._grace_s)
        except asyncio.CancelledError:
            failure = execution.failure()
            broken = failure is not None and (execution.abandoned or failure.__cause__ is not None)
            if failure is not None and broken and process.state not in ENDED:
                await self._crash(process, failure)
            raise
        finally:
            process.execution = None
            context.end()
        failure = execution.failure()
        if failure is None:
            self._emit(process, "execution:completed")
            return ExecutionResult(
                process_id=process.id,
                agent_name=process.agent.name,
                output=execution.task.result(),
                duration_s=loop.time() - started,
            )
        self._emit(process, "execution:failed", failure.code)
        if process.state not in ENDED:
            await self._crash(process, failure)
        raise failure

    async def _see_off(self, process: Process) -> None:
        if process.state in ENDED:
            await process.gone.wait()
        else:
            await self.terminate(process.id)

    async def _stop(self, process: Process) -> None:
        if process.execution is not None:
            await process.execution.stop(self._grace_s)
        self._cut_off(process)
        try:
            await self._bury(process, wipe=self._is_fleeting(process))
        finally:
            self._emit(process, "process:terminated")

    async def _crash(self, process: Process, failure: ProcessFailed) -> None:
        process.move("crash")
        process.error = failure
        self._cut_off(process)
        await self._to_the_end(self._clear_up(process, failure))

    async def _clear_up(self, process: Process, failure: ProcessFailed) -> None:
        """What fails here, in whatever way a backend may fail, must not hide the failure."""
        (fault,) = await asyncio.gather(self._let_go(process), return_exceptions=True)
        if fault is not None:
            failure.add_note(f"its values stay where they are: {fault}")
            if self._live.get(process.name) is process:
                await self._bury(process, wipe=False)
        self._emit(process, "process:crashed", failure.code)

    async def _let_go(self, process: Process) -> None:
        """Keep the values of a crashed process as a checkpoint, and only then remove them."""
        process.checkpoint = await self._take(process)
        if self._checkpoint_folder is not None:
            path = Path(self._checkpoint_folder) / f"{process.id}.json"
            await asyncio.to_thread(write_checkpoint, process.checkpoint, path)
        await self._bury(process, wipe=self._is_fleeting(process))

    async def _to_the_end(self, work: Coroutine[Any, Any, None]) -> None:
        """Carry it out even when whoever waits for it is cancelled."""
        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)

    async def _take(self, process: Process) -> Checkpoint:
        return await take(
            self.memory.rich,
            process.namespace,
            agent=process.agent.name,
            name=process.name,
            process_id=process.id,
            at=from_us(self._clock()),
        )

    def _is_fleeting(self, process: Process) -> bool:
        return self._forgets or not process.agent.persistent

    def _cut_off(self, process: Process) -> None:
        process.memory.end(f"the process {shown(process.name)} is {process.state}")

    async def _bury(self, process: Process, *, wipe: bool) -> None:
        """Remove values that go with their process; only then is its name free."""
        try:
            if wipe:
                await self.memory.rich.delete_namespace(process.namespace)
        finally:
            process.ended_at = from_us(self._clock())
            del self._live[process.name]
            process.gone.set()
            self._ended.append(process.id)
            if len(self._ended) > ENDED_KEPT:
                del self._processes[self._ended.popleft()]

    def _memory_of(self, process_id: str) -> MemoryAccessor:
        return self.get_process(process_id).memory

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("kernel_closed", "the kernel was shut down", hint="make another one")

    def _check_outside(self, process: Process, verb: str) -> None:
        if inside(process):
            raise Refused(
                "process_inside_itself",
                f"cannot {verb} the process {shown(process.name)} from inside its own handler",
                hint="return from the handler first; a handler would wait for itself",
            )

    def _emit(self, process: Process, kind: str, data: Any = None) -> None:
        event = Event(
            kind=kind,
            at=from_us(self._clock()),
            process_id=process.id,
            agent_name=process.agent.name,
            name=process.name,
            data=data,
        )
        for feed in self._feeds:
            feed.push(event)
        for wanted, callback in self._callbacks:
            if wanted in (kind, "*"):
                asyncio.get_running_loop().call_soon(callback, event)
