"""Awaited writes: which are committed where they stand, in which order, and what never waits."""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from holdfast import SqliteBackend
from holdfast.errors import Closed, Conflict
from holdfast.model.keyvalue import MISSING, Set
from holdfast.storage.sqlite import commit, connections, database

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator, Iterator
    from pathlib import Path

ROUNDS = 200


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.db"


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Each commit as it comes, however slow the disk: in which thread, and of how many units."""
    monkeypatch.setattr(commit, "AT_ONCE_S", 1e9)
    monkeypatch.setattr(database.Helper, "_tidy", lambda *_: None)
    seen: list[tuple[str, int]] = []
    plain = commit.Committer._commit

    def counted(self: commit.Committer, conn: Any, group: commit.Group) -> None:
        seen.append((threading.current_thread().name, len(group.tickets)))
        plain(self, conn, group)

    monkeypatch.setattr(commit.Committer, "_commit", counted)
    return seen


@contextmanager
def turn_taken(path: Path) -> Generator[None]:
    """As if another process were writing."""
    handle = os.open(f"{path}-turn", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


async def opened(path: Path) -> SqliteBackend:
    backend = await SqliteBackend.create(path)
    await backend.set("a", "first", 0)
    await asyncio.sleep(0)
    return backend


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


@pytest.mark.row("C06")
def test_a_lone_write_is_committed_where_it_stands(
    path: Path, turns: list[tuple[str, int]]
) -> None:
    async def main() -> None:
        backend = await opened(path)
        turns.clear()
        for number in range(20):
            await backend.set("a", "n", number)
            assert await backend.get("a", "n") == number
        here = threading.current_thread().name
        assert turns == [(here, 1)] * 20
        await backend.close()

    run(main())


@pytest.mark.row("C06")
def test_writes_of_many_tasks_share_a_commit_and_keep_their_order(
    path: Path, turns: list[tuple[str, int]]
) -> None:
    async def main() -> None:
        backend = await opened(path)
        turns.clear()
        await asyncio.gather(*(backend.set("a", "n", number) for number in range(60)))
        assert await backend.get("a", "n") == 59
        assert sum(units for _, units in turns) == 60
        assert len(turns) < 30
        await asyncio.gather(*(backend.set("a", f"{number}", number) for number in range(60)))
        assert [await backend.get("a", f"{number}") for number in range(60)] == list(range(60))
        await backend.close()

    run(main())


@pytest.mark.row("C06", "C13")
def test_an_error_reaches_the_task_whose_it_is(path: Path) -> None:
    async def main() -> None:
        backend = await opened(path)
        wrong = backend.apply("a", [Set(key="first", value=2, expected=MISSING)])
        alone = asyncio.gather(backend.set("a", "x", 1), wrong, return_exceptions=True)
        fine, error = await alone
        assert fine is None
        assert isinstance(error, Conflict)
        some = [
            backend.apply("a", [Set(key="first", value=n, expected="9" if n % 3 else None)])
            for n in range(9)
        ]
        found = await asyncio.gather(*some, return_exceptions=True)
        assert [isinstance(each, Conflict) for each in found] == [n % 3 > 0 for n in range(9)]
        assert await backend.get("a", "first") == 6
        await backend.close()

    run(main())


@pytest.mark.row("C06", "I05")
def test_the_loop_goes_on_while_another_process_writes(path: Path) -> None:
    async def main() -> None:
        backend = await opened(path)
        tasks: list[asyncio.Task[Any]] = []
        with turn_taken(path):
            for number in range(3):
                tasks.append(asyncio.create_task(backend.set("a", f"{number}", number)))
                for _ in range(ROUNDS):
                    await asyncio.sleep(0)
            assert not any(task.done() for task in tasks)
            assert await backend.list("a") == ["first"]
        await asyncio.gather(*tasks)
        assert await backend.list("a") == ["0", "1", "2", "first"]
        await backend.close()

    run(main())


@pytest.mark.row("C06")
def test_a_slow_disk_and_a_long_write_are_left_to_a_thread(
    path: Path, turns: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        backend = await opened(path)
        turns.clear()
        here = threading.current_thread().name
        await backend.set("a", "long", "x" * 70_000)
        await backend.apply("a", [Set(key=f"{number}", value=1) for number in range(20)])
        assert [name == here for name, _ in turns] == [False, False]
        monkeypatch.setattr(commit, "AT_ONCE_S", 0.0)  # so every commit counts as slow
        turns.clear()
        for number in range(5):
            await backend.set("a", "n", number)
        assert [name == here for name, _ in turns] == [False] * 5
        await backend.close()

    run(main())


@pytest.mark.row("C08")
def test_what_waits_at_close_is_written(path: Path) -> None:
    async def main() -> None:
        backend = await opened(path)
        tasks = [asyncio.create_task(backend.set("a", f"{number}", 1)) for number in range(3)]
        await asyncio.sleep(0)
        await backend.close()
        await asyncio.gather(*tasks)
        with pytest.raises(Closed):
            await backend.set("a", "late", 1)
        again = await SqliteBackend.create(path)
        assert await again.list("a") == ["0", "1", "2", "first"]
        await again.close()

    run(main())


@pytest.mark.row("C06", "I05")
def test_two_loops_write_through_one_backend(path: Path) -> None:
    backend = asyncio.run(opened(path))

    async def add(name: str) -> None:
        for number in range(50):
            await asyncio.gather(*(backend.set(name, f"{number}:{each}", 1) for each in range(3)))

    threads = [threading.Thread(target=run, args=(add(name),)) for name in ("b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def look() -> None:
        for name in ("b", "c"):
            wanted = sorted(f"{number}:{each}" for number in range(50) for each in range(3))
            assert await backend.list(name) == wanted
        await backend.close()

    asyncio.run(look())


def loop_left_with_a_write(path: Path) -> SqliteBackend:
    """A backend whose loop was closed while one write was waiting for a round."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # two tasks are left, and asyncio says so
    backend = loop.run_until_complete(SqliteBackend.create(path))

    async def stop() -> None:
        loop.stop()

    tasks = [
        loop.create_task(each)
        for each in (backend.set("a", "0", 0), backend.set("a", "1", 1), stop())
    ]
    loop.run_forever()
    assert [task.done() for task in tasks] == [True, False, True]
    loop.close()
    return backend


