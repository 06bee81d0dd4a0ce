"""What `import holdfast` costs a program that may never use it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from bench.jobs.start_up import started
from bench.measure import Candidate, Local, Missing, Sample, alternate
from bench.setting import ROOT
from bench.table import Goal, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from bench.setting import Setting

FLOOR = "import sqlite3"
OURS = {
    FLOOR: None,
    "import holdfast": Goal(limit=3),
    "import holdfast; holdfast.open": Goal(limit=3),
}
INSIDE = "; the import alone"
CLOCK = "from time import perf_counter_ns as now; start = now(); {}; print(now() - start)"


def run(setting: Setting) -> Table:
    candidates = [
        *(Candidate(name=words, start=partial(_whole, words)) for words in OURS),
        Candidate(name="import mem0", start=partial(_mem0, setting), share=5),
        *(Candidate(name=words + INSIDE, start=partial(Inside, words)) for words in OURS),
    ]
    found = alternate(
        candidates,
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(20, 10, 1),
        each=setting.pick(5, 5, 1),
    )
    rows = [
        row_of(
            measured,
            found[FLOOR + INSIDE if name.endswith(INSIDE) else FLOOR],
            OURS.get(name),
            p99=False,
        )
        for name, measured in found.items()
    ]
    return Table(
        job="import",
        title="a Python process that imports and ends; and the import alone, timed inside",
        ratio=f"time to that of `{FLOOR}`",
        rows=tuple(rows),
    )


def _whole(words: str, folder: Path) -> Local:
    return started([sys.executable, "-c", words], folder)


def _mem0(setting: Setting, folder: Path) -> Local:
    python = setting.peers / "bin" / "python"
    if not any(setting.peers.glob("lib/python*/site-packages/mem0")):
        raise Missing("not installed")
    return started(
        [str(python), "-c", "import mem0"], folder, {"PYTHONPATH": "", "MEM0_TELEMETRY": "False"}
    )


class Inside:
    """The import, timed by the process that does it."""

    def __init__(self, words: str, folder: Path) -> None:
        self._argv = [sys.executable, "-c", CLOCK.format(words)]
        self._folder = folder

    def run(self, count: int) -> Sample:
        said = [
            subprocess.run(
                self._argv,
                check=True,
                stdout=subprocess.PIPE,
                cwd=self._folder,
                env={"PYTHONPATH": str(ROOT / "src"), "HOME": str(self._folder)},
            ).stdout
            for _ in range(count)
        ]
        ns = tuple(map(int, said))
        return Sample(ns=ns, elapsed_ns=sum(ns))

    def close(self) -> None:
        pass
