"""Values in SQLite: the contract on every form of it, durability, many processes, bad disks."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from kernel_sample import runs

import holdfast
from holdfast import MISSING, Agent, InMemoryBackend, Kernel, SqliteBackend, VaultBackend
from holdfast.errors import Closed, Damaged, InvalidInput, KeyProblem, StorageFailed
from holdfast.kernel import Delete, Increment, Set, copy
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.strategies import keyvalue
from holdfast.testing import ManualClock
from holdfast.testing.backends import BackendContract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.vault import Vault
    from holdfast.kernel import MemoryBackend

PROGRAM = Path(__file__).parent / "programs" / "values.py"
RAW_KEY = "raw:" + "5a" * 32
EACH = int(os.environ.get("HOLDFAST_INCREMENTS", "125"))
KILLS = int(os.environ.get("HOLDFAST_KILLS", "6"))

contract = pytest.mark.row("C02", "C03", "C08", "C09", "C10", "C12", "C13")


@contract
@pytest.mark.row("C06")
class TestSqlite(BackendContract):
    persistent = True

    async def open(self, folder: Path) -> MemoryBackend:
        return await SqliteBackend.create(folder / "data" / "agents.db")


@contract
@pytest.mark.row("C06", "I08")
class TestEncryptedSqlite(BackendContract):
    persistent = True

    async def open(self, folder: Path) -> MemoryBackend:
        return await SqliteBackend.create(folder / "agents.db", key=RAW_KEY)


class ClosingVault(VaultBackend):
    """The backend of a store in a vault, which it closes too."""

    def __init__(self, vault: Vault, store: str | None) -> None:
        super().__init__(vault.space("work" if store else "default"), store)
        self._vault = vault

    async def close(self) -> None:
        await super().close()
        self._vault.close()


@contract
class TestAVaultsOwnStore(BackendContract):
    """A store that a space declares under a name of its own, beside others."""

    persistent = True

    async def open(self, folder: Path) -> MemoryBackend:
        vault = holdfast.open(folder / "vault")
        stores = tuple(
            keyvalue.check(StoreSpec(name=name, strategy="keyvalue")) for name in ("a", "b")
        )
        vault.declare(SpaceSpec(name="work", path=str(folder), text="1", stores=stores))
        vault.space("work").kv("a", store="a").set("key", "of another store")
        return ClosingVault(vault, "b")


@contract
class TestAVaultInRam(BackendContract):
    async def open(self, folder: Path) -> MemoryBackend:
        return ClosingVault(holdfast.open("memory:"), None)


# The story of the reference page


@pytest.mark.row("C01", "C06", "C10")
@runs
async def test_the_program_of_the_introduction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[object] = []

    backend = await SqliteBackend.create("./data/agents.db")
    kernel = Kernel(memory_backend=backend)

    async def handler(ctx: Any) -> None:
        await ctx.memory.set("key", {"any": "value"})
        value = await ctx.memory.get("key")
        await ctx.memory.delete("key")
        keys = await ctx.memory.list("prefix:")
        await ctx.memory.clear()
        seen.extend([ctx.input, value, keys])

    kernel.register(Agent("counter", handler))
    process = await kernel.spawn("counter")
    await kernel.execute(process.id, {"task": 1})
    shared = kernel.memory.get_shared_accessor()
    await shared.set("config", 1)
    stats = kernel.memory.stats
    assert stats == await kernel.memory.stats_async()
    assert stats == {"backend": "sqlite", "namespaces": 1, "totalEntries": 1}
    await backend.close()
    assert seen == [{"task": 1}, {"any": "value"}, []]
    assert (tmp_path / "data" / "agents.db").exists()


@pytest.mark.row("C06", "C07", "C11")
def test_an_acknowledged_set_survives_a_kill_under_the_same_name(tmp_path: Path) -> None:
    chance, path = random.Random(3), tmp_path / "agents.db"

    async def find() -> tuple[int, list[str]]:
        backend = await SqliteBackend.create(path)
        async with Kernel(backend) as kernel:
            kernel.register(Agent("counter", lambda ctx: ctx.wait(ctx.memory.get("number"))))
            process = await kernel.spawn("counter")
            found = (await kernel.execute(process.id)).output
            keys = await backend.list("process/counter")
        await backend.close()
        return found, keys

    said = 0
    for _ in range(KILLS):
        args = [sys.executable, str(PROGRAM), "set", str(path), "counter"]
        writer = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 40)):
            said = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        said = max([said, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        found, keys = asyncio.run(find())
        assert keys == ["number"]
        assert found in (said, said + 1), "the last may be written and not yet said"
        said = found
    with holdfast.open(f"sqlite:///{path}") as vault:
        assert list(vault.verify()) == []


@pytest.mark.row("C06", "C13")
@pytest.mark.parametrize(
    "each", [EACH, pytest.param(1_000, marks=pytest.mark.slow)], ids=["quick", "full"]
)
def test_processes_that_increment_one_counter_lose_nothing(tmp_path: Path, each: int) -> None:
    path = tmp_path / "agents.db"
    args = [sys.executable, str(PROGRAM), "increment", str(path), str(each)]
    writers = [subprocess.Popen(args) for _ in range(8)]
    assert [writer.wait() for writer in writers] == [0] * 8
    with holdfast.open(f"sqlite:///{path}") as vault:
        held = vault.space().kv("shared").stored("number")
        assert held is not None
        assert (held.value, held.revision) == (8 * each, str(8 * each))
        assert list(vault.verify()) == []


# One file, two ways in


@pytest.mark.row("C06", "C09")
@runs
async def test_a_file_is_a_vault_and_its_values_are_one(tmp_path: Path) -> None:
    path = tmp_path / "agents 100%.db"
    backend = await SqliteBackend.create(path)
    assert await backend.get("a", "key") is MISSING
    await backend.set("process/counter", "key", [1])
    with holdfast.open(f"sqlite:///{str(path).replace('%', '%25')}") as vault:
        values = vault.space().kv("process/counter")
        assert values.get("key") == [1]
        values.set("other", 2)
        assert await backend.get("process/counter", "other") == 2
        second = VaultBackend(vault.space())
        assert await second.stats() == {"backend": "vault", "namespaces": 1, "totalEntries": 2}
        await second.close()
        assert values.get("key") == [1], "a backend of a vault leaves it open"
    await backend.close()


@pytest.mark.row("C06")
@runs
async def test_looking_creates_nothing(tmp_path: Path) -> None:
    backend = await SqliteBackend.create(tmp_path / "agents.db")
    assert await backend.list("a") == []
    assert backend.stats_now()["totalEntries"] == 0
    assert await backend.namespaces() == []
    await backend.delete("a", "key")
    await backend.close()
    with holdfast.open(f"sqlite:///{tmp_path}/agents.db") as vault:
        assert vault.space().kv().stats() == []


@pytest.mark.row("C13")
@runs
async def test_no_revision_comes_again(tmp_path: Path) -> None:
    backend = await SqliteBackend.create(tmp_path / "agents.db")
    seen: list[str] = []

    async def put() -> None:
        (outcome,) = await backend.apply("a", [Set(key="key", value=1)])
        assert outcome.revision is not None
        seen.append(outcome.revision)

    for _ in range(2):
        await put()
        await backend.delete("a", "key")
        await put()
        await backend.clear("a")
        await put()
        await backend.delete_namespace("a")
        await backend.set("b", "key", 1)
        await put()
        await backend.close()
        backend = await SqliteBackend.create(tmp_path / "agents.db")
    assert len(set(seen)) == len(seen) == 8
    await backend.close()


@pytest.mark.row("C12")
@runs
async def test_what_has_expired_is_swept_and_a_quota_counts_what_is_left(tmp_path: Path) -> None:
    clock = ManualClock()
    path = tmp_path / "agents.db"
    backend = await SqliteBackend.create(path, clock=clock)
    memory = Kernel(backend, clock=clock).memory.get_shared_accessor()
    for number in range(600):
        await memory.set(f"key{number:03}", "x", ttl_s=60 + number)
    await memory.set("stays", 1)
    clock.advance(seconds=360)
    assert len(await memory.list()) == 300
    assert (await backend.stats())["totalEntries"] == 300
    assert rows(path) == 601
    used = 299 * (6 + 3) + 5 + 1
    assert await backend.apply("shared", [Set(key="new", value="")], bytes_max=used + 5)
    assert rows(path) == 301, "the quota needed the room of what had expired"
    clock.advance(days=1)
    assert await backend.sweep() == 299
    assert await backend.sweep() == 0
    assert await memory.list() == ["new", "stays"]
    assert rows(path) == 2
    await backend.close()


def beside(path: Path) -> apsw.Connection:
    """A connection of another program, which leaves the log as it is."""
    conn = apsw.Connection(str(path))
    conn.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return conn


def rows(path: Path) -> int:
    conn = beside(path)
    (count,) = conn.execute("SELECT count(*) FROM value").fetchone() or (0,)
    conn.close()
    return count


@pytest.mark.row("C17")
@runs
async def test_values_move_to_sqlite_and_back_unchanged(tmp_path: Path) -> None:
    memory, file = InMemoryBackend(), await SqliteBackend.create(tmp_path / "agents.db")
    kernel = Kernel(memory)
    shared = kernel.memory.get_shared_accessor()
    await shared.batch([Set(key=key, value=[key, 1.5, None]) for key in ("b", "a_", "é", "🙂")])
    await shared.set("soon", 1, ttl_s=1_000)
    report = await copy(memory, file)
    assert (report.entries, report.written) == (5, 5)
    back = InMemoryBackend()
    await copy(file, back)
    assert await back.snapshot("shared") != []
    for key in await memory.list("shared"):
        one, other = await memory.stored("shared", key), await back.stored("shared", key)
        assert one is not None
        assert other is not None
        assert (one.value, one.expires_at) == (other.value, other.expires_at)
    await file.close()


# What goes wrong


@pytest.mark.row("C08")
@runs
async def test_what_is_kept_is_what_it_was_when_set_was_called(tmp_path: Path) -> None:
    backend = await SqliteBackend.create(tmp_path / "agents.db")
    value = [1]
    write = asyncio.ensure_future(backend.set("a", "key", value))
    await asyncio.sleep(0)
    value.append(2)
    await write
    assert await backend.get("a", "key") == [1]
    await backend.close()


@pytest.mark.row("C08")
@runs
async def test_close_waits_for_what_was_begun(tmp_path: Path) -> None:
    backend = await SqliteBackend.create(tmp_path / "agents.db")
    writes = [asyncio.ensure_future(backend.set("a", f"{n:03}", n)) for n in range(200)]
    await asyncio.sleep(0)
    await asyncio.gather(backend.close(), backend.close())
    await asyncio.gather(*writes)
    with pytest.raises(Closed):
        await backend.set("a", "late", 1)
    again = await SqliteBackend.create(tmp_path / "agents.db")
    assert await again.list("a") == [f"{n:03}" for n in range(200)]
    await again.close()


@pytest.mark.row("C06")
@runs
async def test_a_place_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path, kind in (
        ("", InvalidInput),
        ("memory:", InvalidInput),
        ("https://example.org/a.db", InvalidInput),
        (str(tmp_path), StorageFailed),
        (str(tmp_path / "file" / "agents.db"), StorageFailed),
        (str(tmp_path / "file"), Damaged),
    ):
        with pytest.raises(kind) as caught:
            await SqliteBackend.create(path)
        assert caught.value.hint
    await (await SqliteBackend.create(tmp_path / "a.db", key=RAW_KEY)).close()
    with pytest.raises(KeyProblem):
        await SqliteBackend.create(tmp_path / "a.db")


@pytest.mark.row("C02")
@runs
async def test_a_value_of_100_mb_is_refused_and_one_of_20_is_kept(tmp_path: Path) -> None:
    backend = await SqliteBackend.create(tmp_path / "agents.db")
    await backend.set("a", "key", "before")
    for value in ("x" * 100_000_000, ["y" * 50_000_000, "z" * 50_000_000]):
        with pytest.raises(InvalidInput, match="the limit is 67,108,864") as caught:
            await backend.set("a", "key", value)
        assert caught.value.code == "value_too_large"
    assert await backend.get("a", "key") == "before"
    await backend.set("a", "key", "é" * 10_000_000)
    assert await backend.get("a", "key") == "é" * 10_000_000
    await backend.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "holdfast-test", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only a user who may mount can make a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.row("C06", "C08")
def test_a_full_disk_and_a_read_only_one_lose_nothing(small_disk: Path) -> None:
    path = small_disk / "agents.db"

    async def fill() -> int:
        backend = await SqliteBackend.create(path)
        for number in range(1_000):
            try:
                await backend.apply(
                    "a", [Set(key=f"{number:04}", value="x" * 40_000), Increment(key="count")]
                )
            except StorageFailed as exc:
                assert exc.code == "storage_full"
                await holds(backend, number)
                await backend.close()
                return number
        raise AssertionError("the disk never filled")

    async def holds(backend: SqliteBackend, count: int) -> None:
        assert await backend.get("a", "count") == count
        assert await backend.list("a") == [*(f"{n:04}" for n in range(count)), "count"]

    async def again(count: int) -> None:
        backend = await SqliteBackend.create(path)
        await holds(backend, count)
        await backend.apply("a", [Delete(key="0000")])
        await backend.close()

    count = asyncio.run(fill())
    assert count > 10
    subprocess.run(["mount", "-o", "remount,size=32m", str(small_disk)], check=True)
    asyncio.run(again(count))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageFailed) as caught:
        asyncio.run(SqliteBackend.create(path))
    assert caught.value.code == "storage_readonly"


# Rot


def rot(path: Path, statement: str) -> None:
    conn = beside(path)
    conn.execute(statement)
    conn.close()


@pytest.mark.row("C06", "I04")
def test_a_rotten_value_is_named_and_wrong_counts_are_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "vault.db"
    with holdfast.open(tmp_path) as vault:
        values = vault.space().kv()
        for number in range(5):
            values.set(f"key{number}", {"n": number})
        assert list(vault.verify()) == []
    rot(path, """UPDATE value SET data = CAST('{"n":9}' AS BLOB) WHERE key = 'key3'""")
    rot(path, "UPDATE value SET data = x'7bff' WHERE key = 'key4'")
    rot(path, "UPDATE namespace SET bytes = 1, due_us = NULL")
    with holdfast.open(tmp_path) as vault:
        values = vault.space().kv()
        found = [(problem.code, problem.what) for problem in vault.verify()]
        assert found == [
            ("row_damaged", "value 'key3' (number 4, in namespace 1)"),
            ("row_damaged", "value 'key4' (number 5, in namespace 1)"),
            ("count_differs", "what namespace 'default' (number 1) counts"),
        ]
        with pytest.raises(Damaged) as caught:
            values.get("key4")
        assert caught.value.code == "value_unreadable"
        assert "what namespace 'default' counts was counted again" in list(vault.repair())
        assert values.delete("key3")
        values.set("key4", {"n": 4})
        assert list(vault.verify()) == []
        assert [stats.entries for stats in values.stats()] == [4]
