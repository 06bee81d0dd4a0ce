"""Proposals: what waits in the inbox, who decides, and what a decision does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in

import holdfast
from holdfast.core.suggesting import (
    changes_of,
    new_entry,
    of_changes,
    of_new,
    suggestion_from,
    suggestion_image,
)
from holdfast.engine.history import LogQuery
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.entry import NewEntry
from holdfast.model.ids import EntryId, MessageId, short
from holdfast.model.review import Suggestion
from holdfast.model.write import Actor, Caller, Write
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import NOON, texts
from holdfast.wiring import open_vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Entry
    from holdfast.model.proposal import Proposal

REVIEWER = Actor(kind="reviewer", name="rules")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=ManualClock()) as vault:
        yield vault


def wanted(text: str = "Deploys on Fridays", **fields: Any) -> Suggestion:
    known: dict[str, Any] = {
        "op": "add",
        "strategy": "narrative",
        "text": text,
        "evidence": (MessageId("m1"),),
        "origin": "agent",
        "trust": "medium",
        "confidence": 0.5,
    }
    return Suggestion(**{**known, **fields})


def update_of(entry: Entry, text: str, **fields: Any) -> Suggestion:
    seen = {"op": "update", "target": entry.id, "revision": entry.revision}
    return wanted(text, **{**seen, **fields})


def proposed(vault: Vault, suggestion: Suggestion, user: str = "local") -> Proposal:
    core = vault._core  # pyright: ignore[reportPrivateUsage]
    return mutate(
        core,
        Caller(actor=REVIEWER, user=user),
        Write(),
        "review",
        {},
        lambda work: propose(work, "default", suggestion, "review"),
    )


@pytest.mark.row("D14")
def test_a_proposal_waits_and_is_applied_by_a_person(vault: Vault, space: Space) -> None:
    made = proposed(vault, wanted(reason="said twice"))
    assert (made.state, made.held, made.actor) == ("pending", "review", "reviewer:rules")
    assert texts(space.notes()) == []
    assert list(space.inbox().read()) == list(vault.inbox().read()) == [made]
    decided = space.inbox().approve(short(made.id), reason="right")
    assert (decided.outcome, decided.proposal.decided_by) == ("applied", "human:local")
    assert decided.entry == space.notes().get(decided.entry.id if decided.entry else "")
    assert (texts(space.notes()), list(space.inbox().read())) == (["Deploys on Fridays"], [])
    assert space.inbox().approve(made.id).outcome == "unchanged"
    ops = [(c.kind, c.op, c.actor) for c in vault.log(LogQuery(limit=3))]
    assert ops == [
        ("entry", "add", "human:local"),
        ("proposal", "approve", "human:local"),
        ("proposal", "propose", "reviewer:rules"),
    ]
    assert list(vault.verify()) == []


@pytest.mark.row("D14")
def test_the_inbox_survives_a_restart(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "vault") as vault:
        made = proposed(vault, wanted(details={"metadata": {"lang": "go"}}))
    with holdfast.open(tmp_path / "vault") as vault:
        assert list(vault.inbox().read()) == [made]
        entry = vault.inbox().approve(made.id).entry
        assert entry is not None
        assert dict(entry.metadata) == {"lang": "go"}


@pytest.mark.row("D14")
@pytest.mark.parametrize("how", ["changed", "forgotten"])
def test_approving_what_changed_since_is_refused(vault: Vault, space: Space, how: str) -> None:
    notes = space.notes()
    entry = notes.save("Deploys on Mondays").entry
    other = proposed(vault, update_of(entry, "Deploys on Sundays"))
    made = proposed(vault, update_of(entry, "Deploys on Fridays"))
    if how == "changed":
        space.inbox().approve(other.id)
        left = ["Deploys on Sundays"]
    else:
        notes.remove(entry.id)
        left = []
    with raises(Conflict, "proposal_stale"):
        space.inbox().approve(made.id)
    assert (texts(notes), space.inbox().get(made.id).state) == (left, "stale")
    with raises(Conflict, "proposal_decided"):
        space.inbox().approve(made.id)
    assert [c.op for c in space.log(LogQuery(target=made.id))] == ["expire", "propose"]


def test_an_update_and_a_retirement_are_applied(vault: Vault, space: Space) -> None:
    entry = space.notes().save("Deploys on Mondays", metadata={"a": 1}).entry
    made = proposed(vault, update_of(entry, "Deploys on Fridays"))
    after = space.inbox().approve(made.id).entry
    assert after is not None
    assert (after.id, after.text, after.state) == (entry.id, "Deploys on Fridays", "updated")
    assert dict(after.metadata) == {"a": 1}
    gone = space.inbox().approve(proposed(vault, update_of(after, "", op="retire")).id).entry
    assert gone is not None
    assert (gone.state, texts(space.notes())) == ("forgotten", [])


@pytest.mark.row("D14")
def test_what_was_rejected_is_not_proposed_again(vault: Vault, space: Space) -> None:
    made = proposed(vault, wanted())
    assert proposed(vault, wanted("deploys  on FRIDAYS")) == made
    decided = space.inbox().reject(made.id, reason="we do not")
    assert (decided.outcome, decided.proposal.suggestion) == ("rejected", made.suggestion)
    assert space.inbox().reject(made.id).outcome == "unchanged"
    assert proposed(vault, wanted(confidence=0.9)).state == "rejected"
    assert list(space.inbox().read()) == []
    assert [p.state for p in space.inbox().read(state="rejected")] == ["rejected"]
    assert space.log(LogQuery())[0].reason == "we do not"
    with raises(Conflict, "proposal_decided"):
        space.inbox().approve(made.id)
    assert proposed(vault, wanted("Deploys on Sundays")).state == "pending"


@pytest.mark.row("D14")
@pytest.mark.parametrize("kind", ["agent", "reviewer", "tool", "importer"])
def test_only_a_person_decides(vault: Vault, kind: Any) -> None:
    made = proposed(vault, wanted())
    caller = Caller(actor=Actor(kind=kind, name="x"))
    box = vault.space().seen_by(caller).inbox()
    for decide in (box.approve, box.reject):
        with raises(Refused, "person_needed"):
            decide(made.id)
    assert vault.inbox().get(made.id) == made


def test_proposals_about_one_user_are_not_shown_to_another(vault: Vault, space: Space) -> None:
    made = proposed(vault, wanted(), user="ada")
    assert list(space.inbox().read()) == []
    for decide in (space.inbox().get, space.inbox().approve, space.inbox().reject):
        with raises(NotFound, "proposal_not_found"):
            decide(made.id)
    hers = space.seen_by(space.caller.replace(user="ada")).inbox()
    assert [p.id for p in hers.read()] == [made.id]


def test_the_revision_that_was_seen_and_the_key_are_those_of_the_proposal(
    vault: Vault, space: Space
) -> None:
    made = proposed(vault, wanted())
    with raises(Conflict, "revision_moved"):
        space.inbox().approve(made.id, expect=made.revision + 1)
    one = space.inbox().approve(made.id, expect=made.revision, key="k")
    assert space.inbox().approve(made.id, key="k") == one
    assert texts(space.notes()) == ["Deploys on Fridays"]


def test_no_proposal_for_what_keeps_no_entries(vault: Vault, space: Space) -> None:
    made = proposed(vault, wanted(strategy="keyvalue"))
    with raises(Refused, "suggestion_misplaced"):
        space.inbox().approve(made.id)
    assert space.inbox().get(made.id) == made
    with raises(NotFound, "store_not_declared"):
        proposed(vault, wanted(store="nowhere"))


def test_an_unknown_state_is_refused(space: Space) -> None:
    state: Any = "open"
    with raises(InvalidInput, "state_invalid"):
        space.inbox().read(state=state)


def test_a_write_becomes_a_suggestion_and_back(vault: Vault, space: Space) -> None:
    new = NewEntry(
        text="x",
        given_id="an-id",
        kind="K",
        subject="s",
        importance=7,
        pinned=True,
        tags=("a", "b"),
        facts={"f": [1]},
        metadata={"m": None},
        origin="web",
        trust="low",
        said_at=NOON,
        until=NOON,
        bound=True,
    )
    store = space.notes().store
    kept = suggestion_from(json.loads(json.dumps(suggestion_image(of_new(store, new, new.trust)))))
    assert new_entry(kept) == new
    plain = of_new(store, NewEntry(text="x", origin="user"), "high")
    assert (plain.details, new_entry(plain).trust) == ({}, "high")
    entry = space.notes().save("old", metadata={"a": 1}).entry
    changed = of_changes(store, entry, {"text": "new", "until": NOON, "tags": ("t",)})
    kept = suggestion_from(json.loads(json.dumps(suggestion_image(changed))))
    assert changes_of(kept, entry) == {"text": "new", "until": NOON, "tags": ("t",)}
    assert (kept.target, kept.revision) == (EntryId(entry.id), entry.revision)


# The command line


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


def waiting(cli: Cli, *suggestions: Suggestion) -> list[str]:
    with open_vault(str(cli.vault)) as vault:
        return [short(proposed(vault, each).id) for each in suggestions]


@pytest.mark.row("D14")
def test_the_inbox_in_the_shell(cli: Cli) -> None:
    assert (cli.json("review", "inbox"), cli("review", "inbox").stderr) == ([], "Nothing waits\n")
    one, two = waiting(cli, wanted(reason="said twice"), wanted("Deploys on Sundays"))
    assert cli.says("review", "inbox") == (
        "PROPOSAL  STORE      FROM            WHY     WHAT\n"
        f"{one}  narrative  reviewer:rules  review  add Deploys on Fridays\n"
        f"{two}  narrative  reviewer:rules  review  add Deploys on Sundays\n"
    )
    shown = cli.says("review", "show", one)
    assert "reason    said twice\n" in shown
    assert shown.endswith("\n\nDeploys on Fridays\n")
    handle = cli.says("review", "approve", one).strip()
    assert cli.says("note", "read", handle).startswith("Deploys on Fridays\n")
    result = cli("review", "reject", two, "--reason", "never on Sundays")
    assert (result.exit, result.stderr) == (0, "Rejected; it will not be proposed again\n")
    assert cli("review", "reject", two).stderr == "It was rejected before\n"
    assert cli("review", "approve", one).stderr == "It was applied before\n"
    assert [p["state"] for p in cli.json("review", "inbox", "--state", "rejected")] == ["rejected"]
    assert cli.refuses("review", "approve", two) == "proposal_decided"
    assert cli.refuses("review", "show", "00000000") == "proposal_not_found"
    (three,) = waiting(cli, wanted("Deploys never"))
    assert cli.refuses("review", "approve", three, "--agent", "planner") == "person_needed"
    assert cli.says("--complete", "review", "approve", "").startswith(three)
