"""What is said in runs, and going on from one: continued with the newest, resumed as it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from run_sample import Bench, memory_of, said_in

import holdfast
from holdfast.errors import Conflict, NotFound
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.runs.execute import Task
    from holdfast.model.run import Run


@pytest.fixture
def bench(tmp_path: Path, clock: ManualClock) -> Iterator[Bench]:
    bench = Bench(holdfast.open(tmp_path / "vault", clock=clock), tmp_path)
    yield bench
    bench.sound()
    bench.vault.close()


def said(bench: Bench, run: Run) -> list[tuple[str, str]]:
    messages = bench.space.transcript().read(run.session).messages
    return [(message.role, message.text) for message in messages]


@pytest.mark.row("B08")
def test_a_run_is_a_session_and_its_checkpoint_names_every_version(bench: Bench) -> None:
    run = bench.run("write:a.md:one", "say:done", artifacts=["site"])
    assert said(bench, run) == [("user", "write:a.md:one say:done"), ("assistant", "done")]
    assert bench.space.runs().get(run.id) == run
    assert bench.space.runs().get(run.id[-8:]) == run
    assert run.places == (0, 2)
    assert [(m.type, m.name, m.before, m.after or m.before) for m in run.mounts] == [
        ("memory", "notes", 1, 2),
        ("artifact", "site", 1, 1),
    ]
    (session,) = bench.space.sessions()
    assert (session.id, session.agent, session.source) == (run.session, "steps", "run")
    with raises(NotFound, "run_not_found"):
        bench.space.runs().get("nobody")


@pytest.mark.row("B08")
def test_called_in_a_session_a_run_belongs_to_it(bench: Bench) -> None:
    with bench.space.session("Review") as here:
        run = here.run("steps", "say:hello")
        assert run.session == here.caller.session
    assert said(bench, run) == [("user", "say:hello"), ("assistant", "hello")]


@pytest.mark.row("B09")
def test_continued_it_is_the_same_conversation_with_the_newest_memory(bench: Bench) -> None:
    first = bench.run("write:a.md:one", "say:first")
    bench.run("write:a.md:newest")
    heard: list[object] = []

    def follow(task: Task) -> str:
        assert task.memory is not None
        heard.append([(m.role, m.text) for m in task.conversation])
        heard.append((task.memory / "a.md").read_text())
        return "second"

    again = bench.space.runs().continue_(first.id, "and now?", call=follow)
    assert heard == [[("user", "write:a.md:one say:first"), ("assistant", "first")], "newest"]
    assert (again.session, again.started_as, again.previous) == (
        *(first.session, "continued", first.id),
    )
    assert (again.places, memory_of(again).before) == ((2, 4), 3)
    assert said(bench, again)[2:] == [("user", "and now?"), ("assistant", "second")]


@pytest.mark.row("B09")
def test_a_program_finds_the_conversation_in_its_context_and_as_lines(bench: Bench) -> None:
    script = (
        "import os,sys,pathlib\n"
        "print(pathlib.Path(sys.argv[1]).read_text())\n"
        "print(pathlib.Path(sys.argv[2]).read_text())\n"
    )
    command = [sys.executable, "-c", script, "{context}", "{conversation}"]
    bench.space.agents().add("looker", {"command": command, "memory": False})
    first = bench.run("what is the staging host?", agent="looker")
    again = bench.space.runs().continue_(first.id, "are you sure?")
    text = said_in(again, bench.space).decode()
    context, _, lines = text.partition("\n\n{")
    assert "## The conversation so far\n\n**user**: what is the staging host?" in context
    rows = [json.loads(line) for line in f"{{{lines}".splitlines() if line]
    assert [row["role"] for row in rows] == ["user", "assistant"]
    assert rows[0]["text"] == "what is the staging host?"


@pytest.mark.row("B09")
@pytest.mark.parametrize("how", ["ended", "abandoned"])
def test_a_session_that_is_over_goes_on(bench: Bench, clock: ManualClock, how: str) -> None:
    first = bench.run("say:first")
    if how == "ended":
        bench.space.end_session(first.session)
    else:
        clock.advance(days=3)
        bench.space.start_session("another, which sweeps")
    again = bench.space.runs().continue_(first.id, "say:second")
    assert again.session == first.session
    found = {session.id: session.state for session in bench.space.sessions()}
    assert found[first.session] == "open"
    assert [text for _, text in said(bench, again)] == [
        "say:first",
        "first",
        "say:second",
        "second",
    ]


@pytest.mark.row("B10")
def test_resumed_everything_is_as_it_was_at_the_checkpoint(bench: Bench) -> None:
    bench.space.notes().save("the first note")
    first = bench.run("write:a.md:one", "say:first", artifacts=["site"])
    bench.space.runs().continue_(first.id, "write:a.md:later write:b.md:b")
    bench.space.notes().save("a later note")
    heard: list[object] = []

    def look(task: Task) -> str:
        assert task.memory is not None
        heard.append(sorted((f.name, f.read_text()) for f in task.memory.iterdir()))
        heard.append([m.text for m in task.conversation])
        heard.append(("the first note" in task.context, "a later note" in task.context))
        (task.memory / "c.md").write_text("c")
        return "resumed"

    resumed = bench.space.runs().resume(first.id, "go on", call=look)
    assert heard == [
        [("a.md", "one")],
        ["write:a.md:one say:first", "first"],
        (True, False),
    ]
    assert resumed.session != first.session
    assert (resumed.started_as, resumed.previous) == ("resumed", first.id)
    assert [(m.type, m.before) for m in resumed.mounts] == [("memory", 2), ("artifact", 1)]
    assert memory_of(resumed).kept == "merged"
    assert bench.files() == {"a.md": b"later", "b.md": b"b", "c.md": b"c"}
    assert [text for _, text in said(bench, resumed)] == [
        *("write:a.md:one say:first", "first", "go on", "resumed"),
    ]


@pytest.mark.row("B10", "B11")
def test_a_failed_run_is_resumed_from_what_it_left(bench: Bench) -> None:
    bench.run("write:a.md:one")
    failed = bench.run("write:a.md:half", "write:b.md:b", "exit:1")
    done = bench.space.runs().resume(failed.id, "write:c.md:c")
    assert (done.state, memory_of(done).before, memory_of(done).kept) == ("succeeded", 3, "pushed")
    assert bench.files() == {"a.md": b"half", "b.md": b"b", "c.md": b"c"}
    again = bench.run("write:d.md:d", "exit:1")
    bench.run("write:a.md:meanwhile")
    merged = bench.space.runs().resume(again.id, "write:e.md:e")
    assert memory_of(merged).kept == "merged"
    assert bench.files() == {
        "a.md": b"meanwhile",
        **{f"{name}.md": name.encode() for name in "bcde"},
    }


@pytest.mark.row("B09", "B10")
def test_nothing_goes_on_from_a_run_that_is_not_over(bench: Bench) -> None:
    def inside(task: Task) -> None:
        with raises(Conflict, "run_open"):
            bench.space.runs().continue_(task.run, "x")
        with raises(Conflict, "run_open"):
            bench.space.runs().resume(task.run, "x")

    assert bench.space.run(inside, "x").state == "succeeded"


@pytest.mark.row("B12")
def test_runs_are_listed_newest_first_and_narrowed(bench: Bench) -> None:
    bench.declare("other")
    one, two = bench.run("say:1"), bench.run("say:2", "exit:1")
    three = bench.run("say:3", agent="other")
    runs = bench.space.runs()
    assert [run.id for run in runs.list()] == [three.id, two.id, one.id]
    assert [run.id for run in runs.list(agent="steps")] == [two.id, one.id]
    assert [run.id for run in runs.list(state="failed")] == [two.id]
    assert [run.id for run in runs.list(limit=1)] == [three.id]
    assert one.started is not None
    assert one.ended is not None


@pytest.mark.row("B12")
def test_a_log_is_followed_while_the_agent_speaks(bench: Bench, tmp_path: Path) -> None:
    import threading

    gate, heard = tmp_path / "gate", list[bytes]()
    steps = f"say:first await:{gate} say:second"
    thread = threading.Thread(target=lambda: bench.run(steps))
    thread.start()
    while not bench.space.runs().list(state="running"):
        pass
    (run,) = bench.space.runs().list()

    def wait(_seconds: float) -> None:
        if heard:
            gate.touch()

    for piece in bench.space.runs().follow(run.id, wait=wait):
        heard.append(piece.data)
    thread.join()
    assert heard == [b"first", b"second"]


def test_the_same_key_runs_nothing_twice(bench: Bench) -> None:
    first = bench.run("append:log.md:x", key="once")
    again = bench.run("append:log.md:x", key="once")
    assert again == first
    assert bench.files()["log.md"] == b"x\n"
    with raises(Conflict, "key_reused"):
        bench.run("say:other", key="once")
    assert len(bench.space.runs().list()) == 1


# The context and the tools that an agent is handed

ASKING = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters, stdio_client

async def main():
    (server,) = json.load(open(sys.argv[1]))["mcpServers"].values()
    started = StdioServerParameters(
        command=server["command"], args=server["args"], env=dict(os.environ)
    )
    async with Client(stdio_client(started)) as client:
        await client.call_tool(
            "memory_save", {"store": "narrative", "text": "The staging host is eu-7"}
        )
        print(sorted(tool.name for tool in (await client.list_tools()).tools)[0])

asyncio.run(main())
"""


