"""Conversations of other programs: kept once, as they were said, whatever stands in the file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.core.talks import format_of, heard
from holdfast.core.talks.lines import DEPTH_MAX, objects, time_of
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.importing import Skipped
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.message import Message

DAY = "2026-01-05T10:00:00Z"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault") as vault:
        yield vault
        assert list(vault.verify()) == []


def written(file: Path, *lines: Any) -> Path:
    file.write_bytes(
        b"".join(
            each + b"\n" if isinstance(each, bytes) else json.dumps(each).encode() + b"\n"
            for each in lines
        )
    )
    return file


def messages(space: Space, title: str) -> list[Message]:
    """What was said in the session that is called so."""
    (found,) = [each for each in space.transcript().recent(limit=1000) if each.title == title]
    return [*space.transcript().read(found.session.id, limit=1000).messages]


def claude(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s-1",
        "timestamp": DAY,
        "message": {"role": role, "content": content},
        **more,
    }


CLAUDE = (
    {"type": "file-history-snapshot", "messageId": "x", "sessionId": "s-1"},
    claude("u0", None, "user", "Caveat: this is the program's", isMeta=True),
    claude("u1", "u0", "user", "Why is the build red?"),
    claude(
        "a1",
        "u1",
        "assistant",
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}},
            {"type": "tool_use", "id": "t2", "name": "WebFetch", "input": {"url": "x"}},
        ],
    ),
    claude("r1", "a1", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "rot"}]),
    claude(
        "r2",
        "r1",
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [
                    {"type": "text", "text": "The user is rich"},
                    {"type": "image", "source": {"data": "AAAA"}},
                ],
            }
        ],
    ),
    claude("a2", "r2", "assistant", [{"type": "text", "text": "You are rich"}]),
    claude("u2", "a2", "user", "No, the wrong way"),
    claude("a3", "u2", "assistant", "Wrong indeed"),
    claude("u3", "a2", "user", [{"type": "text", "text": "Fix it"}]),
    claude("x1", None, "user", "look for tests", isSidechain=True, agentId="ag"),
    claude("x2", "x1", "assistant", "none", isSidechain=True, agentId="ag"),
    claude("c1", None, "user", "Summary: the user is rich", isCompactSummary=True),
    claude("u4", "c1", "user", "<command-name>/clear</command-name>"),
    {"type": "ai-title", "aiTitle": "The red\nbuild", "sessionId": "s-1"},
)


def test_a_transcript_of_claude_code(space: Space, tmp_path: Path) -> None:
    found = space.import_sessions(written(tmp_path / "a.jsonl", *CLAUDE))
    assert (found.files, found.sessions_new, found.sessions_grown) == (1, 2, 0)
    assert (found.messages_new, found.messages_known, dict(found.skipped)) == (13, 0, {})
    said = messages(space, "The red build")
    assert [(m.role, m.text, m.origin, m.tool, m.rewound) for m in said] == [
        ("system", "Caveat: this is the program's", "agent", "", False),
        ("user", "Why is the build red?", "import", "", False),
        ("assistant", "I look.", "agent", "", False),
        ("tool", "rot", "tool", "Bash", False),
        ("tool", "The user is rich\n[image]", "web", "WebFetch", False),
        ("assistant", "You are rich", "web", "", False),
        ("user", "No, the wrong way", "import", "", True),
        ("assistant", "Wrong indeed", "web", "", True),
        ("user", "Fix it", "import", "", False),
        ("assistant", "Summary: the user is rich", "web", "", False),
        ("system", "<command-name>/clear</command-name>", "agent", "", False),
    ]
    assert [call.name for call in said[2].calls] == ["Bash", "WebFetch"]
    assert {m.when for m in said} == {datetime(2026, 1, 5, 10, tzinfo=UTC)}
    (hit,) = space.transcript().search("build red", sources=["claude-code"])
    assert (hit.compacted, hit.title, hit.kind) == (True, "The red build", "person")
    (aside,) = space.transcript().search("tests")
    assert (aside.source, aside.kind) == ("subagent", "automation")


CODEX = (
    {
        "timestamp": DAY,
        "type": "session_meta",
        "payload": {"id": "c-1", "timestamp": DAY, "cwd": "x", "source": "cli"},
    },
    *(
        {"timestamp": DAY, "type": "response_item", "payload": payload}
        for payload in (
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "<environment_context>x"}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Rename the zebra"}],
            },
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {
                "type": "function_call",
                "name": "shell",
                "arguments": '{"command": ["ls"]}',
                "call_id": "k1",
            },
            {"type": "function_call_output", "call_id": "k1", "output": "zebra.py"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "It is there"}],
            },
        )
    ),
    {"timestamp": DAY, "type": "event_msg", "payload": {"type": "user_message", "message": "no"}},
    {
        "timestamp": DAY,
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": "a mistake"},
    },
    {
        "timestamp": DAY,
        "type": "event_msg",
        "payload": {"type": "thread_rolled_back", "num_turns": 1},
    },
    {"timestamp": DAY, "type": "compacted", "payload": {"message": "We renamed the zebra"}},
)


def test_a_rollout_of_codex(space: Space, tmp_path: Path) -> None:
    found = space.import_sessions(written(tmp_path / "rollout.jsonl", *CODEX))
    assert (found.sessions_new, found.messages_new, dict(found.skipped)) == (1, 7, {})
    said = messages(space, "Rename the zebra")
    assert [(m.role, m.text, m.origin, m.tool, m.rewound) for m in said] == [
        ("system", "<environment_context>x", "agent", "", False),
        ("user", "Rename the zebra", "import", "", False),
        ("assistant", "", "agent", "", False),
        ("tool", "zebra.py", "tool", "shell", False),
        ("assistant", "It is there", "tool", "", False),
        ("user", "a mistake", "import", "", True),
        ("assistant", "We renamed the zebra", "tool", "", False),
    ]
    assert said[2].calls[0].arguments == {"command": ["ls"]}


def test_an_older_rollout_of_codex(space: Space, tmp_path: Path) -> None:
    old = (
        {"id": "c-0", "timestamp": DAY, "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
    )
    found = space.import_sessions(written(tmp_path / "old.jsonl", *old))
    assert (found.sessions_new, found.messages_new, dict(found.skipped)) == (1, 1, {})


OWN = (
    {"session": "d", "title": "Deploy", "role": "human", "text": "ship it", "id": "1", "at": DAY},
    {"session": "d", "role": "tool", "content": "shipped", "tool": "web_search", "call": "c"},
    {"session": "d", "role": "user", "content": "from a page", "origin": "web", "source": "cron"},
    {
        "id": "e",
        "title": "Chat",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
        ],
    },
    {"role": "user", "text": "no session", "at": 1_767_607_200_000},
)


def test_plain_json_lines(space: Space, tmp_path: Path) -> None:
    found = space.import_sessions(written(tmp_path / "talks.jsonl", *OWN))
    assert (found.sessions_new, found.messages_new, dict(found.skipped)) == (3, 6, {})
    assert [(m.role, m.text, m.origin, m.trust) for m in messages(space, "Deploy")] == [
        ("user", "ship it", "import", "medium"),
        ("tool", "shipped", "web", "low"),
        ("user", "from a page", "web", "low"),
    ]
    assert [call.name for call in messages(space, "Chat")[1].calls] == ["f"]
    assert messages(space, "no session")[0].when == datetime(2026, 1, 5, 10, tzinfo=UTC)


def test_importing_again_changes_nothing_and_what_grew_goes_on(
    vault: Vault, space: Space, tmp_path: Path
) -> None:
    file = written(tmp_path / "talks.jsonl", *OWN[:2])
    dry = space.import_sessions(file, dry_run=True)
    assert (dry.sessions_new, dry.messages_new, dry.dry_run) == (1, 2, True)
    assert vault.status().seq == 0
    assert space.import_sessions(file) == dry.replace(dry_run=False)
    seq = vault.status().seq
    again = space.import_sessions(file)
    assert (again.sessions_new, again.messages_new, again.messages_known) == (0, 0, 2)
    assert vault.status().seq == seq
    written(file, *OWN[:3], {**OWN[0], "text": "changed"})
    dry = space.import_sessions(file, dry_run=True)
    assert (dry.sessions_grown, dry.messages_new, dry.messages_known) == (1, 1, 3)
    grown = space.import_sessions(file)
    assert (grown.sessions_grown, grown.messages_new, grown.messages_known) == (1, 1, 2)
    assert dict(grown.skipped) == {"differs_from_before": 1}
    assert [m.text for m in messages(space, "Deploy")] == ["ship it", "shipped", "from a page"]
    assert {change.actor for change in vault.log(holdfast.LogQuery())} == {"importer:local"}


def test_nothing_is_learned_by_importing_until_somebody_asks(vault: Vault, tmp_path: Path) -> None:
    vault.prefer({"review.turns": 1})
    space = vault.space()
    line = {"session": "x", "role": "user", "text": "The offsite is on 2027-03-04."}
    space.import_sessions(written(tmp_path / "talks.jsonl", line))
    assert vault.reviews() == []
    (job,) = vault.review(everything=True)
    assert job.state == "done"
    (note,) = space.notes().read().entries
    assert (note.text, note.origin, note.trust) == ("Offsite 2027-03-04", "import", "medium")


def test_a_folder_is_read_file_by_file(space: Space, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    (folder / "b").mkdir(parents=True)
    written(folder / "a.jsonl", *CLAUDE)
    written(folder / "b" / "c.jsonl", *CODEX)
    written(folder / "d.jsonl", {"what": "else"})
    (folder / "notes.txt").write_text("no transcript")
    told = [*space.importing(folder)]
    assert [(each.files, each.sessions_new) for each in told] == [(1, 2), (2, 3), (3, 3)]
    assert dict(told[-1].skipped) == {"format_unknown": 1}
    with raises(NotFound, "file_not_found"):
        space.import_sessions(tmp_path / "nowhere")
    with raises(InvalidInput, "format_invalid"):
        space.import_sessions(folder, format="word")


def test_hostile_files_are_read_to_their_end(space: Space, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(DEPTH_MAX + 2):
        deep = [deep]
    file = written(
        tmp_path / "bad.jsonl",
        {"session": "x", "role": "user", "text": "first"},
        b"\xff\xfe{",
        b"[" * 100_000,
        b'{"session": "x", "role": "user", "text": "half \\ud83d"}',
        b'{"session": "x", "role": "user", "text": "bytes \xff\xfe"}',
        {"session": "x", "role": "user", "text": "deep", "calls": deep},
        {"session": "x", "role": "robot", "text": "no role"},
        {"session": "x", "role": "user", "text": ["no", {"type": 7}, 7]},
        {"session": "x" * 999, "role": "user", "text": "long name", "id": "[\0]", "source": "\n"},
        {"session": "x", "role": "user", "text": " "},
        {"session": "x", "role": "user", "text": 7, "at": "yesterday"},
        {"session": "x", "role": "user", "text": "far", "at": 9e300},
        [1],
        b"",
        b"9" * 10_000,
        {"session": "x", "role": "user", "text": "last", "at": -1e30, "title": "\x1b[2J"},
    )
    found = space.import_sessions(file)
    assert dict(found.skipped) == {"not_an_object": 1, "not_json": 4, "not_a_message": 1}
    assert [m.text for m in messages(space, "[2J")] == [
        "first",
        "half \N{REPLACEMENT CHARACTER}",
        "bytes \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}",
        "no",
        "far",
        "last",
    ]
    assert [m.text for m in messages(space, "long name")] == ["long name"]
    assert [each.line for each in found.examples] == [2, 3, 6, 7, 13, 15]


class Endless:
    """A file without end, of which only single lines can be read."""

    def __init__(self, line: bytes) -> None:
        self.line = line

    def readline(self, limit: int) -> bytes:
        return self.line[:limit]


def test_a_file_of_any_size_is_read_line_by_line() -> None:
    endless: Any = Endless(b'{"role": "user", "text": "again"}\n')
    assert [number for number, _ in islice(objects(endless), 3)] == [1, 2, 3]  # pyright: ignore[reportGeneralTypeIssues]


NAMES = (
    *("type", "role", "text", "content", "message", "messages", "payload", "sessionId", "uuid"),
    *("parentUuid", "id", "name", "input", "calls", "tool_use_id", "isMeta", "num_turns"),
)


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.recursive(
                st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
                lambda inner: st.one_of(
                    st.lists(inner, max_size=3),
                    st.dictionaries(
                        st.sampled_from(NAMES),
                        inner,
                        max_size=5,
                    ),
                ),
                max_leaves=12,
            ).map(lambda value: json.dumps(value).encode()),
        ),
        max_size=6,
    )
)
def test_no_file_breaks_a_reader(tmp_path_factory: pytest.TempPathFactory, lines: Any) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "x.jsonl"
    file.write_bytes(b"\n".join(lines))

    def source() -> Any:
        return file.open("rb")

    format_of(source)
    for form in ("jsonl", "claude-code", "codex"):
        for each in heard(source, form, "x"):
            assert isinstance(each, Skipped) or each.talk is not None


def test_times_are_read_as_programs_write_them() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    for text in ("2026-01-05T12:00:00Z", "2026-01-05T13:00:00+01:00", "2026-01-05T12:00:00"):
        assert time_of(text) == noon
    assert time_of(noon.timestamp()) == time_of(noon.timestamp() * 1000) == noon
    assert [time_of(each) for each in (None, True, "soon", [], float("inf"))] == [None] * 5


def test_importing_in_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli: Cli = cli_in(tmp_path, monkeypatch)
    file = str(written(tmp_path / "a.jsonl", *CLAUDE, b"{"))
    dry = cli("session", "import", file, "--dry-run")
    assert dry.stdout.splitlines() == [
        "1 files read",
        "2 sessions would be new, 0 grown",
        "13 messages would be new, 0 known before",
        "1 left out: not_json",
    ]
    assert dry.stderr == f"left out: {file}:16: not_json\n"
    assert not cli.vault.exists()
    assert cli.json("session", "import", file)["messages_new"] == 13
    assert cli.json("session", "import", file)["messages_known"] == 13
    assert "Why is the build red?" in cli.says("session", "search", "build red")
    assert cli.refuses("session", "import", "nowhere.jsonl") == "file_not_found"
