"""Learning from a conversation, whole: what 25 turns leave in which store, resting on what, and
that a later session starts knowing it. With the rules, no key and no worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in
from programs.talk import TURNS

import holdfast
from holdfast.testing.models import FakeModels, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Entry

# What is learned: where, what, and what the user said that it rests on.
LEARNED = {
    ("profile USER", "Name: Robin", TURNS[0][0]),
    ("profile USER", "Role: platform engineer", TURNS[0][0]),
    ("profile USER", "Place: Bergen", TURNS[1][0]),
    ("profile USER", "Keep answers short, with the risk first", TURNS[2][0]),
    ("records decision", "Decided: use Postgres for the ledger", TURNS[5][0]),
    ("records constraint", "Deploys must never run on Thursdays or Fridays", TURNS[15][0]),
    (
        "records fix",
        "The nightly build: fixed by Renewing the intermediate certificate",
        TURNS[12][0],
    ),
    ("narrative", "Launch review 2027-03-11", TURNS[17][0]),
}


def entries(space: Space) -> list[tuple[str, Entry]]:
    return [
        (f"{store} {hit.entry.kind}".strip(), hit.entry)
        for store in ("profile", "records", "narrative")
        for hit in space.search("", store=store, limit=50)
    ]


def learned(vault: Vault) -> set[tuple[str, str, str]]:
    """What is remembered, with the last message that it rests on."""
    space = vault.space()
    found: set[tuple[str, str, str]] = set()
    for where, entry in entries(space):
        evidence = entry.metadata["evidence"]
        assert isinstance(evidence, list)
        source = space.transcript().get(str(evidence[-1]))
        assert (entry.origin, source.role) == ("user", "user")
        assert entry.metadata["said_in"] == source.session
        found.add((where, entry.text, source.text))
    return found


def knows(text: str) -> bool:
    """Whether what a session starts with tells all of it."""
    facts = ("Robin", "platform engineer", "Bergen", "risk first", "Launch review 2027-03-11")
    subjects = ("Postgres for the ledger", "Thursdays or Fridays", "nightly build")
    return all(each in text for each in (*facts, *subjects))


@pytest.mark.row("D11", "D12", "G20")
def test_25_turns_lead_to_two_reviews_and_a_third_session_starts_knowing(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "vault") as vault:
        with vault.space().session("First") as here:
            due: list[int] = []
            for turn, (said, answer) in enumerate(TURNS, 1):
                if here.say("user", said).review_due:
                    due.append(turn)
                here.say("assistant", answer)
        assert due == [10, 20]
        vault._core.background.wait()  # the thread of this process; nobody called for a review
        assert [(job.state, job.first, job.last) for job in vault.reviews()] == [
            ("done", 20, 39),
            ("done", 1, 19),
        ]
        assert learned(vault) == LEARNED
        with vault.space().session("Second") as here:
            here.say("user", "Good morning")
    with holdfast.open(tmp_path / "vault") as vault:
        with vault.space().session("Third") as here:
            assert knows(here.context().text), here.context().text
            assert "Rome" not in here.context().text, "what no review has read"
        assert len(vault.reviews()) == 2
        assert vault.costs() == []
        assert list(vault.verify()) == []
        first = vault.reviews()[-1]
        vault.review(everything=True)
        assert len(vault.reviews()) == 4
        assert vault.reviews()[-1] == first, "a review that is done is not done again"
        assert learned(vault) == LEARNED | {
            ("records decision", "Decided: close the office in Rome", TURNS[22][0])
        }


@pytest.mark.row("D11")
def test_a_conversation_of_single_commands_is_learned_from_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message is a process of its own; a worker does what became due."""
    cli: Cli = cli_in(tmp_path, monkeypatch)
    cli.says("preferences", "set", "review.detach", "false")
    session = cli.says("session", "start", "First").strip()
    for said, answer in TURNS:
        cli.says("session", "say", "user", said, HOLDFAST_SESSION=session)
        cli.says("session", "say", "assistant", answer, HOLDFAST_SESSION=session)
    assert [job["state"] for job in cli.json("review", "list")] == ["waiting"] * 2
    assert cli.says("worker", "--once").count("done by rules") == 2
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        assert learned(vault) == LEARNED
    assert knows(cli.says("context", HOLDFAST_SESSION=cli.says("session", "start").strip()))
    notices = cli("session", "say", "user", "Hello again", HOLDFAST_SESSION=session).stderr
    assert "Remembered: Name: Robin" in notices
    assert (
        "Remembered: Name: Robin"
        not in cli("session", "say", "user", "And again", HOLDFAST_SESSION=session).stderr
    )


