"""python -m bench [JOB ...] [--quick] [--rounds N] [--json FILE] [--peers FOLDER]

Runs the jobs that are named, or all of them, and prints one table for each.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from bench import machine
from bench.setting import FULL, QUICK, RESULTS, ROUNDS, TINY, Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.table import Table

JOBS = {
    "durable-write": "durable_write",
    "writers-32": "writers_32",
    "values": "values",
    "add-entry": "add_entry",
    "context": "context",
    "records": "records",
    "start-up": "start_up",
    "import": "importing",
    "encryption": "encryption",
    "text-search": "text_search",
    "text-sentence": "text_sentence",
    "sessions": "sessions",
    "directories": "directories",
    "footprint": "footprint",
}


def main() -> int:
    asked = _parser().parse_args()
    unknown = [name for name in asked.jobs if name not in JOBS]
    if unknown:
        sys.stderr.write(f"no job is called {', '.join(unknown)}; there are {', '.join(JOBS)}\n")
        return 2
    size = TINY if asked.tiny else QUICK if asked.quick else FULL
    RESULTS.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=RESULTS))
    setting = Setting(
        folder=folder,
        kept=folder if size == TINY else RESULTS,
        peers=asked.peers,
        size=size,
        rounds=asked.rounds or ROUNDS[size],
    )
    try:
        _measure(asked.jobs or list(JOBS), setting, asked.json)
    finally:
        shutil.rmtree(folder)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--quick", action="store_true", help="smaller and fewer: a first look")
    parser.add_argument(
        "--tiny", action="store_true", help="as small as it goes: shows that it runs"
    )
    parser.add_argument("--rounds", type=int, help="rounds to keep, beside the one to warm up")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found there too")
    parser.add_argument(
        "--peers", type=Path, default=RESULTS / "peers", help="the venv of the peers"
    )
    return parser


def _measure(jobs: list[str], setting: Setting, file: Path | None) -> None:
    facts = machine.facts(setting)
    for name, value in facts.items():
        print(f"{name:<12} {value}")
    print(f"{'size':<12} {setting.pick('full', 'quick', 'tiny')}, {setting.rounds} rounds\n")
    tables: list[Table] = []
    for job in jobs:
        before = machine.load()
        table = import_module(f"bench.jobs.{JOBS[job]}").run(setting)
        tables.append(table)
        print(table.text())
        print(f"  load {before} before, {machine.load()} after\n", flush=True)
    facts["load after"] = machine.load()
    print(f"{'load after':<12} {facts['load after']}")
    if file is not None:
        found = {"facts": facts, "tables": [table.plain() for table in tables]}
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
