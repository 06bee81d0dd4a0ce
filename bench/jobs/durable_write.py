"""One small durable write: what every `set` and every `save` rests on."""

from __future__ import annotations

from functools import partial

import holdfast
from bench import data, floors, remote
from bench.jobs import values as values_job
from bench.measure import Candidate, Local, alternate
from bench.table import Goal, Table, row_of
from holdfast.storage.sqlite.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    import apsw

    from bench.setting import Setting
    from holdfast import SqliteBackend
    from holdfast.storage.sqlite.keys import Key

FLOOR = "pwrite + fdatasync, preallocated"
OURS = "holdfast Database.write"
SET = "holdfast kv.set"
AWAITED = "holdfast await backend.set"


def run(setting: Setting) -> Table:
    found = alternate(
        [
            Candidate(name=FLOOR, start=floors.synced_file),
            Candidate(name="raw apsw, log keeps its size", start=floors.raw_values),
            Candidate(name="raw apsw, log grows", start=partial(floors.raw_values, grows=True)),
            Candidate(name=OURS, start=ours),
            Candidate(name=SET, start=_set),
            Candidate(name=AWAITED, start=_awaited),
            Candidate(name="LangGraph SqliteStore", start=partial(_langgraph, setting), share=10),
            Candidate(
                name="diskcache, synchronous = FULL", start=partial(_diskcache, setting), share=10
            ),
            Candidate(name="Redis, appendfsync always", start=_redis, share=10),
        ],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(3000, 1000, 20),
        each=setting.pick(100, 100, 10),
    )
    floor = found[FLOOR]
    return Table(
        job="durable-write",
        title="one durable write of 200 bytes, over 3,000 of them",
        ratio="time of one write, checkpoints included, to the floor's",
        rows=tuple(
            row_of(measured, floor, Goal(limit=1.5) if name in (OURS, SET, AWAITED) else None)
            for name, measured in found.items()
        ),
        notes=("Peers do a tenth as many. All of them sync the disk at each write.",),
    )


def ours(folder: Path, key: Key | None = None) -> Local:
    database = Database.open(folder / "values.db", key=key, prepare=prepare)

    def write(number: int) -> None:
        row = ("bench", data.key(number), data.value(number), number)

        def unit(conn: apsw.Connection) -> None:
            conn.execute(floors.SET_VALUE, row)

        database.write(unit)

    return Local(write, database.close)


def direct(folder: Path) -> Local:
    """What `ours` does, lock and witness included, without what lets others join the commit."""
    database = Database.open(folder / "values.db", prepare=prepare)
    lock, writer = database._lock, database._writer
    assert lock is not None

    def write(number: int) -> None:
        lock.take()
        try:
            conn = writer.get()
            writer.begin(conn)
            conn.execute(floors.SET_VALUE, ("bench", data.key(number), data.value(number), number))
            conn.execute("COMMIT")
            writer.note()
            if writer.log_is_long():
                writer.checkpoint()
        finally:
            lock.give()

    return Local(write, database.close)


def _set(folder: Path) -> Local:
    vault = holdfast.open(folder)
    values = vault.space().kv(values_job.NAMESPACE)
    return Local(lambda n: values.set(data.key(n), data.member(n, data.SMALL_BYTES)), vault.close)


def _awaited(folder: Path) -> values_job.Awaited:
    def operation(backend: SqliteBackend, number: int) -> Awaitable[object]:
        value = data.member(number, data.SMALL_BYTES)
        return backend.set(values_job.NAMESPACE, data.key(number), value)

    return values_job.Awaited(folder / "vault.db", operation)


def prepare(conn: apsw.Connection) -> None:
    conn.execute(floors.VALUES)


def _redis(folder: Path) -> remote.Remote:
    return remote.own("redis_read", folder, {}, job="set", size=0, length=data.SMALL_BYTES)


def _langgraph(setting: Setting, folder: Path) -> remote.Remote:
    return remote.peer(setting.peers, "langgraph/store/sqlite", "langgraph_put", folder)


def _diskcache(setting: Setting, folder: Path) -> remote.Remote:
    return remote.peer(setting.peers, "diskcache", "diskcache_set", folder)
