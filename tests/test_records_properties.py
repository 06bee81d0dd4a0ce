"""Records against plain models: sections of any text, and any order of what may be done."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from records_kit import subjects

import holdfast
from holdfast.core.records.body import first_sentence, subject_of
from holdfast.core.records.sections import find_section, headings, outline, section_text
from holdfast.errors import HoldfastError
from holdfast.testing import ManualClock

lines = st.sampled_from(
    [
        *(
            "# A",
            "## A",
            "## B",
            "### A > B",
            "# A[1]",
            "#",
            "####### no",
            "#no",
            "   # C",
            "    # no",
        ),
        *("A", "===", "---", "- item", "> quote", "```", "~~~~", "```sh", "~~~", "<!--", "-->", ""),
        *("text", "\ttab", "1. one", "| a | b |", "***", "# D #", "\r", "日本", "a\x0bb", "\u2028"),
    ]
)
documents = st.lists(lines, max_size=30).map("\n".join) | st.text(max_size=200)


@pytest.mark.row("G09")
@settings(max_examples=150, deadline=None)
@given(documents)
def test_every_section_that_is_shown_is_found_again(text: str) -> None:
    found = headings(text)
    paths = outline(found, len(found))
    assert len(paths) == len(found)
    count = text.count("\n") + 1
    for heading in found:
        assert 0 <= heading.first < heading.end <= count
        assert 1 <= heading.level <= 6
        assert section_text(text, heading) in text
    for one, other in pairwise(found):
        assert one.first < other.first
        assert other.first <= one.end  # a section goes on to the next of its level
        assert (other.end <= one.end) or other.first == one.end
    plain = [path for path in paths if path.strip() and ">" not in path and "[" not in path]
    for path in plain:
        if all(each.strip() for each in path.split("/")):
            assert find_section(found, path).path[-1].casefold().split() == path.casefold().split()


@given(st.text(min_size=1, max_size=400).filter(str.strip))
def test_any_text_has_a_subject_of_one_line(text: str) -> None:
    for line in (subject_of(text, is_fields=False), first_sentence(text)):
        assert len(line) <= 160
    made = subject_of(text, is_fields=False)
    assert made.isprintable()
    assert 1 <= len(made) <= 81
    assert made == " ".join(made.split())


class Life(RuleBasedStateMachine):
    """What each of a few records says and where it stands, as a dict would have it."""

    @initialize()
    def begin(self) -> None:
        self.clock = ManualClock()
        self.vault = holdfast.open("memory:", clock=self.clock)
        space = self.vault.space()
        self.here = space.seen_by(space.caller.replace(session=space.start_session().id))
        self.other = space.seen_by(space.caller.replace(session=space.start_session().id))
        self.model: dict[str, tuple[str, str, int]] = {}  # id: text, state, support
        self.told: dict[str, list[str]] = {}
        self.gone: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "vault"):
            assert list(self.vault.verify()) == []
            self.vault.close()

    def _short(self, *states: str) -> list[str]:
        return sorted(name[-8:] for name, known in self.model.items() if known[1] in states)

    def _names(self) -> list[str]:
        return sorted(self.model)

    @rule(name=st.sampled_from("abcde"))
    def add(self, name: str) -> None:
        """Only what nothing said before, or what is said now: else two would say the same."""
        text = f"record {name}"
        said = [each for each, told in self.told.items() if text in told]
        if any(self.model[each][0] != text or not self.model[each][1] for each in said):
            return
        added = self.here.records().add(text, subject=name, kind="fix", id=None)
        known = next(
            (each for each, (said, state, _) in self.model.items() if said == text and state), None
        )
        if known is None:
            assert added.outcome == "added"
            self.model[added.entry.id] = (text, "draft", 0)
            self.told[added.entry.id] = [text]
        else:
            said, state, support = self.model[known]
            assert (added.outcome, added.entry.id) == ("again", known)
            self.model[known] = (said, state, support + 1)

    @rule(place=st.integers(0, 9))
    def update(self, place: int) -> None:
        names = self._names()
        if not names:
            return
        name = names[place % len(names)]
        _, state, support = self.model[name]
        new = f"v{len(self.told[name])} {name}"
        try:
            self.here.records().update(name, new)
        except HoldfastError as error:
            assert (error.code, state) == ("entry_forgotten", "")
            return
        assert state
        self.told[name].append(new)
        after = "draft" if state == "draft" else "updated"
        self.model[name] = (new, after, support + (state == "draft"))

    @rule(place=st.integers(0, 9))
    def promote(self, place: int) -> None:
        names = self._names()
        if not names:
            return
        name = names[place % len(names)]
        text, state, support = self.model[name]
        try:
            self.here.records().promote(name)
        except HoldfastError as error:
            wanted = {"": "entry_forgotten", "draft": "support_missing"}[state]
            assert error.code == wanted
            assert state == "" or support == 0
            return
        assert state in ("confirmed", "updated") or support > 0
        self.model[name] = (text, "confirmed" if state == "draft" else state, support)

    @rule(place=st.integers(0, 9))
    def forget(self, place: int) -> None:
        names = self._names()
        if names:
            name = names[place % len(names)]
            text, _, support = self.model[name]
            self.here.records().forget(name)
            self.model[name] = (text, "", support)

    @rule(place=st.integers(0, 9))
    def revert(self, place: int) -> None:
        names = self._names()
        if not names:
            return
        name = names[place % len(names)]
        text, state, support = self.model[name]
        before = next((each for each in reversed(self.told[name]) if each != text), None)
        try:
            self.here.records().revert(name)
        except HoldfastError as error:
            assert error.code in ("version_first", "entry_forgotten", "version_not_found")
            assert before is None or not state
            return
        assert before is not None
        self.told[name].append(before)
        after = "draft" if state == "draft" else "updated"
        self.model[name] = (before, after, support + (state == "draft"))

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        if not hasattr(self, "model"):
            return
        mine, others = self.here.records(), self.other.records()
        for name, (text, state, _) in self.model.items():
            found = mine.read(name)
            assert (found.body, found.entry.state) == (
                text if state else "",
                state or "forgotten",
            )
        shown = sorted(
            name[-8:] for name, (_, state, _) in self.model.items() if state[:1] in "cu" and state
        )
        drafts = sorted(name[-8:] for name, (_, state, _) in self.model.items() if state == "draft")
        assert sorted(row.id for row in others.list()) == shown
        assert sorted(row.id for row in mine.list("draft")) == drafts
        assert subjects(others.list("draft")) == []
        assert sorted(row.id for row in others.search(limit=50)) == shown
        assert sorted(row.id for row in mine.search(limit=50)) == sorted(shown + drafts)


TestLife = pytest.mark.row("G03", "G04", "G05", "G18")(Life.TestCase)
TestLife.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
