"""The async face keeps every promise of the sync API, and holds nothing up."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest
from aio_sample import WAIT_S, Gate, kept, run, texts

import holdfast
from holdfast import aio
from holdfast.engine.history import LogQuery
from holdfast.errors import Closed, Conflict, InvalidInput, NotFound
from holdfast.model.space import SpaceSpec
from holdfast.testing import raises
from holdfast.testing.vaults import VaultContract

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from holdfast.engine.vault import Vault
    from holdfast.ports import Clock


# The sync contract, through the async face


class InLoop:
    """The async face of an object as a sync object again: each call runs in one background loop."""

    def __init__(self, face: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._face = face
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._inward(getattr(self._face, name))

    def __enter__(self) -> Any:
        return self._inward(self._wait(self._face.__aenter__()))

    def __exit__(self, *raised: object) -> bool | None:
        return self._wait(self._face.__aexit__(*raised))

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    def _inward(self, value: Any) -> Any:
        if inspect.iscoroutinefunction(value):
            return lambda *args, **named: self._inward(self._wait(value(*args, **named)))
        if inspect.isroutine(value):
            return lambda *args, **named: InLoop(value(*args, **named), self._loop)
        return InLoop(value, self._loop) if isinstance(value, aio.Face) else value


class TestContract(VaultContract):
    @pytest.fixture(autouse=True)
    def _background(self) -> Iterator[None]:
        self.loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self.loop.run_forever)
        thread.start()
        yield
        self.loop.call_soon_threadsafe(self.loop.stop)
        thread.join()
        self.loop.close()

    def open(self, folder: Path, clock: Clock) -> Vault:
        async def opened() -> aio.Vault:
            return await aio.open(folder / "vault", clock=clock)

        face = asyncio.run_coroutine_threadsafe(opened(), self.loop).result(WAIT_S)
        return cast("Vault", InLoop(face, self.loop))


# What a call gives


def test_a_vault_is_entered_or_awaited_and_closed(tmp_path: Path) -> None:
    async def entered() -> None:
        async with aio.open(tmp_path) as vault:
            assert vault.where == str(tmp_path / "vault.db")
            await (await (await vault.space()).notes()).save("one")
        with raises(Closed, "vault_closed"):
            await vault.status()

    async def awaited() -> None:
        vault = await aio.open(tmp_path)
        await (await (await vault.space()).notes()).save("two")
        await vault.close()
        await vault.close()
        with raises(Closed, "vault_closed"):
            await vault.spaces()

    async def both() -> None:
        async with await aio.open(tmp_path) as vault:
            await (await (await vault.space()).notes()).save("three")
        with raises(Closed, "vault_closed"):
            await vault.space()

    run(entered())
    run(awaited())
    run(both())
    assert kept(tmp_path) == ["three", "two", "one"]


def test_a_face_gives_faces_lists_attributes_and_values() -> None:
    async def main() -> None:
        async with aio.open("memory:") as vault:
            space = await vault.space()
            notes = await space.notes()
            saved = await notes.save("a fact")
            assert [type(face) for face in (vault, space, notes)] == [
                aio.Vault,
                aio.Space,
                aio.Notes,
            ]
            assert (space.name, notes.store.label) == ("default", "default/narrative")
            assert (await notes.get(saved.entry.id)) == saved.entry
            assert await vault.verify() == []
            assert isinstance(await vault.repair(), list)
            assert type(await space.as_of(saved.entry.revision)) is aio.Space
            spec = SpaceSpec(name="app", path="/app", text="", stores=())
            assert (await vault.declare(spec)).name == "app"
            assert [change.op for change in await vault.log(LogQuery(store="narrative"))] == ["add"]

    run(main())


def test_a_face_has_what_the_sync_class_has_and_nothing_is_set_through_it() -> None:
    for sync in aio.FACES:
        face = getattr(aio, sync.__name__)
        for name, member in vars(sync).items():
            if name.startswith("_") or isinstance(member, property):
                continue
            ours = getattr(face, name)
            assert inspect.signature(ours) == inspect.signature(member)
            assert inspect.getdoc(ours) == inspect.getdoc(member)
            entered = hasattr(member, "__wrapped__")
            assert inspect.iscoroutinefunction(ours) != entered

    async def main() -> None:
        async with aio.open("memory:") as vault:
            with pytest.raises(AttributeError):
                vault.caller = vault.caller  # pyright: ignore[reportAttributeAccessIssue]
            with pytest.raises(AttributeError):
                vault.nothing  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
            with pytest.raises(AttributeError):
                vault._core  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018

    run(main())


def test_tools_are_awaited_and_describe_themselves() -> None:
    async def main() -> None:
        async with aio.open("memory:") as vault:
            space = await vault.space()
            tools = {tool.__name__: tool for tool in await space.tools()}
            wanted = {tool.__name__: tool for tool in holdfast.open("memory:").space().tools()}
            assert list(tools) == list(wanted)
            for name, tool in tools.items():
                assert inspect.iscoroutinefunction(tool)
                assert tool.__doc__ == wanted[name].__doc__
                assert inspect.signature(tool) == inspect.signature(wanted[name])
            await tools["memory_save"](store="narrative", text="a fact")
            page = cast("Any", await tools["memory_read"](store="narrative"))
            assert [entry.text for entry in page.entries] == ["a fact"]

    run(main())


def test_errors_pass_unchanged(tmp_path: Path) -> None:
    async def main() -> None:
        with raises(NotFound, "vault_not_found"):
            await aio.open(tmp_path / "none", create=False)
        with raises(InvalidInput, "where_invalid"):
            async with aio.open("ftp://x"):
                raise AssertionError("entered")
        async with aio.open("memory:") as vault:
            space = await vault.space()
            notes = await space.notes()
            with pytest.raises(TypeError, match="txt"):
                await notes.save("x", txt="x")  # pyright: ignore[reportCallIssue]
            await notes.save("one", id="a")
            with raises(Conflict, "id_taken"):
                await notes.save("two", id="a")
            with raises(InvalidInput, "label_invalid"):
                async with space.session("x" * 500):
                    raise AssertionError("entered")
            mine = KeyError("mine")
            with pytest.raises(KeyError) as caught:
                async with space.session():
                    raise mine
            assert caught.value is mine
            assert [session.state for session in await space.sessions()] == ["ended"]

    run(main())


def test_a_call_sees_the_variables_of_its_context() -> None:
    said = contextvars.ContextVar("said", default="nothing")
    heard: list[str] = []

    def clock() -> int:
        heard.append(said.get())
        return time.time_ns() // 1000

    async def main() -> None:
        async with aio.open("memory:", clock=clock) as vault:
            notes = await (await vault.space()).notes()
            heard.clear()
            said.set("here")
            await notes.save("x")

    run(main())
    assert set(heard) == {"here"}


def test_an_await_that_was_forgotten_is_noticed() -> None:
    async def main() -> None:
        async with aio.open("memory:") as vault:
            with pytest.warns(RuntimeWarning, match="never awaited"):
                vault.status()  # pyright: ignore[reportUnusedCoroutine]

    run(main())


# The loop goes on


@pytest.mark.row("I05")
def test_tasks_share_commits(tmp_path: Path) -> None:
    commits: list[apsw.Connection] = []

    def count(conn: apsw.Connection) -> None:
        conn.set_commit_hook(lambda: commits.append(conn) is not None)

    async def main() -> None:
        gate = Gate()
        async with aio.open(tmp_path, clock=gate) as vault:
            notes = await (await vault.space()).notes()
            await notes.save("first")
            commits.clear()
            gate.shut()
            async with asyncio.TaskGroup() as group:
                for number in range(200):
                    group.create_task(notes.save(f"note {number}"))
                await gate.reached()
                gate.open()
            shared = len(commits)
            commits.clear()
            for number in range(10):
                await notes.save(f"alone {number}")
            assert len(commits) >= 10, "the hook counts"
            assert 0 < shared <= 50, f"{shared} commits for 200 notes"

    apsw.connection_hooks.append(count)
    try:
        run(main())
    finally:
        apsw.connection_hooks.remove(count)
    alone = [f"alone {n}" for n in range(9, -1, -1)]
    found = kept(tmp_path)
    assert found[:10] == alone
    assert sorted(found[10:]) == sorted(["first", *(f"note {n}" for n in range(200))])


def test_a_commit_that_waits_holds_nothing_up(tmp_path: Path) -> None:
    async def main() -> None:
        gate = Gate()
        async with (
            aio.open(tmp_path / "a", clock=gate) as vault,
            aio.open(tmp_path / "b") as other,
        ):
            notes = await (await vault.space()).notes()
            others = await (await other.space()).notes()
            await notes.save("before")
            gate.shut()
            held = [asyncio.create_task(notes.save(f"n{n}")) for n in range(3 * aio.THREADS)]
            await gate.reached()
            for _ in range(1_000):
                await asyncio.sleep(0)
            await others.save("in another vault")
            assert await asyncio.to_thread(lambda: "the loop's own threads") is not None
            assert not any(task.done() for task in held)
            gate.open()
            await asyncio.gather(*held)

    run(main())
    assert kept(tmp_path / "b") == ["in another vault"]
    assert sorted(kept(tmp_path / "a")) == sorted(
        ["before", *(f"n{n}" for n in range(3 * aio.THREADS))]
    )


def test_another_process_holds_the_lock(tmp_path: Path) -> None:
    program = (
        "import fcntl, sys\nturn = open(sys.argv[1], 'ab')\nfcntl.flock(turn, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )

    async def main() -> None:
        async with aio.open(tmp_path) as vault:
            notes = await (await vault.space()).notes()
            await notes.save("before")
            holder = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", program, str(tmp_path / "vault.db-turn")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            assert holder.stdin is not None
            assert holder.stdout is not None
            assert await holder.stdout.readline() == b"held\n"
            held = asyncio.create_task(notes.save("held"))
            for _ in range(100):
                assert await texts(notes) == ["before"]
            assert not held.done()
            holder.stdin.close()
            await held
            await holder.wait()

    run(main())
    assert kept(tmp_path) == ["held", "before"]


def test_loops_in_many_threads_share_a_vault(tmp_path: Path) -> None:
    vault = run(aio.open(tmp_path))

    async def main(name: int) -> None:
        notes = await (await vault.space()).notes()
        await asyncio.gather(*(notes.save(f"{name}/{n}") for n in range(20)))

    threads = [threading.Thread(target=run, args=(main(name),)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run(vault.close())
    assert sorted(kept(tmp_path)) == sorted(f"{t}/{n}" for t in range(4) for n in range(20))


def test_closing_while_calls_are_under_way(tmp_path: Path) -> None:
    async def main() -> list[str]:
        gate = Gate()
        vault = await aio.open(tmp_path, clock=gate)
        notes = await (await vault.space()).notes()
        gate.shut()
        early = [asyncio.create_task(notes.save(f"early {n}")) for n in range(60)]
        await gate.reached()
        closing = asyncio.create_task(vault.close())
        late = [asyncio.create_task(notes.save(f"late {n}")) for n in range(60)]
        await asyncio.sleep(0)
        gate.open()
        outcomes = await asyncio.gather(*early, *late, return_exceptions=True)
        await closing
        with raises(Closed, "vault_closed"):
            await notes.save("too late")
        saved: list[str] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, Closed)
            else:
                saved.append(outcome.entry.text)
        return saved

    saved = run(main())
    assert "early 0" in saved
    assert sorted(kept(tmp_path)) == sorted(saved)


def test_a_forked_child_is_refused_and_may_open_its_own(tmp_path: Path) -> None:
    program = """
