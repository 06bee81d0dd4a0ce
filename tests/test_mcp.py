"""The memory over the Model Context Protocol, by the official client and a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_snapshot import assert_light, command, environment, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp_client import connected, parameters, talk

import holdfast
from holdfast.core.budget import estimate_tokens
from holdfast.engine.workspace import parse_workspace
from holdfast.mcp.server import SpaceServer, server_for
from holdfast.model.write import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SCHEMA_TOKENS_MAX = 2_500


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def texts(vault: Path, space: str = "default", store: str = "narrative") -> list[str]:
    with holdfast.open(vault) as opened:
        notes = opened.space(space).notes(store)
        return [entry.text for entry in notes.read(limit=1_000).entries]


# What is offered


@pytest.mark.row("I16")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_what_an_agent_saves_it_reads_again(vault: Path, mode: str) -> None:
    async def conversation(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        with holdfast.open("memory:") as other:
            assert names == [tool.__name__ for tool in other.space().tools()]
        saved = await client.call_tool(
            "memory_save", {"store": "narrative", "text": "We use tabs", "id": "tabs"}
        )
        assert not saved.is_error
        assert saved.structured_content["entry"]["text"] == "We use tabs"
        assert json.loads(saved.content[0].text) == saved.structured_content
        page = await client.call_tool("memory_read", {"store": "narrative"})
        assert [entry["id"] for entry in page.structured_content["entries"]] == [
            saved.structured_content["entry"]["id"]
        ]
        found = await client.call_tool("memory_recall", {"query": "tabs"})
        assert "We use tabs" in found.content[0].text
        assert found.content[0].text == found.structured_content["text"]

    talk(vault, mode=mode)(conversation)
    assert texts(vault) == ["We use tabs"]


@pytest.mark.row("I16")
def test_other_names_of_tools_are_accepted_and_not_offered(vault: Path) -> None:
    async def conversation(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        aliases = ["save_memory_entry", "list_memory_entries", "delete_memory_entry"]
        assert not set(aliases) & set(names)
        save, read, remove = aliases
        await client.call_tool(save, {"store": "narrative", "text": "We use tabs", "id": "tabs"})
        page = await client.call_tool(read, {"store": "narrative"})
        assert [entry["text"] for entry in page.structured_content["entries"]] == ["We use tabs"]
        await client.call_tool(remove, {"store": "narrative", "id": "tabs"})
        page = await client.call_tool(read, {"store": "narrative"})
        assert page.structured_content["entries"] == []
        with pytest.raises(MCPError, match="'memory_fly' is no tool of default; it has memory_"):
            await client.call_tool("memory_fly", {})

    talk(vault)(conversation)


def test_the_default_set_of_schemas_is_small() -> None:
    with holdfast.open("memory:") as opened:
        offered = SpaceServer(opened.space(), asyncio.to_thread).look().values()
        shown = [each.shown.model_dump(by_alias=True, exclude_none=True) for each in offered]
    for tool in shown:
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
    sent = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    assert estimate_tokens(sent) < SCHEMA_TOKENS_MAX


# Sessions


@pytest.mark.row("I16")
def test_the_instructions_carry_the_context_of_the_connections_session(vault: Path) -> None:
    with holdfast.open(vault) as opened:
        opened.space().notes().save("We use tabs", id="tabs")
        before = opened.space().context().text

    async def conversation(client: Client) -> None:
        assert client.instructions is not None
        assert client.instructions.endswith(f"\n\n{before}")
        await client.call_tool("memory_save", {"store": "narrative", "text": "We ship on Tuesday"})
        again = await client.call_tool("memory_context", {})
        assert again.content[0].text == before  # what the session began with

    async def later(client: Client) -> None:
        assert client.instructions is not None
        assert "We ship on Tuesday" in client.instructions

    talk(vault)(conversation)
    talk(vault)(later)


@pytest.mark.row("I16")
def test_a_connection_is_a_session_of_its_own(vault: Path) -> None:
    async def conversation(client: Client) -> None:
        await client.call_tool("session_say", {"role": "user", "text": "Where do we deploy?"})

    talk(vault, "--agent", "planner")(conversation)
    talk(vault)(conversation)
    with holdfast.open(vault) as opened:
        sessions = opened.space().sessions()
        assert [(each.agent, each.source, each.state) for each in sessions] == [
            ("mcp", "mcp", "ended"),
            ("planner", "mcp", "ended"),
        ]
        for each in sessions:
            talked = opened.space().transcript().read(each.id)
            assert [message.text for message in talked.messages] == ["Where do we deploy?"]


@pytest.mark.row("I16")
@pytest.mark.parametrize("how", ["options", "environment"])
def test_space_session_agent_and_user_are_honoured(vault: Path, tmp_path: Path, how: str) -> None:
    with holdfast.open(vault) as opened:
        text = "name: app\nmemory:\n  own:\n    - {name: decisions, strategy: narrative}\n"
        app = opened.declare(parse_workspace(text, tmp_path / "workspace.yml"))
        session = app.seen_by(Caller(user="owner")).start_session().id
    chosen = {"space": "app", "session": session, "agent": "planner", "user": "owner"}
    words = [f"--{name}={value}" for name, value in chosen.items()]
    env = {f"HOLDFAST_{name.upper()}": value for name, value in chosen.items()}

    async def conversation(client: Client) -> None:
        await client.call_tool("memory_save", {"store": "decisions", "text": "We use tabs"})

    options = words if how == "options" else []
    talk(vault, *options, **({} if how == "options" else env))(conversation)
    with holdfast.open(vault) as opened:
        (entry,) = opened.space("app").notes("decisions").read().entries
        assert (entry.text, entry.session) == ("We use tabs", session)
        (theirs,) = opened.space("app").seen_by(Caller(user="owner")).sessions()
        assert theirs.state == "open"  # it is not the connection's
    log = run(["log", "--all", "--json"], env={"HOLDFAST_VAULT": str(vault)})
    assert json.loads(log.stdout)[0]["actor"] == "agent:planner"


@pytest.mark.row("I16", "B07")
def test_the_printed_configuration_starts_it(vault: Path, tmp_path: Path) -> None:
    found = run(
        ["mcp", "show", "--agent", "planner", "--vault", "vault", "--budget", "500", "--json"],
        cwd=tmp_path,
    )
    server = json.loads(found.stdout)["mcpServers"]["holdfast"]
    assert server["args"][2:] == [
        "mcp",
        f"--vault={vault}",
        "--space=default",
        "--agent=planner",
        "--budget=500",
    ]

    async def conversation() -> None:
        started = parameters(vault).model_copy(
            update={"command": server["command"], "args": server["args"], "cwd": None}
        )
        async with Client(started) as client:
            await client.call_tool("memory_save", {"store": "narrative", "text": "We use tabs"})

    asyncio.run(conversation())
    assert texts(vault) == ["We use tabs"]


# What is refused


@pytest.mark.row("H11", "I11")
def test_a_read_only_mount_is_refused_with_code_and_cure(vault: Path, tmp_path: Path) -> None:
    source = "name: lib\nmemory:\n  own:\n    - {name: rules, strategy: narrative}\n"
    reader = "name: app\nmemory:\n  mounts:\n    - {name: rules, source: lib/rules, mode: ro}\n"
    with holdfast.open(vault) as opened:
        lib = opened.declare(parse_workspace(source, tmp_path / "lib" / "workspace.yml"))
        lib.notes("rules").save("We use tabs", id="tabs")
        opened.declare(parse_workspace(reader, tmp_path / "app" / "workspace.yml"))

    async def conversation(client: Client) -> None:
        page = await client.call_tool("memory_read", {"store": "rules"})
        assert [entry["text"] for entry in page.structured_content["entries"]] == ["We use tabs"]
        for name, arguments in (
            ("memory_save", {"store": "rules", "text": "We use blanks"}),
            ("memory_remove", {"store": "rules", "id": "tabs"}),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            error = refused.structured_content["error"]
            assert error["code"] == "mount_read_only"
            assert error["hint"]
            for part in error.values():
                assert part in refused.content[0].text

    talk(vault, "--space", "app")(conversation)
    assert texts(vault, "lib", "rules") == ["We use tabs"]


@pytest.mark.row("I11")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "store is missing"),
        ({"store": "narrative", "text": 7}, "text must be text"),
        ({"store": "narrative", "text": None}, "text must be text"),
        ({"store": "narrative", "text": ""}, "the note"),
        ({"store": "narrative", "text": "x", "txet": 1}, "did you mean text"),
        ({"store": "narrative", "text": "x", "id": "../x\0"}, "id"),
        ({"store": "narrative", "text": "x\ud800"}, "surrogate"),
        ({"store": "nowhere", "text": "x"}, "declared: narrative"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_a_result_that_says_so(arguments: dict[str, Any], says: str) -> None:
    async def conversation(client: Client) -> None:
        refused = await client.call_tool("memory_save", arguments)
        assert refused.is_error
        assert says in refused.content[0].text
        assert refused.structured_content["error"]["code"]

    inside(conversation)


def test_a_value_may_be_null() -> None:
    async def conversation(client: Client) -> None:
        assert not (await client.call_tool("memory_set", {"key": "a", "value": None})).is_error
        found = await client.call_tool("memory_get", {"key": "a"})
        assert found.structured_content == {"found": True, "value": None}

    inside(conversation)


def inside(conversation: Any) -> None:
    """The same without a process: the client and the server in one loop."""

    async def whole() -> None:
        with holdfast.open("memory:") as opened:
            async with Client(server_for(opened.space(), asyncio.to_thread, "")) as client:
                await conversation(client)

    asyncio.run(whole())


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("store", "text", "id", "key", "value", "query", "since", "limit", "session", "role")
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES) | st.text(), ANY_JSON, max_size=5)


@pytest.mark.row("I16")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 50), ARGUMENTS), max_size=12))
def test_whatever_is_sent_is_answered(calls: list[tuple[int, dict[str, Any]]]) -> None:
    async def conversation(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        for number, arguments in calls:
            answer = await client.call_tool(names[number % len(names)], arguments)
            assert answer.content[0].text
            if answer.is_error:
                assert answer.structured_content["error"]["code"] != "internal"
        assert not (await client.call_tool("memory_list", {})).is_error

    inside(conversation)


# The wire


class Wire:
    """The program, spoken to line by line."""

    def __init__(self, vault: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            command(["mcp", *words]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment({"HOLDFAST_VAULT": str(vault)}),
            cwd=vault.parent,
        )
        self.lines: list[dict[str, Any]] = []
        self._number = 0

    def send(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.send(
            json.dumps(
                {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
            ).encode()
        )
        while True:
            answer = self.read()
            if answer.get("id") == self._number:
                return answer

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        self.lines.append(json.loads(line))
        return self.lines[-1]

    def begin(self) -> None:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "wire", "version": "1"},
        }
        assert "result" in self.ask("initialize", hello)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def tool(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def end(self) -> tuple[bytes, bytes]:
        """What was said beside the answers, once the client has gone."""
        out, err = self.process.communicate(timeout=30)
        return out, err


@pytest.fixture
def wire(vault: Path) -> Iterator[Wire]:
    wire = Wire(vault)
    yield wire
    wire.process.kill()
    wire.process.wait()
    for pipe in (wire.process.stdin, wire.process.stdout, wire.process.stderr):
        assert pipe is not None
        pipe.close()


HOSTILE = [
    b"",
    b"not json",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","id":null,"method":"tools/call"}',
    b'{"jsonrpc":"1.0","id":9001,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":9002,"method":"tools/call","params":[1]}',
    b'{"jsonrpc":"2.0","id":9003,"method":"tools/call","params":{"name":7}}',
    b'{"jsonrpc":"2.0","id":9004,"method":"no/such","params":{}}',
    b'{"jsonrpc":"2.0","id":9005,"method":"tools/call","params":'
    b'{"name":"memory_save","arguments":{"store":"narrative","text":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":9006,"method":"tools/call","params":'
    b'{"name":"memory_save","arguments":{"store":"narrative","text":"\\u0000"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":424242}}',
    b'{"jsonrpc":"2.0","id":9007,"result":{}}',
    b'{"a":' * 2_000,
    b"x" * 3_000_000,
]


@pytest.mark.row("I16")
def test_hostile_lines_do_not_stop_it_and_standard_output_is_the_protocols(wire: Wire) -> None:
    wire.begin()
    for line in HOSTILE:
        wire.send(line)
    saved = wire.tool("memory_save", store="narrative", text="a secret word: quagga")
    assert not saved["isError"]
    out, err = wire.end()
    for line in out.splitlines():
        wire.lines.append(json.loads(line))
    assert all(line["jsonrpc"] == "2.0" for line in wire.lines)
    codes = {line["id"]: line["error"]["code"] for line in wire.lines if "error" in line}
    assert {9003, 9004} <= codes.keys()
    assert b"quagga" not in err
    assert wire.process.returncode == 0


@pytest.mark.row("I04", "I16")
def test_killed_right_after_the_answer_nothing_is_lost(vault: Path, wire: Wire) -> None:
    wire.begin()
    for number in range(5):
        assert not wire.tool("memory_save", store="narrative", text=f"note {number}")["isError"]
    wire.process.send_signal(signal.SIGKILL)
    wire.process.wait()
    assert texts(vault) == [f"note {number}" for number in (4, 3, 2, 1, 0)]
    with holdfast.open(vault) as opened:
        assert list(opened.verify()) == []


@pytest.mark.row("I05", "I16")
def test_calls_run_side_by_side_and_none_is_lost(vault: Path) -> None:
    async def conversation(client: Client) -> None:
        saved = await asyncio.gather(
            *(
                client.call_tool("memory_save", {"store": "narrative", "text": f"note {number}"})
                for number in range(60)
            )
        )
        assert not any(each.is_error for each in saved)

    talk(vault)(conversation)
    assert sorted(texts(vault)) == sorted(f"note {number}" for number in range(60))


@pytest.mark.row("I16")
def test_a_cancelled_call_ends_and_the_connection_goes_on(vault: Path) -> None:
    """While another writer holds the vault, a save waits; its client gives up."""

    async def conversation() -> None:
        async with connected(vault) as client:
            await client.call_tool("memory_save", {"store": "narrative", "text": "before"})
            with holdfast.open(vault) as opened:
                entered, leave = asyncio.Event(), asyncio.Event()
                loop = asyncio.get_running_loop()

                def hold(_tx: Any) -> None:
                    loop.call_soon_threadsafe(entered.set)
                    asyncio.run_coroutine_threadsafe(leave.wait(), loop).result()

                holding = asyncio.create_task(asyncio.to_thread(opened._core.storage.write, hold))
                await entered.wait()
                save = asyncio.create_task(
                    client.call_tool("memory_save", {"store": "narrative", "text": "waits"})
                )
                listed = await client.list_tools(cache_mode="bypass")  # answered meanwhile
                assert listed.tools
                save.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await save
                leave.set()
                await holding
            await client.call_tool("memory_save", {"store": "narrative", "text": "after"})

    asyncio.run(conversation())
    assert [text for text in texts(vault) if text != "waits"] == ["after", "before"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_its_session(vault: Path, wire: Wire, number: signal.Signals) -> None:
    wire.begin()
    wire.process.send_signal(number)
    assert wire.process.wait(timeout=30) == (130 if number == signal.SIGINT else 0)
    with holdfast.open(vault) as opened:
        assert [each.state for each in opened.space().sessions()] == ["ended"]


# The extra


def test_without_the_library_it_says_what_to_install(vault: Path) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.modules['mcp_types'] = None; "
        "from holdfast.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "mcp"],
        env=environment({"HOLDFAST_VAULT": str(vault)}),
        cwd=vault.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "[extra_missing]" in done.stderr
    assert "hint: pip install 'holdfast[mcp]'" in done.stderr
    assert not vault.exists()


def test_other_commands_do_not_import_the_library(tmp_path: Path) -> None:
    heavy = ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "holdfast.mcp.server")
    for words in (["mcp", "--help"], ["help", "mcp"], ["--complete", "mcp", "sh"]):
        assert_light(words, tmp_path, heavy)
