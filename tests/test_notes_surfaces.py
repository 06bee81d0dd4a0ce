"""Notes mean the same wherever they are saved and read: Python, awaited, tools, shell."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from cli_snapshot import run_inside

import holdfast
from holdfast import aio
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, NotFound
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import NOON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

DECLARED = """\
name: app
memory:
  own:
    - {name: decisions, strategy: narrative}
    - {name: lessons, strategy: narrative}
    - {name: recent, type: short_term, strategy: narrative}
"""


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


@pytest.fixture
def space(vault: Vault, tmp_path: Path) -> Space:
    (tmp_path / "workspace.yml").write_text(DECLARED)
    return vault.declare(parse_workspace(DECLARED, tmp_path / "workspace.yml"))


def tools(space: Space) -> dict[str, Any]:
    return {tool.__name__: tool for tool in space.tools()}


def texts(page: Any) -> list[str]:
    return [entry.text for entry in page.entries]


@pytest.mark.row("H04")
def test_an_agents_tool_saves_to_a_declared_store(space: Space) -> None:
    save = tools(space)["memory_save"]
    entry = save("decisions", "We use tabs", id="tabs", metadata={"lang": "go"}).entry
    assert entry == space.notes("decisions").get("tabs")
    assert (entry.text, dict(entry.metadata), entry.origin) == (
        "We use tabs",
        {"lang": "go"},
        "agent",
    )
    assert save("decisions", "no id needed").entry.given_id is None
    with pytest.raises(NotFound, match="declared: decisions, lessons, recent") as caught:
        save("desicions", "lost?")
    assert caught.value.code == "store_not_declared"
    assert [texts(space.notes(name).read()) for name in ("decisions", "lessons", "recent")] == [
        ["no id needed", "We use tabs"],
        [],
        [],
    ]


@pytest.mark.row("H14")
def test_an_agents_tool_never_drops_what_it_reports_as_saved(space: Space) -> None:
    save = tools(space)["memory_save"]
    first = save("decisions", "We use tabs", id="tabs")
    again = save("decisions", "We use tabs", id="tabs")
    assert (first.outcome, again.outcome, again.entry) == ("saved", "unchanged", first.entry)
    with raises(Conflict, "id_taken"):
        save("decisions", "We use blanks", id="tabs")
    assert texts(space.notes("decisions").read()) == ["We use tabs"]


@pytest.mark.row("H05")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["n5", "n4", "n3", "n2", "n1", "n0"]),
        ({"order": "oldest", "limit": 2}, ["n0", "n1"]),
        ({"limit": 3}, ["n5", "n4", "n3"]),
        (
            {"since": NOON + timedelta(days=1), "until": NOON + timedelta(days=4)},
            ["n4", "n3", "n2"],
        ),
        ({"text": "n2"}, ["n2"]),
        ({"metadata": {"odd": "1"}}, ["n5", "n3", "n1"]),
        ({"metadata": {"odd": "1"}, "limit": 1, "order": "oldest"}, ["n1"]),
    ],
    ids=str,
)
def test_every_surface_reads_the_same_newest_first(
    space: Space,
    clock: ManualClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: dict[str, Any],
    found: list[str],
) -> None:
    notes = space.notes("lessons")
    for number in (0, 1, 3, 2, 4, 5):  # saved in another order than they became true in
        said_at = NOON + timedelta(days=number, hours=-1)
        clock.us = max(clock.us, ManualClock().us + number * 86_400_000_000)
        notes.save(f"n{number}", metadata={"odd": str(number % 2)}, said_at=said_at)
    cursor = notes.read(**query).cursor
    assert texts(notes.read(**query)) == found
    assert texts(tools(space)["memory_read"]("lessons", **query)) == found
    assert asyncio.run(awaited(tmp_path / "vault", query)) == found
    shell = in_shell(tmp_path, monkeypatch, query)
    assert [entry["text"] for entry in shell["entries"]] == found
    assert shell["cursor"] == cursor
    if cursor is not None:
        rest = texts(tools(space)["memory_read"]("lessons", **{**query, "cursor": cursor}))
        page = in_shell(tmp_path, monkeypatch, {**query, "cursor": cursor})
        assert [entry["text"] for entry in page["entries"]] == rest
        assert not set(rest) & set(found)


async def awaited(where: Path, query: dict[str, Any]) -> list[str]:
    async with aio.open(where) as vault:
        notes = await (await vault.space("app")).notes("lessons")
        return texts(await notes.read(**query))


def in_shell(folder: Path, monkeypatch: pytest.MonkeyPatch, query: dict[str, Any]) -> Any:
    monkeypatch.chdir(folder)
    words = ["note", "read", "--store", "lessons", "--json"]
    for name, value in query.items():
        if name == "metadata":
            words += [f"--meta={key}={text}" for key, text in value.items()]
        else:
            words.append(f"--{name}={value.isoformat() if name in ('since', 'until') else value}")
    result = run_inside(words, env={"HOLDFAST_VAULT": str(folder / "vault")})
    assert (result.exit, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.mark.row("H06")
def test_an_agents_tool_removes_once(space: Space) -> None:
    named = tools(space)
    entry = named["memory_save"]("decisions", "We use tabs").entry
    first, second = (named["memory_remove"]("decisions", entry.id) for _ in range(2))
    assert (first.outcome, second.outcome) == ("removed", "unchanged")
    told = [(each.entry.id, each.entry.state, each.entry.text) for each in (first, second)]
    assert told == [(entry.id, "forgotten", "We use tabs"), (entry.id, "forgotten", "")]
    assert texts(named["memory_read"]("decisions")) == []
    with raises(NotFound, "entry_not_found"):
        named["memory_remove"]("lessons", entry.id)


@pytest.mark.row("H07")
def test_a_short_term_store_keeps_two_hundred_for_thirty_days(
    space: Space, clock: ManualClock
) -> None:
    recent, kept = space.notes("recent"), space.notes("decisions")
    for number in range(201):
        kept.save(f"n{number}")
        fell_out = recent.save(f"n{number}").fell_out
        assert fell_out == (number == 200)
    assert texts(recent.read(limit=1_000)) == [f"n{number}" for number in range(200, 0, -1)]
    clock.advance(days=30)
    assert len(texts(recent.read(limit=1_000))) == 200
    clock.advance(days=1)
    assert texts(recent.read()) == []
    assert recent.save("new").fell_out == 200
    assert texts(kept.read(limit=1_000)) == [f"n{number}" for number in range(200, -1, -1)]


@pytest.mark.row("H08")
def test_what_an_agents_tool_saves_is_saved_with_advice(space: Space) -> None:
    saved = tools(space)["memory_save"]("decisions", "The user said that it ships tomorrow")
    assert [advice.code for advice in saved.advice] == ["note_preamble", "note_undated"]
    assert saved.outcome == "saved"
    assert texts(space.notes("decisions").read()) == [saved.entry.text]


@pytest.mark.row("H02", "H03")
def test_every_agent_starts_with_the_newest_of_every_store(
    space: Space, clock: ManualClock
) -> None:
    for number in range(25):
        for name in ("decisions", "lessons"):
            space.notes(name).save(f"{name} {number}", id=f"{number}")
        clock.advance(seconds=number % 2)
    context = space.context()
    assert [(block.label, block.shown, block.more) for block in context.blocks] == [
        ("app/decisions", 20, True),
        ("app/lessons", 20, True),
    ]
    for block, name in zip(context.blocks, ("decisions", "lessons"), strict=True):
        lines = [line for line in block.text.splitlines() if line.startswith("- ")]
        assert lines == [f"- 2026-01-15 {name} {number} [{number}]" for number in range(24, 4, -1)]
    for agent in ("planner", "reviewer"):
        with space.session("work", agent=agent) as here:
            assert here.context().text == context.text
