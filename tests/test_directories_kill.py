"""Killed at any moment, each verb of a versioned directory leaves the old state or the new one."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

import holdfast
from holdfast.engine.directories.face import Directories
from holdfast.engine.directories.folder import find_config, open_folder
from holdfast.engine.directories.scan import scan
from holdfast.engine.vault import Vault

WORKER = Path(__file__).parent / "programs" / "directory_work.py"
VERBS = ("push", "pull", "clone", "rollback", "gc")
MOMENT_SECONDS_MAX = 0.25
SOAK = int(os.environ.get("HOLDFAST_KILLS", "200"))


class Killing:
    """A vault with one memory of a few versions, and folders in which processes are killed."""

    def __init__(self, where: Path) -> None:
        self.where, self.vault = where, where / "vault"
        self.chance = random.Random(11)
        self.trees: dict[int, str] = {}  # of the versions that somebody was told of
        with holdfast.open(self.vault) as vault:
            memory = vault.space().directories("memory")
            root = where / "push"
            memory.init(root, "notes")
            for turn in range(3):
                for name in range(40):
                    (root / f"{name % 4}-{turn}").mkdir(exist_ok=True)
                    (root / f"{name % 4}-{turn}" / f"{name}.md").write_text(f"{turn} {name}\n" * 99)
                made = memory.push(root).version
                self.trees[made.v] = made.tree
            memory.clone("notes", where / "pull")

    def strike(self, verbs: tuple[str, ...]) -> None:
        """Start a process for each verb, and kill all of them at some moment."""
        workers = [self._started(verb) for verb in verbs]
        until = monotonic() + self.chance.random() * MOMENT_SECONDS_MAX
        streams = {worker.stdout: verb for verb, worker in zip(verbs, workers, strict=True)}
        while (left := until - monotonic()) > 0:
            for stream in select.select(list(streams), [], [], left)[0]:
                self._heard(stream.readline())
        for worker in workers:
            worker.send_signal(signal.SIGKILL)
        for worker in workers:
            assert worker.stdout is not None
            for line in worker.stdout:
                self._heard(line)
            worker.stdout.close()
            assert worker.wait() == -signal.SIGKILL

    def _started(self, verb: str) -> subprocess.Popen[str]:
        words = [str(self.vault), verb, str(self.where / verb), str(self.chance.random())]
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), *words], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return worker

    def _heard(self, line: str) -> None:
        if line.endswith("\n"):
            v, tree = line.split()
            assert self.trees.setdefault(int(v), tree) == tree

    def check(self) -> None:
        """Nothing that anybody was told of is lost, and every state is a whole one."""
        with holdfast.open(self.vault) as vault:
            memory = vault.space().directories("memory")
            assert [(p.code, p.what, p.message) for p in vault.verify()] == []
            kept = {entry.version.v: entry.version for entry in memory.log("notes", limit=10_000)}
            assert {v: kept[v].tree for v in self.trees} == self.trees
            assert memory.version("notes").v == max(kept), "a head never goes back"
            trees = {version.tree for version in kept.values()}
            self._check_pull(vault, memory, trees)
            clone = self.where / "clone"
            assert not clone.exists() or _tree(clone) in trees
            left = [each.name for each in self.where.glob(".clone.holdfast-part-*")]
            assert len(left) <= 1, "the next clone sweeps what a killed one left"

    def _check_pull(self, vault: Vault, memory: Directories, trees: set[str]) -> None:
        folder = self.where / "pull"
        found = memory.status(folder)
        assert found.relation in ("up to date", "behind"), "the next command ends what was begun"
        assert _tree(folder) in trees
        assert not (folder / ".holdfast" / "pull.json").exists()
        assert vault.status().seq > 0


def _tree(folder: Path) -> str:
    """The tree of what lies there, read anew."""
    assert find_config(folder) is not None
    working = open_folder(folder)
    working.keep_cache({})
    return scan(working).root.digest


@pytest.mark.row("A26")
def test_a_kill_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    killing = Killing(tmp_path)
    for verb in VERBS:
        killing.strike((verb,))
        killing.check()
    killing.strike(("push", "gc"))
    killing.check()
    _goes_on(killing)


@pytest.mark.slow
@pytest.mark.row("A26")
@pytest.mark.parametrize("beside", [(), ("gc",), ("gc", "rollback")], ids="-".join)
def test_many_kills_leave_nothing_half_done(tmp_path: Path, beside: tuple[str, ...]) -> None:
    killing = Killing(tmp_path)
    for turn in range(SOAK // 3 + 1):
        verb = VERBS[turn % 3]  # those that have more than one step
        killing.strike((verb, *beside))
        killing.check()
    _goes_on(killing)


def _goes_on(killing: Killing) -> None:
    """After all of it everything works, and what nobody refers to is gone."""
    with holdfast.open(killing.vault) as vault:
        memory = vault.space().directories("memory")
        memory.push(killing.where / "push")
        memory.pull(killing.where / "push")
        memory.pull(killing.where / "pull")
        memory.clone("notes", killing.where / "last")
        assert _tree(killing.where / "last") == memory.version("notes").tree
        assert not list(killing.where.glob(".*part*/" + "storage.yaml"))
        vault.gc(spare_seconds=-1)
        assert vault.gc(spare_seconds=-1).objects == 0
        assert list(vault.verify()) == []
