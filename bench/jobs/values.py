"""Reading values by key: one of a million, and the 200 keys under a prefix.

The floor is the same rows in a plain table and nothing else. Peers that keep their values in memory
hold a tenth as many, since they are filled anew for each round.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from time import perf_counter_ns

import apsw
import msgspec

import holdfast
from bench import data, floors, remote
from bench.measure import Candidate, Local, Measured, Sample, alternate
from bench.table import Goal, Row, Table, row_of
from bench.vaults import built
from holdfast.model.keyvalue import Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from bench.measure import Runner
    from bench.setting import Setting
    from holdfast import SqliteBackend

NAMESPACE = "bench"
RAW = "raw apsw"
BATCH = 1_000
READ = "SELECT body FROM value WHERE namespace = ? AND key = ?"
RANGE = "SELECT key FROM value WHERE namespace = ? AND key >= ? AND key < ? ORDER BY key"
STORE = "holdfast kv."
AWAITED = "holdfast await backend."


def run(setting: Setting) -> Table:
    small = setting.pick(1_000_000, 100_000, 400)
    large = setting.pick(100_000, 20_000, 400)
    rows = [
        *_rows(setting, "get", small, data.SMALL_BYTES, setting.pick(10_000, 4_000, 10)),
        *_rows(setting, "get", large, data.LARGE_BYTES, setting.pick(5_000, 2_000, 10)),
        *_rows(setting, "list", small, data.SMALL_BYTES, setting.pick(1_000, 400, 10)),
    ]
    return Table(
        job="values",
        title="get: one value; list: the 200 keys under a prefix; of N values",
        ratio="time to that of the same read from a plain table",
        rows=tuple(rows),
        notes=("Peers in memory hold a tenth as many.",),
    )


def _rows(setting: Setting, job: str, size: int, length: int, count: int) -> list[Row]:
    found = alternate(
        _candidates(setting, job, size, length),
        setting.folder,
        rounds=setting.rounds,
        count=count,
        each=max(5, count // 20),
    )
    goals = {
        f"{STORE}{job}": Goal(limit=2 if job == "get" else 1.5),
        f"{AWAITED}{job}": Goal(limit=3 if job == "get" else 1.5),
    }
    what = f"{job}, {length:,} bytes, N = {size:,}"
    floor = found[RAW]
    return [_row(what, name, each, floor, goals.get(name)) for name, each in found.items()]


def _row(what: str, name: str, measured: Measured, floor: Measured, goal: Goal | None) -> Row:
    return row_of(measured, floor, goal).replace(name=f"{what}: {name}")


def _candidates(setting: Setting, job: str, size: int, length: int) -> list[Candidate]:
    raw = built(setting, f"raw-values-{size}-{length}", partial(_fill_raw, size, length))
    ours = built(setting, f"values-{size}-{length}", partial(_fill, size, length))
    kept = setting.kept / f"peer-values-{size}-{length}"
    asked: dict[str, object] = {"job": job, "size": size, "length": length, "kept": str(kept)}
    few = {**asked, "size": max(400, size // 10)}
    peer = partial(remote.peer, setting.peers)
    return [
        Candidate(name=RAW, start=partial(_raw, job, raw, size)),
        Candidate(name=f"{STORE}{job}", start=partial(_ours, job, ours, size)),
        Candidate(name=f"{AWAITED}{job}", start=partial(_awaited, job, ours, size)),
        Candidate(
            name="LangGraph SqliteStore",
            start=lambda folder: peer("langgraph/store/sqlite", "langgraph_read", folder, **asked),
            share=5,
        ),
        Candidate(
            name="LangGraph InMemoryStore",
            start=lambda folder: peer(
                "langgraph", "langgraph_read", folder, **{**few, "kept": None}
            ),
            share=5,
        ),
        *_only_get(
            job,
            Candidate(
                name="diskcache",
                start=lambda folder: peer("diskcache", "diskcache_read", folder, **asked),
                share=5,
            ),
        ),
        Candidate(name="Redis", start=partial(_redis, few), share=5),
        Candidate(
            name="AgentVM, in memory",
            start=lambda folder: remote.node(
                setting.peers, "@llmhut/agentvm", "agentvm_read", folder, **few
            ),
            share=5,
        ),
    ]


def _only_get(job: str, candidate: Candidate) -> list[Candidate]:
    """diskcache has no listing by prefix."""
    return [candidate] if job == "get" else []


def _fill(size: int, length: int, folder: Path) -> None:
    with holdfast.open(folder) as vault:
        values = vault.space().kv(NAMESPACE)
        for first in range(0, size, BATCH):
            numbers = range(first, min(first + BATCH, size))
            values.batch([Set(key=data.place(n), value=data.member(n, length)) for n in numbers])
        vault.tidy()


def _fill_raw(size: int, length: int, folder: Path) -> None:
    conn = apsw.Connection(str(folder / "raw.db"))
    conn.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    conn.execute(floors.VALUES)
    with conn:
        for n in range(size):
            row = (NAMESPACE, data.place(n), json.dumps(data.member(n, length)), n)
            conn.execute(floors.SET_VALUE, row)
    conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    conn.close()


def _raw(job: str, filled: Path, size: int, _folder: Path) -> Local:
    conn = floors.connected(filled / "raw.db")

    def get(number: int) -> object:
        for (body,) in conn.execute(READ, (NAMESPACE, data.place(data.spread(number, size)))):
            return msgspec.json.decode(body)
        raise AssertionError

    def listed(number: int) -> object:
        prefix = data.prefix(data.spread(number, size))
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        return [key for (key,) in conn.execute(RANGE, (NAMESPACE, prefix, after))]

    return Local(get if job == "get" else listed, conn.close)


def _ours(job: str, filled: Path, size: int, _folder: Path) -> Local:
    vault = holdfast.open(filled)
    values = vault.space().kv(NAMESPACE)
    asked: dict[str, Callable[[int], object]] = {
        "get": lambda n: values.get(data.place(data.spread(n, size))),
        "list": lambda n: values.list(data.prefix(data.spread(n, size))),
    }
    return Local(asked[job], vault.close)


class Awaited:
    """Awaits one operation of a backend after another, in one event loop."""

    def __init__(
        self, file: Path, operation: Callable[[SqliteBackend, int], Awaitable[object]]
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._backend = self._loop.run_until_complete(holdfast.SqliteBackend.create(file))
        self._operation = operation
        self._done = 0

    def run(self, count: int) -> Sample:
        first, self._done = self._done, self._done + count
        return self._loop.run_until_complete(self._timed(range(first, first + count)))

    async def _timed(self, numbers: range) -> Sample:
        ns: list[int] = []
        for number in numbers:
            start = perf_counter_ns()
            await self._operation(self._backend, number)
            ns.append(perf_counter_ns() - start)
        return Sample(ns=tuple(ns), elapsed_ns=sum(ns))

    def close(self) -> None:
        self._loop.run_until_complete(self._backend.close())
        self._loop.close()


def _awaited(job: str, filled: Path, size: int, _folder: Path) -> Awaited:
    asked: dict[str, Callable[[SqliteBackend, int], Awaitable[object]]] = {
        "get": lambda own, n: own.get(NAMESPACE, data.place(data.spread(n, size))),
        "list": lambda own, n: own.list(NAMESPACE, data.prefix(data.spread(n, size))),
    }
    return Awaited(filled / "vault.db", asked[job])


def _redis(options: dict[str, object], folder: Path) -> Runner:
    return remote.own("redis_read", folder, {}, **options)
