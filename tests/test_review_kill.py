"""A worker that is killed at any moment of a review loses nothing and does nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from programs.review_worker import Facts

import holdfast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

KILLS = int(os.environ.get("HOLDFAST_KILLS", "8"))
WORKER = Path(__file__).parent / "programs" / "review_worker.py"
TURNS = 10
# About how often a worker asks for the time or for chance in one review.
CALLS_OF_A_REVIEW = 60


def talked(where: Path, sessions: int, reviews: int) -> set[tuple[str, bool]]:
    """Sessions with reviews that are due and nobody does; what they should come to: a text, and
    whether it waits for a person."""
    wanted: set[tuple[str, bool]] = set()
    with holdfast.open(where, reviewers=lambda _: (Facts(),)) as vault:
        vault._core.background.stop(0)
        for session in range(sessions):
            with vault.space().session(f"Session {session}") as here:
                for turn in range(1, reviews * TURNS + 1):
                    here.say("user", f"fact: {session} said {turn}")
                    here.transcript().say("tool", f"fact: {session} read {turn}", tool="fetch")
                    wanted |= {(f"{session} said {turn}", False), (f"{session} read {turn}", True)}
        assert [job.state for job in vault.reviews(limit=1000)] == ["waiting"] * sessions * reviews
    # The tool's last answer stands after the last turn, where no review has read.
    return wanted - {(f"{session} read {reviews * TURNS}", True) for session in range(sessions)}


def worker(where: Path, calls: int = 0) -> int:
    """How a worker ended that was to be killed after so many calls; 0 is not."""
    return subprocess.run([sys.executable, str(WORKER), str(where), str(calls)]).returncode


def texts_of(space: Space) -> Iterator[str]:
    """Every note, page by page."""
    page = space.notes().read(limit=1000)
    yield from (entry.text for entry in page.entries)
    while page.cursor is not None:
        page = space.notes().read(limit=1000, cursor=page.cursor)
        yield from (entry.text for entry in page.entries)


def check(vault: Vault, wanted: set[tuple[str, bool]]) -> None:
    assert list(vault.verify()) == []
    jobs = vault.reviews(limit=1000)
    assert {job.state for job in jobs} == {"done"}
    space = vault.space()
    notes = Counter(texts_of(space))
    waiting = Counter(
        each.suggestion.text for each in space.inbox().read(limit=10_000) if each.suggestion
    )
    assert notes == Counter(text for text, held in wanted if not held)
    assert waiting == Counter(text for text, held in wanted if held)
    outcomes = [each for job in jobs if job.answer for each in job.answer.outcomes]
    assert Counter(each.outcome for each in outcomes) == Counter(
        "held" if held else "applied" for _, held in wanted
    )


def killed_and_finished(where: Path, kills: int) -> list[int]:
    """How far the vault was at each kill; all reviews are done to their end afterwards."""
    chance = random.Random(11)
    wanted = talked(where, sessions=max(kills // 3, 3), reviews=3)
    places: list[int] = []
    for _ in range(kills):
        if worker(where, chance.randrange(1, CALLS_OF_A_REVIEW)) == -signal.SIGKILL:
            with holdfast.open(where, reviewers=lambda _: ()) as vault:
                vault._core.background.stop(0)
                places.append(vault.status().seq)
                assert list(vault.verify()) == []
    assert worker(where) == 0
    with holdfast.open(where) as vault:
        check(vault, wanted)
    return places


@pytest.mark.row("D11", "D12", "I04")
def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    assert len(killed_and_finished(tmp_path / "vault", KILLS)) == KILLS


@pytest.mark.slow
@pytest.mark.row("D11")
def test_many_kills_of_workers(tmp_path: Path) -> None:
    places = killed_and_finished(tmp_path / "vault", max(KILLS, 200))
    assert len(set(places)) > len(places) / 2, "it was killed at many different moments"


@pytest.mark.row("D11")
def test_one_review_at_a_time_is_made_of_a_session_whoever_works(tmp_path: Path) -> None:
    where = tmp_path / "vault"
    wanted = talked(where, sessions=3, reviews=3)
    workers = [
        subprocess.Popen([sys.executable, str(WORKER), str(where)], stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    for each in workers:
        each.communicate()
        assert each.returncode == 0
    with holdfast.open(where, reviewers=lambda _: (Facts(),)) as vault:
        vault.review()
        check(vault, wanted)
        notes = vault.space().notes().read(limit=1000, order="oldest").entries
        for session in range(3):
            written = sorted(
                (entry.number, entry.text)
                for entry in notes
                if entry.text.startswith(f"{session} said")
            )
            assert [text for _, text in written] == [
                f"{session} said {turn}" for turn in range(1, 3 * TURNS + 1)
            ], "in the order of what was said"