@pytest.mark.row("B07")
def test_an_agent_reaches_the_tools_of_its_space_in_its_own_session(tmp_path: Path) -> None:
    bench = Bench(holdfast.open(tmp_path / "vault"), tmp_path)
    command = [sys.executable, "-c", ASKING, "{mcp}"]
    bench.space.agents().add("asking", {"command": command, "memory": False})
    run = bench.run("save it", agent="asking")
    assert run.state == "succeeded", said_in(run, bench.space).decode()
    (note,) = bench.space.notes().read().entries
    assert (note.text, note.session) == ("The staging host is eu-7", run.session)
    (change, *_) = bench.vault.log(holdfast.LogQuery(target=note.id, limit=1))
    assert change.actor == "agent:asking"
    bench.sound()
    bench.vault.close()


@pytest.mark.row("B07")
def test_the_commands_of_an_agent_work_in_its_own_session(tmp_path: Path) -> None:
    bench = Bench(holdfast.open(tmp_path / "vault"), tmp_path)
    words = [sys.executable, "-m", "holdfast", "note", "save", "learned: {prompt}"]
    bench.space.agents().add("shell", {"command": words, "memory": False})
    run = bench.run("tabs", agent="shell")
    assert run.state == "succeeded", said_in(run, bench.space).decode()
    (note,) = bench.space.notes().read().entries
    assert (note.text, note.session) == ("learned: tabs", run.session)
    bench.vault.close()


