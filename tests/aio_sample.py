"""What the tests of the async face share: a gate at which a unit waits, and what was kept."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import holdfast

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from holdfast import aio

WAIT_S = 30


def run(work: Awaitable[Any]) -> Any:
    """Run it in a loop of its own. What hangs fails."""
    return asyncio.run(asyncio.wait_for(work, WAIT_S))


class Gate:
    """Who comes through next, once it is shut, waits there until it is opened. It is a clock, at
    which a unit waits inside its transaction; and a path, at which the opening of a vault waits."""

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._shut: list[bool] = []
        self._reached = threading.Event()
        self._opened = threading.Event()

    def shut(self) -> None:
        self._shut.append(True)

    def open(self) -> None:
        self._opened.set()

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, WAIT_S)

    def __call__(self) -> int:
        self._pass()
        return time.time_ns() // 1000

    def __fspath__(self) -> str:
        self._pass()
        return self.path

    def _pass(self) -> None:
        try:
            self._shut.pop()
        except IndexError:
            return
        self._reached.set()
        assert self._opened.wait(WAIT_S)


async def texts(notes: aio.Notes) -> list[str]:
    return [entry.text for entry in (await notes.read(limit=1000)).entries]


def kept(where: Path) -> list[str]:
    """What a vault holds when it is opened anew."""
    with holdfast.open(where) as vault:
        assert list(vault.verify()) == []
        return [entry.text for entry in vault.space().notes().read(limit=1000).entries]


def states(where: Path) -> list[str]:
    with holdfast.open(where) as vault:
        return [session.state for session in vault.space().sessions(limit=1_000)]


async def cancelled(task: asyncio.Task[Any]) -> None:
    """It ends at once, whatever its unit waits for."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
