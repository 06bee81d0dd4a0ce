"""What a search reads, and what it need not read again."""

from __future__ import annotations

from contextlib import contextmanager

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.core.rank.asked import asked_of
from holdfast.core.rank.score import Ranking, Statistics
from holdfast.model.search import RankWeights, SearchQuery
from holdfast.model.times import DAY_US
from holdfast.storage.sqlite.index import ENTRY_TERMS
from holdfast.storage.sqlite.textindex import TextIndex
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.engine.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=ManualClock()) as opened:
        opened.space().notes().save("The green kettle stands in the kitchen")
        opened.space().notes().save("The kettle needs a new lid", metadata={"seen": ["shop"]})
        opened.space().notes().save("Lunch is at noon")
        yield opened


@contextmanager
def statements() -> Iterator[list[str]]:
    """What every connection that is made within is asked for."""
    seen: list[str] = []

    def trace(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        seen.append(" ".join(sql.split()))
        return True

    def hook(conn: apsw.Connection) -> None:
        conn.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        yield seen
    finally:
        apsw.connection_hooks.remove(hook)


def kinds(seen: list[str]) -> list[str]:
    """Each statement by what tells it from the others of a search."""
    known = {
        "begin": "BEGIN",
        "version": "PRAGMA data_version",
        "stores": "FROM store",
        "totals": "FROM entry_terms_data",
        "texts": "SELECT e.number, e.store, t.c0",
        "holders": "SELECT count(*) FROM (SELECT rowid FROM entry_terms",
        "entries": "FROM entry WHERE number IN",
        "commit": "COMMIT",
    }
    return [next(name for name, part in known.items() if part in sql) for sql in seen]


@pytest.mark.row("G07")
def test_a_search_with_few_hits_takes_two_statements_of_its_own(tmp_path: Path) -> None:
    where = tmp_path / "vault"
    with holdfast.open(where) as vault:
        for text in ("A green kettle", "A red kettle", "A green lid"):
            vault.space().notes().save(text)
    with statements() as seen, holdfast.open(where) as vault:
        space = vault.space()
        seen.clear()
        assert [hit.entry.text for hit in space.search("green kettle")] == ["A green kettle"]
        first = kinds(seen)
        seen.clear()
        assert [hit.entry.text for hit in space.search("red lid OR kettle")] == ["A red kettle"]
        second = kinds(seen)
        seen.clear()
        assert [hit.entry.text for hit in space.search("kettle red")] == ["A red kettle"]
        third = kinds(seen)
    assert first == ["begin", "version", "stores", "totals", "holders", "texts", "commit"]
    assert second == ["begin", "version", "holders", "texts", "commit"]
    assert third == ["begin", "version", "texts", "commit"]


def test_what_was_remembered_is_read_again_after_any_write(vault: Vault, tmp_path: Path) -> None:
    space = vault.space()

    def told() -> tuple[list[str], dict[str, int]]:
        found = space.search("kettle", diagnostics="basic")
        assert found.looked is not None
        return sorted(hit.entry.text for hit in found), dict(found.looked.holders)

    two = ["The green kettle stands in the kitchen", "The kettle needs a new lid"]
    assert told() == (two, {"kettl": 2})
    space.notes().save("A kettle of her own")
    assert told() == (["A kettle of her own", *two], {"kettl": 3})
    with holdfast.open(tmp_path / "vault") as another:
        another.space().notes().remove(another.space().notes().read().entries[0].id)
    assert told() == (two, {"kettl": 2})


def test_a_store_that_is_declared_is_seen_by_the_next_search(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    declared = "name: work\nmemory:\n  own:\n    - {name: notes, strategy: narrative}\n"
    (folder / "workspace.yml").write_text(declared)
    with holdfast.open(tmp_path / "vault") as vault:
        space = vault.workspace(folder / "workspace.yml")
        space.notes("notes").save("The kettle")
        assert len(space.search("kettle")) == 1
        more = declared + "    - {name: more, strategy: narrative}\n"
        (folder / "workspace.yml").write_text(more)
        vault.workspace(folder / "workspace.yml").notes("more").save("Another kettle")
        assert len(space.search("kettle")) == 2
        assert [store.name for store in space.stores()] == ["notes", "more"]


def test_what_an_entry_says_is_its_own(vault: Vault) -> None:
    def read() -> dict[str, object]:
        (hit,) = vault.space().search("lid")
        return hit.entry.metadata  # pyright: ignore[reportReturnType]

    first = read()
    first["more"] = 1
    first["seen"].append("home")  # pyright: ignore[reportAttributeAccessIssue]
    assert read() == {"seen": ["shop"]}


def segments_of(where: Path) -> tuple[list[int], set[int]]:
    """The pages of each segment as the index tells them, and the segments that have pages."""
    conn = apsw.Connection(str(where / "vault.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        kept = conn.execute("SELECT DISTINCT segid FROM entry_terms_idx")
        return TextIndex(conn, ENTRY_TERMS).segments(), {int(str(segment)) for (segment,) in kept}
    finally:
        conn.close()


def test_quiet_moments_leave_few_segments_to_look_into(tmp_path: Path) -> None:
    where = tmp_path / "vault"
    with holdfast.open(where) as vault:
        notes = vault.space().notes()
        for number in range(60):
            notes.save(f"The kettle {number} stands beside the pot {number % 7}")
            if number % 7 == 6:
                vault.tidy()
                told, kept = segments_of(where)
                assert len(told) == len(kept) <= 3
                assert all(pages > 0 for pages in told)
        assert len(notes.read(text="kettle pot", limit=100).entries) == 60
        (hit,) = vault.space().search('"kettle 41"')
        assert hit.entry.text == "The kettle 41 stands beside the pot 6"
        assert list(vault.verify()) == []


WORDS = st.sampled_from(("tea", "milk", "cup", "pot", "｜"))
TEXTS = st.lists(
    st.tuples(
        st.lists(WORDS, min_size=1, max_size=9).map(" ".join),
        st.sampled_from(("＠2", "tea ｜ ＠2", "milk cup ｜ ＠2")),
        st.integers(0, 400 * DAY_US),
        st.integers(0, 100),
        st.integers(0, 1),
        st.integers(0, 200),
        st.none() | st.integers(0, 400 * DAY_US),
    ),
    max_size=90,
)


@given(TEXTS, st.sampled_from(("tea milk", "tea OR pot milk", '"tea milk"', "te* cup")))
def test_the_best_few_are_those_of_the_whole_order(rows: list[tuple], text: str) -> None:
    texts = [(number, 2, *row) for number, row in enumerate(rows, 1)]
    asked = asked_of(SearchQuery(text=text))
    known = Statistics(texts=500, length=6.5, holders={way: len(way.tokens) for way in asked.rows})
    ranking = Ranking(asked, texts, known, RankWeights(), 300 * DAY_US)
    whole = ranking.best()
    assert whole == sorted(whole, key=lambda one: (-one[0], -one[1]))
    assert sorted(one[1] for one in whole) == [row[0] for row in texts]
    for most in (1, 2, 7, 21, 64, 90):
        assert ranking.best(most) == whole[:most]
