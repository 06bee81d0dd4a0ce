"""Accessors: expiry, compare-and-set, batches, increments, quotas, watching and counting.

Most tests run on the memory backend, which does all of it by itself, and on a bare one, where
Holdfast builds it on the eight methods.
"""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_sample import BareBackend, FaultyBackend, SlowBackend, bare, in_memory, runs

from holdfast.errors import (
    Conflict,
    HoldfastError,
    InvalidInput,
    Refused,
    StorageFailed,
    Unsupported,
)
from holdfast.kernel import (
    MISSING,
    SHARED,
    Agent,
    Delete,
    Increment,
    InMemoryBackend,
    Kernel,
    Set,
    ValueChange,
    process_namespace,
)
from holdfast.kernel import feed as feeds
from holdfast.kernel.clock import now_us
from holdfast.kernel.defaults import rich
from holdfast.model.times import from_us
from holdfast.testing import ManualClock, raises
from holdfast.testing.kit import assert_same, json_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.kernel import MemoryAccessor

both = pytest.mark.parametrize("make", [in_memory, bare])


def shared_of(backend: Any, **options: Any) -> MemoryAccessor:
    return Kernel(backend, **options).memory.get_shared_accessor()


@pytest.mark.row("C12")
@both
@runs
async def test_a_value_lives_exactly_as_long_as_was_said(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    kernel = Kernel(make(clock), clock=clock)
    memory = kernel.memory.get_shared_accessor()
    await memory.set("soon", {"n": 1}, ttl_s=60)
    await memory.set("later", 2, ttl_s=60.000001)
    await memory.set("stays", 3)
    held = await memory.stored("soon")
    assert held is not None
    assert held.expires_at == from_us(clock.us + 60_000_000)
    clock.advance(us=59_999_999)
    assert await memory.get("soon") == {"n": 1}
    assert await memory.list() == ["later", "soon", "stays"]
    assert (await kernel.memory.stats_async())["totalEntries"] == 3
    clock.advance(us=1)
    assert await memory.get("soon", "gone") == "gone"
    assert await memory.stored("soon") is None
    assert await memory.delete("soon") is False
    assert await memory.list() == ["later", "stays"]
    clock.advance(us=1)
    assert await memory.list() == ["stays"]
    stats = {"backend": kernel.memory.backend.name, "namespaces": 1, "totalEntries": 1}
    assert await kernel.memory.stats_async() == stats


@pytest.mark.row("C12")
@both
@runs
async def test_what_has_expired_is_swept(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    backend = make(clock)
    kernel = Kernel(backend, clock=clock)
    kernel.register(Agent("a", print))
    process = await kernel.spawn("a")
    for memory in (process.memory, kernel.memory.get_shared_accessor()):
        for number in range(5):
            await memory.set(f"key{number}", number, ttl_s=number + 1)
    clock.advance(seconds=3)
    assert await kernel.memory.sweep() == 6
    assert await kernel.memory.sweep() == 0
    assert await process.memory.list() == ["key3", "key4"]
    clock.advance(seconds=9)
    assert await kernel.memory.stats_async() == {
        "backend": backend.name,
        "namespaces": 0,
        "totalEntries": 0,
    }
    if isinstance(backend, BareBackend):
        assert {namespace for namespace, _ in backend.held} == {"holdfast/ttl"}


@pytest.mark.row("C12")
@both
@runs
async def test_a_set_says_anew_how_long_the_value_lives(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    memory = shared_of(make(clock), clock=clock)
    for key in ("set", "longer", "counter", "swapped"):
        await memory.set(key, 1, ttl_s=10)
    await memory.set("set", 2)
    await memory.set("longer", 2, ttl_s=100)
    assert await memory.increment("counter") == 2
    held = await memory.stored("swapped")
    assert held is not None
    revision = await memory.compare_and_set("swapped", 2, held.revision, ttl_s=100)
    clock.advance(seconds=10)
    assert await memory.list() == ["longer", "set", "swapped"]
    assert await memory.increment("counter", 5) == 5
    await memory.compare_and_set("swapped", 3, revision)
    clock.advance(days=1)
    assert await memory.list() == ["counter", "set", "swapped"]
    await memory.clear()
    assert await memory.list() == []


@pytest.mark.row("C12")
@runs
async def test_a_value_renewed_for_ever_takes_no_more_room() -> None:
    clock = ManualClock()
    backend = InMemoryBackend(clock=clock)
    memory = shared_of(backend, clock=clock)
    for number in range(5000):
        clock.advance(us=1)
        await memory.set(f"lease{number % 3}", number, ttl_s=1000)
    assert len(backend._due) <= 1024
    assert await memory.list() == ["lease0", "lease1", "lease2"]
    clock.advance(seconds=1000, us=-3)
    assert await memory.list() == ["lease0", "lease1", "lease2"]
    for left in (["lease0", "lease1"], ["lease1"], []):
        clock.advance(us=1)
        assert await memory.list() == left


@pytest.mark.row("C12")
@both
@runs
async def test_a_time_to_live_is_a_number_of_seconds(make: Callable[..., Any]) -> None:
    memory = shared_of(make(now_us))
    wrong: list[Any] = [0, -1, float("nan"), float("inf"), True, "60", 10**10]
    for ttl_s in wrong:
        with raises(InvalidInput, "ttl_invalid"):
            await memory.set("key", 1, ttl_s=ttl_s)
    with raises(InvalidInput, "time_invalid"):
        await memory.batch([Set(key="key", value=1, expires_at=datetime(2999, 1, 1))])  # noqa: DTZ001
    assert await memory.list() == []


@pytest.mark.row("C02", "C12")
@both
@given(st.lists(json_values(), max_size=4))
def test_values_are_exact_with_and_without_an_expiry(
    make: Callable[..., Any], values: list[Any]
) -> None:
    async def check() -> None:
        memory = shared_of(make(now_us))
        alike = [{"$holdfast": value, "value": value} for value in values]
        for number, value in enumerate([*values, *alike]):
            await memory.set("plain", value)
            await memory.set("expiring", value, ttl_s=1000)
            revision = await memory.compare_and_set(f"cas{number}", value, MISSING)
            for key in ("plain", "expiring", f"cas{number}"):
                held = await memory.stored(key)
                assert held is not None
                assert_same(held.value, value)
                assert_same(await memory.get(key), value)
            assert held.revision == revision

    asyncio.run(check())


@pytest.mark.row("C02")
@runs
async def test_a_value_that_looks_like_a_note_of_ours_is_kept_as_it_is() -> None:
    backend = BareBackend()
    memory = shared_of(backend)
    for value in (
        {"$holdfast": {"expires_us": 0}, "value": 1},
        {"$holdfast": {"expires_us": None}, "value": {"$holdfast": {}}},
        *({"$holdfast": 1}, {"$holdfast": {}, "value": 1}, {"$holdfast": {"a": 1}, "value": 1}),
    ):
        for ttl_s in (None, 60):
            await memory.set("key", value, ttl_s=ttl_s)
            assert await memory.get("key") == value
    odd = {"$holdfast": 7, "value": 1}
    await backend.set(SHARED, "written past us", odd)
    assert await memory.get("written past us") == odd


@pytest.mark.row("C13")
@both
@runs
async def test_compare_and_set_takes_the_revision_that_was_seen(make: Callable[..., Any]) -> None:
    memory = shared_of(make(now_us))
    first = await memory.compare_and_set("key", {"n": 1}, MISSING)
    with raises(Conflict, "value_changed"):
        await memory.compare_and_set("key", {"n": 9}, MISSING)
    second = await memory.compare_and_set("key", {"n": 2}, first)
    held = await memory.stored("key")
    assert held is not None
    assert (held.value, held.revision) == ({"n": 2}, second)
    with raises(Conflict, "value_changed"):
        await memory.compare_and_set("key", {"n": 9}, first)
    await memory.delete("key")
    with raises(Conflict, "value_changed"):
        await memory.compare_and_set("key", {"n": 9}, second)
    assert await memory.list() == []


@pytest.mark.row("C13")
@pytest.mark.parametrize("make", [in_memory, lambda _: SlowBackend()], ids=["memory", "slow"])
@runs
async def test_no_update_is_lost_among_tasks_and_kernels(make: Callable[..., Any]) -> None:
    backend = make(now_us)
    memories = [shared_of(backend) for _ in range(3)]  # on one backend, shared by three kernels
    await asyncio.gather(*(memory.increment("n") for memory in memories for _ in range(20)))
    assert await memories[0].get("n") == 60

    async def swap(memory: MemoryAccessor) -> None:
        done = False
        while not done:
            held = await memory.stored("list")
            value = [*(held.value if held else []), 1]
            try:
                await memory.compare_and_set("list", value, held.revision if held else MISSING)
                done = True
            except Conflict:
                await memory.set("other", 1)

    await asyncio.gather(*(swap(memory) for memory in memories for _ in range(4)))
    assert await memories[0].get("list") == [1] * 12
    await asyncio.gather(*(m.set("n", 0) for m in memories), *(m.increment("n") for m in memories))
    assert await memories[0].get("n") in (0, 1, 2, 3)


@pytest.mark.row("C13")
@runs
async def test_the_memory_backend_loses_no_update_among_threads() -> None:
    backend = InMemoryBackend()

    def work(worker: int) -> None:
        async def add() -> None:
            for number in range(200):
                await backend.apply("a", [Increment(key="n")])
                await backend.set("a", f"{worker}-{number}", number)
                await backend.list("a", "0")

        asyncio.run(add())

    await asyncio.gather(*(asyncio.to_thread(work, worker) for worker in range(4)))
    assert await backend.get("a", "n") == 800
    assert len(await backend.list("a")) == 801


@pytest.mark.row("C13")
@both
@runs
async def test_a_batch_is_one_step_on_several_keys(make: Callable[..., Any]) -> None:
    memory = shared_of(make(now_us))
    await memory.set("old", 1)
    outcomes = await memory.batch(
        [Set(key="new", value=[2]), Delete(key="old"), Increment(key="n")]
    )
    assert [(each.existed, each.number) for each in outcomes] == [
        (False, None),
        (True, None),
        (False, 1),
    ]
    held = await memory.stored("new")
    assert held is not None
    assert outcomes[0].revision == held.revision
    assert outcomes[1].revision is None
    assert await memory.list() == ["n", "new"]
    with raises(InvalidInput, "arguments_invalid"):
        await memory.batch([Increment(key="a"), "b"])
    with raises(InvalidInput, "batch_key_twice"):
        await memory.batch([Set(key="x", value=1), Delete(key="x")])
    with raises(InvalidInput, "value_not_number"):
        await memory.batch([Set(key="x", value=1), Increment(key="new")])
    await memory.set("huge", 10**400)
    with raises(InvalidInput, "value_not_number"):
        await memory.increment("huge", 0.5)
    assert await memory.list() == ["huge", "n", "new"]


@pytest.mark.row("C13")
@pytest.mark.parametrize("fail_at", [1, 2, 3, 4])
@runs
async def test_a_batch_that_fails_midway_is_put_back(fail_at: int) -> None:
    backend = FaultyBackend()
    memory = shared_of(backend, namespace_bytes_max=10_000)
    await memory.batch([Set(key=key, value=[key]) for key in "abc"])
    before = dict(backend.held)
    backend.writes, backend.fail_at = 0, {fail_at}
    batch = [
        *(Set(key="a", value=1), Delete(key="b"), Set(key="new", value=2)),
        *(Increment(key="n"), Delete(key="absent")),
    ]
    with raises(StorageFailed, "disk_full"):
        await memory.batch(batch)
    assert backend.held == before
    await memory.batch(batch)
    assert await memory.list() == ["a", "c", "n", "new"]


@pytest.mark.row("C13")
@runs
async def test_a_batch_that_cannot_be_put_back_says_so() -> None:
    backend = FaultyBackend()
    memory = shared_of(backend)
    backend.fail_at = {2, 3}
    with raises(StorageFailed, "batch_half_written"):
        await memory.batch([Set(key="a", value=1), Set(key="b", value=1)])
    backend.fail_at = {backend.writes + 1}
    with raises(StorageFailed, "disk_full"):
        await memory.increment("a")
    assert backend.writes == 4


@pytest.mark.row("C13")
@runs
async def test_a_batch_that_is_cancelled_is_put_back() -> None:
    held_up = asyncio.Event()

    class Stuck(BareBackend):
        async def set(self, namespace: str, key: str, value: object) -> None:
            await super().set(namespace, key, value)
            if value == "stuck":
                held_up.set()
                await asyncio.Event().wait()

    backend = Stuck()
    memory = shared_of(backend)
    await memory.set("a", "before")
    before = dict(backend.held)
    batch = [Set(key="a", value=1), Set(key="b", value="stuck"), Set(key="c", value=1)]
    task = asyncio.create_task(memory.batch(batch))
    await held_up.wait()
    waiting = asyncio.create_task(memory.increment("n"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await waiting == 1
    del backend.held[SHARED, "n"]
    assert backend.held == before


@pytest.mark.row("C15")
@both
@runs
async def test_a_quota_holds_for_each_namespace_and_to_the_byte(make: Callable[..., Any]) -> None:
    kernel = Kernel(make(now_us), namespace_bytes_max=20)
    kernel.register(Agent("a", print), Agent("small", print, namespace_bytes_max=9))
    first, second = await kernel.spawn("a"), await kernel.spawn("small")
    memory = first.memory
    await memory.set("key", "x" * 15)  # 3 bytes of key, 17 of JSON
    for wrong in (memory.set("key", "x" * 16), memory.set("k", None), memory.increment("n")):
        with raises(Refused, "quota"):
            await wrong
    assert await memory.list() == ["key"]
    await memory.set("key", "é" * 7)
    with raises(Refused, "quota"):
        await memory.set("key", "é" * 8)
    await memory.delete("key")
    await memory.set("other", "x" * 13)
    await second.memory.set("key", "abcd")
    with raises(Refused, "quota"):
        await second.memory.compare_and_set("k", 1, MISSING)
    await kernel.memory.get_shared_accessor().set("key", "x" * 15)
    await memory.clear()
    await memory.set("key", "x" * 15)


@pytest.mark.row("C12", "C15")
@both
@runs
async def test_a_quota_forgets_what_has_expired(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    memory = shared_of(make(clock), clock=clock, namespace_bytes_max=20)
    await memory.set("old", "x" * 15, ttl_s=5)
    with raises(Refused, "quota"):
        await memory.set("new", "x" * 15)
    clock.advance(seconds=5)
    await memory.set("new", "x" * 15)
    assert await memory.list() == ["new"]


@pytest.mark.row("C15")
@runs
async def test_a_quota_counts_what_was_there_before_the_kernel() -> None:
    backend = SlowBackend()
    await backend.set(process_namespace("a"), "old", "x" * 5)
    kernel = Kernel(backend, namespace_bytes_max=20)
    kernel.register(Agent("a", print))
    memory = (await kernel.spawn("a")).memory
    writes = (memory.set(f"k{number}", 1234) for number in range(9))
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [getattr(each, "code", None) for each in results] == [None, *["quota"] * 8]
    backend.held.clear()
    with raises(Refused, "quota"):  # written past the kernel: it cannot know
        await memory.set("k5", 1234)


@pytest.mark.row("C14")
@both
@runs
async def test_a_watcher_hears_of_its_key_or_prefix(make: Callable[..., Any]) -> None:
    kernel = Kernel(make(now_us))
    kernel.register(Agent("a", print))
    process = await kernel.spawn("a")
    memory = process.memory
    await memory.set("early", 1)
    every, some, one = memory.watch(), memory.watch("p:"), memory.watch(key="p:a")
    await kernel.memory.get_shared_accessor().set("p:a", 1)
    await memory.set("p:a", 1)
    await memory.set("p:a/b", {"n": 1}, ttl_s=60)
    await memory.get("p:a")
    await memory.delete("p:a")
    await memory.delete("p:a")
    await memory.batch([Increment(key="p"), Delete(key="early"), Delete(key="nothing")])
    for wrong in (memory.set("p:a", (1,)), memory.compare_and_set("p:a", 1, "no such revision")):
        with pytest.raises(HoldfastError):
            await wrong
    await memory.clear()
    await kernel.terminate(process.id)
    heard = [[(each.key, each.deleted) async for each in feed] for feed in (every, some, one)]
    assert heard[0] == [
        *(("p:a", False), ("p:a/b", False), ("p:a", True)),
        *(("p", False), ("early", True)),
        *(("p", True), ("p:a/b", True)),
    ]
    assert heard[1] == [each for each in heard[0] if each[0].startswith("p:")]
    assert heard[2] == [("p:a", False), ("p:a", True)]
    assert not every.lost


@pytest.mark.row("C14")
@both
@runs
async def test_a_watcher_waits_for_the_next_change_and_may_leave(make: Callable[..., Any]) -> None:
    backend = make(now_us)
    memory, other = shared_of(backend), shared_of(backend)
    async with memory.watch() as changes:
        waiting = asyncio.create_task(anext(changes))
        await asyncio.sleep(0)
        await other.set("key", 1)
        assert await waiting == ValueChange(namespace=SHARED, key="key")
        for number in range(feeds.ITEMS_MAX + 5):
            await other.set(f"{number:05}", 1)
    await other.set("unheard", 1)
    keys = [change.key async for change in changes]
    assert keys == [f"{number:05}" for number in range(5, feeds.ITEMS_MAX + 5)]
    assert changes.lost == 5
    wrong: Any = 7
    with raises(InvalidInput, "prefix_invalid"):
        memory.watch(wrong)
    with raises(InvalidInput, "key_invalid"):
        memory.watch(key="")


@pytest.mark.row("C14")
@runs
async def test_a_watcher_hears_of_what_another_thread_writes() -> None:
    backend = InMemoryBackend()
    async with shared_of(backend).watch() as changes, shared_of(backend).watch() as others:
        await asyncio.to_thread(asyncio.run, backend.set(SHARED, "key", 1))
        assert (await anext(changes)).key == "key"
        others.close()
        await asyncio.to_thread(asyncio.run, backend.set(SHARED, "more", 1))
        assert (await anext(changes)).key == "more"
    assert [change.key async for change in others] == ["key"]


@pytest.mark.row("C10")
@both
@runs
async def test_reading_creates_nothing(make: Callable[..., Any]) -> None:
    backend = make(now_us)
    kernel = Kernel(backend)
    kernel.register(Agent("a", print))
    memory = (await kernel.spawn("a")).memory
    assert await memory.get("key", 7) == 7
    assert await memory.stored("key") is None
    assert await memory.list("k") == []
    assert await memory.delete("key") is False
    await memory.clear()
    memory.watch().close()
    empty = {"backend": backend.name, "namespaces": 0, "totalEntries": 0}
    assert await kernel.memory.stats_async() == await backend.stats() == empty


@pytest.mark.row("C10")
@runs
async def test_stats_are_the_same_truth_or_a_clear_error() -> None:
    memory = Kernel(InMemoryBackend()).memory
    await memory.get_shared_accessor().set("key", 1)
    assert list(memory.stats) == ["backend", "namespaces", "totalEntries"]
    assert memory.stats == await memory.stats_async()
    poor = Kernel(BareBackend()).memory
    with raises(Unsupported, "stats_async_only"):
        _ = poor.stats
    assert await poor.stats_async() == {"backend": "bare", "namespaces": 0, "totalEntries": 0}
    assert poor.capabilities == frozenset()
    assert memory.capabilities >= {"transactions", "watch", "ephemeral"}


@pytest.mark.row("C03")
@both
@runs
async def test_a_listing_stays_exact_while_keys_come_and_go(make: Callable[..., Any]) -> None:
    memory = shared_of(make(now_us))
    held: set[str] = set()
    for round_number in range(6):
        for number in range(0, 200, round_number + 1):
            key = f"{'a_b' if number % 2 else 'aXb'}{number:03}"
            if key in held:
                await memory.delete(key)
                held.remove(key)
            else:
                await memory.set(key, number)
                held.add(key)
        for prefix in ("", "a_", "aX", "a_b1", "a_b199", "b"):
            assert await memory.list(prefix) == sorted(k for k in held if k.startswith(prefix))
    for key in sorted(held)[:3]:
        await memory.delete(key)
        await memory.set(key, "again")
    await memory.set("new", 1)
    await memory.delete("new")
    assert await memory.list() == sorted(held)


@runs
async def test_the_turns_of_a_bare_backend_belong_to_one_event_loop() -> None:
    begun, release = threading.Event(), threading.Event()

    class Waiting(BareBackend):
        async def set(self, namespace: str, key: str, value: object) -> None:
            if value == "slow":
                begun.set()
                await asyncio.to_thread(release.wait)
            await super().set(namespace, key, value)

    backend = Waiting()
    memory = shared_of(backend)
    elsewhere = asyncio.to_thread(asyncio.run, memory.set("key", "slow"))
    task = asyncio.create_task(elsewhere)
    await asyncio.to_thread(begun.wait)
    with raises(Unsupported, "two_event_loops"):
        await memory.set("key", 1)
    release.set()
    await task
    await memory.set("key", 2)
    assert await memory.get("key") == 2


def test_kernels_of_one_bare_backend_share_their_clock() -> None:
    backend = BareBackend()
    first = Kernel(backend)
    with raises(InvalidInput, "clock_differs"):
        Kernel(backend, clock=ManualClock())
    assert rich(backend, now_us) is rich(backend, now_us)
    del first


@runs
async def test_a_closed_backend_says_so_through_the_kernel() -> None:
    for backend in (InMemoryBackend(), BareBackend()):
        memory = shared_of(backend)
        await memory.set("key", 1, ttl_s=60)
        await backend.close()
        for call in (memory.get("key"), memory.set("key", 1), memory.list(), memory.increment("n")):
            with raises(HoldfastError, "backend_closed"):
                await call


@pytest.mark.row("C12")
@both
@runs
async def test_a_batch_may_say_when_its_values_expire(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    memory = shared_of(make(clock), clock=clock)
    soon = datetime.fromtimestamp(clock.us / 1_000_000 + 5, UTC)
    await memory.batch([Set(key="a", value=1, expires_at=soon), Set(key="b", value=1)])
    clock.advance(seconds=5)
    assert await memory.list() == ["b"]
