"""The async face: the same API, awaited. It holds no logic.

    async with holdfast.aio.open("memory") as vault:
        space = await vault.space()
        notes = await space.notes()
        await notes.save("Deploys go out on Tuesdays")

Every call hands one whole unit of work to a thread, where the engine's group commit lets callers
that wait at the same time share one flush. What a call gives back is a value, or the async face of
an object (a space, a store). `aio.pyi`, made from the sync API by a program, tells the types.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, partial

from holdfast import wiring
from holdfast.engine.space import Space
from holdfast.engine.vault import Vault
from holdfast.strategies.narrative import Notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType
    from typing import Any

FACES = (Vault, Space, Notes)
THREADS = 32


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="holdfast-aio")


def open(where: str, **options: Any) -> Call:  # noqa: A001
    """`holdfast.open`, awaited."""
    return Call(partial(wiring.open_vault, where, **options))


class Face:
    """The async face of an object of the sync API."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._target, name)
        if name.startswith("_") or not callable(attribute):
            return attribute
        return lambda *args, **named: Call(partial(attribute, *args, **named))

    def __repr__(self) -> str:
        return f"<async {self._target!r}>"


class Call:
    """One call of the sync API: to be awaited, or entered with `async with`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._entered: AbstractContextManager[Any] | None = None

    def __await__(self) -> Generator[Any, None, Any]:
        return _in_thread(lambda: _outside(self._work())).__await__()

    async def __aenter__(self) -> Any:
        self._entered = await _in_thread(self._work)
        assert self._entered is not None
        return _outside(await _in_thread(self._entered.__enter__))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        assert self._entered is not None
        return await _in_thread(partial(self._entered.__exit__, kind, error, trace))


async def _in_thread(work: Callable[[], Any]) -> Any:
    carried = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_threads(), carried.run, work)


def _outside(result: Any) -> Any:
    if isinstance(result, FACES):
        return Face(result)
    return list(result) if isinstance(result, Iterator) else result
