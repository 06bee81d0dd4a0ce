"""32 threads that write at once: what sharing a sync is worth, and what one thread pays for it.

All candidates run with `bench/shim.c` preloaded: as the disk is, and with 2 ms more for each sync,
which is what a disk without a cache of its own takes.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path

from bench import remote
from bench.measure import Candidate, Measured, alternate
from bench.table import Goal, Row, Table, duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.setting import Setting

RAW = "raw apsw, 1 thread"
DIRECT = "holdfast without sharing, 1 thread"
ONE = "holdfast, 1 thread"
MANY = "holdfast, 32 threads"
SLOW_US = 2000


def run(setting: Setting) -> Table:
    shim = build_shim(setting.folder)
    if shim is None:
        rows = [Row(name="all", figure="–", remark="no C compiler to build bench/shim.c with")]
    else:
        rows = [
            *_rows("", _measured(setting, shim, 0), many_goal=3),
            *_rows(", +2 ms a sync", _measured(setting, shim, SLOW_US), many_goal=10),
        ]
    return Table(
        job="writers-32",
        title="durable writes of 200 bytes by 32 threads at once",
        ratio="speed, as a multiple of raw apsw's in one thread on the same disk",
        rows=tuple(rows),
        notes=("median: the time of all writes by their number; p99: how long a thread waited.",),
    )


def build_shim(folder: Path) -> Path | None:
    """The library to preload; None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    source, library = Path(__file__).parent.parent / "shim.c", folder / "shim.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def _measured(setting: Setting, shim: Path, delay_us: int) -> dict[str, Measured]:
    env = {"LD_PRELOAD": str(shim), "SYNC_DELAY_US": str(delay_us)}

    def candidate(name: str, *, share: int = 1, threads: int = 1, way: str = "ours") -> Candidate:
        start = partial(remote.own, "threads", env=env, threads=threads, way=way)
        return Candidate(name=name, start=start, share=share)

    slower = 16 if delay_us else 4
    return alternate(
        [
            candidate(RAW, share=slower, way="raw"),
            candidate(DIRECT, share=slower, way="direct"),
            candidate(ONE, share=slower),
            candidate(MANY, threads=32),
        ],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(19_200, 6_400, 64),
        each=setting.pick(1_920, 1_280, 64),
    )


def _rows(disk: str, found: dict[str, Measured], many_goal: float) -> list[Row]:
    raw, direct, one, many = found[RAW], found[DIRECT], found[ONE], found[MANY]
    missing = raw.missing or direct.missing or one.missing or many.missing
    if missing:
        return [Row(name=f"all{disk}", figure="–", remark=missing)]
    alone = one.times(direct)
    return [
        _speed(raw, raw, disk),
        _speed(direct, raw, disk),
        _speed(one, raw, disk, Goal(limit=0.95, least=True)),
        Row(
            name=f"  to the one without sharing{disk}",
            ratio=None if alone is None else 1 / alone,
            goal=Goal(limit=0.95, least=True),
        ),
        _speed(many, raw, disk, Goal(limit=many_goal, least=True)),
        Row(
            name=f"  fdatasyncs ÷ commits{disk}",
            figure=f"{many.syncs_each:.3f}",
            goal=Goal(limit=0.125, of=""),
            judged=many.syncs_each,
            remark=f"1 thread: {one.syncs_each:.3f}, raw apsw: {raw.syncs_each:.3f}",
        ),
        Row(
            name=f"  worst wait{disk}",
            figure=duration(many.worst_ns),
            goal=Goal(limit=50, of="ms"),
            judged=many.worst_ns / 1e6,
        ),
    ]


def _speed(measured: Measured, raw: Measured, disk: str, goal: Goal | None = None) -> Row:
    times = measured.times(raw)
    assert times is not None
    return Row(
        name=measured.name + disk,
        figure=duration(measured.each_ns),
        p99=duration(measured.p99_ns),
        ratio=1 / times,
        goal=goal,
        remark=f"{1e9 / measured.each_ns:,.0f} a second",
    )
