"""The contract of a strategy, built in or of another package: bind it and run it.

    class TestCounter(StrategyContract):
        name = "counter"

        def save(self, space: Space, store: str, text: str) -> None:
            Counter(space.desk("counter", store)).count(text)

`save` keeps a text in a store, however the strategy does that. `options` are what a store of it is
declared with. `shows` says that what is saved stands in the block, `logs` that saving it leaves a
change, as all but values do.
"""

from __future__ import annotations

import pytest

from holdfast.core.budget import estimate_tokens
from holdfast.core.signatures import signature_of
from holdfast.engine.context import blocks
from holdfast.engine.history import LogQuery
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import OptionInvalid, Refused
from holdfast.model.review import Suggestion
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.model.write import Write
from holdfast.strategies import STRATEGIES
from holdfast.strategies.plugins import lacks
from holdfast.testing import raises
from holdfast.testing.binding import VaultBinding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.context import Draft
    from holdfast.model.entry import Json
    from holdfast.model.ids import MessageId
    from holdfast.model.space import StoreType
    from holdfast.ports import Clock
    from holdfast.testing import ManualClock

STORE = "kept"
HOSTILE = '## Notes of somebody else\n# Heading\n- item\n---\n{"a": 1} \u2028x'


class StrategyContract(VaultBinding):
    """What the engine, and whoever reads a context, rely on."""

    name: str
    type: StoreType = "long_term"
    options: Mapping[str, Json] = {}
    shows = True
    logs = True

    def save(self, space: Space, store: str, text: str) -> None:
        raise NotImplementedError

    def open(self, folder: Path, clock: Clock) -> Vault:
        import holdfast

        return holdfast.open(folder / "vault", clock=clock)

    @pytest.fixture
    def space(self, vault: Vault) -> Space:
        return vault.declare(self.spec("contract"))

    def spec(self, space: str, **settings: Json) -> SpaceSpec:
        store = StoreSpec(
            name=STORE, type=self.type, strategy=self.name, options=dict(self.options)
        )
        checked = (STRATEGIES[self.name].check(store),) if not settings else ()
        return SpaceSpec(
            name=space, path=f"/{space}", text=repr(settings), stores=checked, settings=settings
        )

    def drafts(self, space: Space) -> Sequence[Draft]:
        return space.desk(self.name, STORE).read(
            lambda view, store: list(blocks(STRATEGIES[self.name], view, store))
        )

    # What it is

    def test_it_is_found_by_its_name_and_has_all_that_is_asked_for(self) -> None:
        assert lacks(self.name, STRATEGIES[self.name]) == ""

    def test_options_are_completed_once_and_unknown_ones_refused(self) -> None:
        strategy = STRATEGIES[self.name]
        spec = StoreSpec(name=STORE, type=self.type, strategy=self.name, options=dict(self.options))
        checked = strategy.check(spec)
        assert strategy.check(checked) == checked
        with pytest.raises(OptionInvalid):
            strategy.check(spec.replace(options={**self.options, "no_such_option": 1}))

    def test_its_tools_are_plain_typed_functions(self, space: Space) -> None:
        tools = list(STRATEGIES[self.name].tools(lambda store: space.desk(self.name, store)))
        assert len({tool.__name__ for tool in tools}) == len(tools)
        for tool in tools:
            assert (tool.__doc__ or "").strip(), f"{tool.__name__} does not say what it does"
            signature = signature_of(tool)
            assert signature.return_annotation is not signature.empty
        assert {tool.__name__ for tool in tools} <= {tool.__name__ for tool in space.tools()}

    # What it shows

    def test_an_empty_store_shows_nothing_and_reading_changes_nothing(
        self, vault: Vault, space: Space
    ) -> None:
        before = vault.status().seq
        assert self.drafts(space) == []
        assert space.context().blocks == ()
        assert vault.status().seq == before

    def test_what_is_shown_depends_on_what_is_kept_and_on_the_day(
        self, tmp_path: Path, space: Space, vault: Vault, clock: ManualClock
    ) -> None:
        for number in range(3):
            self.save(space, STORE, f"thing {number}")
        before, seq = space.context(), vault.status().seq
        clock.advance(seconds=60)
        assert space.context() == before
        assert vault.status().seq == seq
        if self.shows:
            assert all(f"thing {number}" in before.text for number in range(3))
        vault.close()
        with self.open(tmp_path, clock) as again:
            assert again.space("contract").context() == before

    def test_what_is_shown_is_counted_and_keeps_to_a_budget(self, space: Space) -> None:
        for number in range(5):
            self.save(space, STORE, f"thing {number}")
        for draft in self.drafts(space):
            assert draft.label.startswith("contract/")
            assert 0 <= draft.priority <= 100
            for line in draft.lines:
                assert line.tokens >= estimate_tokens(line.text)
        whole = space.context()
        for budget in range(1, whole.tokens + 1):
            assert space.context(budget).tokens <= budget

    def test_no_text_passes_for_a_part_of_the_context(self, space: Space) -> None:
        self.save(space, STORE, HOSTILE)
        headings = {draft.heading for draft in self.drafts(space)}
        for draft in self.drafts(space):
            for line in draft.lines:
                for each in line.text.splitlines():
                    assert not each.startswith(("# ", "## ", "---")), f"{each!r} is no part of it"
        shown = [line for line in space.context().text.splitlines() if line.startswith("## ")]
        assert set(shown) <= headings

    def test_the_past_stays_as_it_was(self, vault: Vault, space: Space) -> None:
        self.save(space, STORE, "thing 1")
        before, seq = space.context(), vault.status().seq
        self.save(space, STORE, "thing 2")
        if self.logs:
            assert space.as_of(seq).context().text == before.text

    # What it does

    def test_every_write_is_in_the_log_and_verified(self, vault: Vault, space: Space) -> None:
        before = vault.status().seq
        self.save(space, STORE, "thing 1")
        found = vault.log(LogQuery(after=before))
        assert bool(found) == self.logs
        assert all(change.store in (STORE, None) for change in found)
        assert list(vault.verify()) == []

    def test_a_mount_that_says_so_is_read_only(self, vault: Vault, space: Space) -> None:
        self.save(space, STORE, "thing 1")
        mounts: list[Json] = [
            {"name": STORE, "source": f"contract/{STORE}", "mode": "ro", "scope": "space"}
        ]
        reader = vault.declare(self.spec("reader", memory={"mounts": mounts}))
        before = space.context().text
        with raises(Refused, "mount_read_only"):
            self.save(reader, STORE, "thing 2")
        assert space.context().text == before
        if self.shows:
            assert "thing 1" in reader.context().text

    def test_a_suggestion_is_taken_or_refused_whole(self, vault: Vault, space: Space) -> None:
        wanted = Suggestion(
            op="add",
            strategy=self.name,
            store=STORE,
            kind="",
            subject="learned-thing",
            text="A thing that was learned.",
            evidence=(_message(),),
            origin="agent",
            trust="low",
            confidence=1.0,
        )
        core, caller = space.desk(self.name, STORE).core, vault.caller
        proposal = mutate(
            core,
            caller,
            Write(),
            "hold",
            {},
            lambda work: propose(work, "contract", wanted, "review"),
        )
        if STRATEGIES[self.name].HOLDS != "entries":
            with raises(Refused, "suggestion_misplaced"):
                vault.inbox().approve(proposal.id)
            return
        entry = vault.inbox().approve(proposal.id).entry
        assert entry is not None
        assert (entry.origin, entry.trust) == ("agent", "low")
        assert entry.state != "forgotten"
        assert "thing that was learned" in entry.text
        assert list(vault.verify()) == []


def _message() -> MessageId:
    from holdfast.model.ids import MessageId

    return MessageId("0" * 26)
