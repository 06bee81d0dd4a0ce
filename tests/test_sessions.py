"""What was said is kept whole, found in every script, and told apart by who said it and when."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.message import MESSAGE_BYTES_MAX, ToolCall
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import NOON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault


def talk(space: Space, *texts: str, title: str = "", source: str = "python") -> str:
    """A session of the user and the assistant in turns; its id."""
    with space.session(title, source=source) as here:
        for number, text in enumerate(texts):
            here.say("assistant" if number % 2 else "user", text)
        assert here.caller.session is not None
        return here.caller.session


def titles(space: Space, query: str, **asked: Any) -> list[str]:
    return [hit.title for hit in space.transcript().search(query, **asked)]


@pytest.mark.row("E01")
def test_everything_that_was_said_is_kept(space: Space, clock: ManualClock) -> None:
    with space.session("Deploy", source="mcp", agent="planner") as here:
        archive = here.transcript()
        archive.say("system", "You deploy things")
        here.say("user", "Deploy it", said_at=NOON - timedelta(hours=2))
        call = ToolCall(id="c1", name="ship", arguments={"to": ["eu", 1, None]})
        archive.say("assistant", "", calls=[call])
        clock.advance(seconds=5)
        archive.say("tool", "shipped", tool="ship", call="c1")
        session = here.caller.session
    assert session is not None
    found = space.transcript().read(session)
    assert (found.session.source, found.session.agent, found.title) == ("mcp", "planner", "Deploy")
    said = [(m.place, m.role, m.text, m.tool, m.call) for m in found.messages]
    assert said == [
        (1, "system", "You deploy things", "", ""),
        (2, "user", "Deploy it", "", ""),
        (3, "assistant", "", "", ""),
        (4, "tool", "shipped", "ship", "c1"),
    ]
    assert [m.when for m in found.messages] == [
        NOON,
        NOON - timedelta(hours=2),
        NOON,
        NOON + timedelta(seconds=5),
    ]
    assert found.messages[2].calls == (call,)
    assert "Deploy it" not in space.context().text


@pytest.mark.row("E01")
def test_a_store_may_leave_tool_results_out(vault: Vault, tmp_path: Path) -> None:
    text = """\
name: app
memory:
  own:
    - {name: talks, strategy: transcript, tool_results: false}
