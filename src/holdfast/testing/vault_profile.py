"""What a vault promises for the two files: what they hold, what makes room, what comes back."""

from __future__ import annotations

from typing import cast

import pytest

from holdfast.core.profile.size import file_chars
from holdfast.engine.history import LogQuery
from holdfast.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from holdfast.model.space import StoreSpec
from holdfast.model.write import Actor, Caller
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import VaultBinding, spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Entry
    from holdfast.model.profile import File
    from holdfast.strategies.profile.face import Profile


def said(entries: Iterable[Entry]) -> list[str]:
    return [entry.text for entry in entries]


def in_file(profile: Profile, file: File) -> list[str]:
    return said(profile.read(file)[0].entries)


def small(vault: Vault, path: str, **chars_max: int) -> Profile:
    """A profile with little room, in a space of its own."""
    store = StoreSpec(name="me", strategy="profile", options=chars_max)
    return vault.declare(spec("app", path, store)).profile()


class ProfilePromises(VaultBinding):
    # What the files hold

    @pytest.mark.row("D01", "D20")
    def test_a_fact_stands_in_its_file_with_all_that_is_known_of_it(self, vault: Vault) -> None:
        with vault.space().session() as here:
            added = here.profile().add("Prefers tea", "USER", importance=70, pinned=True)
        entry = added.entry
        assert (added.outcome, added.file) == ("added", "USER")
        assert (entry.kind, entry.importance, entry.pinned) == ("USER", 70, True)
        assert (entry.origin, entry.trust, entry.session) == ("user", "high", here.caller.session)
        assert entry.created == entry.updated
        user, memory = vault.space().profile().read()
        assert (user.file, user.entries, user.text) == (
            "USER",
            (entry,),
            "# USER.md\n\n- Prefers tea\n",
        )
        assert (memory.file, memory.entries, memory.text) == ("MEMORY", (), "# MEMORY.md\n")

    @pytest.mark.row("D02", "D04")
    def test_a_file_is_measured_as_its_reader_sees_it(self, space: Space) -> None:
        profile = space.profile()
        # 👩‍👩‍👧 is one character to a reader, and é is one however it is written.
        gauge = profile.add("Cafe\u0301 👩\u200d👩\u200d👧 🇫🇷").gauge
        assert (gauge.chars, gauge.chars_max, gauge.entries) == (len("- Café F F"), 2200, 1)
        gauge = profile.add("x" * 1459, "MEMORY").gauge
        assert str(gauge) == "[66% — 1,472/2,200 chars]"
        gauge = profile.replace("Cafe", "Café 1 2 3 4").gauge
        assert str(gauge) == f"[67% — {14 + 1 + 1461:,}/2,200 chars]"
        assert str(profile.add("tea", "USER").gauge) == "[0% — 5/1,375 chars]"

    @pytest.mark.row("D04")
    def test_it_warns_when_a_file_fills_up(self, vault: Vault) -> None:
        profile = small(vault, "/app", memory_chars_max=100)
        seen = [
            [each.code for each in profile.add(f"{n}" * 16).advice]
            for n in range(5)  # 18, 37, 56, 75, 94 characters
        ]
        assert seen == [[], [], [], [], ["profile_nearly_full"]]
        assert [each.code for each in profile.replace("4444", "4" * 8).advice] == [
            "profile_filling"
        ]
        assert [each.code for each in profile.read("MEMORY")[0].advice] == ["profile_filling"]

    @pytest.mark.row("D02")
    def test_room_is_configured(self, vault: Vault) -> None:
        profile = small(vault, "/app", user_chars_max=10, memory_chars_max=20)
        assert str(profile.add("12345678", "USER").gauge) == "[100% — 10/10 chars]"
        with raises(Refused, "entry_too_large"):
            profile.add("123456789", "USER")
        assert str(profile.add("123456789", "MEMORY").gauge) == "[55% — 11/20 chars]"

    @pytest.mark.row("D03", "D04")
    def test_a_session_begins_with_both_files_and_keeps_them(self, space: Space) -> None:
        profile = space.profile()
        profile.add("Runs on two cores", importance=90)
        profile.add("A fact of\n\n# two lines")
        profile.add("Prefers tea", "USER")
        begins = (
            "## USER.md: who the user is [0% — 13/1,375 chars]\n- Prefers tea\n\n"
            "## MEMORY.md: what holds here [2% — 46/2,200 chars]\n- Runs on two cores\n"
            "- A fact of\n\n  # two lines\n"
        )
        assert space.context().text == begins
        with space.session() as here:
            assert here.context().text == begins
            here.profile().add("Came later")
            here.profile().replace("tea", "Prefers coffee")
            here.profile().remove("two cores")
            assert here.context().text == begins
            changed = [
                (each.kind, each.file, each.entry.text, each.before)
                for each in here.profile().changes()
            ]
            assert changed == [
                ("added", "MEMORY", "Came later", ""),
                ("changed", "USER", "Prefers coffee", "Prefers tea"),
                ("removed", "MEMORY", "", ""),
            ]
        assert "Came later" in space.context().text
        with raises(Refused, "session_needed"):
            space.profile().changes()

    @pytest.mark.row("D03")
    def test_a_small_budget_takes_what_is_wanted_most(self, space: Space) -> None:
        profile = space.profile()
        for number, importance in enumerate((10, 90, 50, 50)):
            profile.add(f"fact {number} of this machine", importance=importance)
        whole = space.context().tokens
        lines = [space.context(budget).text.splitlines() for budget in range(1, whole + 1)]
        for shown in lines:
            kept = [line for line in shown if line.startswith("- ")]
            assert kept == [f"- fact {n} of this machine" for n in (1, 3, 2, 0)][: len(kept)]

    # Which entry

    @pytest.mark.row("D05")
    def test_an_entry_is_named_by_its_id_or_by_words_that_only_it_has(self, space: Space) -> None:
        profile = space.profile()
        tea = profile.add("Prefers green tea", "USER").entry
        profile.add("Prefers green walls", "USER")
        assert profile.get(tea.id) == profile.get(tea.handle) == profile.get("green TEA") == tea
        with raises(Ambiguous, "entry_ambiguous"):
            profile.get("green")
        with raises(NotFound, "entry_not_found"):
            profile.get("coffee")
        with raises(NotFound, "entry_not_found"):
            profile.get("tea", "MEMORY")
        with pytest.raises(Ambiguous, match=tea.handle):
            profile.remove("prefers")
        with pytest.raises(NotFound, match=tea.handle):
            profile.replace("prefers green coffee", "x")
        # What is the whole text of one entry is not a part of another.
        profile.add("Prefers green tea with milk", "USER")
        assert profile.get("prefers green tea") == tea

    @pytest.mark.row("D05")
    def test_replacing_makes_longer_and_shorter(self, space: Space) -> None:
        profile = space.profile()
        first = profile.add("Prefers tea", "USER").entry
        longer = profile.replace("tea", "Prefers tea in the morning")
        shorter = profile.replace(first.id, "Tea")
        assert [longer.outcome, shorter.outcome] == ["replaced", "replaced"]
        assert (shorter.entry.id, shorter.entry.state) == (first.id, "updated")
        assert in_file(profile, "USER") == ["Tea"]
        with raises(Conflict, "revision_moved"):
            profile.replace(first.id, "x", expect=first.revision)
        assert profile.replace(first.id, "Tea").outcome == "unchanged"

    @pytest.mark.row("D05")
    def test_removing_twice_changes_nothing(self, vault: Vault) -> None:
        profile = vault.space().profile()
        entry = profile.add("Prefers tea").entry
        assert profile.remove("prefers tea").outcome == "removed"
        before = vault.status().seq
        assert profile.remove(entry.id).outcome == "unchanged"
        assert vault.status().seq == before
        with raises(NotFound, "entry_not_found"):
            profile.remove("prefers tea")

    @pytest.mark.row("D05")
    @pytest.mark.parametrize("file", ["", "user.txt", "ALL", 7])
    def test_there_are_two_files(self, space: Space, file: str) -> None:
        with raises(InvalidInput, "file_unknown"):
            space.profile().add("x", file)

    # Twice the same

    @pytest.mark.row("D07")
    def test_what_is_there_is_not_kept_twice(self, vault: Vault) -> None:
        profile = vault.space().profile()
        first = profile.add("Prefers tea", "USER")
        before = vault.status().seq
        again = profile.add("  prefers\n TEA", "USER")
        other = profile.add("prefers tea", "MEMORY")
        assert (again.outcome, again.entry, vault.status().seq) == (
            "unchanged",
            first.entry,
            before,
        )
        assert (other.outcome, other.file) == ("unchanged", "USER")
        profile.add("Prefers coffee", "USER")
        taken = profile.replace("coffee", "PREFERS tea")
        assert (taken.outcome, taken.entry) == ("unchanged", first.entry)
        assert in_file(profile, "USER") == ["Prefers tea", "Prefers coffee"]
        assert profile.replace("tea", "PREFERS TEA").outcome == "replaced"

    @pytest.mark.row("D07")
    def test_what_is_nearly_there_is_shown(self, space: Space) -> None:
        profile = space.profile()
        first = profile.add("The deploy job runs on Tuesdays at 4 pm").entry
        near = profile.add("The deploy job runs at 4 pm on Tuesdays!")
        assert (near.outcome, near.near) == ("added", (first,))
        assert profile.add("The deploy job runs on Tuesdays at 3 pm").near == ()

    # Full

    @pytest.mark.row("D08")
    def test_a_full_file_gives_up_the_least_important_and_gives_it_back(
        self, vault: Vault, clock: ManualClock
    ) -> None:
        profile = small(vault, "/app", memory_chars_max=60)
        for text, importance, pinned in (
            ("old and important", 80, False),
            ("old and pinned", 0, True),
            ("dull, older", 20, False),
        ):
            profile.add(text, importance=importance, pinned=pinned)
            clock.advance(seconds=1)
        full = profile.add("dull, newer", importance=20)
        assert said(full.evicted) == ["dull, older"]
        assert full.gauge.chars == file_chars(in_file(profile, "MEMORY")) <= 60
        more = profile.add("a new one that is long", importance=0)
        assert said(more.evicted) == ["dull, newer", "old and important"]
        assert in_file(profile, "MEMORY") == ["old and pinned", "a new one that is long"]
        assert said(profile.archive()) == ["old and important", "dull, newer", "dull, older"]
        assert said(profile.archive("important")) == ["old and important"]
        assert said(profile.archive(file="USER")) == []
        assert profile.restore("important").outcome == "restored"
        assert in_file(profile, "MEMORY") == ["old and important", "old and pinned"]
        again = profile.add("DULL, older")
        assert (again.outcome, again.entry.text) == ("restored", "dull, older")
        with raises(NotFound, "entry_not_found"):
            profile.restore("dull, older but never there")

    @pytest.mark.row("D08")
    def test_what_cannot_fit_is_refused_whole(self, vault: Vault) -> None:
        profile = small(vault, "/app", memory_chars_max=40)
        profile.add("this is pinned", pinned=True)
        profile.add("this is not")
        before = vault.status().seq
        with raises(Refused, "entry_too_large"):
            profile.add("x" * 39)
        with raises(Refused, "profile_full"):
            profile.add("x" * 30)
        with raises(Refused, "entry_too_large"):
            profile.add("e" + "\u0301" * 10_000)
        assert vault.status().seq == before

    @pytest.mark.row("D08")
    def test_a_file_that_is_too_full_can_be_made_smaller(self, vault: Vault) -> None:
        profile = small(vault, "/app", memory_chars_max=100)
        for number in range(4):
            profile.add(f"{number}" * 20, pinned=True)
        profile = small(vault, "/app", memory_chars_max=30)
        shorter = profile.replace("1111", "1")
        assert (shorter.outcome, shorter.evicted) == ("replaced", ())
        assert profile.remove("2222").outcome == "removed"

    @pytest.mark.row("D20")
    def test_an_entry_is_pinned_and_rated(self, space: Space) -> None:
        profile = space.profile()
        profile.add("a fact")
        assert profile.pin("a fact").outcome == "pinned"
        assert profile.pin("a fact").outcome == "unchanged"
        rated = profile.pin("a fact", importance=7)
        assert (rated.outcome, rated.entry.importance, rated.entry.pinned) == ("rated", 7, True)
        assert profile.pin("a fact", pinned=False).entry.pinned is False
        with raises(InvalidInput, "importance_invalid"):
            profile.pin("a fact", importance=101)

    # Several at once

    @pytest.mark.row("D06")
    def test_a_batch_is_judged_by_what_it_ends_with(self, vault: Vault) -> None:
        profile = small(vault, "/app", memory_chars_max=60)
        profile.add("a" * 50)
        done = profile.batch(
            [
                {"op": "add", "text": "b" * 30},
                {"op": "add", "file": "USER", "text": "Prefers tea", "pinned": True},
                {"op": "replace", "entry": "aaa", "text": "a"},
                {"op": "add", "text": "c" * 18},
            ]
        )
        assert [step.outcome for step in done.steps] == ["added", "added", "replaced", "added"]
        assert done.evicted == ()
        assert sorted(in_file(profile, "MEMORY")) == ["a", "b" * 30, "c" * 18]
        assert [gauge.chars for gauge in done.gauges] == [13, 57]

    @pytest.mark.row("D06")
    def test_a_batch_is_done_whole_or_not_at_all(self, vault: Vault) -> None:
        profile = small(vault, "/app", memory_chars_max=60)
        profile.add("a" * 50)
        before = vault.status().seq
        for wrong, kind, code in (
            ({"op": "remove", "entry": "zzz"}, NotFound, "entry_not_found"),
            ({"op": "add", "text": "x" * 70}, Refused, "entry_too_large"),
            ({"op": "add", "text": "B"}, InvalidInput, "batch_repeats"),
            ({"op": "drop", "entry": "a"}, InvalidInput, "batch_invalid"),
            ({"op": "add"}, InvalidInput, "batch_invalid"),
        ):
            steps = [{"op": "remove", "entry": "aaa"}, {"op": "add", "text": "b"}, wrong]
            with raises(kind, code):
                profile.batch(steps)
        with raises(Refused, "profile_full"):
            profile.batch([{"op": "add", "text": each * 40} for each in "bc"])
        assert (vault.status().seq, in_file(profile, "MEMORY")) == (before, ["a" * 50])
        with raises(InvalidInput, "batch_invalid"):
            profile.batch([])
        for no_step in (1, None, "add", ["add"]):
            with raises(InvalidInput, "batch_invalid"):
                profile.batch(cast("list[dict[str, object]]", [no_step]))

    # Whose

    @pytest.mark.row("D21")
    def test_nobody_sees_or_writes_what_is_known_of_another(self, vault: Vault) -> None:
        ann, ben = (
            vault.space().seen_by(Caller(user=name, actor=Actor(kind="human", name=name)))
            for name in ("ann", "ben")
        )
        secret = ann.profile().add("Is looking for another job", "USER").entry
        ann.profile().add("Shared by all")
        mine = ann.profile().add("Only for ann", scope="user").entry
        assert in_file(ben.profile(), "USER") == []
        assert in_file(ben.profile(), "MEMORY") == ["Shared by all"]
        assert "job" not in ben.context().text
        for name in (secret.id, secret.handle, "another job", mine.id):
            with raises(NotFound, "entry_not_found"):
                ben.profile().remove(name)
            with raises(NotFound, "entry_not_found"):
                ben.profile().get(name)
        assert ben.profile().archive() == ()
        assert [each.text for each in ben.profile().timeline()] == ["Shared by all"]
        assert ben.profile().add("Is looking for another job", "USER").outcome == "added"
        ben.profile().reset("USER")
        assert in_file(ann.profile(), "USER") == ["Is looking for another job"]

    @pytest.mark.row("D21")
    def test_what_is_for_a_session_ends_with_it(self, space: Space) -> None:
        with space.session() as here:
            here.profile().add("Only here", scope="session")
            assert in_file(here.profile(), "MEMORY") == ["Only here"]
            assert in_file(space.profile(), "MEMORY") == []
        assert space.profile().archive() == ()
        with raises(Refused, "session_needed"):
            space.profile().add("Only here", scope="session")
        with raises(InvalidInput, "scope_invalid"):
            space.profile().add("x", scope="task")

    @pytest.mark.row("D08", "D21")
    def test_a_full_file_gives_up_nothing_of_another_user(self, vault: Vault) -> None:
        path = "/app"
        small(vault, path, user_chars_max=30)
        users = [vault.space("app").seen_by(Caller(user=name)).profile() for name in ("ann", "ben")]
        for user in users:
            user.add("x" * 20, "USER")
        assert said(users[0].add("y" * 20, "USER").evicted) == ["x" * 20]
        assert in_file(users[1], "USER") == ["x" * 20]

    # Reset, onboarding, timeline

    @pytest.mark.row("D19")
    def test_a_reset_can_be_taken_back(self, space: Space) -> None:
        profile = space.profile()
        profile.add("one")
        profile.add("two", pinned=True)
        profile.add("Prefers tea", "USER")
        reset = profile.reset("MEMORY")
        assert (said(reset.archived), reset.gauge.chars) == (["one", "two"], 0)
        assert in_file(profile, "USER") == ["Prefers tea"]
        profile.add("three")
        back = profile.undo_reset("MEMORY")
        assert said(back.restored) == ["one", "two"]
        assert in_file(profile, "MEMORY") == ["one", "two", "three"]
        assert profile.get("two").pinned
        with raises(Refused, "reset_unknown"):
            profile.undo_reset("MEMORY")

    @pytest.mark.row("D09", "D19")
    def test_onboarding_seeds_the_user_and_a_reset_leads_back_to_it(self, space: Space) -> None:
        profile = space.profile()
        answers = {"timezone": "Europe/Berlin", "name": "Sam", "tools": "vim,\ngit"}
        seeded = profile.onboard(answers)
        said_then = ["Name: Sam", "Tools: vim,\ngit", "Timezone: Europe/Berlin"]
        assert (said(seeded.entries), seeded.changed) == (said_then, 3)
        assert profile.onboard(answers).changed == 0
        profile.onboard({"name": "Sam", "tools": "emacs"})
        profile.add("Prefers tea", "USER")
        profile.replace("Berlin", "Timezone: UTC")
        profile.remove("sam")
        profile.onboard({"name": "Kim"})
        now = ["Tools: emacs", "Timezone: UTC", "Prefers tea", "Name: Kim"]
        assert in_file(profile, "USER") == now
        reset = profile.reset("USER", onboarding=True)
        assert said(reset.archived) == ["Prefers tea"]
        as_answered = ["Tools: emacs", "Timezone: Europe/Berlin", "Name: Kim"]
        assert in_file(profile, "USER") == as_answered
        profile.undo_reset("USER")
        assert in_file(profile, "USER") == now
        profile.reset("USER")
        profile.reset("USER", onboarding=True)
        assert in_file(profile, "USER") == as_answered
        with raises(InvalidInput, "answer_unknown"):
            profile.onboard({"shoe size": "44"})
        with raises(InvalidInput, "answers_missing"):
            profile.onboard({"name": ""})

    @pytest.mark.row("D23")
    def test_the_timeline_says_what_was_learned_when(
        self, vault: Vault, clock: ManualClock
    ) -> None:
        with vault.space().session() as here:
            entry = here.profile().add("Prefers tea", "USER", reason="said so").entry
        clock.advance(days=1)
        profile = vault.space().profile()
        profile.replace(profile.timeline()[0].entry, "Prefers coffee")
        profile.pin("coffee")
        profile.reset("USER")
        profile.undo_reset("USER")
        profile.add("something else")
        told = [(each.kind, each.text, each.entry) for each in profile.timeline("USER")]
        assert told == [
            ("restored", "Prefers coffee", entry.handle),
            ("archived", "Prefers coffee", entry.handle),
            ("changed", "Prefers coffee", entry.handle),
            ("added", "Prefers tea", entry.handle),
        ]
        first = profile.timeline("USER")[-1]
        assert (first.session, first.reason, first.origin) == (
            here.caller.session,
            "said so",
            "user",
        )
        assert (first.at, profile.timeline()[0].at) == (entry.created, vault_now(vault))
        assert [each.text for each in profile.timeline(limit=1)] == ["something else"]
        profile.remove(entry.id, reason="no longer")
        (gone,) = profile.timeline("USER")
        assert (gone.kind, gone.text, gone.entry) == ("removed", "", entry.handle)
        assert (gone.reason, gone.actor) == ("no longer", "human:local")


def vault_now(vault: Vault) -> datetime:
    return vault.log(LogQuery(limit=1))[0].at
