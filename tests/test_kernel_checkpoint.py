"""Checkpoints and copies: everything, exactly, at once, and proved."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_sample import BareBackend, FaultyBackend, bare, in_memory, runs

from holdfast.errors import Conflict, InvalidInput, NotFound, Refused, StorageFailed, Unsupported
from holdfast.kernel import (
    SHARED,
    Agent,
    Checkpoint,
    InMemoryBackend,
    Kernel,
    Process,
    copy,
    process_namespace,
    read_checkpoint,
    write_checkpoint,
)
from holdfast.kernel.clock import now_us
from holdfast.testing import ManualClock, raises
from holdfast.testing.kit import HOSTILE_KEYS, assert_holds, assert_same, json_values, keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

both = pytest.mark.parametrize("make", [in_memory, bare])


async def process_of(backend: Any, **options: Any) -> tuple[Kernel, Process]:
    kernel = Kernel(backend, **options)
    kernel.register(Agent("a", print), Agent("b", print))
    return kernel, await kernel.spawn("a")


@pytest.mark.row("C16")
@both
@given(st.dictionaries(keys(), json_values(), max_size=8))
def test_a_checkpoint_is_exact(make: Callable[..., Any], values: dict[str, Any]) -> None:
    async def check() -> None:
        clock = ManualClock()
        kernel, process = await process_of(make(clock), clock=clock)
        for number, (key, value) in enumerate(values.items()):
            await process.memory.set(key, value, ttl_s=number + 1 if number % 2 else None)
        taken = await kernel.checkpoint(process.id)
        read = Checkpoint.from_json(taken.to_json())
        assert read == taken
        kernel, process = await process_of(make(clock), clock=clock)
        await process.memory.set("extra", "goes")
        await kernel.terminate(process.id)
        restored = await kernel.restore(read)
        assert (restored.name, restored.state) == ("a", "running")
        assert await restored.memory.list() == sorted(values)
        for key, value in values.items():
            assert_same(await restored.memory.get(key), value)
        again = await kernel.checkpoint(restored.id)
        assert (again.values, again.expires) == (taken.values, taken.expires)
        clock.advance(seconds=2)
        late = [key for number, key in enumerate(values) if number != 1]
        assert await restored.memory.list() == sorted(late)

    asyncio.run(check())


@pytest.mark.row("C16")
@runs
async def test_a_checkpoint_shares_nothing_and_changes_nothing() -> None:
    kernel, process = await process_of(InMemoryBackend())
    await process.memory.set("list", [1])
    taken = await kernel.checkpoint(process.id)
    taken.values["list"].append(2)
    assert await process.memory.get("list") == [1]
    await kernel.pause(process.id)
    assert (await kernel.checkpoint(process.id)).values == {"list": [1]}
    assert process.state == "paused"


@pytest.mark.row("C16")
@both
@runs
async def test_restoring_replaces_exactly_what_was_there(make: Callable[..., Any]) -> None:
    clock = ManualClock()
    kernel, process = await process_of(make(clock), clock=clock)
    await process.memory.set("kept", {"n": 1})
    await process.memory.set("soon", 1, ttl_s=10)
    taken = await kernel.checkpoint(process.id)
    with raises(Conflict, "process_live"):
        await kernel.restore(taken)
    await process.memory.set("later", 1)
    await process.memory.set("kept", {"n": 2})
    renamed = await kernel.restore(taken, name="copy")
    assert (renamed.name, await renamed.memory.list()) == ("copy", ["kept", "soon"])
    assert await process.memory.list() == ["kept", "later", "soon"]
    await kernel.terminate(process.id)
    clock.advance(seconds=10)
    restored = await kernel.restore(taken)
    assert await restored.memory.list() == ["kept"]
    assert await restored.memory.get("kept") == {"n": 1}
    with raises(Refused, "name_of_agent"):
        await kernel.restore(taken, name="b")
    with raises(NotFound, "agent_unknown"):
        await kernel.restore(taken.replace(agent="nobody"), name="free")


@pytest.mark.row("C16")
@pytest.mark.parametrize("fault", ["disk", "quota", "value"])
@runs
async def test_a_restore_that_fails_leaves_all_as_it_was(fault: str) -> None:
    backend = FaultyBackend()
    kernel, process = await process_of(backend, namespace_bytes_max=100)
    await process.memory.set("old", 1)
    await process.memory.set("other", 2)
    await kernel.terminate(process.id)
    before = dict(backend.held)
    values: dict[str, Any] = {"old": 9, "new": 3, "third": 4}
    if fault == "quota":
        values["large"] = "x" * 100
    if fault == "value":
        values["bad"] = (1,)
    checkpoint = Checkpoint(
        agent="a", name="a", process_id="p", created_at=datetime.now(UTC), values=values, expires={}
    )
    backend.fail_at = {backend.writes + 3} if fault == "disk" else set()
    with pytest.raises((StorageFailed, Refused, InvalidInput)):
        await kernel.restore(checkpoint)
    assert backend.held == before
    assert kernel.processes("running") == []
    successor = await kernel.spawn("a")
    assert (successor.name, await successor.memory.get("old")) == ("a", 1)


@pytest.mark.row("C16")
@runs
async def test_a_restore_during_a_shutdown_ends_with_it() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    class Gate(BareBackend):
        async def set(self, namespace: str, key: str, value: object) -> None:
            begun.set()
            await go.wait()
            await super().set(namespace, key, value)

    kernel, process = await process_of(Gate())
    taken = (await kernel.checkpoint(process.id)).replace(values={"key": 1})
    await kernel.terminate(process.id)
    restoring = asyncio.create_task(kernel.restore(taken))
    await begun.wait()
    await kernel.shutdown()
    go.set()
    with raises(Refused, "process_terminated"):
        await restoring
    assert {each.state for each in kernel.processes()} == {"terminated"}


@pytest.mark.row("C16")
@runs
async def test_a_checkpoint_goes_through_a_file(tmp_path: Path) -> None:
    kernel, process = await process_of(BareBackend())
    held = {key: {"key": key} for key in HOSTILE_KEYS}
    for key, value in held.items():
        await process.memory.set(key, value)
    place = tmp_path / "deep" / "a.json"
    for _ in range(2):
        taken = await kernel.checkpoint(process.id, place)
    assert read_checkpoint(place) == taken
    assert [each.name for each in place.parent.iterdir()] == ["a.json"]
    parts = json.loads(place.read_text("utf-8"))
    assert list(parts) == [
        *("format", "version", "created_at", "agent", "name", "process_id", "values", "expires"),
    ]
    assert parts["values"] == held
    await kernel.terminate(process.id)
    restored = await kernel.restore(place)
    await assert_holds(kernel.memory.backend, {process_namespace("a"): held})
    assert restored.id != process.id


@pytest.mark.row("C16")
def test_a_checkpoint_that_cannot_be_written_or_read_says_so(tmp_path: Path) -> None:
    checkpoint = Checkpoint(
        agent="a", name="a", process_id="p", created_at=datetime.now(UTC), values={}, expires={}
    )
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "x.json", tmp_path / "folder"):
        with raises(StorageFailed, "checkpoint_not_written"):
            write_checkpoint(checkpoint, place)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]
    with raises(StorageFailed, "checkpoint_not_read"):
        read_checkpoint(tmp_path / "missing")


@pytest.mark.row("C16")
@pytest.mark.parametrize(
    "change",
    [
        *({"format": "other"}, {"version": 2}, {"values": {"": 1}}, {"values": {"a\0": 1}}),
        *({"values": []}, {"values": None}, {"expires": {"b": "2026-01-01T00:00:00Z"}}),
        *({"expires": {"a": "soon"}}, {"expires": {"a": "2026-01-01T00:00:00"}}, {"agent": ""}),
        *({"name": "a\n"}, {"created_at": 7}, {"values": {"a": "\ud800"}}, {"agent": 7}),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_form_is_refused(change: dict[str, Any]) -> None:
    good = {
        "format": "holdfast-checkpoint",
        "version": 1,
        "created_at": "2026-01-01T00:00:00Z",
        "agent": "a",
        "name": "a",
        "process_id": "p",
        "values": {"a": 1},
        "expires": {},
    }
    Checkpoint.from_json(json.dumps(good).encode())
    with raises(InvalidInput, "checkpoint_invalid"):
        Checkpoint.from_json(json.dumps({**good, **change}).encode())
    for name in good:
        with raises(InvalidInput, "checkpoint_invalid"):
            Checkpoint.from_json(json.dumps({k: v for k, v in good.items() if k != name}).encode())


@pytest.mark.row("C16")
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'"text"'),
        b'{"format":"holdfast-checkpoint","version":1,"created_at":"2026-01-01T00:00:00Z",'
        b'"agent":"a","name":"a","process_id":"p","expires":{},"values":{"k":1,"k":2}}',
        b'{"format":"holdfast-checkpoint","version":1,"created_at":"2026-01-01T00:00:00Z",'
        b'"agent":"a","name":"a","process_id":"p","expires":{},"values":{"k":1e999}}',
        b'{"format":"holdfast-checkpoint","version":1,"created_at":"2026-01-01T00:00:00Z",'
        b'"agent":"a","name":"a","process_id":"p","expires":{},"values":{"k":NaN}}',
    ],
    ids=lambda data: repr(data[:9]),
)
def test_bytes_that_are_no_checkpoint_are_refused(data: bytes) -> None:
    with raises(InvalidInput, "checkpoint_invalid"):
        Checkpoint.from_json(data)


def hostile_values() -> dict[str, dict[str, Any]]:
    names = (SHARED, process_namespace("a"), "plain", "holdfast", "é")
    return {name: {key: [name, key] for key in HOSTILE_KEYS} for name in names}


async def fill(backend: Any, held: dict[str, dict[str, Any]]) -> None:
    for namespace, values in held.items():
        for key, value in values.items():
            await backend.set(namespace, key, value)


@pytest.mark.row("C17")
@runs
async def test_a_copy_is_whole_and_exact_there_and_back() -> None:
    held = hostile_values()
    source, middle, end = InMemoryBackend(), BareBackend(), InMemoryBackend()
    await fill(source, held)
    soon = timedelta(days=1)
    expiring = Kernel(source).memory.get_shared_accessor()
    await expiring.set("soon", {"$holdfast": 1}, ttl_s=soon.total_seconds())
    wanted = await expiring.stored("soon")
    steps: list[tuple[str, int, int]] = []
    report = await copy(source, middle, progress=lambda p: steps.append((p.step, p.done, p.of)))
    total = sum(map(len, held.values())) + 1
    assert (report.namespaces, report.entries, report.written) == (5, total, total)
    assert [step for step, done, of in steps if done == of] == ["look", "write", "prove"]
    assert {of for _, _, of in steps} == {total}
    with raises(Unsupported, "namespaces_unknown"):
        await copy(middle, end)
    report = await copy(middle, end, namespaces=held)
    assert (report.namespaces, report.entries, report.written) == (5, total, total)
    found = await Kernel(end).memory.get_shared_accessor().stored("soon")
    assert found is not None
    assert wanted is not None
    assert (found.value, found.expires_at) == (wanted.value, wanted.expires_at)
    assert await end.delete(SHARED, "soon")
    await assert_holds(end, held)
    report = await copy(source, middle)
    assert (report.entries, report.written) == (total, 0)


@pytest.mark.row("C17")
@runs
async def test_a_copy_writes_over_nothing_unless_told() -> None:
    source, target = InMemoryBackend(), BareBackend()
    await fill(source, {"a": {"same": 1, "other": 1, "new": [1]}, "b": {"x": 1}})
    await fill(target, {"a": {"same": 1, "other": 1.0, "extra": 7}})
    with raises(Conflict, "copy_conflict"):
        await copy(source, target)
    await assert_holds(target, {"a": {"same": 1, "other": 1.0, "extra": 7}})
    report = await copy(source, target, overwrite=True)
    assert (report.entries, report.written) == (4, 3)
    held = {"a": {"same": 1, "other": 1, "new": [1], "extra": 7}, "b": {"x": 1}}
    await assert_holds(target, held)
    with raises(InvalidInput, "copy_onto_itself"):
        await copy(source, source)


@pytest.mark.row("C17")
@runs
async def test_a_copy_that_stopped_is_finished_by_the_same_call() -> None:
    source, target = InMemoryBackend(), FaultyBackend()
    held = {"a": {f"key{n:03}": n for n in range(600)}}
    await fill(source, held)
    target.fail_at = {400}
    with raises(StorageFailed, "disk_full"):
        await copy(source, target)
    assert len(await target.list("a")) == 256
    report = await copy(source, target)
    assert (report.entries, report.written) == (600, 344)
    await assert_holds(target, held)


@pytest.mark.row("C17")
@runs
async def test_a_target_that_does_not_keep_what_it_is_given_is_found_out() -> None:
    class Rounding(BareBackend):
        async def set(self, namespace: str, key: str, value: object) -> None:
            await super().set(namespace, key, float(value) if type(value) is int else value)

    class Forgetful(BareBackend):
        async def set(self, namespace: str, key: str, value: object) -> None:
            if key != "n":
                await super().set(namespace, key, value)

    for kind in (Rounding, Forgetful):
        source = InMemoryBackend()
        await fill(source, {"a": {"m": "x", "n": 1}})
        with raises(StorageFailed, "copy_not_equal"):
            await copy(source, kind())


@pytest.mark.row("C17")
@runs
async def test_what_expires_during_a_copy_is_no_difference() -> None:
    clock = ManualClock()
    source, target = InMemoryBackend(clock=clock), InMemoryBackend(clock=clock)
    memory = Kernel(source, clock=clock).memory.get_shared_accessor()
    await memory.set("soon", 1, ttl_s=1)
    await memory.set("stays", 1)

    def step(progress: Any) -> None:
        if progress.step == "look":
            clock.advance(seconds=1)

    report = await copy(source, target, progress=step, clock=clock)
    assert (report.entries, report.written) == (2, 1)
    await assert_holds(target, {SHARED: {"stays": 1}})
    assert now_us() > clock.us
