"""The command line on a vault of a test's own.

Calls run in this process, with a clock that stands still, so that what they say is known to the
letter; `fresh` starts a process, whose clock is the real one.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from cli_snapshot import Result, run, run_inside

import holdfast
from holdfast.cli import opening
from holdfast.engine.history import LogQuery
from holdfast.model.ids import short
from holdfast.testing import ManualClock
from holdfast.wiring import open_vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pytest


class Cli:
    """The command line in one folder, on one vault beside it."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.folder = folder
        self.vault = folder / "vault"
        self.clock = clock
        self.env = {"HOLDFAST_VAULT": str(self.vault)}

    def __call__(self, *args: str, stdin: str | bytes = b"", **env: str) -> Result:
        return run_inside(args, stdin, {**self.env, **env})

    def fresh(self, *args: str, **env: str) -> Result:
        """In a process of its own."""
        return run(args, env={**self.env, **env}, cwd=Path.cwd())

    def says(self, *args: str, **env: str) -> str:
        """Standard output of a command that succeeds."""
        result = self(*args, **env)
        assert result.exit == 0, result.stderr
        return result.stdout

    def json(self, *args: str, **env: str) -> Any:
        result = self(*args, "--json", **env)
        assert (result.exit, result.stderr) == (0, "")
        return json.loads(result.stdout)

    def refuses(self, *args: str, exit: int = 1, **env: str) -> str:
        """The code of a command that fails, which says why in words and in JSON, with a hint."""
        plain, strict = self(*args, **env), self(*args, "--json", **env)
        assert (plain.exit, strict.exit) == (exit, exit), plain
        assert (plain.stdout, strict.stdout) == ("", "")
        error = json.loads(strict.stderr)["error"]
        assert error["hint"]
        assert plain.stderr == (
            f"error: {error['message']} [{error['code']}]\nhint: {error['hint']}\n"
        )
        return error["code"]

    def notes(self, *args: str, **env: str) -> list[str]:
        return [entry["text"] for entry in self.json("note", "read", *args, **env)["entries"]]

    def ids(self) -> dict[str, str]:
        """The ids of what the vault holds, by what the log says that they name."""
        with holdfast.open(self.vault) as vault:
            changes = vault.log(LogQuery(limit=1_000))
        return {change.target: f"{change.kind}-{change.seq}" for change in reversed(changes)}

    def settled(self, text: str) -> str:
        """The text with what differs from run to run replaced by what it stands for."""
        for name, shown in self.ids().items():
            text = text.replace(name, f"<{shown}>").replace(short(name), f"<{shown}>")
        return text.replace(str(self.folder), "FOLDER")


def cli_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    clock = ManualClock()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(opening, "open_vault", partial(open_vault, clock=clock))
    return Cli(folder, clock)


def ok(stdout: str = "", stderr: str = "") -> Result:
    return Result(exit=0, stdout=stdout, stderr=stderr)


def failed(stderr: str, stdout: str = "", exit: int = 1) -> Result:
    return Result(exit=exit, stdout=stdout, stderr=stderr)


def files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
