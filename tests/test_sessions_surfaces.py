"""The archive means the same from Python, from an agent's tools and from the shell."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in

import holdfast
from holdfast.testing import ManualClock
from holdfast.testing.binding import NOON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


def tools(space: Space) -> dict[str, Any]:
    return {tool.__name__: tool for tool in space.tools()}


def talked(cli: Cli, *said: tuple[str, str], title: str = "", source: str = "cli") -> str:
    session = cli.says("session", "start", *([title] if title else []), "--source", source).strip()
    for role, text in said:
        cli.says("session", "say", role, text, HOLDFAST_SESSION=session)
    return session


@pytest.mark.row("E01")
def test_what_is_said_in_the_shell_is_kept_whole(cli: Cli) -> None:
    session = talked(cli, ("user", "Deploy it\nnow"), title="Deploy")
    said = cli.json(
        "session", "say", "tool", "shipped", "--tool", "ship", "--call", "c1", "--id", "t1",
        "--session", session,
    )  # fmt: skip
    again = cli("session", "say", "tool", "shipped", "--id", "t1", "--session", session)
    assert again.stderr == "Said before, at place 2\n"
    assert (said["outcome"], said["message"]["place"], said["message"]["origin"]) == (
        "said",
        2,
        "tool",
    )
    assert cli.says("session", "show", session) == (
        "1  2026-01-15 12:00  user\n    Deploy it\n    now\n2  2026-01-15 12:00  tool ship\n"
        "    shipped\n"
    )
    assert "Deploy it" not in cli.says("context")
    assert cli.refuses("session", "say", "user", "to nobody") == "session_needed"


@pytest.mark.row("E01")
def test_a_declared_store_leaves_tool_results_out_in_the_shell(cli: Cli) -> None:
    (cli.folder / "workspace.yml").write_text(
        "name: app\nmemory:\n  own:\n    - {name: talks, strategy: transcript, "
        "tool_results: false}\n"
    )
    session = talked(cli, ("user", "what is the weather"), ("tool", "rain and hail"))
    assert "[13 bytes are not kept]" in cli.says("session", "show", session)
    assert cli("session", "search", "hail").stderr == "Nothing was found\n"


@pytest.mark.row("E02", "E09")
def test_a_search_in_the_shell_gives_a_row_a_session(cli: Cli) -> None:
    talked(cli, ("user", "the zebra sleeps"), ("assistant", "let it"), title="Zoo")
    talked(cli, ("user", "a zebra crossing"), source="mcp", title="Street")
    cli.clock.advance(days=3)
    talked(cli, ("assistant", "one more zebra"), title="Late")
    found = cli.json("session", "search", "zebra sleeps OR crossing")
    assert {hit["title"] for hit in found} == {"Zoo", "Street"}
    late = cli.json("session", "search", "zebra", "--since", "2026-01-17")
    assert [hit["title"] for hit in late] == ["Late"]
    (hit,) = cli.json("session", "search", "zebra", "--source", "mcp", "--role", "user")
    assert (hit["title"], hit["caution"]) == (
        "Street",
        "said on 2026-01-15, 3 days ago; it may be outdated",
    )
    shown = cli.says("session", "search", "sleeps")
    assert "Zoo  (cli, said on 2026-01-15, 3 days ago; it may be outdated)" in shown
    assert "  > 1 user: the zebra sleeps\n    2 assistant: let it" in shown


@pytest.mark.row("E03", "E06")
def test_sessions_are_listed_and_scrolled_in_the_shell(cli: Cli) -> None:
    session = talked(cli, *(("user", f"line {number}") for number in range(1, 8)))
    cli.clock.advance(seconds=60)
    talked(cli, ("user", "nightly run"), source="cron")
    talked(cli, ("user", "unseen"), source="internal")
    rows = cli.json("session", "list")
    assert [(row["title"], row["class"], row["messages"]) for row in rows] == [
        ("line 1", "person", 7),
        ("nightly run", "automation", 1),
    ]
    around = cli("session", "show", session, "--around", "4", "--limit", "3")
    assert [line for line in around.stdout.splitlines() if line.startswith("    ")] == [
        "    line 3",
        "    line 4",
        "    line 5",
    ]
    assert around.stderr == "More: add --place 6\n"
    assert cli("session", "search", "unseen").stderr == "Nothing was found\n"
    assert cli.json("session", "end", session)["state"] == "ended"
    assert [row["title"] for row in cli.json("session", "list", "--state", "ended")] == ["line 1"]


QUERIES = ("", '"', "NOT", "(((", "zebra*", "a OR", "\ud800", "北", "AND OR NOT", "x" * 20_000)


@pytest.mark.row("E04")
def test_no_query_is_a_syntax_error_on_any_surface(cli: Cli, space: Space) -> None:
    with space.session() as here:
        here.say("user", "the zebra and the lion")
    for query in QUERIES:
        tools(space)["session_search"](query)
        if "\ud800" not in query and query:
            assert cli("session", "search", "--", query).exit == 0

    def found(query: str) -> int:
        return len(tools(space)["session_search"](query))

    assert [found(q) for q in ("zebra lion", "zebra ape", "zebra OR ape", "zebra NOT lion")] == [
        1,
        0,
        1,
        0,
    ]
    assert [found(q) for q in ('"the lion"', '"lion the"', "zeb*", "eb*")] == [1, 0, 1, 0]


SCRIPTS = {
    "Chinese": ("我们把服务器搬到了法兰克福", "法兰克福"),
    "Japanese": ("来週の会議は大阪で開きます", "会議"),
    "Korean": ("배포는 매주 화요일에 합니다", "화요일"),
    "Thai": ("เราย้ายเซิร์ฟเวอร์ไปที่เชียงใหม่", "เชียงใหม่"),
    "Arabic": ("نقلنا الخادم إلى دبي", "الخادم"),
    "accents": ("Le café est fermé à Orléans", "cafe orleans"),
    "emoji": ("the build is 🟢 now", "🟢"),
    "identifiers": ("call getUserById in user_store.py", "user_store.py"),
    "one letter": ("write it in C not in R", "R"),
}


@pytest.mark.row("E05")
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_found_on_every_surface(cli: Cli, script: str) -> None:
    text, query = SCRIPTS[script]
    session = talked(cli, ("user", text), ("user", "something else"))
    (hit,) = cli.json("session", "search", query)
    assert (hit["session"], hit["place"], hit["snippet"]) == (session, 1, text)
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        (found,) = tools(vault.space())["session_search"](query)
        assert [found.snippet[start:end] for start, end in found.marks]


@pytest.mark.row("E02", "E03", "E06", "E09")
def test_an_agent_searches_reads_and_lists_with_one_tool(space: Space, clock: ManualClock) -> None:
    with space.session("Zoo") as here:
        offered = tools(here)
        for number in range(1, 8):
            offered["session_say"]("user", f"the zebra {number}")
        offered["session_say"]("tool", "a page says so", tool="fetch")
        session = here.caller.session
    with space.session("Night", source="cron") as here:
        here.say("user", "the zebra at night")
    clock.advance(days=1)
    search = tools(space)["session_search"]
    hits = search("zebra")
    assert [(hit.title, hit.kind) for hit in hits] == [("Zoo", "person"), ("Night", "automation")]
    assert hits[0].caution == "said on 2026-01-15, 1 day ago; it may be outdated"
    assert search("zebra", since=NOON + timedelta(hours=1)) == ()
    assert len(search("zebra", until="2026-01-16")) == 2
    talk = search(session=session, around=4, limit=3)
    assert [m.text for m in talk.messages] == ["the zebra 3", "the zebra 4", "the zebra 5"]
    assert [each.title for each in search()] == ["Zoo", "Night"]
    assert [m.origin for m in space.transcript().read(str(session), place=8).messages] == ["tool"]


@pytest.mark.row("E07")
def test_taking_back_and_summing_up_in_the_shell(cli: Cli) -> None:
    session = talked(
        cli, ("user", "the lion"), ("tool", "an ape"), ("user", "the zebra"), ("user", "the fox")
    )
    assert cli.json("session", "rewind", "3", session) == {"rewound": 1}
    assert cli("session", "search", "fox").stderr == "Nothing was found\n"
    assert "user, rewound\n    the fox" in cli.says("session", "show", session)
    summary = cli.json(
        "session", "compact", "3", "--summary", "Of a lion and an ape", "--session", session
    )
    assert summary["compacted"] == 3
    (hit,) = cli.json("session", "search", "zebra")
    assert hit["compacted"] is True
    (hit,) = cli.json("session", "search", "lion ape")
    assert (hit["compacted"], hit["trust"], hit["role"]) == (False, "low", "assistant")
    assert cli.refuses("session", "rewind", "9", session) == "place_invalid"


@pytest.mark.row("E07")
def test_a_summary_is_trusted_no_further_than_what_it_sums_up(space: Space) -> None:
    def told(role: Any, text: str, **more: Any) -> tuple[str, str]:
        with space.session() as here:
            archive = here.transcript()
            here.say("user", "Look it up")
            archive.say(role, text, **more)
            here.say("user", "I see")
            session = str(here.caller.session)
            archive.compact(session, 3, "The user is rich")
            archive.compact(session, 3, "The user is rich")
            *_, said = archive.read(session).messages
            assert (said.place, said.text) == (4, "The user is rich")
        return said.origin, said.trust

    assert told("tool", "The user is rich", origin="web") == ("web", "low")
    assert told("tool", "rich") == ("tool", "low")
    assert told("assistant", "You may be rich") == ("agent", "medium")
