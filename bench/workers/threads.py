"""Durable writes by one thread or many, through raw apsw or through Database.write.

Runs where `bench/shim.c` is preloaded, so that the syncs are counted, and slow where asked.
"""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from time import perf_counter_ns

from bench import floors
from bench.jobs.durable_write import direct, ours
from serve import serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.measure import Local

shim = ctypes.CDLL(None)


class Threads:
    """A crew that stays; each of its members does a part of every run."""

    def __init__(self, local: Local, crew: int) -> None:
        self._local = local
        self._crew = crew

    def run(self, count: int) -> dict[str, object]:
        each = max(1, count // self._crew)
        gate = threading.Barrier(self._crew + 1)
        found: list[tuple[int, ...]] = []

        def work() -> None:
            gate.wait()
            found.append(self._local.run(each).ns)

        members = [threading.Thread(target=work) for _ in range(self._crew)]
        for member in members:
            member.start()
        syncs = shim.sync_calls()
        gate.wait()
        start = perf_counter_ns()
        for member in members:
            member.join()
        elapsed = perf_counter_ns() - start
        return {
            "ns": [ns for part in found for ns in part],
            "elapsed_ns": elapsed,
            "syncs": shim.sync_calls() - syncs,
        }

    def close(self) -> None:
        self._local.close()


def start(options: dict[str, object]) -> Threads:
    folder, crew = Path(str(options["folder"])), int(str(options["threads"]))
    make = {"raw": floors.raw_values, "direct": direct, "ours": ours}[str(options["way"])]
    local = make(folder)
    local.run(20)
    return Threads(local, crew)


serve(start)
