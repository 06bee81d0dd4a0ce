"""What a vault promises for notes: order, ids, revisions, keys, the past, and bad input."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from holdfast.engine.history import LogQuery
from holdfast.errors import (
    Conflict,
    Held,
    InvalidInput,
    NotFound,
    Refused,
)
from holdfast.model.ids import is_id, short
from holdfast.model.write import Actor, Caller
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import NOON, VaultBinding, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault


class NotesPromises(VaultBinding):
    # Saving and reading

    @pytest.mark.row("H04", "H05")
    def test_what_is_saved_is_read_newest_first(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        for text in ("one", "two", "three"):
            notes.save(text)
            clock.advance(seconds=1)
        assert texts(notes) == ["three", "two", "one"]
        assert texts(notes, order="oldest") == ["one", "two", "three"]

    def test_newest_is_by_when_it_was_said(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        notes.save("said now")
        notes.save("said yesterday", said_at=NOON - timedelta(days=1))
        clock.advance(seconds=5)
        late = notes.save("said in the future, so now", said_at=NOON + timedelta(days=9)).entry
        assert late.when == NOON + timedelta(seconds=5)
        assert late.said_at == NOON + timedelta(days=9)
        assert texts(notes) == ["said in the future, so now", "said now", "said yesterday"]

    def test_one_moment_is_ordered_by_seq(self, space: Space) -> None:
        notes = space.notes()
        for number in range(5):
            notes.save(f"note {number}")
        assert texts(notes) == ["note 4", "note 3", "note 2", "note 1", "note 0"]

    @pytest.mark.row("H05")
    def test_times_are_a_half_open_range(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        for day in range(5):
            notes.save(f"day {day}")
            clock.advance(days=1)
        since, until = NOON + timedelta(days=1), NOON + timedelta(days=3)
        assert texts(notes, since=since, until=until) == ["day 2", "day 1"]
        assert texts(notes, since=since, until=until, order="oldest") == ["day 1", "day 2"]

    @pytest.mark.row("H05")
    def test_pages_follow_each_other_without_gap_or_repeat(
        self, space: Space, clock: ManualClock
    ) -> None:
        notes = space.notes()
        for number in range(23):
            notes.save(f"n{number}", metadata={"odd": bool(number % 2)})
            clock.advance(seconds=number % 3)
        for order in ("newest", "oldest"):
            seen: list[str] = []
            cursor = None
            while True:
                page = notes.read(limit=4, cursor=cursor, order=order, metadata={"odd": True})
                seen += [entry.text for entry in page.entries]
                cursor = page.cursor
                if cursor is None:
                    break
            expected = [f"n{number}" for number in range(1, 23, 2)]
            assert seen == (expected if order == "oldest" else expected[::-1])

    @pytest.mark.row("H05")
    def test_text_and_metadata_select(self, space: Space) -> None:
        notes = space.notes()
        notes.save("the API is called orders", metadata={"team": "a", "n": 1})
        notes.save("the queue is called orders-dead", metadata={"team": "b"})
        notes.save("lunch is at noon", metadata={"team": "a"})
        assert texts(notes, text="orders") == [
            "the queue is called orders-dead",
            "the API is called orders",
        ]
        assert texts(notes, text="orders", metadata={"team": "a"}) == ["the API is called orders"]
        assert texts(notes, metadata={"team": "a", "n": 1}) == ["the API is called orders"]
        assert texts(notes, text='"') == []

    def test_an_entry_says_where_it_came_from(self, vault: Vault) -> None:
        caller = Caller(actor=Actor(kind="agent", name="planner"))
        entry = vault.space().seen_by(caller).notes().save("x", origin="tool").entry
        assert (entry.origin, entry.trust, entry.state) == ("tool", "low", "confirmed")
        assert is_id(entry.id)
        assert entry.created == entry.updated == entry.when == NOON
        assert vault.log(LogQuery(target=entry.id))[0].actor == "agent:planner"

    # Ids

    @pytest.mark.row("H14")
    def test_same_id_and_text_is_the_same_entry(self, space: Space) -> None:
        notes = space.notes()
        first = notes.save("a fact", id="fact-1")
        again = notes.save("a fact", id="fact-1")
        assert (first.outcome, again.outcome) == ("saved", "unchanged")
        assert again.entry == first.entry
        assert texts(notes) == ["a fact"]

    @pytest.mark.row("H14")
    def test_same_id_and_other_text_is_a_conflict(self, space: Space) -> None:
        notes = space.notes()
        notes.save("a fact", id="fact-1")
        with raises(Conflict, "id_taken"):
            notes.save("another fact", id="fact-1")
        assert texts(notes) == ["a fact"]

    @pytest.mark.row("H14")
    def test_an_id_is_never_used_again(self, space: Space) -> None:
        notes = space.notes()
        notes.save("a fact", id="fact-1")
        notes.remove("fact-1")
        with raises(Conflict, "id_taken"):
            notes.save("a fact", id="fact-1")
        assert texts(notes) == []

    def test_found_by_given_id_whole_id_and_short_form(self, space: Space) -> None:
        notes = space.notes()
        entry = notes.save("a fact", id="fact-1").entry
        for name in ("fact-1", entry.id, short(entry.id)):
            assert notes.get(name) == entry
        for name in ("fact-2", short(entry.id)[1:], "0" * 26, "0" * 8, "", "%"):
            with raises(NotFound, "entry_not_found"):
                notes.get(name)

    # Removing

    @pytest.mark.row("H06")
    def test_remove_is_idempotent(self, space: Space) -> None:
        notes = space.notes()
        notes.save("stays")
        gone = notes.save("goes").entry
        first, second = notes.remove(gone.id), notes.remove(gone.id)
        assert (first.outcome, second.outcome) == ("removed", "unchanged")
        assert (first.entry.state, first.entry.text) == ("forgotten", "goes")
        assert second.entry == notes.get(gone.id)
        assert (second.entry.state, second.entry.text) == ("forgotten", "")
        assert texts(notes) == ["stays"]
        assert texts(notes, text="goes") == []

    @pytest.mark.row("H06")
    def test_removing_what_never_was_is_an_error(self, space: Space) -> None:
        with raises(NotFound, "entry_not_found"):
            space.notes().remove("nothing")

    # Revisions and idempotency

    def test_a_moved_revision_is_a_conflict(self, space: Space) -> None:
        notes = space.notes()
        entry = notes.save("a fact").entry
        with raises(Conflict, "revision_moved"):
            notes.remove(entry.id, expect=entry.revision - 1)
        assert texts(notes) == ["a fact"]
        assert notes.remove(entry.id, expect=entry.revision).outcome == "removed"

    def test_a_repeated_key_gives_the_first_answer(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        first = notes.save("a fact", metadata={"a": [1, {"b": None}]}, key="k1")
        clock.advance(days=29)
        assert notes.save("a fact", metadata={"a": [1, {"b": None}]}, key="k1") == first
        notes.remove(first.entry.id)
        assert notes.save("a fact", metadata={"a": [1, {"b": None}]}, key="k1") == first
        assert texts(notes) == []

    def test_a_key_with_other_arguments_is_a_conflict(self, space: Space) -> None:
        notes = space.notes()
        notes.save("a fact", key="k1")
        with raises(Conflict, "key_reused"):
            notes.save("another", key="k1")
        assert texts(notes) == ["a fact"]

    def test_keys_belong_to_their_actor(self, space: Space) -> None:
        other = space.seen_by(Caller(actor=Actor(kind="agent", name="other")))
        space.notes().save("mine", key="k1")
        other.notes().save("theirs", key="k1")
        assert texts(space.notes()) == ["theirs", "mine"]

    def test_a_key_answers_nobody_but_the_user_whom_it_was_about(self, space: Space) -> None:
        ann, ben = (space.seen_by(Caller(user=name)) for name in ("ann", "ben"))
        first = ann.profile().add("Likes tea", "USER", key="k1")
        with raises(Conflict, "key_reused"):
            ben.profile().add("Likes tea", "USER", key="k1")
        assert ann.profile().add("Likes tea", "USER", key="k1") == first
        assert ben.profile().add("Likes tea", "USER", key="k2").entry.scope == "user:ben"

    def test_a_key_is_free_again_after_thirty_days(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        notes.save("a fact", key="k1")
        clock.advance(days=31)
        notes.save("unrelated", key="k2")
        assert notes.save("another", key="k1").outcome == "saved"

    def test_a_refused_call_keeps_no_answer(self, space: Space) -> None:
        notes = space.notes()
        entry = notes.save("a fact").entry
        with raises(Conflict, "revision_moved"):
            notes.remove(entry.id, expect=1, key="k1")
        assert notes.remove(entry.id, key="k2").outcome == "removed"

    # The past

    def test_as_of_a_change_and_a_time(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        one = notes.save("one", id="one").entry
        clock.advance(days=1)
        notes.save("two")
        clock.advance(days=1)
        notes.save("three")
        past = space.as_of(one.revision).notes()
        assert texts(past) == ["one"]
        assert past.get("one") == one
        assert texts(space.as_of(NOON + timedelta(days=1)).notes()) == ["two", "one"]
        assert texts(space.as_of(NOON + timedelta(days=5)).notes()) == ["three", "two", "one"]
        assert texts(space.as_of(NOON - timedelta(days=1)).notes()) == []
        assert texts(space.as_of(NOON + timedelta(days=1)).notes(), text="ONE") == ["one"]
        with raises(NotFound, "change_not_found"):
            space.as_of(999).notes().read()

    @pytest.mark.row("I07")
    def test_what_is_forgotten_is_out_of_the_past_too(
        self, space: Space, clock: ManualClock
    ) -> None:
        notes = space.notes()
        entry = notes.save("goes", id="goes").entry
        notes.save("stays")
        then = space.as_of(entry.revision + 1)
        assert texts(then.notes()) == ["stays", "goes"]
        clock.advance(days=1)
        notes.remove("goes")
        assert texts(then.notes()) == ["stays"]
        assert texts(then.notes(), text="goes") == []
        assert then.notes().get("goes") == notes.get("goes")
        assert (notes.get("goes").state, notes.get("goes").text) == ("forgotten", "")
        with raises(NotFound, "entry_not_yet"):
            space.as_of(entry.revision - 1).notes().get("goes")

    def test_the_past_cannot_be_written(self, space: Space) -> None:
        entry = space.notes().save("one").entry
        with raises(Refused, "past_is_fixed"):
            space.as_of(entry.revision).notes().save("two")

    # Bad input

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "text_empty"),
            (" \n\t", "text_empty"),
            ("\ud800", "text_not_unicode"),
            ("x" * 1_048_577, "text_too_long"),
            ("é" * 524_289, "text_too_long"),
        ],
    )
    def test_unusable_text_is_refused(self, space: Space, text: str, code: str) -> None:
        with raises(InvalidInput, code):
            space.notes().save(text)
        assert texts(space.notes()) == []

    @pytest.mark.parametrize(
        "text",
        [
            "a\0b",
            "\x1b[31mred",
            "\u202eltr",
            "👨‍👩‍👧‍👦",
            "'; DROP TABLE entry; --",
            "\r\n.\r\n",
            "x" * 1_048_576,
        ],
    )
    def test_any_other_text_comes_back_as_it_was(self, space: Space, text: str) -> None:
        """What screening holds does too, once a person let it in."""
        try:
            name = space.notes().save(text).entry.id
        except Held as held:
            entry = space.inbox().approve(held.proposal).entry
            assert entry is not None
            name = entry.id
        assert space.notes().get(name).text == text

    @pytest.mark.parametrize("name", ["", " x", "x ", "a\nb", "a\0b", "x" * 201, "\u200b"])
    def test_unusable_ids_are_refused(self, space: Space, name: str) -> None:
        with raises(InvalidInput, "id_invalid"):
            space.notes().save("a fact", id=name)

    @pytest.mark.parametrize(
        "metadata", [{"a": float("nan")}, {"a": {1, 2}}, {"a": "x" * 70_000}, {"a": {1: 2}}]
    )
    def test_unusable_metadata_is_refused(self, space: Space, metadata: dict[str, object]) -> None:
        with pytest.raises(InvalidInput):
            space.notes().save("a fact", metadata=metadata)  # pyright: ignore[reportArgumentType]

    def test_unusable_queries_are_refused(self, space: Space) -> None:
        notes = space.notes()
        with raises(InvalidInput, "limit_invalid"):
            notes.read(limit=0)
        with raises(InvalidInput, "cursor_invalid"):
            notes.read(cursor="zzz")
        with raises(InvalidInput, "order_invalid"):
            notes.read(order="random")  # pyright: ignore[reportArgumentType]
        with raises(InvalidInput, "budget_invalid"):
            space.context(budget=0)
        with raises(InvalidInput, "time_without_zone"):
            notes.read(since=datetime(2026, 1, 1))  # noqa: DTZ001
        with raises(InvalidInput, "key_invalid"):
            notes.save("x", key="")
