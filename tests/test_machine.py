"""A vault against a plain model: any sequence of calls gives what a dict would have given."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

import holdfast
from holdfast.engine.history import LogQuery
from holdfast.errors import Conflict, HoldfastError
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.strategies import STRATEGIES
from holdfast.testing import ManualClock

STORES = ("kept", "rolls", "bound")
KEEP = 3
SPECS = tuple(
    STRATEGIES["narrative"].check(spec)
    for spec in (
        StoreSpec(name="kept", strategy="narrative"),
        StoreSpec(name="rolls", type="short_term", strategy="narrative", options={"keep": KEEP}),
        StoreSpec(
            name="bound", type="short_term", strategy="narrative", options={"ttl": "session"}
        ),
    )
)
# Every character that screening lets through by itself: what it holds has tests of its own.
TEXTS = st.text(st.sampled_from("ab é北京😀#-\n\t%"), max_size=20).map("x".__add__)


class VaultMachine(RuleBasedStateMachine):
    entries = Bundle("entries")
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.spec = SpaceSpec(name="app", path="/app", text="1", stores=SPECS)
        # store -> id -> (when, order, text, session), and everything that ever had an id
        self.model: dict[str, dict[str, tuple[int, int, str, str | None]]] = {s: {} for s in STORES}
        self.given: dict[tuple[str, str], str] = {}
        self.gone: set[str] = set()
        self.let_go: set[str] = set()  # by a rule; it can be forgotten still
        self.changes = 0
        self.order = 0
        self.reopen()
        self.changes = self.vault.status().seq

    def reopen(self) -> None:
        self.vault = holdfast.open(self.folder / "v", clock=self.clock)
        self.space = self.vault.declare(self.spec)

    @rule(target=sessions)
    def start(self) -> str:
        self.changes += 1
        return self.space.start_session().id

    @rule(session=consumes(sessions))
    def end(self, session: str) -> None:
        mine = [i for i, entry in self.model["bound"].items() if entry[3] == session]
        for entry_id in mine:
            del self.model["bound"][entry_id]
            self.gone.add(entry_id)
            self.let_go.add(entry_id)
        self.changes += 1 + len(mine)
        self.space.end_session(session)

    @rule(target=entries, store=st.sampled_from(STORES[:2]), text=TEXTS, seconds=st.integers(0, 3))
    def save(self, store: str, text: str, seconds: int) -> tuple[str, str]:
        self.clock.advance(seconds=seconds)
        return self._saved(store, self.space.notes(store).save(text).entry, None)

    @rule(target=entries, session=sessions, text=TEXTS)
    def save_bound(self, session: str, text: str) -> tuple[str, str]:
        here = self.space.seen_by(self.space.caller.replace(session=session))
        return self._saved("bound", here.notes("bound").save(text).entry, session)

    @rule(store=st.sampled_from(STORES[:2]), text=TEXTS, given=st.sampled_from("abc"))
    def save_given(self, store: str, text: str, given: str) -> None:
        known = self.given.get((store, given))
        try:
            saved = self.space.notes(store).save(text, id=given)
        except Conflict as error:
            assert error.code == "id_taken"
            assert known is not None
            assert known in self.gone or self.model[store][known][2] != text
            return
        if known is None:
            self.given[store, given] = saved.entry.id
            self._saved(store, saved.entry, None)
        else:
            assert (saved.outcome, saved.entry.id) == ("unchanged", known)
            assert self.model[store][known][2] == text

    def _saved(
        self, store: str, entry: holdfast.model.entry.Entry, session: str | None
    ) -> tuple[str, str]:
        self.order += 1
        self.changes += 1
        self.model[store][entry.id] = (self.clock.us, self.order, entry.text, session)
        if store == "rolls":
            for old in sorted(self.model[store], key=self.model[store].__getitem__)[:-KEEP]:
                del self.model[store][old]
                self.gone.add(old)
                self.let_go.add(old)
                self.changes += 1
        return store, entry.id

    @rule(entry=entries)
    def remove(self, entry: tuple[str, str]) -> None:
        store, entry_id = entry
        outcome = self.space.notes(store).remove(entry_id).outcome
        if self.model[store].pop(entry_id, None) is None:
            by_rule = entry_id in self.let_go
            assert outcome == ("removed" if by_rule else "unchanged")
            self.let_go.discard(entry_id)
            self.changes += by_rule
        else:
            assert outcome == "removed"
            self.gone.add(entry_id)
            self.changes += 1

    @rule(entry=entries, wrong=st.integers(1, 3))
    def remove_on_a_wrong_revision(self, entry: tuple[str, str], wrong: int) -> None:
        store, entry_id = entry
        if entry_id in self.gone:
            return
        revision = self.space.notes(store).get(entry_id).revision
        with pytest.raises(HoldfastError, match="revision"):
            self.space.notes(store).remove(entry_id, expect=revision + wrong)

    @rule()
    def close_and_open(self) -> None:
        self.vault.close()
        self.reopen()

    @invariant()
    def shows_the_model(self) -> None:
        for store in STORES:
            page = self.space.notes(store).read(limit=1000)
            expected = sorted(self.model[store].items(), key=lambda item: item[1], reverse=True)
            assert [(e.id, e.text) for e in page.entries] == [(i, row[2]) for i, row in expected]

    @invariant()
    def counts_every_change_once(self) -> None:
        assert self.vault.status().seq == self.changes

    @invariant()
    def remembers_the_past(self) -> None:
        if self.changes < 8:
            return
        log = self.vault.log(LogQuery(store="kept", limit=1))
        if log:
            past = self.space.as_of(log[0].seq).notes("kept").read(limit=1000)
            now = self.space.notes("kept").read(limit=1000)
            assert past == now

    def teardown(self) -> None:
        assert list(self.vault.verify()) == []
        self.vault.close()
        shutil.rmtree(self.folder)


TestVaultMachine = VaultMachine.TestCase
TestVaultMachine.settings = settings(stateful_step_count=30)
