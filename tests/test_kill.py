"""Killed at any moment, an acknowledged write is there and nothing is half done."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

KILLS = int(os.environ.get("HOLDFAST_KILLS", "12"))
WRITER = Path(__file__).parent / "programs" / "save_notes.py"
RAW_KEY = "raw:" + "5a" * 32


@pytest.mark.row("I04")
@pytest.mark.parametrize("key", [None, RAW_KEY], ids=["plain", "encrypted"])
def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path: Path, key: str | None) -> None:
    chance = random.Random(7)
    where = tmp_path / "vault"
    acknowledged: list[str] = []
    for attempt in range(KILLS):
        args = [
            sys.executable,
            str(WRITER),
            str(where),
            f"w{attempt}",
            "0",
            *([key] if key else []),
        ]
        writer = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 60)):
            acknowledged.append(writer.stdout.readline().split()[0])
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged += [line.split()[0] for line in writer.stdout if line.endswith("\n")]
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL

    with holdfast.open(where, key=key) as vault:
        assert list(vault.verify()) == []
        notes = vault.space().notes()
        for name in acknowledged:
            entry = notes.get(name)
            # What was removed before the acknowledgement stays removed.
            removed = int(name.partition("-")[2]) % 5 == 4
            assert entry.text == ("" if removed else f"fact {name} of many words and some more")
            assert entry.state == ("forgotten" if removed else "confirmed")
        # At most one write a process was under way, so at most one more entry each is there.
        assert vault.status().counts["entries"] <= len(acknowledged) + KILLS


@pytest.mark.row("I05")
def test_processes_lose_nothing(tmp_path: Path) -> None:
    where, each = tmp_path / "vault", 40
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), str(where), f"w{name}", str(each)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in range(8)
    ]
    revisions: list[int] = []
    for writer in writers:
        said, _ = writer.communicate()
        assert writer.returncode == 0
        revisions += [int(line.split()[1]) for line in said.splitlines()]
    assert len(set(revisions)) == 8 * each, "no two writes share a revision"

    with holdfast.open(where) as vault:
        kept = {entry.given_id for entry in vault.space().notes().read(limit=1000).entries}
        assert kept == {f"w{w}-{n}" for w in range(8) for n in range(each) if n % 5 != 4}
        assert list(vault.verify()) == []
        # 8 × 40 saves, 8 × 8 removals, the space and its store: no seq twice, none left out.
        assert vault.status().seq == 8 * each + 8 * (each // 5) + 2
