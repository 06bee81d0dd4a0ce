"""What a command costs from its call to its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial

from bench import vaults
from bench.measure import Candidate, Local, Missing, alternate
from bench.setting import ROOT
from bench.table import Goal, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.setting import Setting

FLOOR = "python -c pass"
PROGRAM = "import sys; from holdfast.cli import program; sys.exit(program())"
COMMANDS = ("--version", "note read", "context", "status")
GOAL = Goal(limit=6)


def run(setting: Setting) -> Table:
    notes = vaults.vault(setting, setting.pick(1000, 1000, 20))
    venv, inside = setting.peers / "bin", ["--space", vaults.SPACE]
    extra = {
        "--version": [],
        "note read": [*inside, "--store", "facts"],
        "context": inside,
        "status": [],
    }
    python = Candidate(name=FLOOR, start=partial(started, [sys.executable, "-c", "pass"]))
    ours = [
        Candidate(
            name=f"holdfast {words}",
            start=partial(_ours, notes, [*words.split(), *extra[words]]),
        )
        for words in COMMANDS
    ]
    peers = [
        Candidate(name="git --version", start=partial(_program, "git", ["--version"])),
        Candidate(name="borg --version", start=partial(_program, "borg", ["--version"]), share=5),
        Candidate(
            name="basic-memory --version",
            start=partial(_program, str(venv / "basic-memory"), ["--version"]),
            share=5,
        ),
        Candidate(
            name="python -c 'import mem0'",
            start=partial(_program, str(venv / "python"), ["-c", "import mem0"]),
            share=5,
        ),
    ]
    found = alternate(
        [python, *ours, *peers],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(20, 10, 1),
        each=setting.pick(5, 5, 1),
    )
    return Table(
        job="start-up",
        title="a command from its call to its end, on a vault of 1,000 notes",
        ratio=f"time to that of `{FLOOR}`",
        rows=tuple(
            row_of(measured, found[FLOOR], GOAL if name.startswith("holdfast") else None, p99=False)
            for name, measured in found.items()
        ),
        notes=("holdfast runs as the program that pip installs does: " + PROGRAM,),
    )


def _ours(vault: Path, words: Sequence[str], folder: Path) -> Local:
    place = vaults.copied(vault, folder / "vault")
    return started([sys.executable, "-c", PROGRAM, *words, "--vault", str(place)], folder)


def _program(program: str, words: Sequence[str], folder: Path) -> Local:
    found = shutil.which(program)
    if found is None:
        raise Missing("not installed")
    return started([found, *words], folder, {"PYTHONPATH": "", "MEM0_TELEMETRY": "False"})


def started(argv: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> Local:
    """A process from its start to its end, alone in a home of its own."""
    around = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    around.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled once, not each time

    def once(_number: int) -> None:
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, env=around, cwd=folder)  # fmt: skip

    return Local(once)