@pytest.mark.row("C08")
def test_what_a_closed_loop_left_is_written(path: Path, turns: list[tuple[str, int]]) -> None:
    backend = loop_left_with_a_write(path)

    async def go_on() -> None:
        await backend.set("a", "2", 2)
        kept = await backend.snapshot("a")
        assert [(each.key, each.revision) for each in kept] == [("0", "1"), ("1", "1"), ("2", "1")]
        await backend.close()

    run(go_on())
    assert sum(units for _, units in turns) >= 3


def test_a_backend_closes_after_its_vault_and_its_loop(
    path: Path, turns: list[tuple[str, int]]
) -> None:
    backend = loop_left_with_a_write(path)
    backend._vault.close()
    run(backend.close())
    assert turns


def test_ctrl_c_comes_out_where_nobody_awaits_the_write(
    path: Path, turns: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        backend = await opened(path)
        turns.clear()

        def struck(_: Any) -> None:
            raise KeyboardInterrupt

        async def cancel() -> None:
            tasks[1].cancel()
            monkeypatch.setattr(backend._rounds._desk, "write_at_once", struck)

        work = backend.set("a", "n", 1), backend.set("a", "n", 2), cancel()
        tasks = [asyncio.create_task(each) for each in work]
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(1)
        pytest.fail("the loop went on")

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert len(turns) == 1


@pytest.mark.row("C06", "I05")
def test_the_loop_goes_on_while_another_program_writes(
    path: Path, turns: list[tuple[str, int]]
) -> None:
    async def main() -> None:
        backend = await opened(path)
        foreign = apsw.Connection(str(path))
        foreign.execute("BEGIN IMMEDIATE")
        turns.clear()
        task = asyncio.create_task(backend.set("a", "n", 1))
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        assert not task.done()
        foreign.execute("ROLLBACK")
        await task
        assert turns == [("holdfast", 1)]
        foreign.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=backend._vault.space().kv("a").set, args=("n", 2))
        writer.start()  # who is not in an event loop waits, as before
        foreign.execute("ROLLBACK")
        writer.join()
        foreign.close()
        assert await backend.get("a", "n") == 2
        await backend.close()

    run(main())


@pytest.mark.row("C06")
def test_the_log_is_moved_into_the_file_without_the_loop(
    path: Path, turns: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(connections, "RETRY_PAGES", 20)
    seen: list[str] = []
    plain = connections.Writer.checkpoint

    def noted(self: connections.Writer) -> BaseException | None:
        seen.append(threading.current_thread().name)
        return plain(self)

    async def main() -> None:
        backend = await opened(path)
        monkeypatch.setattr(connections.Writer, "checkpoint", noted)
        turns.clear()
        for number in range(200):
            await backend.set("a", f"{number}", number)
            await asyncio.sleep(0)
        here = threading.current_thread().name
        assert sum(name == here for name, _ in turns) > 50
        assert set(seen) == {"holdfast"}
        assert len(await backend.list("a")) == 201
        await backend.close()

    run(main())


def test_one_of_two_loops_takes_up_where_another_ended(path: Path) -> None:
    backend = asyncio.run(opened(path))
    rounds = backend._rounds
    both = threading.Barrier(2)

    class Ended:
        def is_closed(self) -> bool:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.2)
            return True

    rounds._loop = Ended()
    loops = [asyncio.new_event_loop(), asyncio.new_event_loop()]
    took: list[bool] = []
    threads = [
        threading.Thread(target=lambda each=each: took.append(rounds._is_for(each)))
        for each in loops
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(took) == [False, True]
    assert rounds._loop in loops
    for loop in loops:
        loop.close()
    asyncio.run(backend.close())