@pytest.mark.row("D12")
def test_what_is_pinned_is_changed_by_no_review(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "vault") as vault:
        space = vault.space()
        vault.prefer({"review.turns": 1})
        space.profile().add("Place: Oslo", "USER", pinned=True)
        with space.session() as here:
            here.say("user", "I live in Bergen, so my mornings are early.")
        vault.review()
        assert [entry.text for _, entry in entries(space)] == ["Place: Oslo"]
        answer = vault.reviews()[0].answer
        assert answer is not None
        assert [(each.outcome, each.why) for each in answer.outcomes] == [("dropped", "is_pinned")]


@pytest.mark.row("D12", "G20")
def test_a_model_may_suggest_for_every_store_and_is_held_to_what_was_said(tmp_path: Path) -> None:
    def item(strategy: str, kind: str, text: str, *rests_on: int) -> dict[str, object]:
        return {
            "op": "add", "strategy": strategy, "kind": kind, "subject": "", "text": text,
            "evidence": [*rests_on], "target": "", "confidence": 0.9, "reason": "said",
        }  # fmt: skip

    answer = {
        "suggestions": [
            item("profile", "USER", "Robin is the platform engineer", 1),
            item("records", "decision", "Decided to use Postgres for the ledger", 1, 3),
            item("records", "constraint", "We decided for the ledger", 3),
            item("narrative", "", "Launch review is on 2027-03-04", 5),
            item("profile", "USER", "Robin owns three yachts", 1),
            item("profile", "USER", "Good", 4),
        ]
    }
    with (
        FakeModels(Reply(text=json.dumps(answer))) as service,
        holdfast.open(tmp_path / "vault") as vault,
    ):
        vault.prefer(
            {
                "review.turns": 3,
                "model.provider": "openai",
                "model.name": "m",
                "model.base_url": f"{service.url}/v1",
                "model.attempts": 1,
            }
        )
        with vault.space().session() as here:
            for said, back in (TURNS[0], TURNS[5], TURNS[9]):
                here.say("user", said)
                here.say("assistant", back)
        vault.review()
        assert {(where, entry.text, entry.origin) for where, entry in entries(vault.space())} == {
            ("profile USER", "Robin is the platform engineer", "agent"),
            ("records decision", "Decided to use Postgres for the ledger", "agent"),
            ("narrative", "Launch review is on 2027-03-04", "agent"),
        }
        assert list(vault.verify()) == []


@pytest.mark.row("D12", "G20")
def test_what_is_no_longer_so_is_corrected_and_ended(tmp_path: Path) -> None:
    """Over several sessions: what is known is updated or ended, and its history says by whom."""
    with holdfast.open(tmp_path / "vault") as vault:
        space = vault.space()
        vault.prefer({"review.turns": 1})

        def say(text: str) -> None:
            with space.session() as here:
                here.say("user", text)
            vault.review()

        say("I live in Bergen, so my mornings are early.")
        say("We decided to use Postgres for the ledger.")
        before = {entry.text for _, entry in entries(space)}
        assert {"Place: Bergen", "Decided: use Postgres for the ledger"} <= before
        say("I moved to Oslo, so now I live in Oslo.")
        say("We no longer use Postgres for the ledger.")
        now = {entry.text for _, entry in entries(space)}
        assert "Place: Bergen" not in now
        assert "Place: Oslo" in now
        assert "Decided: use Postgres for the ledger" not in now
        assert list(vault.verify()) == []
        actors = {change.actor for change in vault.log(holdfast.LogQuery(limit=1000))}
        assert "reviewer:rules" in actors
