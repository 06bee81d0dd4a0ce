"""Awaited writes, committed where that is quickest.

The first write in a round of the event loop is committed where it stands: to hand it to a thread
and to hear of it again takes longer than its commit. A task that then writes again has its answer
already, and goes on so for a few writes, until others have their turn. What other tasks write in
that round waits for the next one: a single write is then committed in the same way, several go
together to the thread of the storage and share one flush of the disk. Where commits are slow,
another process is writing, or the write is a long one, the loop waits for none of it: all are
handed over. Writes keep the order in which they were made. What a loop leaves waiting when it is
closed is written all the same.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from holdfast.ports import NOT_NOW, NotNow

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from holdfast.ports.desk import Desk
    from holdfast.ports.values import ValueUnit

    T = TypeVar("T")


IN_A_ROW_MAX = 8


class Rounds:
    """The writes of one event loop at a time; those of another are handed over."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._loop: asyncio.AbstractEventLoop | None = None
        self._written = 0  # in this round, one after another
        self._writer: asyncio.Task[Any] | None = None  # whose they were
        self._waiting: deque[tuple[ValueUnit[Any], asyncio.Future[Any]]] = deque()
        self._taking_up = threading.Lock()

    async def write(self, unit: ValueUnit[T], *, is_long: bool = False) -> T:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if loop is self._loop or self._is_for(loop):
            if is_long:
                self.hand_over()
            elif self._written and not self._goes_on():
                self._waiting.append((unit, answer))
                return await answer
            else:
                self._count(loop, asyncio.current_task())
                done = self._desk.write_at_once(unit)
                if not isinstance(done, NotNow):
                    return done
        self._submit(unit, answer)
        return await answer

    def hand_over(self) -> None:
        """Let no write wait for another round."""
        while self._waiting:
            try:
                unit, answer = self._waiting.popleft()
            except IndexError:  # another thread has closed the backend
                return
            self._do(unit, answer, here=False)

    def _is_for(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Take up a loop in place of one that has ended: one of those that come now."""
        with self._taking_up:
            if self._loop is not None and not self._loop.is_closed():
                return False
            self.hand_over()
            self._loop, self._written, self._writer = loop, 0, None
            return True

    def _goes_on(self) -> bool:
        """Whether this is the next write of the task that wrote last, and nobody waits for it."""
        return (
            self._written < IN_A_ROW_MAX
            and not self._waiting
            and self._writer is asyncio.current_task()
        )

    def _count(self, loop: asyncio.AbstractEventLoop, writer: asyncio.Task[Any] | None) -> None:
        if not self._written:
            loop.call_soon(self._end, loop)
        self._written += 1
        self._writer = writer

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._written, self._writer = 0, None
        if len(self._waiting) == 1:
            self._count(loop, None)
            self._do(*self._waiting.pop(), here=True)
            return
        try:
            self.hand_over()
        finally:
            if self._waiting:  # a signal came; the loop may be run again
                self._count(loop, None)

    def _submit(self, unit: ValueUnit[T], answer: asyncio.Future[T]) -> None:
        self._desk.submit(unit, partial(_hand_back, answer.get_loop(), answer))

    def _do(self, unit: ValueUnit[Any], answer: asyncio.Future[Any], *, here: bool) -> None:
        try:
            done = self._desk.write_at_once(unit) if here else NOT_NOW
            if done is NOT_NOW:
                self._submit(unit, answer)
            else:
                _settle(answer, done, None)
        except BaseException as exc:
            struck = not isinstance(exc, Exception)  # a Ctrl-C is the loop's, as in any callback
            seen = asyncio.CancelledError() if struck else exc
            _hand_back(answer.get_loop(), answer, None, seen)
            if struck:
                raise


def _hand_back(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[T],
    value: T | None,
    error: BaseException | None,
) -> None:
    """From any thread to the loop that waits, if it still does."""
    try:
        loop.call_soon_threadsafe(_settle, answer, value, error)
    except RuntimeError:  # the loop was closed meanwhile; what was written is written
        return


def _settle(answer: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if answer.done():  # cancelled, or a signal came between
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)
