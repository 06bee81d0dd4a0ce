"""A task that is cancelled leaves nothing half done: a unit happens as a whole or not at all."""

from __future__ import annotations

import asyncio
import fcntl
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aio_sample import WAIT_S, Gate, cancelled, kept, run, states

import holdfast
from holdfast import aio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def test_a_cancelled_call_that_had_begun_is_done_once(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        async with aio.open(tmp_path, clock=gate) as vault:
            notes = await (await vault.space()).notes()
            gate.shut()
            task = asyncio.create_task(notes.save("a fact", key="k1"))
            await gate.reached()
            await cancelled(task)
            gate.open()
            again = await notes.save("a fact", key="k1")
            (first,) = (await notes.read()).entries
            assert again.entry == first
            assert again.entry.revision == (await vault.status()).seq

    run(main())
    assert kept(tmp_path) == ["a fact"]


def test_a_cancelled_call_that_had_not_begun_is_dropped(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        async with aio.open(tmp_path, clock=gate) as vault:
            notes = await (await vault.space()).notes()
            gate.shut()
            held = [asyncio.create_task(notes.save(f"n{n}")) for n in range(aio.THREADS)]
            await gate.reached()
            late = asyncio.create_task(notes.save("late"))
            await asyncio.sleep(0)
            await cancelled(late)
            gate.open()
            await asyncio.gather(*held)

    run(main())
    assert sorted(kept(tmp_path)) == sorted(f"n{n}" for n in range(aio.THREADS))


def test_a_failed_group_leaves_each_note_whole_or_not_there(tmp_path: Path) -> None:
    async def fail(notes: aio.Notes) -> None:
        await notes.save("the last")
        raise KeyError

    async def group(notes: aio.Notes) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(100):
                tasks.create_task(notes.save(f"n{number}"))
            tasks.create_task(fail(notes))
            for number in range(100, 200):
                tasks.create_task(notes.save(f"n{number}"))

    async def main() -> None:
        async with aio.open(tmp_path) as vault:
            notes = await (await vault.space()).notes()
            with pytest.raises(ExceptionGroup):
                await group(notes)

    run(main())
    found = kept(tmp_path)
    assert len(found) == len(set(found))
    assert {"the last"} <= set(found) <= {"the last", *(f"n{n}" for n in range(200))}


def test_a_cancelled_opening_is_closed_again(tmp_path: Path) -> None:
    holdfast.open(tmp_path).close()
    before = set(threading.enumerate())

    async def main(how: Callable[[Gate], Awaitable[Any]]) -> set[threading.Thread]:
        gate = Gate(str(tmp_path))
        gate.shut()
        task = asyncio.ensure_future(how(gate))
        await gate.reached()
        ours = {one for one in threading.enumerate() if one.name.startswith("holdfast-aio")}
        await cancelled(task)
        gate.open()
        return ours - before

    async def entered(where: Gate) -> None:
        async with aio.open(where):
            raise AssertionError("entered")

    async def awaited(where: Gate) -> None:
        await aio.open(where)

    for how in (entered, awaited):
        for thread in run(main(how)):
            thread.join(WAIT_S)
            assert not thread.is_alive()
        with Path(f"{tmp_path}/vault.db-open").open("ab") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody has it open


def test_a_session_whose_start_was_cancelled_is_ended(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        vault = await aio.open(tmp_path, clock=gate)
        session = (await vault.space()).session("x")
        gate.shut()
        task = asyncio.ensure_future(session.__aenter__())
        await gate.reached()
        await cancelled(task)
        closing = asyncio.create_task(vault.close())
        await asyncio.sleep(0)
        await cancelled(closing)
        gate.open()
        await vault.close()

    run(main())
    assert states(tmp_path) == ["ended"]


def test_a_session_is_ended_though_its_end_was_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        async with aio.open(tmp_path, clock=gate) as vault:
            space = await vault.space()
            notes = await space.notes()
            session = space.session("x")
            await session.__aenter__()
            gate.shut()
            held = [asyncio.create_task(notes.save(f"n{n}")) for n in range(aio.THREADS)]
            await gate.reached()
            ending = asyncio.ensure_future(session.__aexit__(None, None, None))
            await asyncio.sleep(0)  # every thread is busy: it has not begun
            await cancelled(ending)
            gate.open()
            await asyncio.gather(*held)

    run(main())
    assert states(tmp_path) == ["ended"]


def test_many_sessions_end_together_while_a_start_was_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        async with aio.open(tmp_path, clock=gate) as vault:
            space = await vault.space()
            many = [space.session(f"s{n}") for n in range(3 * aio.THREADS)]
            for session in many:
                await session.__aenter__()
            gate.shut()
            one = space.session("one more")
            starting = asyncio.ensure_future(one.__aenter__())
            await gate.reached()
            ending = [asyncio.ensure_future(s.__aexit__(None, None, None)) for s in many]
            await asyncio.sleep(0)
            await cancelled(starting)
            gate.open()
            await asyncio.gather(*ending)
            sessions = await space.sessions(limit=1_000)
            assert {s.state for s in sessions if s.title != "one more"} == {"ended"}

    run(main())
    assert states(tmp_path) == ["ended"] * (3 * aio.THREADS + 1)


def test_a_task_that_was_cancelled_at_work_ends_its_session(tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.open(tmp_path) as vault:
            space = await vault.space()
            entered = asyncio.Event()

            async def work() -> None:
                async with space.session("x") as here:
                    await (await here.notes()).save("here")
                    entered.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(work())
            await entered.wait()
            await cancelled(task)
            assert [session.state for session in await space.sessions()] == ["ended"]

    run(main())
    assert kept(tmp_path) == ["here"]


def test_a_loop_that_ends_meanwhile_loses_nothing(tmp_path: Path) -> None:
    """The loop is closed while a unit is under way; the unit ends, and nothing is said of it."""
    program = """
import asyncio, sys, threading
from holdfast import aio
from holdfast.wiring import clock_us

reached, opened = threading.Event(), threading.Event()
shut = False

def clock():
    if shut:
        reached.set()
        assert opened.wait(30)
    return clock_us()

async def main():
    global shut
    vault = await aio.open(sys.argv[1], clock=clock)
    notes = await (await vault.space()).notes()
    shut = True
    task = asyncio.create_task(notes.save("a fact"))
    await asyncio.to_thread(reached.wait, 30)
    return vault

vault = asyncio.run(main())
opened.set()
asyncio.run(vault.close())
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=WAIT_S * 2,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert kept(tmp_path) == ["a fact"]