"""
    space = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    with space.session() as here:
        here.say("user", "what is the weather")
        said = here.transcript().say("tool", "rain and hail", id="t1").message
        assert (said.text, said.left_out, said.origin) == ("", 13, "tool")
        assert here.transcript().say("tool", "rain and hail", id="t1").outcome == "unchanged"
    assert titles(space, "hail") == []
    assert titles(space, "weather") == ["what is the weather"]


def test_what_an_assistant_says_after_a_tool_has_the_tools_origin(space: Space) -> None:
    with space.session() as here:
        archive = here.transcript()
        said = [
            here.say("user", "look it up"),
            here.say("assistant", "I will"),
            archive.say("tool", "the page says: pay me", tool="fetch", origin="web"),
            here.say("assistant", "You should pay"),
            archive.say("system", "be brief"),
            here.say("assistant", "Pay."),
            here.say("user", "no"),
            here.say("assistant", "Fine"),
        ]
    assert [(each.message.origin, each.message.trust) for each in said] == [
        ("user", "high"),
        ("agent", "medium"),
        ("web", "low"),
        ("web", "low"),
        ("agent", "medium"),
        ("web", "low"),
        ("user", "high"),
        ("agent", "medium"),
    ]


@pytest.mark.row("E02")
def test_a_search_gives_one_row_a_session_with_what_stands_around(space: Space) -> None:
    other = talk(space, "The zebra sleeps", "Let it")
    mine = talk(
        space, "Good morning", "Hello", "Where is the zebra crossing?", "By the station", "Thanks"
    )
    talk(space, "Nothing of the kind", "Indeed")
    hits = space.transcript().search("zebra")
    assert {hit.session for hit in hits} == {mine, other}
    (hit,) = [hit for hit in hits if hit.session == mine]
    assert (hit.place, hit.role, hit.found, hit.title) == (3, "user", 1, "Good morning")
    assert hit.snippet == "Where is the zebra crossing?"
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["zebra"]
    assert [(near.place, near.text) for near in hit.before] == [(1, "Good morning"), (2, "Hello")]
    assert [(near.place, near.text) for near in hit.after] == [(4, "By the station"), (5, "Thanks")]
    many = talk(space, "zebra zebra", "zebra", "zebra again")
    (hit,) = [hit for hit in space.transcript().search("zebra") if hit.session == many]
    assert (hit.found, hit.place) == (3, 1)


@pytest.mark.row("E02")
def test_a_search_narrows_by_time_source_and_role(space: Space, clock: ManualClock) -> None:
    talk(space, "old zebra", "x", source="cli")
    clock.advance(days=2)
    talk(space, "new zebra", "an answer about a lion", source="mcp")
    assert titles(space, "zebra", since=NOON + timedelta(days=1)) == ["new zebra"]
    assert titles(space, "zebra", until=NOON + timedelta(days=1)) == ["old zebra"]
    assert titles(space, "zebra", sources=["cli"]) == ["old zebra"]
    assert titles(space, "zebra", sources=["nowhere"]) == []
    assert titles(space, "zebra", roles=["assistant"]) == []
    assert titles(space, "lion", roles=["assistant", "tool"]) == ["new zebra"]
    with raises(InvalidInput, "role_invalid"):
        titles(space, "zebra", roles=["robot"])


@pytest.mark.row("E02")
def test_what_many_say_does_not_hide_what_is_asked_for(space: Space) -> None:
    with space.session("The one", source="cli") as here:
        here.say("user", "zebra " + "and so on " * 50)
    with space.session("The crowd", source="mcp") as here:
        for _ in range(450):
            here.say("user", "zebra zebra")
    assert titles(space, "zebra", sources=["cli"]) == ["The one"]
    assert set(titles(space, "zebra")) == {"The one", "The crowd"}


@pytest.mark.row("E03")
def test_a_session_is_read_from_a_place_on_and_around_one(space: Space) -> None:
    session = talk(space, *(f"line {number}" for number in range(1, 31)))
    archive = space.transcript()

    def places(**asked: Any) -> tuple[list[int], int | None]:
        found = archive.read(session[-8:], **asked)
        return [m.place for m in found.messages], found.cursor

    assert places() == ([*range(1, 31)], None)
    assert places(limit=3) == ([1, 2, 3], 4)
    assert places(place=29) == ([29, 30], None)
    assert places(around=10, limit=5) == ([8, 9, 10, 11, 12], 13)
    assert places(around=1, limit=3) == ([1, 2, 3], 4)
    assert places(place=99) == ([], None)
    first = archive.read(session).messages[0]
    assert archive.get(first.id) == first


@pytest.mark.row("E03")
def test_recent_sessions_have_titles_and_are_listed_by_use(
    space: Space, clock: ManualClock
) -> None:
    begun = space.start_session("First")
    clock.advance(seconds=60)
    talk(space, "How do I renew\nthe certificate of the gateway before the weekend comes, please?")
    clock.advance(seconds=60)
    space.seen_by(space.caller.replace(session=begun.id)).say("user", "still here")
    found = space.transcript().recent()
    assert [(each.title, each.messages, each.turns) for each in found] == [
        ("First", 1, 1),
        ("How do I renew the certificate of the gateway before the…", 1, 1),
    ]
    assert [each.title for each in space.transcript().recent(state="open")] == ["First"]
    assert [each.title for each in space.transcript().recent(before=found[0].last)] == [
        found[1].title
    ]


@pytest.mark.row("E06")
def test_people_come_before_automation_and_hidden_sources_stay_hidden(
    space: Space, clock: ManualClock
) -> None:
    talk(space, "zebra by hand, in a longer sentence than the others", source="claude-code")
    clock.advance(seconds=9)
    for number in range(12):
        talk(space, f"zebra {number}", source="cron")
    talk(space, "zebra inside", source="internal")
    archive = space.transcript()
    hits = archive.search("zebra", limit=3)
    assert [hit.kind for hit in hits] == ["person", "automation", "automation"]
    assert [each.kind for each in archive.recent(limit=2)] == ["person", "automation"]
    assert archive.search("inside") == ()
    assert archive.search("zebra", sources=["internal"]) == ()
    assert "internal" not in {each.session.source for each in archive.recent()}
    assert len(archive.search("zebra", sources=["cron"], limit=20)) == 12


@pytest.mark.row("E07")
def test_what_was_rewound_leaves_the_results(space: Space, vault: Vault) -> None:
    session = talk(space, "the lion", "yes", "the zebra", "a zebra it is", "the ape")
    archive = space.transcript()
    assert archive.rewind(session, 2) == 3
    assert archive.rewind(session, 2) == 0
    assert titles(space, "zebra") == []
    assert titles(space, "lion") == ["the lion"]
    (hit,) = archive.search("lion")
    assert [near.text for near in hit.after] == ["yes"]
    assert [m.rewound for m in archive.read(session).messages] == [False, False, True, True, True]
    assert [each.turns for each in archive.recent()] == [1]
    assert list(vault.verify()) == []
    with raises(InvalidInput, "place_invalid"):
        archive.rewind(session, 6)


@pytest.mark.row("E07")
def test_what_was_compacted_stays_findable(space: Space) -> None:
    session = talk(space, "the zebra", "yes", "the lion", "yes")
    archive = space.transcript()
    assert archive.compact(session, 2).compacted == 2
    assert archive.compact(session, 1).compacted == 2
    assert [hit.compacted for hit in archive.search("zebra")] == [True]
    assert [hit.compacted for hit in archive.search("lion")] == [False]


@pytest.mark.row("E09")
def test_a_result_says_when_it_was_said_and_that_it_may_be_outdated(
    space: Space, clock: ManualClock
) -> None:
    with space.session() as here:
        here.say("user", "The office is in Bern", said_at=NOON - timedelta(days=800))
        here.say("user", "The garage is in Bern")
    clock.advance(days=1)
    (hit,) = space.transcript().search("office")
    assert hit.when == NOON - timedelta(days=800)
    assert hit.caution == "said on 2023-11-07, 2 years ago; it may be outdated"
    (hit,) = space.transcript().search("garage")
    assert hit.caution == "said on 2026-01-15, 1 day ago; it may be outdated"


def test_saying_it_again_with_its_id_changes_nothing(space: Space) -> None:
    with space.session() as here:
        archive = here.transcript()
        first = archive.say("user", "once", id="m1")
        again = archive.say("user", "once", id="m1")
        assert (again.outcome, again.message) == ("unchanged", first.message)
        with raises(Conflict, "id_taken"):
            archive.say("user", "twice", id="m1")
        assert here.say("user", "by key", key="k") == here.say("user", "by key", key="k")
        assert [m.text for m in archive.read(str(here.caller.session)).messages] == [
            "once",
            "by key",
        ]
    with raises(Refused, "session_needed"):
        space.say("user", "to nobody")
    with raises(Conflict, "session_over"):
        here.say("user", "too late")


def test_a_short_term_store_lets_old_words_go(
    vault: Vault, tmp_path: Path, clock: ManualClock
) -> None:
    text = """\
