"""The benchmarks run, at a size that measures nothing, and say what they should."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import __version__

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # bench/ stands beside src/ and is not installed

from bench.measure import Candidate, Measured, Missing, Sample, alternate  # noqa: E402
from bench.table import Goal, Row, Table, duration, row_of  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROWS = {
    "durable-write": [
        "pwrite + fdatasync, preallocated",
        "raw apsw, log keeps its size",
        "raw apsw, log grows",
        "holdfast Database.write",
        "holdfast kv.set",
        "holdfast await backend.set",
        "LangGraph SqliteStore",
        "diskcache, synchronous = FULL",
        "Redis, appendfsync always",
    ],
    "values": [
        f"{job}, {length} bytes, N = 400: {name}"
        for job, length in (("get", "200"), ("get", "5,000"), ("list", "200"))
        for name in (
            "raw apsw",
            f"holdfast kv.{job}",
            f"holdfast await backend.{job}",
            "LangGraph SqliteStore",
            "LangGraph InMemoryStore",
            *(["diskcache"] if job == "get" else []),
            "Redis",
            "AgentVM, in memory",
        )
    ],
    "records": [
        *(
            f"{name}, N = {size}"
            for size in (20, 60)
            for name in (
                "raw apsw: 3 covering queries",
                "holdfast space.context()",
                "holdfast records.search()",
            )
        ),
        "time, 60 to 20",
        "tokens of the context, N = 20",
        "tokens of the context, N = 60",
    ],
    "add-entry": [
        *(
            f"{name}, N = {size}"
            for size in (10, 20)
            for name in (
                "raw apsw: row",
                "raw apsw: row, change",
                "raw apsw: row, change, full text",
                "holdfast notes.save",
                "Chroma add, ready-made vector",
                "mem0 add, no model, no embedder",
                "  p99 ÷ p50",
            )
        ),
        "holdfast, 20 to 10",
    ],
    "context": [
        *(
            f"{name}, N = {size}"
            for size in (30, 60)
            for name in (
                "raw apsw: 3 covering queries",
                "raw apsw: the same, as one text",
                "holdfast space.context()",
            )
        ),
        "holdfast, 60 to 30",
        "holdfast, statements a context",
    ],
    "start-up": [
        "python -c pass",
        *(f"holdfast {words}" for words in ("--version", "note read", "context", "status")),
        "git --version",
        "borg --version",
        "basic-memory --version",
        "python -c 'import mem0'",
    ],
    "import": [
        "import sqlite3",
        "import holdfast",
        "import holdfast; holdfast.open",
        "import mem0",
        "import sqlite3; the import alone",
        "import holdfast; the import alone",
        "import holdfast; holdfast.open; the import alone",
    ],
    "encryption": [
        f"{what}, {how}"
        for what in ("Database.write", "notes.save", "context")
        for how in ("plain", "encrypted")
    ],
    "text-search": [
        f"{kind} words: {name}"
        for kind in ("rare", "common")
        for name in (
            "raw FTS5, the best 20",
            "raw FTS5, the newest 20",
            "holdfast notes.read(text=…)",
            "holdfast space.search(…)",
            "tantivy, the best 20",
        )
    ],
    "text-sentence": [
        f"{name}, N = {size}"
        for size in (60, 120)
        for name in (
            "raw FTS5, any of the words",
            "raw FTS5, any but the small words",
            "tantivy, any of the words",
            "holdfast space.search(…)",
            "holdfast, overlap with the full ranking",
        )
    ],
    "directories": [
        f"{what}: {name}"
        for what, floor, goals in (
            ("20 files, first push", "read + hash", ["command", "library", "stored"]),
            (
                "20 files, nothing changed",
                "scandir + stat",
                ["command", "command", "library", "library"],
            ),
            (
                "20 files, clone into an empty folder",
                "create + write",
                ["command", "library"],
            ),
            ("20 files, 1 % edited, push", "", ["command", "library"]),
            ("20 files, 1 % edited, pull", "", ["command", "library"]),
            ("3 MB, one byte inserted", "read + cut + hash", ["command", "library", "stored"]),
        )
        for name in (
            *([floor] if floor else []),
            *("git", "restic", "borg", "holdfast memory …", "holdfast, as a library"),
            *(f"goal, {goal}" for goal in goals),
        )
    ],
    "footprint": ["holdfast, packages it needs", "holdfast, their downloads"],
}
PEERS = (
    "AgentVM",
    "LangGraph",
    "diskcache",
    "Chroma",
    "mem0",
    "basic-memory",
    "tantivy",
    "import mem0",
)


def bench(*words: str, file: Path, **env: str) -> tuple[str, dict[str, Any]]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bench",
            *words,
            "--tiny",
            "--peers",
            "nowhere",
            "--json",
            str(file),
        ],
        cwd=ROOT,
        env={**os.environ, **env},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout, json.loads(file.read_text())


@pytest.mark.parametrize("job", ROWS)
def test_a_job_prints_its_rows(job: str, tmp_path: Path) -> None:
    said, found = bench(job, file=tmp_path / "found.json")
    (table,) = found["tables"]
    assert table["job"] == job
    assert [row["candidate"] for row in table["rows"]] == ROWS[job]
    for row in table["rows"]:
        assert row["candidate"] in said
        if row["candidate"].rpartition(": ")[2].removeprefix("python -c '").startswith(PEERS):
            assert (row["median"], row["remark"]) == ("–", "not installed")
        elif row["candidate"].startswith("holdfast") and row["goal"]:
            assert row["met"] in (True, False)
    assert found["facts"]["holdfast"] == __version__
    assert found["facts"]["peers"].startswith("none installed")
    assert not list((ROOT / "bench" / "results").glob(f"run-*/{tmp_path.name}"))


def test_directories_are_measured_beside_the_programs_that_are_there(tmp_path: Path) -> None:
    """Of git, restic and borg, the first alone; then none."""
    (tmp_path / "git").symlink_to(str(shutil.which("git")))
    for there, missing in (("git", ("restic", "borg")), ("", ("git", "restic", "borg"))):
        folder = tmp_path if there else tmp_path / "none"
        said, found = bench("directories", file=tmp_path / "found.json", PATH=str(folder))
        rows = {row["candidate"]: row for row in found["tables"][0]["rows"]}
        for step in ("20 files, first push", "3 MB, one byte inserted"):
            of = {name: rows[f"{step}: {name}"] for name in ("git", "restic", "borg")}
            lacking = [name for name, row in of.items() if row["remark"] == "not installed"]
            assert lacking == list(missing)
            assert all(of[name]["median"] == "–" for name in missing)
            assert rows[f"{step}: holdfast, as a library"]["median"] != "–"
        assert said.count("not installed") == 6 * len(missing)


def test_many_writers_share_their_syncs(tmp_path: Path) -> None:
    _, found = bench("writers-32", file=tmp_path / "found.json")
    rows = {row["candidate"]: row for row in found["tables"][0]["rows"]}
    if "all" in rows:
        pytest.skip(rows["all"]["remark"])
    for disk in ("", ", +2 ms a sync"):
        assert list(rows)[7 if disk else 0 :][:7] == [
            f"raw apsw, 1 thread{disk}",
            f"holdfast without sharing, 1 thread{disk}",
            f"holdfast, 1 thread{disk}",
            f"  to the one without sharing{disk}",
            f"holdfast, 32 threads{disk}",
            f"  fdatasyncs ÷ commits{disk}",
            f"  worst wait{disk}",
        ]
        assert 0 < rows[f"  fdatasyncs ÷ commits{disk}"]["judged"] < 1


def test_an_unknown_job_is_named(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bench", "juggling", "--tiny"]
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no job is called juggling" in done.stderr
    assert "durable-write" in done.stderr


# The harness


class Steps:
    """A runner that writes down when it works, and takes as long as it is told."""

    def __init__(self, log: list[str], name: str, ns: int) -> None:
        self._log, self._name, self._ns = log, name, ns

    def run(self, count: int) -> Sample:
        self._log.append(f"{self._name}{count}")
        return Sample(ns=(self._ns,) * count, elapsed_ns=self._ns * count)

    def close(self) -> None:
        self._log.append(f"{self._name}.")


def test_candidates_take_turns_and_start_anew_each_round(tmp_path: Path) -> None:
    log: list[str] = []
    folders: list[Path] = []

    def start(name: str, folder: Path) -> Steps:
        assert list(folder.iterdir()) == []
        folders.append(folder)
        return Steps(log, name, 100 if name == "a" else 300 * len(folders))

    found = alternate(
        [
            Candidate(name="a", start=lambda folder: start("a", folder)),
            Candidate(name="b", start=lambda folder: start("b", folder), share=2),
        ],
        tmp_path,
        rounds=2,
        count=8,
        each=4,
    )
    one_round = ["a1", "b1", "a4", "b2", "b2", "a4", "a.", "b."]
    assert log == one_round * 3, "one operation to start, then slices, there and back"
    assert len(set(folders)) == 6
    assert list(tmp_path.iterdir()) == []
    assert [len(found[name].rounds) for name in "ab"] == [2, 2], "the first round is thrown away"
    assert [len(sample.ns) for sample in found["b"].rounds] == [4, 4]
    assert found["b"].times(found["a"]) == (12 + 18) / 2


def test_what_is_missing_is_said_once_and_measured_never(tmp_path: Path) -> None:
    asked: list[Path] = []

    def start(folder: Path) -> Steps:
        asked.append(folder)
        raise Missing("not installed")

    found = alternate([Candidate(name="absent", start=start)], tmp_path, rounds=3, count=1, each=1)
    assert len(asked) == 1
    assert row_of(found["absent"], found["absent"]).cells() == (
        *("absent", "–", "", "", "", "", "not installed"),
    )


def test_figures_are_medians_of_rounds() -> None:
    def measured(*rounds: tuple[int, ...]) -> Measured:
        samples = tuple(Sample(ns=ns, elapsed_ns=sum(ns)) for ns in rounds)
        return Measured(name="x", rounds=samples)

    mine, floor = measured((10, 20), (30, 50), (1, 1)), measured((5, 5), (10, 10), (4, 4))
    assert (mine.each_ns, mine.p50_ns, mine.p99_ns, mine.worst_ns) == (15, 20, 20, 20)
    assert mine.times(floor) == 3, "the median of 3, 4 and 1/4"


@pytest.mark.parametrize(
    ("goal", "value", "met", "said"),
    [
        (Goal(limit=1.5), 1.5, True, "≤ 1.5×"),
        (Goal(limit=1.5), 1.51, False, "≤ 1.5×"),
        (Goal(limit=3, least=True), 2.9, False, "≥ 3×"),
        (Goal(limit=50, of="ms"), 49, True, "≤ 50 ms"),
    ],
)
def test_a_goal_is_met_or_not(goal: Goal, value: float, met: bool, said: str) -> None:
    row = Row(name="x", judged=value, goal=goal)
    assert row.met is met
    assert row.cells()[4:6] == (said, "yes" if met else "NO")


def test_a_table_lines_up() -> None:
    rows = (
        Row(name="floor", figure="111 µs", ratio=1.0),
        Row(name="ours", ratio=1.3, goal=Goal(limit=1)),
    )
    table = Table(job="j", title="t", ratio="r", rows=rows, notes=("n",))
    assert table.text() == (
        "j: t\n  ratio: r\n\n"
        "  candidate  median  p99  ratio  goal  met\n"
        "  floor      111 µs       1.00×\n"
        "  ours                    1.30×  ≤ 1×   NO\n"
        "\n  n\n"
    )


@pytest.mark.parametrize(
    ("ns", "said"),
    [
        (12, "12 ns"),
        (1_234, "1.23 µs"),
        (999_600, "1.00 ms"),
        (12_000_000, "12.0 ms"),
        (3e9, "3.00 s"),
    ],
)
def test_durations_have_three_digits(ns: float, said: str) -> None:
    assert duration(ns) == said
