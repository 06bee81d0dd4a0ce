"""The async face: the same API, awaited. It holds no logic.

    async with holdfast.aio.open("memory") as vault:
        space = await vault.space()
        notes = await space.notes()
        await notes.save("Deploys go out on Tuesdays")

Every call hands one whole unit of work to a thread of its vault's own, where the engine's group
commit lets callers that wait at the same time share one flush. A call gives back what the sync one
does, an iterator as a list, and an object of the sync API (a space, a store, a tool) as its async
face. A face belongs to no event loop: any loop, in any thread, may call it.

Cancelled, a call that has not begun is dropped, and one that has begun runs to its end unseen; what
it opened or entered is left again. What was entered is always left, and what is closed is closed.

To give a class an async face is to name it in FACES. The types are in `aio.pyi`, made by
`tools/aio_stub.py`.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, wraps
from inspect import isgeneratorfunction
from types import FunctionType

from holdfast import wiring
from holdfast.engine import agents, proposals, space, vault
from holdfast.engine.runs import face
from holdfast.engine.skills import SkillLibrary
from holdfast.strategies import artifacts, narrative, transcript
from holdfast.strategies.profile.face import Profile
from holdfast.strategies.records.face import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Self

FACES = (
    vault.Vault,
    space.Space,
    proposals.Inbox,
    narrative.Notes,
    Profile,
    Records,
    artifacts.Artifacts,
    transcript.Transcript,
    agents.Agents,
    face.Runs,
    SkillLibrary,
)
THREADS = 32


def open(where: str | os.PathLike[str], **options: Any) -> Call:  # noqa: A001
    """`holdfast.open`: to be awaited and closed, or to be entered with `async with`."""
    return Call(Threads(), partial(wiring.open_vault, where, **options))


class Threads:
    """The threads of one vault: those of another, or of the event loop, may all be waiting."""

    def __init__(self) -> None:
        self._start()

    async def call(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        return await asyncio.wrap_future(
            self._submit(lambda: _outside(function(*args, **named), self))
        )

    async def enter(self, enter: Callable[[], Any], leave: Callable[[], Any]) -> Any:
        job = self._submit(enter)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            if not job.cancel():  # it had begun
                leaving = self._submit(partial(_after_entering, job, leave))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._left)
            raise

    async def finish(self, work: Callable[[], Any]) -> Any:
        """Leave or close: whether or not anybody waits for it, and after what is being left."""
        last = partial(_after_all, self._leaving.copy(), work)
        job = self._submit(last)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            if job.cancel():  # it had not begun
                self._submit(last)
            raise

    def _left(self, job: Future[Any]) -> None:
        self._leaving.discard(job)
        job.result()  # nobody waits for it: what it raises is logged

    def _submit(self, work: Callable[[], Any]) -> Future[Any]:
        if self._process != os.getpid():  # a fork takes no threads along
            self._start()
        return self._pool.submit(contextvars.copy_context().run, work)

    def _start(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="holdfast-aio")
        self._leaving: set[Future[Any]] = set()


# A thread may wait for what was handed over earlier, which has a thread: never for what came later.


def _after_entering(entering: Future[Any], leave: Callable[[], Any]) -> None:
    if entering.exception() is None:
        leave()


def _after_all(leaving: set[Future[Any]], work: Callable[[], Any]) -> Any:
    wait(leaving)
    return work()


class Entering:
    """A context manager of the sync API, entered and left with `async with`."""

    def __init__(
        self, threads: Threads, make: Callable[[], AbstractContextManager[Any, bool | None]]
    ) -> None:
        self._threads = threads
        self._make = make
        self._made: AbstractContextManager[Any, bool | None] | None = None

    async def __aenter__(self) -> Any:
        return await self._threads.enter(self._enter, self._leave)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._threads.finish(partial(self._leave, kind, error, trace))

    def _enter(self) -> Any:
        self._made = self._make()
        return _outside(self._made.__enter__(), self._threads)

    def _leave(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> bool | None:
        assert self._made is not None
        return self._made.__exit__(kind, error, trace)


class Call(Entering):
    """What can be entered, or be awaited and closed later."""

    def __await__(self) -> Generator[Any, None, Any]:
        return self.__aenter__().__await__()


class Face:
    """The async face of an object of the sync API: methods are awaited, attributes are not."""

    __slots__ = ("_target", "_threads")

    def __init__(self, target: Any, threads: Threads) -> None:
        self._target = target
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _outside(getattr(self._target, name), self._threads)

    def __repr__(self) -> str:
        return f"<async {self._target!r}>"


class EnteredFace(Face):
    """The face of what is a context manager itself, as a vault is."""

    __slots__ = ()

    async def __aenter__(self) -> Self:
        await self._threads.call(self._target.__enter__)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._threads.finish(partial(self._target.__exit__, kind, error, trace))


def _face(sync: type) -> type[Face]:
    methods = {
        name: _method(member)
        for base in reversed(sync.__mro__)
        for name, member in vars(base).items()
        if isinstance(member, FunctionType) and not name.startswith("_")
    }
    about = {"__doc__": sync.__doc__, "__module__": __name__, "__slots__": ()}
    kind = EnteredFace if hasattr(sync, "__enter__") else Face
    made: Any = type(sync.__name__, (kind,), about | methods)
    return made


def _method(method: FunctionType) -> Callable[..., Any]:
    if isgeneratorfunction(getattr(method, "__wrapped__", None)):  # made by @contextmanager

        @wraps(method)
        def enter(self: Any, *args: Any, **named: Any) -> Entering:
            return Entering(self._threads, partial(method, self._target, *args, **named))

        return enter

    if method.__name__ == "close":

        @wraps(method)
        async def close(self: Any) -> Any:
            return await self._threads.finish(partial(method, self._target))

        return close

    @wraps(method)
    async def call(self: Any, *args: Any, **named: Any) -> Any:
        return await self._threads.call(method, self._target, *args, **named)

    return call


def _tool(function: FunctionType, threads: Threads) -> Callable[..., Any]:
    @wraps(function)
    async def tool(*args: Any, **named: Any) -> Any:
        return await threads.call(function, *args, **named)

    return tool


def _outside(result: Any, threads: Threads) -> Any:
    """What a caller of the async face gets for what the sync API gave."""
    face = _FACE_OF.get(type(result))
    if face is not None:
        return face(result, threads)
    if isinstance(result, FunctionType):
        return _tool(result, threads)
    if isinstance(result, list | Iterator):
        return [_outside(item, threads) for item in result]
    return result


_FACE_OF: dict[type, type[Face]] = {sync: _face(sync) for sync in FACES}
globals().update({face.__name__: face for face in _FACE_OF.values()})
