"""Candidates in a process of their own: peers in their venv, and ours where a library is preloaded.

A worker (`bench/workers/`) reads lines of JSON and answers each with one: first its options, then
`{"run": COUNT}`, answered by the nanoseconds of each operation, of all together, and the syncs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Missing, Sample
from bench.setting import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WORKERS = Path(__file__).parent / "workers"


class Remote:
    def __init__(
        self, program: Path, worker: str, options: Mapping[str, object], env: Mapping[str, str]
    ) -> None:
        # What it says besides is shown if it fails. It stays open until `close`.
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(program), str(WORKERS / worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            env={**os.environ, **env},
        )
        self._ask(options)

    def run(self, count: int) -> Sample:
        said = self._ask({"run": count})
        return Sample(ns=tuple(said["ns"]), elapsed_ns=said["elapsed_ns"], syncs=said["syncs"])

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._words.close()

    def _ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._words.seek(0)
            last = (self._words.read().strip().splitlines() or [""])[-1]
            raise Missing(f"its process ended with exit code {code}: {last[:100]}")
        return json.loads(line)


def peer(
    venv: Path,
    package: str,
    worker: str,
    folder: Path,
    *,
    home: Path | None = None,
    **options: object,
) -> Remote:
    """A peer's worker in the peers' venv; Missing when the package is not there."""
    if not any(venv.glob(f"lib/python*/site-packages/{package}")):
        raise Missing("not installed")
    return Remote(
        venv / "bin" / "python",
        f"{worker}.py",
        {"folder": str(folder), **options},
        {"HOME": str(home or folder), "PYTHONPATH": str(ROOT)},
    )


def node(peers: Path, package: str, worker: str, folder: Path, **options: object) -> Remote:
    """The same for a peer from npm, which is installed in the same folder."""
    program, home = shutil.which("node"), peers / "node_modules" / package
    if program is None or not home.exists():
        raise Missing("not installed")
    asked = {"folder": str(folder), "module": str(home / "dist" / "index.js"), **options}
    return Remote(Path(program), f"{worker}.mjs", asked, {})


def own(worker: str, folder: Path, env: Mapping[str, str], **options: object) -> Remote:
    """A worker of ours, with this interpreter and this project."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return Remote(
        Path(sys.executable),
        f"{worker}.py",
        {"folder": str(folder), **options},
        {"PYTHONPATH": path, **env},
    )
