"""What durable writes cost below the engine: `python bench/durable_probe.py [FOLDER]`.

Candidates alternate in batches of fifty writes, so that whatever else the machine does hits all of
them alike; what is compared are medians over all batches. Then 32 threads write, and both again
with a sync that takes 2 ms longer (bench/shim.c, where there is a compiler).
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw

from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WRITES = int(os.environ.get("PROBE_WRITES", "3000"))
BATCH = 50
THREADS = 32
SHIM = Path(__file__).with_name("shim.c")
BODY = b"v" * 200
TABLE = "CREATE TABLE value (space TEXT, key TEXT, body, PRIMARY KEY (space, key)) WITHOUT ROWID"
PUT = "INSERT OR REPLACE INTO value VALUES ('s', ?, ?)"


def floor(folder: Path) -> Iterator[Callable[[str], None]]:
    handle = os.open(folder / "floor", os.O_RDWR | os.O_CREAT)
    os.pwrite(handle, bytes(5_000_000), 0)
    os.fsync(handle)
    at = 0

    def write(_: str) -> None:
        nonlocal at
        os.pwrite(handle, bytes(4120), at)
        os.fdatasync(handle)
        at = (at + 4120) % 4_000_000

    yield write
    os.close(handle)


def direct(folder: Path) -> Iterator[Callable[[str], None]]:
    """The same statements on a database of ours, committed by apsw itself."""
    file = folder / "direct.db"
    Database.open(file, prepare=_make).close()
    conn = apsw.Connection(str(file))
    conn.pragma("synchronous", "FULL")
    conn.wal_autocheckpoint(1000)

    def write(key: str) -> None:
        conn.execute("BEGIN IMMEDIATE")
        conn.execute(PUT, (key, BODY))
        conn.execute("COMMIT")

    yield write
    conn.close()


def ours(folder: Path, key: str | None = None) -> Iterator[Callable[[str], None]]:
    file = folder / ("ciphered.db" if key else "ours.db")
    db = Database.open(file, key=key_from_text(key) if key else None, prepare=_make)

    def write(key: str) -> None:
        def unit(conn: apsw.Connection) -> None:
            conn.execute(PUT, (key, BODY))

        db.write(unit)

    yield write
    db.close()


def ciphered(folder: Path) -> Iterator[Callable[[str], None]]:
    return ours(folder, "raw:" + "5b" * 32)


def _make(conn: apsw.Connection) -> None:
    conn.execute(TABLE)


def alone(folder: Path) -> dict[str, list[float]]:
    """Seconds of each write, one thread."""
    makers = {"floor": floor, "direct": direct, "ours": ours, "ciphered": ciphered}
    running = {name: make(folder) for name, make in makers.items()}
    writes = {name: next(it) for name, it in running.items()}
    taken: dict[str, list[float]] = {name: [] for name in writes}
    for batch in range(WRITES // BATCH):
        for name, write in writes.items():
            for number in range(batch * BATCH, (batch + 1) * BATCH):
                start = time.perf_counter()
                write(f"{number:012}")
                taken[name].append(time.perf_counter() - start)
    for it in running.values():
        next(it, None)
    return taken


def together(folder: Path) -> tuple[float, float, float]:
    """Writes a second, commits for each sync of a commit, the longest wait in seconds."""
    db = Database.open(folder / "together.db", prepare=_make)
    each, begin = 4 * WRITES // THREADS, threading.Barrier(THREADS + 1)
    longest: list[float] = []

    def work(thread: int) -> None:
        waits = [0.0]
        begin.wait()
        for number in range(each):

            def unit(conn: apsw.Connection, key: str = f"{thread}-{number}") -> None:
                conn.execute(PUT, (key, BODY))

            start = time.perf_counter()
            db.write(unit)
            waits.append(time.perf_counter() - start)
        longest.append(max(waits))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    begin.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    rate = each * THREADS / (time.perf_counter() - start)
    turns = db._committer.turns
    db.close()
    return rate, each * THREADS / turns, max(longest)


def report(folder: Path, title: str) -> None:
    taken = alone(folder)
    rounds = [together(Path(tempfile.mkdtemp(dir=folder))) for _ in range(5)]
    middle = {name: statistics.median(times) for name, times in taken.items()}
    rate, group, _ = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"{title}: apsw {apsw.apsw_version()}, Python {sys.version.split()[0]},", end=" ")
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, times in taken.items():
        mean = sum(sorted(times)[: -len(times) // 100]) / len(times)
        print(
            f"  {name:9} median {middle[name] * 1e6:7.1f} us   mean (99 %) {mean * 1e6:7.1f} us",
            end="",
        )
        print(
            f"   {middle[name] / middle['floor']:.2f} x floor"
            f"   {middle['direct'] / middle[name]:.3f} x direct's rate"
        )
    print(f"  ciphered / ours {middle['ciphered'] / middle['ours']:.2f}")
    print(
        f"  {THREADS} threads: {rate:.0f} writes/s, {rate * middle['direct']:.2f} x direct, ",
        end="",
    )
    print(
        f"{group:.1f} writes a commit, longest wait {min(r[2] for r in rounds) * 1e3:.0f}", end=""
    )
    print(f"-{max(r[2] for r in rounds) * 1e3:.0f} ms over {len(rounds)} rounds")


def main() -> None:
    where = sys.argv[1] if len(sys.argv) > 1 else None
    folder = Path(tempfile.mkdtemp(prefix="probe-", dir=where))
    try:
        if "SYNC_DELAY_US" in os.environ:
            report(folder, "a sync of 2 ms more")
            return
        report(folder, "the disk as it is")
        if shutil.which("gcc") and SHIM.exists():
            shim = folder / "shim.so"
            command = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(shim), str(SHIM), "-ldl"]
            subprocess.run(command, check=True)
            slow = {"LD_PRELOAD": str(shim), "SYNC_DELAY_US": "2000", "PROBE_WRITES": "600"}
            subprocess.run(
                [sys.executable, __file__, *sys.argv[1:]], env={**os.environ, **slow}, check=True
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
