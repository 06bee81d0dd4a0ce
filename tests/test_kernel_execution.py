"""Running handlers: in turn, in time, and contained when they fail."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from kernel_sample import BareBackend, FaultyBackend, runs

from holdfast.errors import Closed, InvalidInput, Refused, Unsupported
from holdfast.kernel import (
    MISSING,
    Agent,
    Context,
    Kernel,
    ProcessFailed,
    process_namespace,
    read_checkpoint,
)
from holdfast.testing import ManualClock, raises

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 0.01
LONG_S = 60


async def spawned(
    handler: Any, *, kernel: Kernel | None = None, **options: Any
) -> tuple[Kernel, Any]:
    kernel = Kernel(grace_s=LIMIT_S) if kernel is None else kernel
    kernel.register(Agent("a", handler, **options))
    return kernel, await kernel.spawn("a")


async def failure_of(kernel: Kernel, process: Any, code: str, **options: Any) -> ProcessFailed:
    with raises(ProcessFailed, code):
        await kernel.execute(process.id, **options)
    assert process.state == "crashed"
    assert process.error.code == code
    with raises(Refused, "process_crashed"):
        await kernel.execute(process.id)
    return process.error


async def add_one(ctx: Context) -> int:
    number = await ctx.memory.get("n", 0)
    for _ in range(3):
        await asyncio.sleep(0)
    await ctx.memory.set("n", number + 1)
    return number + 1


@pytest.mark.row("C15")
@runs
async def test_input_and_output_are_passed_as_they_are() -> None:
    kernel, process = await spawned(lambda ctx: ctx.input)
    for given in ({"task": 1}, None, object(), (1, {2})):
        result = await kernel.execute(process.id, given)
        assert result.output is given
        assert result.duration_s >= 0


@pytest.mark.row("C15")
@runs
async def test_executions_of_one_process_follow_one_another() -> None:
    kernel, process = await spawned(add_one)
    results = await asyncio.gather(*(kernel.execute(process.id) for _ in range(20)))
    assert [each.output for each in results] == list(range(1, 21))


@pytest.mark.row("C15")
@runs
async def test_processes_run_side_by_side() -> None:
    meeting = asyncio.Barrier(3)

    async def meet(ctx: Context) -> str:
        await meeting.wait()
        return ctx.name

    kernel, first = await spawned(meet)
    processes = [first, await kernel.spawn("a"), await kernel.spawn("a")]
    results = await asyncio.gather(*(kernel.execute(each.id) for each in processes))
    assert [each.output for each in results] == ["a", "a-2", "a-3"]


@pytest.mark.row("C15")
@runs
async def test_every_form_of_handler_runs() -> None:
    class Callable:
        async def __call__(self, ctx: Context) -> str:
            return await ctx.memory.get("key")

    async def method(word: str, ctx: Context) -> str:
        return word + await ctx.memory.get("key")

    def plain(ctx: Context) -> str:
        assert threading.current_thread() is not threading.main_thread()
        ctx.wait(ctx.memory.set("other", [1]))
        assert ctx.wait(ctx.memory.get("other")) == [1]
        return ctx.wait(ctx.memory.get("key"))

    def returning(ctx: Context) -> Any:
        return ctx.memory.get("key")

    handlers = (Callable(), partial(method, "w-"), plain, returning)
    for handler, wanted in zip(handlers, ("x", "w-x", "x", "x"), strict=True):
        kernel, process = await spawned(handler)
        await kernel.memory.get_accessor(process.id).set("key", "x")
        assert (await kernel.execute(process.id)).output == wanted


@runs
async def test_waiting_is_for_threads() -> None:
    async def handler(ctx: Context) -> None:
        with raises(Unsupported, "wait_in_loop"):
            ctx.wait(ctx.memory.get("key"))
        nothing: Any = 7
        with raises(InvalidInput, "not_awaitable"):
            ctx.wait(nothing)

    kernel, process = await spawned(handler)
    await kernel.execute(process.id)


class Sharp(BaseException):
    """What a handler should not raise, and may."""


@pytest.mark.row("C15")
@pytest.mark.parametrize(
    "error", [ValueError("x"), Sharp(), SystemExit(3), StopIteration(1), asyncio.CancelledError()]
)
@pytest.mark.parametrize("kind", ["async", "thread"])
@runs
async def test_a_crash_is_contained(error: BaseException, kind: str) -> None:
    async def handler(ctx: Context) -> None:
        await ctx.memory.set("key", [1])
        raise error

    def in_thread(ctx: Context) -> None:
        ctx.wait(ctx.memory.set("key", [1]))
        raise error

    kernel, process = await spawned(handler if kind == "async" else in_thread)
    kernel.register(Agent("other", add_one))
    other = await kernel.spawn("other")
    queued = [asyncio.create_task(kernel.execute(process.id)) for _ in range(3)]
    failures = await asyncio.gather(*queued, return_exceptions=True)
    codes = [each.code for each in failures if isinstance(each, ProcessFailed | Refused)]
    assert codes == ["process_crashed"] * 3
    failed = failures[0]
    assert isinstance(failed, ProcessFailed)
    assert failed is process.error
    chain = [failed.__cause__, failed.__cause__ and failed.__cause__.__cause__]
    assert any(type(each) is type(error) for each in chain)
    assert str(error) not in failed.message or not str(error)
    assert process.state == "crashed"
    assert process.checkpoint.values == {"key": [1]}
    assert (await kernel.execute(other.id)).output == 1
    assert (await kernel.spawn("a")).name == "a"


@pytest.mark.row("C15")
@runs
async def test_a_handler_of_the_wrong_shape_crashes_like_any_other() -> None:
    async def no_context() -> None: ...

    kernel, process = await spawned(no_context)
    failure = await failure_of(kernel, process, "process_crashed")
    assert isinstance(failure.__cause__, TypeError)


@pytest.mark.row("C15")
@runs
async def test_an_async_handler_out_of_time_is_cancelled() -> None:
    seen: list[str] = []

    async def handler(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await ctx.memory.set("last", "words")
            seen.append("cleaned up")

    backend = BareBackend()
    kernel, process = await spawned(handler, kernel=Kernel(backend))
    failure = await failure_of(kernel, process, "process_timeout", timeout_s=LIMIT_S)
    assert seen == ["cleaned up"]
    assert "goes on" not in failure.message
    assert process.checkpoint.values == {"last": "words"}
    assert await backend.get(process_namespace("a"), "last") == "words"


@pytest.mark.row("C15")
@runs
async def test_a_handler_that_will_not_be_cancelled_is_given_up() -> None:
    release, over = asyncio.Event(), asyncio.Event()
    late: list[Any] = []

    async def stubborn(ctx: Context) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                late.append("not yet")
        try:
            await ctx.memory.set("key", "too late")
        except Closed as error:
            late.append(error.code)
            over.set()
            raise

    backend = BareBackend()
    kernel, process = await spawned(stubborn, kernel=Kernel(backend, grace_s=LIMIT_S))
    failure = await failure_of(kernel, process, "process_timeout", timeout_s=LIMIT_S)
    assert "it goes on, cut off from its memory" in failure.message
    successor = await kernel.spawn("a")
    assert successor.name == "a"
    release.set()
    await over.wait()
    assert late == ["not yet", "memory_closed"]
    assert backend.held == {}


@pytest.mark.row("C15")
@runs
async def test_a_thread_out_of_time_is_given_up_and_cut_off() -> None:
    release, over = threading.Event(), threading.Event()
    late: list[str] = []
    coroutines: list[Any] = []

    def handler(ctx: Context) -> None:
        release.wait()
        try:
            ctx.emit("late")
        except Closed as error:
            late.append(error.code)
        try:
            coroutines.append(ctx.memory.set("key", "too late"))
            ctx.wait(coroutines[0])
        except Closed as error:
            late.append(error.code)
        over.set()

    backend = BareBackend()
    kernel, process = await spawned(handler, kernel=Kernel(backend, grace_s=LIMIT_S))
    failure = await failure_of(kernel, process, "process_timeout", timeout_s=LIMIT_S)
    assert "it goes on, cut off from its memory" in failure.message
    release.set()
    await asyncio.to_thread(over.wait)
    assert late == ["execution_over", "execution_over"]
    assert backend.held == {}


@pytest.mark.row("C15")
@runs
async def test_the_shortest_said_limit_is_that_of_the_call_then_the_agent_then_the_kernel() -> None:
    async def handler(ctx: Context) -> str:
        if ctx.input == "wait":
            await asyncio.Event().wait()
        return "done"

    for kernel_s, agent_s, call_s in (
        (LIMIT_S, None, None),
        (LONG_S, LIMIT_S, None),
        (LONG_S, LONG_S, LIMIT_S),
    ):
        kernel = Kernel(timeout_s=kernel_s)
        _, process = await spawned(handler, kernel=kernel, timeout_s=agent_s)
        assert (await kernel.execute(process.id)).output == "done"
        await failure_of(kernel, process, "process_timeout", input="wait", timeout_s=call_s)
    kernel, process = await spawned(handler, kernel=Kernel(timeout_s=LONG_S))
    assert (await kernel.execute(process.id, timeout_s=float("inf"))).output == "done"
    for wrong in (0, -1, float("nan")):
        with raises(InvalidInput, "timeout_invalid"):
            await kernel.execute(process.id, timeout_s=wrong)
        with raises(InvalidInput, "timeout_invalid"):
            Kernel(timeout_s=wrong)
        with raises(InvalidInput, "timeout_invalid"):
            Agent("b", handler, timeout_s=wrong)


@pytest.mark.row("C15")
@runs
async def test_a_caller_that_goes_away_stops_the_handler_and_not_the_process() -> None:
    begun = asyncio.Event()
    seen: list[str] = []

    async def handler(ctx: Context) -> str:
        if ctx.input != "wait":
            return "done"
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("stopped")
        return "never"

    kernel, process = await spawned(handler)
    call = asyncio.create_task(kernel.execute(process.id, "wait"))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert seen == ["stopped"]
    assert process.state == "running"
    assert (await kernel.execute(process.id)).output == "done"


@pytest.mark.row("C15")
@runs
async def test_a_caller_that_goes_away_from_a_thread_crashes_the_process() -> None:
    begun, release = threading.Event(), threading.Event()

    def handler(ctx: Context) -> None:
        begun.set()
        release.wait()

    kernel, process = await spawned(handler)
    call = asyncio.create_task(kernel.execute(process.id))
    await asyncio.to_thread(begun.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (process.state, process.error.code) == ("crashed", "process_stopped")
    release.set()


@pytest.mark.row("C15")
@runs
async def test_terminate_stops_what_runs_and_lets_it_clean_up() -> None:
    begun = asyncio.Event()

    async def handler(ctx: Context) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await ctx.memory.set("last", "words")

    backend = BareBackend()
    kernel, process = await spawned(handler, kernel=Kernel(backend))
    running = asyncio.create_task(kernel.execute(process.id))
    queued = asyncio.create_task(kernel.execute(process.id))
    await begun.wait()
    await kernel.terminate(process.id)
    with raises(ProcessFailed, "process_stopped"):
        await running
    with raises(Refused, "process_terminated"):
        await queued
    assert (process.state, process.error) == ("terminated", None)
    assert await backend.get(process_namespace("a"), "last") == "words"


@pytest.mark.row("C15")
@runs
async def test_terminate_does_not_wait_for_ever() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def stubborn(ctx: Context) -> None:
        while not release.is_set():
            begun.set()
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    kernel, process = await spawned(stubborn)
    running = asyncio.create_task(kernel.execute(process.id))
    await begun.wait()
    await kernel.terminate(process.id)
    with raises(ProcessFailed, "process_stopped"):
        await running
    release.set()


@pytest.mark.row("C15")
@runs
async def test_a_process_cannot_wait_for_itself() -> None:
    kernel = Kernel()
    codes: list[str] = []
    own: dict[str, str] = {}

    async def inner(ctx: Context) -> Any:
        for call in (kernel.execute, kernel.terminate):
            with raises(Refused, "process_inside_itself"):
                await call(own["outer"])
        codes.append("inner")
        return ctx.input

    async def outer(ctx: Context) -> Any:
        with raises(Refused, "process_inside_itself"):
            await kernel.execute(ctx.process_id)
        with raises(Refused, "process_inside_itself"):
            await kernel.shutdown()
        return (await kernel.execute(own["inner"], "nested")).output

    kernel.register(Agent("outer", outer), Agent("inner", inner))
    for name in ("outer", "inner"):
        own[name] = (await kernel.spawn(name)).id
    assert (await kernel.execute(own["outer"])).output == "nested"
    assert (await kernel.execute(own["outer"])).output == "nested"
    assert codes == ["inner", "inner"]


@runs
async def test_a_task_that_outlives_its_handler_may_execute_the_process_again() -> None:
    tasks: list[asyncio.Task[Any]] = []
    kernel = Kernel()

    async def handler(ctx: Context) -> str:
        if ctx.input == "first":
            tasks.append(asyncio.create_task(again(ctx.process_id)))
        return "done"

    async def again(process_id: str) -> Any:
        await asyncio.sleep(0)
        return (await kernel.execute(process_id, "second")).output

    _, process = await spawned(handler, kernel=kernel)
    await kernel.execute(process.id, "first")
    assert await tasks[0] == "done"


@pytest.mark.row("C15")
@runs
async def test_pausing_lets_an_execution_finish_and_takes_no_other() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def handler(ctx: Context) -> str:
        begun.set()
        await go.wait()
        if ctx.input == "crash":
            raise ValueError
        return "done"

    kernel, process = await spawned(handler)
    running = asyncio.create_task(kernel.execute(process.id))
    queued = asyncio.create_task(kernel.execute(process.id))
    await begun.wait()
    await kernel.pause(process.id)
    go.set()
    assert (await running).output == "done"
    with raises(Refused, "process_paused"):
        await queued
    await kernel.resume(process.id)
    begun.clear()
    go.clear()
    crashing = asyncio.create_task(kernel.execute(process.id, "crash"))
    await begun.wait()
    await kernel.pause(process.id)
    go.set()
    with raises(ProcessFailed, "process_crashed"):
        await crashing
    assert process.state == "crashed"


@pytest.mark.row("C16")
@runs
async def test_a_crash_leaves_a_checkpoint_in_the_folder_too(tmp_path: Path) -> None:
    async def handler(ctx: Context) -> None:
        await ctx.memory.set("key", {"n": [1, None]})
        await ctx.memory.set("soon", 1, ttl_s=60)
        raise ValueError

    folder = tmp_path / "new" / "folder"
    clock = ManualClock()
    kernel = Kernel(checkpoint_folder=folder, clock=clock)
    _, process = await spawned(handler, kernel=kernel)
    await failure_of(kernel, process, "process_crashed")
    checkpoint = read_checkpoint(folder / f"{process.id}.json")
    assert checkpoint == process.checkpoint == await kernel.checkpoint(process.id)
    assert checkpoint.values == {"key": {"n": [1, None]}, "soon": 1}
    assert (checkpoint.expires.keys(), checkpoint.name) == ({"soon"}, "a")
    assert kernel.memory.stats["totalEntries"] == 0
    assert [each.name for each in folder.iterdir()] == [f"{process.id}.json"]


@pytest.mark.row("C15", "C16")
@pytest.mark.parametrize("fault", ["folder", "backend", "foreign"])
@runs
async def test_a_failing_checkpoint_hides_no_crash_and_loses_no_value(
    fault: str, tmp_path: Path
) -> None:
    class Foreign(FaultyBackend):
        async def list(self, namespace: str, prefix: str = "") -> list[str]:
            raise ConnectionResetError("gone")

    (tmp_path / "file").write_text("in the way")
    backend = Foreign() if fault == "foreign" else FaultyBackend()
    if fault == "backend":
        backend.fail_at = {2}  # one set, then the wipe

    async def handler(ctx: Context) -> None:
        await ctx.memory.set("key", 1)
        raise ValueError("mine")

    folder = tmp_path / "file" if fault == "folder" else None
    kernel = Kernel(backend, checkpoint_folder=folder)
    _, process = await spawned(handler, kernel=kernel, persistent=False)
    failure = await failure_of(kernel, process, "process_crashed")
    assert isinstance(failure.__cause__, ValueError)
    (note,) = failure.__notes__
    assert note.startswith("its values stay where they are: ")
    assert await backend.get(process_namespace("a"), "key") == 1
    assert (await kernel.spawn("a")).name == "a"


@runs
async def test_a_result_is_kept_by_a_process_that_is_terminated_right_after() -> None:
    kernel, process = await spawned(add_one)
    assert (await kernel.execute(process.id)).output == 1
    await kernel.terminate(process.id)
    assert await kernel.memory.backend.get(process_namespace("a"), "n") is MISSING
