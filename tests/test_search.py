"""A search over entries: what is found, in which order and why, and what never is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.model.entry import NewEntry
from holdfast.model.write import Write
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Entry
    from holdfast.model.search import Found


@pytest.fixture
def vault() -> Iterator[Vault]:
    with holdfast.open("memory:", clock=ManualClock()) as opened:
        yield opened


def add(space: Space, text: str, **said: object) -> Entry:
    """An entry with any metadata, as a strategy would make it."""
    new = NewEntry(**{"origin": "user", "text": text, **said})
    desk = space.desk("narrative")
    return desk.mutate("add", {}, lambda work, store: work.add(store, new), Write())


def move(space: Space, entry: Entry, event: str, **changes: object) -> Entry:
    desk = space.desk("narrative")
    return desk.mutate("move", {}, lambda w, s: w.move(s, entry, event, **changes), Write())


def texts(found: Found) -> list[str]:
    return [hit.entry.text for hit in found]


@pytest.mark.row("G07", "E04")
def test_words_are_all_wanted_and_the_best_comes_first(vault: Vault) -> None:
    space = vault.space()
    add(space, "Deploys go to staging first, and staging is reset on the first of each month")
    add(space, "Deploy staging")
    add(space, "Production has no deploys on Friday")
    assert texts(space.search("staging deploy")) == [
        "Deploy staging",
        "Deploys go to staging first, and staging is reset on the first of each month",
    ]
    assert texts(space.search("deploy NOT staging")) == ["Production has no deploys on Friday"]
    assert texts(space.search("friday OR reset")) == [
        "Production has no deploys on Friday",
        "Deploys go to staging first, and staging is reset on the first of each month",
    ]


@pytest.mark.row("G14")
def test_a_score_is_the_sum_of_its_named_parts(vault: Vault) -> None:
    space = vault.space()
    add(space, "The office plants need water", pinned=True, importance=80)
    add(space, "Plants in the office: the water can is under the sink")
    for hit in space.search("office plants water"):
        assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-5)
    first, second = space.search("office plants water")
    assert set(first.why) == {"words", "near", "recent", "important", "pinned"}
    assert set(second.why) == {"words", "near", "recent"}


@pytest.mark.row("G14")
def test_of_equal_texts_the_important_and_then_the_newer_comes_first(vault: Vault) -> None:
    space = vault.space()
    old, low, new, high = (
        add(space, "the same text", given_id=name, importance=importance)
        for name, importance in (("old", 50), ("low", 10), ("new", 50), ("high", 90))
    )
    found = space.search("same text")
    assert [hit.entry.id for hit in found] == [high.id, new.id, old.id, low.id]
    assert found == space.search("same text")


@pytest.mark.row("G14")
def test_what_is_recent_gains_and_what_answers_better_still_wins(vault: Vault) -> None:
    space = vault.space()
    now = datetime(2027, 1, 1, tzinfo=UTC)
    add(space, "The printer is on floor two", given_id="older", said_at=now - timedelta(days=800))
    add(space, "The printer is on floor six", given_id="newer")
    add(space, "Printer driver", given_id="driver", said_at=now - timedelta(days=800))
    assert [h.entry.handle for h in space.search("printer floor")] == ["newer", "older"]
    assert next(iter(space.search("printer driver"))).entry.handle == "driver"


@pytest.mark.row("G07")
def test_subjects_tags_and_kinds_are_searched_and_filtered(vault: Vault) -> None:
    space = vault.space()
    add(space, "We roll forward.", subject="Rollbacks", kind="decision", tags=("deploy", "ops"))
    add(space, "Rollbacks take an hour.", subject="Deploys", kind="fact", tags=("ops",))
    add(space, "Lunch is at noon.", kind="fact")
    assert texts(space.search("rollbacks")) == ["We roll forward.", "Rollbacks take an hour."]
    assert texts(space.search(subject="rollback")) == ["We roll forward."]
    assert texts(space.search("hour", subject="deploy")) == ["Rollbacks take an hour."]
    assert texts(space.search(kinds=("fact",))) == ["Lunch is at noon.", "Rollbacks take an hour."]
    assert texts(space.search("rollback", kinds=("decision",))) == ["We roll forward."]
    assert texts(space.search(tags=("ops", "deploy"))) == ["We roll forward."]
    assert texts(space.search("deploy", tags=("ops",))) == [
        "We roll forward.",
        "Rollbacks take an hour.",
    ]
    assert texts(space.search("lunch", tags=("ops",))) == []
    assert texts(space.search('"rollbacks deploy"')) == []


@pytest.mark.row("G07")
def test_time_and_importance_narrow_a_search(vault: Vault) -> None:
    space = vault.space()
    day = partial(datetime, tzinfo=UTC)
    for month, importance in ((1, 10), (2, 60), (3, 90)):
        add(space, f"month {month}", said_at=day(2025, month, 1), importance=importance)
    assert texts(space.search("month", since=day(2025, 2, 1), until=day(2025, 3, 1))) == ["month 2"]
    assert texts(space.search(since=day(2025, 2, 1))) == ["month 3", "month 2"]
    assert texts(space.search("month", importance=60)) == ["month 3", "month 2"]


@pytest.mark.row("G07")
def test_pages_follow_one_another_without_a_gap(vault: Vault) -> None:
    space = vault.space()
    for number in range(23):
        add(space, f"note {number} on pages" + " again" * (number % 4))
    assert len(space.search("pages")) == 8
    seen: list[str] = []
    cursor = None
    while True:
        found = space.search("pages", limit=5, cursor=cursor)
        seen += texts(found)
        cursor = found.cursor
        if cursor is None:
            break
    assert seen == texts(space.search("pages", limit=50))
    assert len(set(seen)) == 23


def test_drafts_hidden_and_forgotten_are_found_by_nobody_else(vault: Vault) -> None:
    space = vault.space()
    with space.session("one") as here:
        draft = add(here, "a secret draft", state="draft")
        assert texts(here.search("secret")) == ["a secret draft"]
        assert texts(here.search("secret", match="any")) == ["a secret draft"]
        assert texts(here.search()) == ["a secret draft"]
        assert texts(here.search("secret", states=("confirmed", "updated"))) == []
        with space.session("two") as there:
            assert texts(there.search("secret")) == texts(there.search()) == []
        assert texts(space.search("secret")) == texts(space.search("secret", match="any")) == []
        entry = move(here, draft, "promote")
    assert texts(space.search("secret")) == ["a secret draft"]
    entry = move(space, entry, "hide")
    assert texts(space.search("secret")) == texts(space.search()) == []
    assert texts(space.search("secret", hidden=True)) == ["a secret draft"]
    assert texts(space.search(hidden=True)) == ["a secret draft"]
    entry = move(space, entry, "show")
    entry = move(space, entry, "update", text="a public text")
    assert texts(space.search("secret")) == []
    assert texts(space.search("public")) == ["a public text"]
    move(space, entry, "forget", text="")
    assert texts(space.search("public", hidden=True)) == texts(space.search(hidden=True)) == []
    assert list(vault.verify()) == []


def test_other_stores_and_spaces_are_out_of_scope(tmp_path) -> None:
    from holdfast.model.space import SpaceSpec, StoreSpec

    with holdfast.open("memory:") as vault:
        stores = tuple(StoreSpec(name=name, strategy="narrative") for name in ("red", "blue"))
        vault.declare(SpaceSpec(name="app", path=None, text="", stores=stores))
        app = vault.space("app")
        app.notes("red").save("shared word, red")
        app.notes("blue").save("shared word, blue")
        vault.space().notes().save("shared word, elsewhere")
        assert texts(app.search("shared word")) == ["shared word, blue", "shared word, red"]
        assert [hit.store.name for hit in app.search("shared word")] == ["blue", "red"]
        assert texts(app.search("shared", store="red")) == ["shared word, red"]
        assert texts(vault.space().search("shared")) == ["shared word, elsewhere"]
        with pytest.raises(HoldfastError) as raised:
            app.search("shared", store="green")
        assert raised.value.code == "store_not_declared"


@pytest.mark.row("G07", "G14")
def test_the_past_is_searched_and_ranked_alike(vault: Vault) -> None:
    space = vault.space()
    for number in range(6):
        add(space, f"the printer is on floor {number}" + ", by the stairs" * (number % 3))
    first = next(iter(space.search("printer floor 1"))).entry
    then = vault.log(holdfast.LogQuery(limit=1))[0].seq
    before = {asked: space.search(asked, match="any") for asked in ("printer stairs", "floor 4")}
    move(space, first, "update", text="the printer is gone")
    add(space, "the printer is back")
    past = space.as_of(then)
    assert texts(past.search("printer floor 1")) == [first.text]
    for asked, found in before.items():
        assert [(h.entry.id, h.why) for h in past.search(asked, match="any")] == [
            (h.entry.id, h.why) for h in found
        ]


def test_a_sentence_is_ranked_by_any_of_its_words(vault: Vault) -> None:
    space = vault.space()
    add(space, "Maria moved the office printer to the second floor")
    add(space, "The second of May is a holiday")
    add(space, "Coffee is free")
    asked = "Where did Maria put the printer of the second office?"
    found = space.search(asked, match="any", diagnostics="basic")
    assert texts(found) == [
        "Maria moved the office printer to the second floor",
        "The second of May is a holiday",
    ]
    assert found.looked.holders["maria"] == 1
    assert found.looked.holders["second"] == 2


@pytest.mark.row("G14")
def test_the_order_can_be_chosen(vault: Vault) -> None:
    space = vault.space()
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    add(space, "tea and more tea", said_at=long_ago, importance=20)
    add(space, "tea or coffee", said_at=long_ago + timedelta(days=1), importance=90)
    add(space, "coffee, cake, sandwiches, and tea at four", importance=50)
    orders = {
        "relevance": ["tea and more tea", "tea or coffee"],
        "importance": ["tea or coffee", "coffee, cake, sandwiches, and tea at four"],
        "newest": ["coffee, cake, sandwiches, and tea at four", "tea or coffee"],
    }
    for order, first in orders.items():
        page = space.search("tea", rerank=order, limit=2)
        assert texts(page) == first
        rest = space.search("tea", rerank=order, limit=2, cursor=page.cursor)
        assert len({*texts(page), *texts(rest)}) == 3
        for hit in page:
            assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-5)


@pytest.mark.row("G19")
def test_a_search_tells_of_itself_as_much_as_is_asked(vault: Vault) -> None:
    space = vault.space()
    for number in range(12):
        add(space, f"tea number {number}", kind="odd" if number % 2 else "even")
    assert space.search("tea").looked is None
    basic = space.search("tea", kinds=("odd",), limit=2, diagnostics="basic").looked
    assert (basic.matched, basic.filtered, basic.dropped, basic.cut) == (6, 6, 4, False)
    assert basic.holders == {"tea": 12}
    assert basic.took_us > 0
    assert basic.candidates == ()
    detailed = space.search("tea", kinds=("odd",), limit=2, diagnostics="detailed")
    weighed = detailed.looked.candidates
    assert [one.number for one in weighed[:2]] == [hit.entry.number for hit in detailed]
    assert [one.why for one in weighed[:2]] == [hit.why for hit in detailed]
    assert len(weighed) == 6


HOSTILE = [
    *("\x00", "\ud800", "\ud800 deploy", "((((", '"', '"""', "NEAR(a b, 2)", "terms : x", "^a"),
    *("a AND", "OR OR OR", "-a", "*", "a*b*", "{terms names} : x", "the of and", "?!.,;", "＠2"),
    *("'; DROP TABLE entry; --", "a" * 10_000, "word " * 10_000, "x" * 10_000_000, "｜ ＠2 ＠"),
]


