"""Whatever an agent hands to a tool, as a function or by the protocol: an answer or an error of
ours, with a code and a hint, that is short however long what was given is; and a server that a line
of anything does not silence.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest
from cli_snapshot import environment

import holdfast
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.mcp.server import Offered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from holdfast.engine.space import Space

SAID_MAX = 1_200
HUGE = "x" * 1_000_000
HOSTILE: list[Any] = [
    *(HUGE, "", "\0", "\ud800", "﷽" * 5_000, b"bytes", 10**6_000, -(10**6_000), -1, 0, True),
    *(2**63, 1.5, float("nan"), float("inf"), [], [HUGE], [1], {}, {HUGE: HUGE}, {1: 2}, ()),
    *([[]], {"a": [None]}, object(), {"since": 1}, ["\ud800"], [b""], None),
]
# What is needed beside the argument that is hostile.
PLAIN: dict[str, Any] = {
    "store": None,
    "text": "a text",
    "query": "a text",
    "id": "x",
    "key": "k",
    "name": "n",
    "value": 1,
    "action": "read",
    "role": "user",
    "body": "a body",
    "path": "x",
}


@pytest.fixture
def space() -> Iterator[Space]:
    with holdfast.open("memory:") as vault, vault.space().session() as here:
        yield here


def short(code: str, message: str, hint: str) -> None:
    assert code
    assert hint
    assert len(message) + len(hint) <= SAID_MAX, (code, message[:200])


def arguments(tool: Callable[..., object]) -> Iterator[dict[str, Any]]:
    parameters = inspect.signature(tool).parameters
    needed = {
        name: ("narrative" if name == "store" else PLAIN[name])
        for name, each in parameters.items()
        if each.default is each.empty
    }
    for name in (*parameters, "unknown"):
        for value in HOSTILE:
            yield {**needed, name: value}
    yield {}


@pytest.mark.row("I11", "I16")
def test_a_tool_answers_or_refuses_whatever_it_is_given(space: Space) -> None:
    for tool in space.tools():
        for given in arguments(tool):
            try:
                tool(**given)
            except HoldfastError as exc:
                short(exc.code, exc.message, exc.hint)
        with pytest.raises(InvalidInput) as caught:
            tool(*range(50))
        short(caught.value.code, caught.value.message, caught.value.hint)


@pytest.mark.row("I11", "I16")
def test_the_protocol_answers_or_refuses_whatever_it_is_given(space: Space) -> None:
    for tool in space.tools():
        served = Offered(tool)
        for given in arguments(tool):
            found = served(given)
            if found.is_error:
                said = found.structured_content
                assert said is not None
                short(**said["error"])


@pytest.mark.row("I11")
@pytest.mark.parametrize(
    "value",
    [HUGE, 10**6_000, -1, [HUGE], 1.5],
    ids=["a long text", "many digits", "below 0", "a list", "a fraction"],
)
def test_what_is_no_number_is_told_in_short(space: Space, value: Any) -> None:
    for call in (
        lambda: space.context(value),
        lambda: space.recall("x", value),
        lambda: space.notes().read(limit=value),
        lambda: space.records().search("x", budget=value),
        lambda: space.records().neighbours("x", depth=value),
        lambda: space.as_of(value).notes().read(),
        lambda: space.transcript().recent(limit=value),
        lambda: space.profile().archive(limit=value),
        lambda: space.notes().save("x", expect=value),
        lambda: space.records().add("x", importance=value),
        lambda: space.records().add("x", confidence=value),
        lambda: space.profile().add("x", importance=value),
    ):
        try:
            call()
        except HoldfastError as exc:
            short(exc.code, exc.message, exc.hint)


def message(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


SAVE = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_save","arguments":'
GARBAGE: dict[str, tuple[bytes, int]] = {
    "no JSON": (b"this is no JSON", -32700),
    "half of a character": (
        (SAVE + '{"store":"narrative","text":"half \\ud800"}}}').encode(),
        -32700,
    ),
    "a number of many digits": (
        (SAVE + '{"store":"narrative","text":"x","metadata":{"n":' + "9" * 6_000 + "}}}}").encode(),
        -32700,
    ),
    "bytes that are no UTF-8": (b'{"jsonrpc":"2.0","id":\xff\xfe}', -32700),
    "a line cut short": (b'{"jsonrpc":"2.0","id":7,"method":"tools/', -32700),
    "deep": (b"[" * 100_000, -32700),
    "no message": (b'{"hello": "there"}', -32600),
    "a list": (b"[1, 2]", -32600),
    "no version": (b'{"id": 3, "method": "tools/list"}', -32600),
}


@pytest.mark.row("I16")
def test_a_line_that_is_no_message_is_answered_and_the_server_lives_on(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with holdfast.open(vault) as opened:
        opened.space().notes().save("a note")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    lines = [
        message(1, "initialize", **hello, clientInfo={"name": "test", "version": "1"}),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b"",
        b"   ",
        *(line for line, _ in GARBAGE.values()),
        message(2, "tools/call", name="memory_save", arguments={"store": "narrative", "text": "b"}),
        message(3, "tools/call", name="memory_recall", arguments={"query": "a note"}),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment({"HOLDFAST_VAULT": str(vault)}),
        cwd=tmp_path,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(line + b"\n" for line in lines))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(3 + len(GARBAGE))]
        server.stdin.close()
        assert server.wait(30) == 0
    refused = [each for each in answers if each["id"] is None]
    assert [each["error"]["code"] for each in refused] == [code for _, code in GARBAGE.values()]
    assert all(len(each["error"]["message"]) <= SAID_MAX for each in refused)
    done = {each["id"]: each["result"] for each in answers if each["id"] is not None}
    assert sorted(done) == [1, 2, 3]
    assert not done[2].get("isError")
    with holdfast.open(vault) as opened:
        assert [each.text for each in opened.space().notes().read().entries] == ["b", "a note"]