import asyncio, os, sys
from holdfast import aio
from holdfast.errors import Closed

async def opened():
    vault = await aio.open(sys.argv[1])
    return vault, await (await vault.space()).notes()

async def save(notes, text):
    await asyncio.wait_for(notes.save(text), 30)

async def child():
    try:
        await save(notes, "with what the parent has")
    except Closed as error:
        print(error.code)
    _, own = await opened()
    await save(own, "from the child")

vault, notes = asyncio.run(opened())
pid = os.fork()
if pid == 0:
    asyncio.run(child())
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
asyncio.run(save(notes, "from the parent"))
asyncio.run(vault.close())
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=WAIT_S * 2,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "vault_forked\n", "")
    assert kept(tmp_path) == ["from the parent", "from the child"]


def test_the_threads_end_with_the_vault(tmp_path: Path) -> None:
    def threads() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name.startswith("holdfast-aio")}

    before = threads()
    ours: set[threading.Thread] = set()

    async def main() -> None:
        async with aio.open(tmp_path) as vault:
            notes = await (await vault.space()).notes()
            await asyncio.gather(*(notes.save(f"n{n}") for n in range(10)))
            ours.update(threads() - before)

    run(main())
    assert ours
    for thread in ours:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_importing_holdfast_imports_no_asyncio() -> None:
    program = "import sys, holdfast; holdfast.open; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
