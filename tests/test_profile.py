"""The two files beyond the contract of a vault: reviews, tools, and what a block costs."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import InvalidInput, NotFound, Refused
from holdfast.model.entry import Entry
from holdfast.model.review import Suggestion
from holdfast.model.write import Actor, Caller, Write
from holdfast.strategies import STRATEGIES, profile
from holdfast.testing import ManualClock, raises
from holdfast.testing.vault_profile import in_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.engine.work import Work

REVIEWER = Actor(kind="reviewer", name="rules")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


@pytest.fixture
def space(vault: Vault) -> Space:
    return vault.space()


def wanted(op: Any, text: str = "", kind: str = "", target: Entry | None = None) -> Suggestion:
    return Suggestion(
        op=op,
        strategy="profile",
        kind=kind,
        text=text,
        evidence=(),
        origin="agent",
        trust="medium",
        confidence=0.9,
        target=None if target is None else target.id,
        revision=None if target is None else target.revision,
    )


def reviewing(vault: Vault, unit: Any, user: str = "local") -> Any:
    """Run a unit as a reviewer does."""
    core = vault._core  # pyright: ignore[reportPrivateUsage]
    return mutate(core, Caller(actor=REVIEWER, user=user), Write(), "review", {}, unit)


def accepted(vault: Vault, suggestion: Suggestion, user: str = "local") -> Entry:
    store = vault.space().profile().store

    def unit(work: Work) -> Entry:
        return STRATEGIES["profile"].accept(work, store, suggestion)

    return reviewing(vault, unit, user)


@pytest.mark.row("D12")
def test_a_review_may_add_correct_and_retire_but_not_what_is_pinned(
    vault: Vault, space: Space
) -> None:
    notes = space.profile()
    tea = notes.add("Prefers tea", "USER").entry
    pinned = notes.add("Never deploys on Fridays", pinned=True).entry
    cats = accepted(vault, wanted("add", "Has two cats", "USER"))
    assert (cats.kind, cats.scope, cats.origin, cats.trust) == (
        "USER",
        "user:local",
        "agent",
        "medium",
    )
    assert accepted(vault, wanted("add", "HAS two cats", "USER")) == cats
    assert accepted(vault, wanted("update", "Prefers coffee", "USER", tea)).id == tea.id
    for op in ("update", "retire"):
        with raises(Refused, "entry_pinned"):
            accepted(vault, wanted(op, "Deploys on Fridays", "MEMORY", pinned))
    assert accepted(vault, wanted("retire", target=cats)).state == "forgotten"
    assert in_file(notes, "USER") == ["Prefers coffee"]
    assert in_file(notes, "MEMORY") == ["Never deploys on Fridays"]
    assert accepted(vault, wanted("add", "Builds take an hour")).kind == "MEMORY"


@pytest.mark.row("D21")
def test_a_review_of_one_user_changes_nothing_of_another(vault: Vault, space: Space) -> None:
    tea = space.profile().add("Prefers tea", "USER").entry
    for op in ("update", "retire"):
        with raises(NotFound, "entry_not_found"):
            accepted(vault, wanted(op, "x", "USER", tea), user="other")
    assert accepted(vault, wanted("add", "Prefers tea", "USER"), user="other").id != tea.id


@pytest.mark.row("D14")
def test_a_person_approves_what_waits_for_the_files(vault: Vault, space: Space) -> None:
    pinned = space.profile().add("Never deploys on Fridays", pinned=True).entry
    for suggestion in (wanted("add", "Has two cats", "USER"), wanted("retire", target=pinned)):
        reviewing(vault, lambda work, it=suggestion: propose(work, "default", it, "review"))
    for proposal in space.inbox().read():
        space.inbox().approve(proposal.id)
    assert (in_file(space.profile(), "USER"), in_file(space.profile(), "MEMORY")) == (
        ["Has two cats"],
        [],
    )


def tool_of(space: Space) -> Any:
    return {tool.__name__: tool for tool in space.tools()}["memory_profile"]


@pytest.mark.row("D05", "D06", "D08")
def test_an_agent_has_one_tool_for_both_files(space: Space) -> None:
    use = tool_of(space)
    tea = use("add", "USER", "Prefers tea")
    assert (tea.outcome, tea.entry.origin, tea.entry.trust) == ("added", "agent", "medium")
    assert use("replace", entry="tea", text="Prefers coffee").entry.text == "Prefers coffee"
    done = use(
        "batch",
        batch=[{"op": "remove", "entry": "coffee"}, {"op": "add", "text": "Two cores"}],
    )
    assert [step.outcome for step in done.steps] == ["removed", "added"]
    assert [file.text for file in use("read")] == ["# USER.md\n", "# MEMORY.md\n\n- Two cores\n"]
    space.profile().reset("MEMORY")
    assert [entry.text for entry in use("archive", text="cores")] == ["Two cores"]
    assert use("restore", entry="cores").outcome == "restored"
    with space.session() as here:
        tool_of(here)("remove", entry="cores")
        assert [each.kind for each in tool_of(here)("changes")] == ["removed"]
    with raises(InvalidInput, "arguments_invalid"):
        use("replace", text="x")
    with raises(InvalidInput, "arguments_invalid"):
        use("explode")


@pytest.mark.row("D03")
def test_a_block_costs_one_statement_however_much_there_is(space: Space) -> None:
    class Counting:
        def __init__(self, view: Any) -> None:
            self.asked: list[str] = []
            self._view = view

        def __getattr__(self, name: str) -> Any:
            self.asked.append(name)
            return getattr(self._view, name)

    notes = space.profile()
    for number in range(100):
        notes.add(f"fact {number}", "USER" if number % 2 else "MEMORY")
    desk = space.desk("profile")

    def asked(view: Any, store: Any) -> tuple[list[str], list[str]]:
        counting = Counting(view)
        drafts = profile.block(counting, store)  # pyright: ignore[reportArgumentType]
        return counting.asked, [draft.label for draft in drafts]

    assert desk.read(asked) == (
        ["shown"],
        ["default/profile/USER.md", "default/profile/MEMORY.md"],
    )
