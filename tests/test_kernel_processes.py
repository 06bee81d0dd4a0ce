"""Processes: states, names, isolation, lifetime, limits and events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from kernel_sample import BareBackend, runs

from holdfast.errors import Closed, Conflict, InvalidInput, NotFound, Refused, StorageFailed
from holdfast.kernel import (
    MISSING,
    SHARED,
    Agent,
    Context,
    Event,
    InMemoryBackend,
    Kernel,
    MemoryBackend,
    Process,
    process_namespace,
)
from holdfast.kernel import feed as feeds
from holdfast.kernel import kernel as kernels
from holdfast.kernel.names import OWN, free_name
from holdfast.kernel.processes import after
from holdfast.testing import ManualClock, raises

if TYPE_CHECKING:
    from collections.abc import Callable

STATES: Any = ("created", "running", "paused", "terminated", "crashed")
VERBS: Any = ("start", "execute", "checkpoint", "pause", "resume", "terminate", "crash")


async def write_name(ctx: Context) -> Any:
    """Says what is there and writes its own name."""
    before = await ctx.memory.get("who")
    await ctx.memory.set("who", ctx.name)
    return before


def kernel_of(*names: str, **options: Any) -> Kernel:
    kernel = Kernel(**options)
    kernel.register(*(Agent(name, write_name) for name in names))
    return kernel


@pytest.mark.row("C01", "C05", "C15")
@runs
async def test_a_handler_keeps_values_in_the_memory_of_its_process() -> None:
    backend = InMemoryBackend()
    kernel = Kernel(memory_backend=backend)
    seen: list[Any] = []

    async def handler(ctx: Context) -> str:
        await ctx.memory.set("key", {"any": "value"})
        await ctx.memory.set("prefix:b", 2)
        await ctx.memory.set("prefix:a", 1)
        seen.append(await ctx.memory.get("key"))
        seen.append(await ctx.memory.delete("key"))
        seen.append(await ctx.memory.delete("key"))
        seen.append(await ctx.memory.get("key"))
        seen.append(await ctx.memory.get("key", "default"))
        seen.append(await ctx.memory.list("prefix:"))
        await ctx.memory.clear()
        seen.append(await ctx.memory.list())
        return "done"

    kernel.register(Agent("counter", handler))
    process = await kernel.spawn("counter")
    result = await kernel.execute(process.id, {"task": 1})
    assert result.output == "done"
    assert (result.process_id, result.agent_name) == (process.id, "counter")
    assert seen == [{"any": "value"}, True, False, None, "default", ["prefix:a", "prefix:b"], []]
    shared = kernel.memory.get_shared_accessor()
    await shared.set("key", None)
    assert await shared.get("key", "default") is None
    expected = {"backend": "memory", "namespaces": 1, "totalEntries": 1}
    assert kernel.memory.stats == await kernel.memory.stats_async() == expected
    await backend.close()
    await backend.close()


@pytest.mark.row("C15")
def test_the_states_lead_to_one_another_as_they_should_and_nowhere_else() -> None:
    allowed = {
        ("created", "start"): "running",
        ("created", "terminate"): "terminated",
        ("running", "execute"): "running",
        ("running", "checkpoint"): "running",
        ("running", "pause"): "paused",
        ("running", "terminate"): "terminated",
        ("running", "crash"): "crashed",
        ("paused", "resume"): "running",
        ("paused", "checkpoint"): "paused",
        ("paused", "terminate"): "terminated",
        ("paused", "crash"): "crashed",
    }
    for state in STATES:
        for verb in VERBS:
            if (state, verb) in allowed:
                assert after(state, verb, "p") == allowed[state, verb]
            else:
                with raises(Refused, f"process_{state}"):
                    after(state, verb, "p")


@pytest.mark.row("C15")
@runs
async def test_wrong_moves_are_refused_and_change_nothing() -> None:
    kernel = kernel_of("a")
    process = await kernel.spawn("a")
    with raises(Refused, "process_running"):
        await kernel.resume(process.id)
    await kernel.pause(process.id)
    for call in (kernel.pause, kernel.execute):
        with raises(Refused, "process_paused"):
            await call(process.id)
    assert process.state == "paused"
    await kernel.resume(process.id)
    assert (await kernel.execute(process.id)).output is None
    await kernel.terminate(process.id)
    for call in (
        *(kernel.pause, kernel.resume, kernel.execute, kernel.terminate, kernel.checkpoint),
    ):
        with raises(Refused, "process_terminated"):
            await call(process.id)
    with raises(NotFound, "process_unknown"):
        await kernel.execute("no such")
    with raises(NotFound, "agent_unknown"):
        await kernel.spawn("no such")


@pytest.mark.row("C07")
@runs
async def test_two_live_processes_of_a_name_have_values_of_their_own() -> None:
    kernel = kernel_of("a")
    first, second, third = [await kernel.spawn("a") for _ in range(3)]
    assert [each.name for each in (first, second, third)] == ["a", "a-2", "a-3"]
    for process in (first, second, third):
        assert (await kernel.execute(process.id)).output is None
    for process in (first, second, third):
        assert (await kernel.execute(process.id)).output == process.name
    await kernel.terminate(second.id)
    assert (await kernel.spawn("a")).name == "a-2"
    assert (await kernel.spawn("a")).name == "a-4"


@pytest.mark.row("C07")
@runs
async def test_a_numbered_name_passes_over_the_names_of_agents() -> None:
    kernel = kernel_of("a", "a-2", "other")
    assert [(await kernel.spawn("a")).name for _ in range(2)] == ["a", "a-3"]
    assert (await kernel.spawn("a-2")).name == "a-2"
    assert (await kernel.spawn("other", name="job")).name == "job"
    assert (await kernel.spawn("other", name="job")).name == "job-2"
    with raises(Refused, "name_of_agent"):
        await kernel.spawn("other", name="a")
    with raises(Conflict, "agent_name_taken"):
        kernel.register(Agent("a-3", write_name))
    with raises(Conflict, "agent_name_taken"):
        kernel.register(Agent("a", write_name))


def test_a_free_name_is_the_first_that_is_free() -> None:
    assert free_name("a", ()) == "a"
    assert free_name("a", {"a", "a-2", "a-4"}) == "a-3"


@pytest.mark.row("C07", "C11")
@runs
async def test_values_of_a_persistent_backend_outlive_process_and_kernel() -> None:
    held: dict[tuple[str, str], bytes] = {}
    for before in (None, "a", "a"):
        async with kernel_of("a", memory_backend=BareBackend(held)) as kernel:
            process = await kernel.spawn("a")
            assert (await kernel.execute(process.id)).output == before
            if before:
                await kernel.terminate(process.id)
    kernel = kernel_of("a", memory_backend=BareBackend(held))
    for name, before in (("a", "a"), ("a-2", None)):
        process = await kernel.spawn("a")
        assert (process.name, (await kernel.execute(process.id)).output) == (name, before)


@pytest.mark.row("C11")
@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("kind", [BareBackend, InMemoryBackend])
@runs
async def test_values_stay_unless_the_agent_or_the_backend_says_otherwise(
    kind: type[Any], persistent: bool
) -> None:
    stays = persistent and kind is BareBackend
    for end in ("terminate", "shutdown", "crash"):
        backend = kind()
        kernel = Kernel(memory_backend=backend)

        async def handler(ctx: Context) -> None:
            await ctx.memory.set("key", 1)
            if ctx.input == "crash":
                raise ValueError

        kernel.register(Agent("a", handler, persistent=persistent), Agent("b", handler))
        await kernel.memory.get_shared_accessor().set("key", "shared")
        process = await kernel.spawn("a")
        if end == "crash":
            with pytest.raises(Exception, match="raised ValueError"):
                await kernel.execute(process.id, "crash")
        else:
            await kernel.execute(process.id)
            await (kernel.terminate(process.id) if end == "terminate" else kernel.shutdown())
        found = await backend.get(process_namespace("a"), "key")
        assert found == (1 if stays else MISSING)
        assert await backend.get(SHARED, "key") == "shared"
        assert (await backend.stats())["namespaces"] == (2 if stays else 1)


@pytest.mark.row("C04", "C07")
@pytest.mark.parametrize(
    "name",
    [
        "shared",
        "shared/",
        "process/shared",
        "../shared",
        "holdfast/ttl",
        OWN,
        "a/b",
        "%",
        "*",
        "a b",
    ],
)
@runs
async def test_no_name_reaches_the_shared_values_or_the_books(name: str) -> None:
    for backend in (InMemoryBackend(), BareBackend()):
        kernel = Kernel(memory_backend=backend)
        shared = kernel.memory.get_shared_accessor()
        await shared.set("who", "shared", ttl_s=1000)

        async def handler(ctx: Context) -> list[str]:
            keys = await ctx.memory.list()
            await ctx.memory.set("who", "me")
            await ctx.memory.clear()
            await ctx.memory.set("who", "me")
            return keys

        kernel.register(Agent(name, handler, persistent=False), Agent("plain", handler))
        for process in (await kernel.spawn(name), await kernel.spawn("plain", name=f"{name}x")):
            assert (await kernel.execute(process.id)).output == []
            await kernel.terminate(process.id)
        assert await shared.get("who") == "shared"
        assert await shared.list() == ["who"]
        await kernel.shutdown()
        assert await backend.get(SHARED, "who") is not MISSING


@pytest.mark.row("C07")
@pytest.mark.parametrize(
    "name", ["", " a", "a\n", "a\0", "\ud800", "\u202ea", "a" * 201, "e\u0301", None, 7, "\t"]
)
@runs
async def test_names_that_cannot_be_read_are_refused(name: Any) -> None:
    with raises(InvalidInput, "label_invalid"):
        Agent(name, write_name)
    kernel = kernel_of("a")
    if name is not None:
        with raises(InvalidInput, "label_invalid"):
            await kernel.spawn("a", name=name)
    assert (await kernel.spawn("a", name="é" * 200)).name == "é" * 200
    assert (await kernel.spawn("a", name="é" * 200)).name == "é" * 200 + "-2"


@pytest.mark.row("C11")
@runs
async def test_a_name_is_free_only_when_its_values_are_gone() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    class Gate(BareBackend):
        async def delete_namespace(self, namespace: str) -> None:
            begun.set()
            await go.wait()
            await super().delete_namespace(namespace)

    kernel = Kernel(memory_backend=Gate())
    kernel.register(Agent("a", write_name, persistent=False))
    first = await kernel.spawn("a")
    await kernel.execute(first.id)
    ending = asyncio.create_task(kernel.terminate(first.id))
    await begun.wait()
    second = await kernel.spawn("a")
    assert second.name == "a-2"
    with raises(Refused, "process_terminated"):
        await kernel.terminate(first.id)
    ending.cancel()  # whoever waits may go away: the end goes on
    go.set()
    await first.gone.wait()
    third = await kernel.spawn("a")
    assert (third.name, (await kernel.execute(third.id)).output) == ("a", None)


@pytest.mark.row("C07", "C15")
@runs
async def test_memory_ends_with_its_process() -> None:
    kernel = kernel_of("a", memory_backend=BareBackend())
    process = await kernel.spawn("a")
    memory = kernel.memory.get_accessor(process.id)
    await memory.set("key", 1)
    await kernel.terminate(process.id)
    successor = await kernel.spawn("a")
    for call in (
        *(memory.get("key"), memory.set("key", 2), memory.delete("key"), memory.list()),
        *(memory.clear(), memory.stored("key"), memory.increment("n"), memory.batch([])),
        memory.compare_and_set("key", 2, MISSING),
    ):
        with raises(Closed, "memory_closed"):
            await call
    with raises(Closed, "memory_closed"):
        memory.watch()
    assert await kernel.memory.get_accessor(successor.id).get("key") == 1


@pytest.mark.row("C15")
@runs
async def test_so_many_processes_and_no_more() -> None:
    kernel = kernel_of("a", processes_max=3)
    spawned = await asyncio.gather(*(kernel.spawn("a") for _ in range(8)), return_exceptions=True)
    live = [each for each in spawned if isinstance(each, Process)]
    assert [each.name for each in live] == ["a", "a-2", "a-3"]
    assert {each.code for each in spawned if isinstance(each, Refused)} == {"processes_max"}
    await kernel.pause(live[0].id)
    with raises(Refused, "processes_max"):
        await kernel.spawn("a")
    await kernel.terminate(live[0].id)
    assert (await kernel.spawn("a")).name == "a"


@runs
async def test_ended_processes_are_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "ENDED_KEPT", 2)
    kernel = kernel_of("a")
    processes = [await kernel.spawn("a") for _ in range(4)]
    for process in processes[:3]:
        await kernel.terminate(process.id)
    with raises(NotFound, "process_unknown"):
        kernel.get_process(processes[0].id)
    assert kernel.processes() == processes[1:]
    assert kernel.processes("terminated") == processes[1:3]
    assert kernel.processes("running") == processes[3:]


@pytest.mark.row("C15")
@runs
async def test_shutdown_ends_everything_once() -> None:
    backend = BareBackend()
    async with kernel_of("a", "b", memory_backend=backend) as kernel:
        processes = [await kernel.spawn(name) for name in ("a", "b", "a")]
        await kernel.pause(processes[1].id)
        feed = kernel.events()
        await asyncio.gather(kernel.shutdown(), kernel.shutdown())
        assert {each.state for each in processes} == {"terminated"}
        kinds = [(event.kind, event.name) async for event in feed]
        assert sorted(kinds) == [("process:terminated", name) for name in ("a", "a-2", "b")]
    for call in (kernel.spawn("a"), kernel.execute(processes[0].id)):
        with raises(Closed, "kernel_closed"):
            await call
    assert not backend.closed
    own = kernel_of("a")
    await own.shutdown()
    with raises(Closed, "backend_closed"):
        await own.memory.stats_async()


@runs
async def test_a_failing_wipe_is_told_and_does_not_stop_the_shutdown() -> None:
    class Stuck(BareBackend):
        async def delete_namespace(self, namespace: str) -> None:
            raise StorageFailed("disk_full", "no room", hint="make room")

    kernel = Kernel(memory_backend=Stuck())
    kernel.register(Agent("a", write_name, persistent=False), Agent("b", write_name))
    first, second = await kernel.spawn("a"), await kernel.spawn("b")
    with raises(StorageFailed, "disk_full"):
        await kernel.shutdown()
    assert (first.state, second.state) == ("terminated", "terminated")
    await kernel.shutdown()


@pytest.mark.row("C09")
def test_a_backend_that_lacks_what_it_should_have_is_refused() -> None:
    class Half:
        name = "half"

        async def get(self, namespace: str, key: str) -> Any: ...

    class Empty(MemoryBackend):
        name = "empty"

    class Boasting(BareBackend):
        capabilities = frozenset({"transactions"})

    class Unknown(BareBackend):
        capabilities = frozenset({"telepathy"})

    class Nameless(BareBackend):
        name: Any = None

    for kind, words in (
        (Half, "set, delete, list, clear, delete_namespace, stats, close"),
        (Empty, "get, set, delete, list"),
        (Boasting, "stored, snapshot, apply, sweep"),
        (Unknown, "telepathy"),
        (Nameless, "a name"),
    ):
        make: Callable[[], Any] = kind
        with pytest.raises(InvalidInput, match=words) as caught:
            Kernel(memory_backend=make())
        assert caught.value.code == "backend_unfit"


@pytest.mark.row("C15")
@runs
async def test_events_tell_what_happened_in_order() -> None:
    clock = ManualClock()
    kernel = Kernel(clock=clock)
    called: list[str] = []
    caught: list[Event] = []

    async def handler(ctx: Context) -> None:
        ctx.emit("progress", {"percent": 50})
        if ctx.input == "crash":
            raise ValueError

    kernel.register(Agent("a", handler))
    feed = kernel.events()
    stop = kernel.on("*", lambda event: called.append(event.kind))
    kernel.on("process:crashed", caught.append)
    process = await kernel.spawn("a")
    await kernel.pause(process.id)
    await kernel.resume(process.id)
    await kernel.execute(process.id)
    with pytest.raises(Exception, match="ValueError"):
        await kernel.execute(process.id, "crash")
    await asyncio.sleep(0)
    stop()
    last = await kernel.spawn("a")
    await kernel.shutdown()
    events = [event async for event in feed]
    kinds = [event.kind for event in events]
    assert kinds == [
        *("process:spawned", "process:paused", "process:resumed"),
        *("execution:started", "agent:progress", "execution:completed"),
        *("execution:started", "agent:progress", "execution:failed", "process:crashed"),
        *("process:spawned", "process:terminated"),
    ]
    assert called == kinds[:10]
    assert {event.process_id for event in events[:10]} == {process.id}
    assert {event.process_id for event in events[10:]} == {last.id}
    assert events[4].data == {"percent": 50}
    assert [event.data for event in caught] == ["process_crashed"]
    assert events[0].at.timestamp() * 1_000_000 == clock.us


@pytest.mark.row("C15")
@runs
async def test_a_reader_that_falls_behind_is_told_how_much_it_lost() -> None:
    kernel = kernel_of("a")
    feed = kernel.events()
    process = await kernel.spawn("a")
    for _ in range(feeds.ITEMS_MAX):
        await kernel.pause(process.id)
        await kernel.resume(process.id)
    feed.close()
    feed.close()
    await kernel.pause(process.id)
    kinds = [event.kind async for event in feed]
    assert kinds == ["process:paused", "process:resumed"] * (feeds.ITEMS_MAX // 2)
    assert feed.lost == feeds.ITEMS_MAX + 1


@runs
async def test_an_error_of_a_callback_is_the_loops_and_not_the_kernels() -> None:
    told: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    kernel = kernel_of("a")
    kernel.on("process:spawned", lambda _: 1 / 0)
    process = await kernel.spawn("a")
    assert (await kernel.execute(process.id)).output is None
    assert [type(each) for each in told] == [ZeroDivisionError]


@runs
async def test_a_feed_can_be_fed_from_a_thread() -> None:
    kernel = kernel_of("a")
    kernel.register(Agent("sync", lambda ctx: [ctx.emit("n", n) for n in range(3)]))
    process = await kernel.spawn("sync")
    async with kernel.events() as feed:
        await kernel.execute(process.id)
    assert [e.data async for e in feed if e.kind == "agent:n"] == [0, 1, 2]


def test_an_agent_needs_a_handler() -> None:
    nothing: Any = None
    with raises(InvalidInput, "handler_invalid"):
        Agent("a", nothing)
