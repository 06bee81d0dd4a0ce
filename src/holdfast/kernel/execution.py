"""One run of a handler: started, bounded in time, and stopped for good.

An async handler is a task, cancelled when its time is up. Any other runs in a thread of its own,
which nothing can stop: it is given up, goes on without its memory, and is said to be abandoned. So
is a task that will not be cancelled within the grace. What a handler raises ends its task and no
other, `SystemExit` included; `KeyboardInterrupt` is the person's and passes.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING

from holdfast.kernel.processes import ProcessFailed
from holdfast.model.names import shown

if TYPE_CHECKING:
    from typing import Any

    from holdfast.kernel.processes import Context, Handler, Process

GRACE_S = 1.0

# The executions that the code at hand runs inside of, outermost first.
_inside: ContextVar[tuple[Execution, ...]] = ContextVar("holdfast_executions", default=())


class HandlerExited(Exception):
    """The handler called `sys.exit`, or raised what only an event loop may."""


class Execution:
    """A handler at work; how it ended is `failure`, or the result of its `task`."""

    def __init__(self, process: Process, context: Context) -> None:
        self.process = process
        self.context = context
        self.over = False
        self._timed_out = False
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(process.agent.handler))

    @property
    def abandoned(self) -> bool:
        return not self.task.done() or (self._thread is not None and self._thread.is_alive())

    async def finish(self, timeout_s: float | None, grace_s: float) -> None:
        """Wait until it is done, or its time is up, or whoever waits for it is cancelled."""
        first = asyncio.FIRST_COMPLETED
        try:
            done, _ = await asyncio.wait(
                {self.task, self._given_up}, timeout=timeout_s, return_when=first
            )
        except asyncio.CancelledError:
            await self.stop(grace_s)
            raise
        if not done:
            self._timed_out = True
            await self.stop(grace_s)

    async def stop(self, grace_s: float) -> None:
        if not self.task.done():
            self._stopped = True
            self.task.cancel()
            await asyncio.wait({self.task}, timeout=grace_s)
        if not self._given_up.done():
            self._given_up.set_result(None)
        self.task.add_done_callback(_look_at)

    def failure(self) -> ProcessFailed | None:
        """Why there is no result, with the handler's own error as its cause."""
        name = shown(self.process.name)
        if self._timed_out or self._stopped:
            code, fate = (
                ("process_timeout", "ran out of time")
                if self._timed_out
                else ("process_stopped", "was stopped")
            )
            after = "; it goes on, cut off from its memory" if self.abandoned else ""
            return ProcessFailed(
                code,
                f"the handler of {name} {fate}{after}",
                hint="give it more time (timeout_s), or less to do",
            )
        error = asyncio.CancelledError() if self.task.cancelled() else self.task.exception()
        if error is None:
            return None
        failure = ProcessFailed(
            "process_crashed",
            f"the handler of {name} raised {type(error).__name__}",
            hint="the error's __cause__ is what it raised; spawn the agent again",
        )
        failure.__cause__ = error
        return failure

    async def _run(self, handler: Handler) -> Any:
        _inside.set((*_inside.get(), self))
        try:
            if iscoroutinefunction(handler) or iscoroutinefunction(type(handler).__call__):
                return await handler(self.context)
            result = await self._in_thread(handler)
            return await result if isawaitable(result) else result
        except SystemExit as exc:
            raise HandlerExited("the handler raised SystemExit") from exc
        finally:
            self.over = True

    async def _in_thread(self, handler: Handler) -> Any:
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        inside = copy_context()

        def work() -> None:
            try:
                result = inside.run(handler, self.context)
            except BaseException as exc:  # noqa: BLE001 (whoever awaits the answer raises it)
                answer.set_exception(_passable(exc))
            else:
                answer.set_result(result)

        self._thread = threading.Thread(target=work, name="holdfast-handler", daemon=True)
        self._thread.start()
        return await asyncio.wrap_future(answer)


def inside(process: Process) -> bool:
    """Whether this code runs inside an execution of the process that is still going on."""
    return any(each.process is process and not each.over for each in _inside.get())


def _passable(exc: BaseException) -> BaseException:
    """What a future may hold: it takes StopIteration for the end of itself."""
    if isinstance(exc, StopIteration | SystemExit | KeyboardInterrupt):
        exited = HandlerExited(f"the handler raised {type(exc).__name__}")
        exited.__cause__ = exc
        return exited
    return exc


def _look_at(task: asyncio.Task[Any]) -> None:
    """Take the error of a task that nobody waits for any more, so that Python does not warn."""
    if not task.cancelled():
        task.exception()