# The entries that the page has for other programs

STANDING_IN = """#!/bin/sh
printf '%s\\n' "$@"
echo "learned" >"$HOLDFAST_MEMORY/learned.md"
"""


@pytest.mark.row("B05")
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_entries_of_the_page_hand_over_what_they_name(tmp_path: Path, name: str) -> None:
    import re

    from holdfast.engine.workspace import parse_workspace

    page = Path(__file__).parent.parent / "docs" / "reference" / "runs.md"
    blocks = re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (text,) = [block for block in blocks if "claude" in block]
    for block in blocks:
        parse_workspace(block, tmp_path / "workspace.yml")
    (tmp_path / "workspace.yml").write_text(text)
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(STANDING_IN)
    program.chmod(0o755)
    with holdfast.open(tmp_path / "vault") as vault:
        space = vault.workspace(tmp_path / "workspace.yml")
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin"}
        run = space.run(name, "what's new?", environment=environment)
        words = said_in(run, space).decode().splitlines()
        assert run.state == "succeeded", words
        (laid,) = run.mounts
        assert (laid.name, laid.kept) == (name, "pushed")
        assert any(word.endswith("what's new?") for word in words)
        assert words[words.index("--add-dir") + 1].endswith("/files/memory")
        assert any("/context.md" in word for word in words)
        assert not [word for word in words if "{" in word]


@pytest.mark.row("B01", "B05")
def test_awaited_it_is_the_same(tmp_path: Path) -> None:
    import asyncio

    async def main() -> None:
        async with holdfast.aio.open(tmp_path / "vault") as vault:
            space = await vault.space()
            agents, runs = await space.agents(), await space.runs()
            await agents.add("hello", {"command": ["echo", "{prompt}"], "memory": False})
            both = await asyncio.gather(space.run("hello", "a"), space.run("hello", "b"))
            assert [run.state for run in both] == ["succeeded"] * 2
            logs = [await runs.logs(run.id) for run in both]
            assert [log.pieces[0].data for log in logs] == [b"a\n", b"b\n"]

    asyncio.run(main())
