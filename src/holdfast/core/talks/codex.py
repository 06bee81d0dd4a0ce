"""The rollouts of Codex: a file a session, `session_meta` first, then items as they came.

Each line has a `payload` of a `type`; in older files the lines are the items themselves. What the
program puts into a user's message (instructions, the environment) is the program's. `event_msg`
tells again what other lines tell, except that turns were taken back.
"""

from __future__ import annotations

import re

from holdfast.core.talks.blocks import call_of, is_web, named, words_in
from holdfast.core.talks.lines import objects, text_of, time_of
from holdfast.model.importing import Heard, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from holdfast.model.importing import Titled
    from holdfast.model.review import Role

SOURCE = "codex"
_PROGRAM = re.compile(
    r"\s*(?:<(?:user_instructions|environment_context|permissions|turn_aborted|INSTRUCTIONS|skill|"
    r"user_shell_command|collaboration_mode)\b|# AGENTS\.md instructions)"
)
_CALLS = ("function_call", "local_shell_call", "custom_tool_call", "web_search_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "developer": "system",
    "system": "system",
}


def is_like(line: dict[str, Any]) -> bool:
    if line.get("type") in ("session_meta", "response_item", "turn_context", "compacted"):
        return isinstance(line.get("payload"), dict)
    return "instructions" in line and "id" in line and "timestamp" in line


def read(source: Callable[[], BinaryIO]) -> Iterator[Heard | Titled | Skipped]:
    taken_back = _taken_back(source)
    with source() as file:
        yield from _Reading(taken_back).over(file)


def _taken_back(source: Callable[[], BinaryIO]) -> set[int]:
    """The lines of turns that were rolled back, each with what answered it."""
    prompts: list[int] = []
    ranges: list[tuple[int, int]] = []
    with source() as file:
        for found in objects(file):
            if isinstance(found, Skipped):
                continue
            number, line = found
            body = line.get("payload")
            if line.get("type") == "event_msg" and isinstance(body, dict):
                turns = body.get("num_turns")
                if body.get("type") == "thread_rolled_back" and type(turns) is int and turns > 0:
                    back = prompts[-turns:]
                    if back:
                        ranges.append((back[0], number))
                        del prompts[-turns:]
            elif _is_prompt(_body(line)):
                prompts.append(number)
    return {number for first, end in ranges for number in range(first, end)}


def _body(line: dict[str, Any]) -> dict[str, Any]:
    if "payload" not in line:
        return line
    body = line["payload"]
    return body if line.get("type") == "response_item" and isinstance(body, dict) else {}


def _is_prompt(body: dict[str, Any]) -> bool:
    return (
        body.get("type") == "message"
        and body.get("role") == "user"
        and not _PROGRAM.match(words_in(body.get("content")))
    )


class _Reading:
    def __init__(self, taken_back: set[int]) -> None:
        self._taken_back = taken_back
        self._talk = ""
        self._tools: dict[str, str] = {}
        self._source = SOURCE

    def over(self, file: BinaryIO) -> Iterator[Heard | Skipped]:
        for found in objects(file):
            if isinstance(found, Skipped):
                yield found
                continue
            number, line = found
            if self._is_head(line):
                continue
            if not self._talk:
                yield Skipped(line=number, why="no_session")
                continue
            yield from self._line(number, line)

    def _is_head(self, line: dict[str, Any]) -> bool:
        head = line.get("payload") if line.get("type") == "session_meta" else line
        if not isinstance(head, dict) or (head is line and "instructions" not in line):
            return False
        if self._talk:  # a rollout that was resumed or forked repeats another's head
            return True
        self._talk = text_of(head, "id", "session_id")
        if isinstance(head.get("source"), dict):  # {"subagent": …}
            self._source = "subagent"
        return True

    def _line(self, number: int, line: dict[str, Any]) -> Iterator[Heard | Skipped]:
        first = Heard(
            talk=self._talk,
            id=f"line {number}",
            line=number,
            role="assistant",
            text="",
            said_at=time_of(line.get("timestamp")),
            source=self._source,
            rewound=number in self._taken_back,
        )
        payload = line.get("payload")
        if line.get("type") == "compacted" and isinstance(payload, dict):
            text = text_of(payload, "message")
            if text.strip():
                yield first.replace(text=text, summary=True)
            return
        body = _body(line)
        kind = text_of(body, "type")
        found: Heard | None = None
        if kind == "message":
            found = self._message(first, body)
            if found is None:
                yield Skipped(line=number, why="not_a_message")
                return
        elif kind in _CALLS:
            found = self._call(first, kind, body)
        elif kind in _ANSWERS:
            found = self._answer(first, body)
        if found is not None and (found.text.strip() or found.calls):
            yield found

    def _message(self, first: Heard, body: dict[str, Any]) -> Heard | None:
        role = _ROLES.get(text_of(body, "role"))
        if role is None:
            return None
        text = words_in(body.get("content"))
        if role == "user" and _PROGRAM.match(text):
            return first.replace(role="system", text=text, origin="agent")
        if role == "user" and self._source == "subagent":
            return first.replace(role="user", text=text, origin="agent")
        return first.replace(role=role, text=text)

    def _call(self, first: Heard, kind: str, body: dict[str, Any]) -> Heard:
        name = text_of(body, "name") or kind.removesuffix("_call")
        call = text_of(body, "call_id", "id")
        self._tools[call] = name
        arguments = body.get("arguments", body.get("input", body.get("action")))
        return first.replace(calls=(call_of(name, call, arguments),))

    def _answer(self, first: Heard, body: dict[str, Any]) -> Heard:
        call = text_of(body, "call_id")
        tool = named(self._tools, call)
        return first.replace(
            role="tool",
            text=words_in(body.get("output")),
            call=call[:200],
            tool=tool,
            origin="web" if is_web(tool) else "tool",
        )