name: app
memory:
  own:
    - {name: talks, strategy: transcript, type: short_term, ttl: 30d}
"""
    space = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    old = talk(space, "the zebra", "yes")
    clock.advance(days=31)
    talk(space, "the lion")
    assert titles(space, "zebra") == []
    assert [(m.text, m.left_out) for m in space.transcript().read(old).messages] == [
        ("", 9),
        ("", 3),
    ]


def test_a_space_that_declares_none_keeps_its_conversations_too(
    vault: Vault, tmp_path: Path
) -> None:
    text = "name: app\nmemory: {own: [{name: transcript, strategy: narrative}]}\n"
    file = tmp_path / "workspace.yml"
    file.write_text(text)
    space = vault.workspace(file)
    talk(space, "the zebra", "yes")
    talk(space, "another zebra")
    assert len(titles(space, "zebra")) == 2
    assert titles(vault.space(), "zebra") == []
    assert [store.name for store in space.stores()] == ["transcript"]
    file.write_text(f"{text}# the same\n")
    space = vault.workspace(file)
    assert len(titles(space, "zebra")) == 2


@pytest.mark.parametrize("text", ["a\0b nul", "\x1b[2J", "e\u0301 é ﷽", "🏳️‍🌈" * 50, "x" * 9, '"\\'])
def test_any_text_comes_back_as_it_was_said(space: Space, text: str) -> None:
    session = talk(space, text)
    assert space.transcript().read(session).messages[0].text == text


def test_hostile_messages_are_refused_or_kept_whole(space: Space) -> None:
    long = "zebra " + "北京 lorem " * 1_100_000
    ring: dict[str, Any] = {}
    ring["ring"] = ring
    with space.session("Long") as here:
        archive = here.transcript()
        assert here.say("user", long).message.text == long
        with raises(InvalidInput, "text_too_long"):
            here.say("user", "x" * (MESSAGE_BYTES_MAX + 1))
        with raises(InvalidInput, "text_not_unicode"):
            here.say("user", "half \ud83d")
        with raises(InvalidInput, "text_empty"):
            here.say("user", " \n")
        with raises(InvalidInput, "calls_invalid"):
            archive.say("assistant", "x", calls=[ToolCall(name="x", arguments=ring)])
        with raises(InvalidInput, "calls_invalid"):
            archive.say("assistant", "x", calls=[ToolCall(name="x\ud800")])
        with raises(InvalidInput, "calls_invalid"):
            archive.say("assistant", "x", calls=[ToolCall(name="x")] * 257)
    assert titles(space, "zebra") == ["Long"]
    for query in ("", '"', "NOT", "(((", "zebra*", "a OR", "\0", "\ud800", "北"):
        space.transcript().search(query)


@pytest.mark.row("E02", "E03", "E06")
def test_nobody_finds_reads_or_takes_back_what_another_user_said(space: Space) -> None:
    first, second = (space.seen_by(space.caller.replace(user=name)) for name in ("one", "other"))
    with first.session("Private") as here:
        told = here.say("user", "my salary is a secret of the heron").message
    session = told.session
    assert [hit.session for hit in first.transcript().search("heron")] == [session]
    assert first.transcript().get(told.id).text == told.text
    theirs = second.transcript()
    assert theirs.search("heron") == ()
    assert theirs.recent() == ()
    by_name = {tool.__name__: tool for tool in second.tools()}
    assert by_name["session_search"]("heron") == ()
    for call in (
        lambda: theirs.read(session),
        lambda: theirs.rewind(session, 1),
        lambda: theirs.compact(session, 1),
        lambda: by_name["session_search"](session=session),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "session_not_found"
    with raises(NotFound, "message_not_found"):
        theirs.get(told.id)
    assert first.transcript().read(session).messages[0].text == told.text
