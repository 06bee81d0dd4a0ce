"""What strategies build on: an entry's versions, its subject, and the drafts of a session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from holdfast.engine.work import Work
from holdfast.model.entry import NewEntry
from holdfast.model.query import EntryQuery
from holdfast.model.times import from_us
from holdfast.model.write import Write
from holdfast.testing import ManualClock, raises

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from holdfast import Space, Vault
    from holdfast.model.entry import Entry
    from holdfast.model.space import Store


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with holdfast.open(tmp_path, clock=ManualClock()) as opened:
        yield opened


def work(space: Space, unit: Callable[[Work, Store], Any], **write: Any) -> Any:
    """Run a unit on the space's narrative store, as a strategy does."""
    return space.desk("narrative").mutate("test", {}, unit, Write(**write))


def add(space: Space, **said: Any) -> Entry:
    new = NewEntry(**{"text": "a body", "origin": "user", **said})
    return work(space, lambda work, store: work.add(store, new))


def subjects(space: Space, limit: int = 10) -> list[tuple[str, str, int]]:
    rows = space.desk("narrative").read(lambda view, store: view.subjects(store, limit))
    return [(row[3], row[4], row[5]) for row in rows]


def test_an_entry_comes_back_with_all_that_was_said_of_it(vault: Vault) -> None:
    space = vault.space()
    end = datetime(2030, 1, 1, tzinfo=UTC)
    entry = add(
        space,
        kind="decision",
        subject="Where deploys run",
        importance=80,
        pinned=True,
        tags=("ops", "ci"),
        facts={"confidence": 0.5},
        metadata={"caller": 1},
        trust="low",
        until=end,
    )
    assert space.notes().get(entry.id) == entry
    assert (entry.trust, entry.tags, entry.facts) == ("low", ("ops", "ci"), {"confidence": 0.5})
    assert list(vault.verify()) == []


def test_each_version_is_in_its_history_and_in_the_past(vault: Vault) -> None:
    space = vault.space()
    entry = add(space, state="draft", text="one")
    steps = [("update", "two"), ("promote", "two"), ("update", "3"), ("adjust", "3"), ("hide", "3")]
    for event, text in steps:
        entry = work(space, lambda w, s, e=entry, v=event, t=text: w.move(s, e, v, text=t))
    assert (entry.state, entry.hidden) == ("updated", True)
    changes = space.desk("narrative").read(lambda view, _: list(view.history(entry)))
    assert [(c.op, c.after["state"], c.after["text"]) for c in changes if c.after] == [
        ("hide", "updated", "3"),
        ("adjust", "updated", "3"),
        ("update", "updated", "3"),
        ("promote", "confirmed", "two"),
        ("update", "draft", "two"),
        ("add", "draft", "one"),
    ]
    then = space.as_of(changes[3].seq).desk("narrative")
    assert then.read(lambda view, store: view.find(store, entry.id)).text == "two"
    assert list(vault.verify()) == []


def test_a_draft_belongs_to_its_session(vault: Vault) -> None:
    space = vault.space()
    with space.session("one") as one, space.session("two") as two:
        mine = add(one, state="draft", text="mine", subject="Mine")
        add(two, state="draft", text="yours")
        drafts = one.desk("narrative").read(lambda view, store: view.drafts(store))
        assert list(drafts) == [mine]
        assert list(space.desk("narrative").read(lambda view, store: view.drafts(store))) == []
        assert one.notes().read().entries == ()
        assert subjects(one) == []
        work(one, lambda w, s: w.move(s, mine, "promote"))
    assert [entry.text for entry in space.notes().read().entries] == ["mine"]
    assert subjects(space) == [("Mine", "", 50)]


def test_subjects_stand_by_importance_then_the_newest(vault: Vault) -> None:
    space = vault.space()
    add(space, subject="old and dear", importance=90, kind="decision")
    add(space, subject="older")
    add(space, subject="newer")
    add(space, text="without a subject")
    gone = add(space, subject="forgotten", importance=100)
    work(space, lambda w, s: w.move(s, gone, "forget"))
    assert subjects(space) == [
        ("old and dear", "decision", 90),
        ("newer", "", 50),
        ("older", "", 50),
    ]
    assert subjects(space, 1) == [("old and dear", "decision", 90)]
    assert subjects(space.as_of(vault.status().seq)) == subjects(space)


def test_a_subject_ends_with_the_day_of_its_time(tmp_path: Path) -> None:
    clock = ManualClock()
    with holdfast.open(tmp_path, clock=clock) as vault:
        space = vault.space()
        add(space, subject="until tomorrow", until=from_us(clock()) + timedelta(days=1))
        assert subjects(space) == [("until tomorrow", "", 50)]
        clock.advance(days=3)
        assert subjects(space) == []


def test_an_entry_is_found_by_its_subject_too_and_forgetting_leaves_no_term(vault: Vault) -> None:
    space = vault.space()
    entry = add(space, subject="Kubernetes", text="runs the deploys")
    query = EntryQuery(match="kubernetes deploys")
    found = space.desk("narrative").read(lambda view, store: list(view.shown(store, query)))
    assert found == [entry]
    moved = work(space, lambda w, s: w.move(s, entry, "update", subject="Nomad"))
    found = space.desk("narrative").read(lambda view, store: list(view.shown(store, query)))
    assert found == []
    work(space, lambda w, s: w.move(s, moved, "forget"))
    assert list(vault.verify()) == []


def test_what_was_forgotten_moves_no_more(vault: Vault) -> None:
    space = vault.space()
    entry = add(space)
    gone = work(space, lambda w, s: w.move(s, entry, "forget"))
    for event in ("update", "promote", "hide", "show", "adjust"):
        with raises(holdfast.errors.Conflict, "entry_forgotten"):
            work(space, lambda w, s, v=event: w.move(s, gone, v))
    assert work(space, lambda w, s: w.move(s, gone, "forget")).state == "forgotten"


def test_the_same_text_is_found_whatever_became_of_it(vault: Vault) -> None:
    space = vault.space()
    entry = add(space, text="Prefers  TEA")
    work(space, lambda w, s: w.move(s, entry, "forget"))
    same = work(space, lambda w, s: [(e.id, e.state) for e in w.same(s, "prefers tea")])
    assert same == [(entry.id, "forgotten")]
