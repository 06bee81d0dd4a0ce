"""Conversations as plain JSON lines: a message a line, or a whole conversation a line.

A message names its `session`, `role` and `text` (or `content`), and may have `id`, `at`, `title`,
`source`, `tool`, `call`, `calls`, `origin`, `rewound` and `summary`. A conversation has `messages`
and may have `id`, `title` and `source`. A line that names no session belongs to that of the file.
"""

from __future__ import annotations

from holdfast.core.talks.blocks import call_of, is_web, words_in
from holdfast.core.talks.lines import flag_of, objects, text_of, time_of
from holdfast.model.importing import Heard, Skipped, Titled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from holdfast.model.entry import Origin
    from holdfast.model.message import ToolCall
    from holdfast.model.review import Role

SOURCE = "import"
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
# A file may say that words are trusted less than their role is, and never more.
_ORIGINS: dict[str, Origin] = {"agent": "agent", "tool": "tool", "web": "web", "import": "import"}


def is_like(line: dict[str, Any]) -> bool:
    return isinstance(line.get("messages"), list) or text_of(line, "role", "from") in _ROLES


def read(source: Callable[[], BinaryIO], *, talk: str) -> Iterator[Heard | Titled | Skipped]:
    """`talk` is what the conversation is called where the file does not say."""
    reading = _Reading(talk)
    with source() as file:
        for found in objects(file):
            if isinstance(found, Skipped):
                yield found
            elif isinstance(found[1].get("messages"), list):
                yield from reading.conversation(*found)
            else:
                yield from reading.message(found[0], found[1], "", "")


class _Reading:
    def __init__(self, talk: str) -> None:
        self._talk = talk
        self._counts: dict[str, int] = {}
        self._titled: set[str] = set()

    def conversation(self, line: int, found: dict[str, Any]) -> Iterator[Heard | Titled | Skipped]:
        talk = _name_of(found) or f"{self._talk}/{line}"
        yield from self._title(talk, text_of(found, "title"))
        for message in found["messages"]:
            if isinstance(message, dict):
                yield from self.message(line, message, talk, text_of(found, "source"))
            else:
                yield Skipped(line=line, why="not_a_message")

    def _title(self, talk: str, title: str) -> Iterator[Titled]:
        if title and talk not in self._titled:
            self._titled.add(talk)
            yield Titled(talk=talk, title=title)

    def message(
        self, line: int, found: dict[str, Any], talk: str, source: str
    ) -> Iterator[Heard | Titled | Skipped]:
        role = _ROLES.get(text_of(found, "role", "from"))
        if role is None:
            yield Skipped(line=line, why="not_a_message")
            return
        if not talk:
            talk = text_of(found, "session", "session_id", "conversation_id") or self._talk
            yield from self._title(talk, text_of(found, "title"))
        self._counts[talk] = self._counts.get(talk, 0) + 1
        tool = text_of(found, "tool", "name")[:200] if role == "tool" else ""
        text = words_in(found.get("text", found.get("content", found.get("value"))))
        calls = _calls(found)
        if not text.strip() and not calls:
            return
        origin = _ORIGINS.get(text_of(found, "origin"))
        yield Heard(
            talk=talk,
            id=text_of(found, "id", "uuid") or f"message {self._counts[talk]}",
            line=line,
            role=role,
            text=text,
            calls=calls,
            call=text_of(found, "call", "tool_call_id")[:200],
            tool=tool,
            origin=origin or ("web" if role == "tool" and is_web(tool) else None),
            said_at=time_of(found.get("at", found.get("timestamp", found.get("created_at")))),
            source=text_of(found, "source") or source or SOURCE,
            rewound=flag_of(found, "rewound"),
            summary=flag_of(found, "summary"),
        )


def _name_of(found: dict[str, Any]) -> str:
    return text_of(found, "id", "session", "session_id", "conversation_id")


def _calls(found: dict[str, Any]) -> tuple[ToolCall, ...]:
    given = found.get("calls", found.get("tool_calls"))
    calls: list[ToolCall] = []
    for call in given if isinstance(given, list) else ():
        if isinstance(call, dict):
            inner = call["function"] if isinstance(call.get("function"), dict) else call
            arguments = inner.get("arguments", inner.get("input", {}))
            calls.append(call_of(text_of(inner, "name"), text_of(call, "id"), arguments))
    return tuple(calls)