@pytest.mark.parametrize("match", ["words", "any"])
@pytest.mark.parametrize("asked", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_no_input_is_an_error(vault: Vault, asked: str, match: str) -> None:
    space = vault.space()
    add(space, "terms of a deploy, and the of and")
    space.search(asked, match=match)
    space.search(asked, match=match, kinds=(asked[:50],), tags=(asked[:50],))
    space.search(subject=asked)
    assert texts(space.search("deploy")) == ["terms of a deploy, and the of and"]
    assert space.search("\x00").hits == space.search("?!").hits == space.search("＠2").hits == ()


@given(st.text(max_size=80), st.text(max_size=30), st.booleans())
def test_now_and_then_agree_whatever_is_asked(asked: str, subject: str, sentence: bool) -> None:
    space = SHARED.space()
    match = "any" if sentence else "words"
    now = space.search(asked, subject=subject, match=match, limit=50)
    then = space.as_of(SHARED_SEQ).search(asked, subject=subject, match=match, limit=50)
    assert [(hit.entry.id, hit.why) for hit in now] == [(hit.entry.id, hit.why) for hit in then]


SHARED = holdfast.open("memory:", clock=ManualClock())
for _text in ("a b c", "A-b_c", "東京都に住む", "Crème brûlée", "x.y.z 42", "the end", "👍 0"):
    add(SHARED.space(), _text, subject=_text[:3])
SHARED_SEQ = SHARED.log(holdfast.LogQuery(limit=1))[0].seq


@pytest.mark.parametrize(
    "asked",
    [
        {"limit": 0},
        {"limit": 51},
        {"match": "all"},
        {"states": ("forgotten",)},
        {"importance": 101},
        {"cursor": "nonsense"},
        {"cursor": "f" * 39 + "-1"},
        {"since": datetime(2026, 1, 1)},  # noqa: DTZ001
    ],
)
def test_what_makes_no_sense_is_refused(vault: Vault, asked: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        vault.space().search("x", **asked)
