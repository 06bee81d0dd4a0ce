"""The transcripts of Claude Code: a file a session, a JSON object a line, linked by `parentUuid`.

What stands in a user's message is not always the user's: tools answer there, the program speaks
there (`isMeta`, commands and their output), and so does the model when it sums up
(`isCompactSummary`). A prompt that was taken back stays in the file: it has a later sibling, and
what hangs on it is rewound. Subagents talk in conversations of their own.
"""

from __future__ import annotations

import re

from holdfast.core.talks.blocks import call_of, is_web, named, words_in
from holdfast.core.talks.lines import flag_of, objects, text_of, time_of
from holdfast.model.importing import Heard, Skipped, Titled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

SOURCE = "claude-code"
# What the program itself writes where the user's words stand.
_PROGRAM = re.compile(
    r"\s*(?:<(?:local-)?command-|<bash-|<system-reminder>|<task-notification>|"
    r"\[Request interrupted|Caveat: The messages below were generated)"
)


def is_like(line: dict[str, Any]) -> bool:
    return "sessionId" in line and ("uuid" in line or "leafUuid" in line or "type" in line)


def read(source: Callable[[], BinaryIO]) -> Iterator[Heard | Titled | Skipped]:
    """The file is read twice: first for what was taken back, which is known only at its end."""
    last = _last_prompts(source)
    with source() as file:
        yield from _Reading(last).over(file)


def _last_prompts(source: Callable[[], BinaryIO]) -> dict[str, str]:
    """Of each place where a person went on, how they did so last."""
    last: dict[str, str] = {}
    with source() as file:
        for found in objects(file):
            if not isinstance(found, Skipped) and _is_prompt(found[1]):
                parent = text_of(found[1], "parentUuid")
                if parent:
                    last[parent] = text_of(found[1], "uuid")
    return last


def _is_prompt(line: dict[str, Any]) -> bool:
    if line.get("type") != "user" or flag_of(line, "isMeta") or flag_of(line, "isSidechain"):
        return False
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    answers = isinstance(content, list) and any(_is_result(block) for block in content)
    return not answers and not flag_of(line, "isCompactSummary")


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


class _Reading:
    def __init__(self, last: dict[str, str]) -> None:
        self._last = last
        self._rewound: set[str] = set()
        self._tools: dict[str, str] = {}

    def over(self, file: BinaryIO) -> Iterator[Heard | Titled | Skipped]:
        for found in objects(file):
            if isinstance(found, Skipped):
                yield found
            else:
                yield from self._line(*found)

    def _line(self, number: int, line: dict[str, Any]) -> Iterator[Heard | Titled | Skipped]:
        kind, talk = text_of(line, "type"), text_of(line, "sessionId")
        title = text_of(line, "customTitle", "aiTitle")
        if title and talk:
            yield Titled(talk=talk, title=title)
        elif kind in ("user", "assistant"):
            if not talk or not isinstance(line.get("message"), dict):
                yield Skipped(line=number, why="not_a_message")
                return
            yield from self._message(number, line, talk)
        # The rest is the program's own bookkeeping.

    def _message(self, number: int, line: dict[str, Any], talk: str) -> Iterator[Heard | Skipped]:
        uuid, parent = text_of(line, "uuid"), text_of(line, "parentUuid")
        rewound = parent in self._rewound or (
            bool(parent) and _is_prompt(line) and self._last.get(parent, uuid) != uuid
        )
        if rewound:
            self._rewound.add(uuid)
        aside = flag_of(line, "isSidechain")
        first = Heard(
            talk=f"{talk}/{text_of(line, 'agentId') or 'subagent'}" if aside else talk,
            id=uuid or f"line {number}",
            line=number,
            role="user",
            text="",
            said_at=time_of(line.get("timestamp")),
            source="subagent" if aside else SOURCE,
            rewound=rewound,
        )
        content = line["message"].get("content")
        if line["type"] == "assistant":
            found = [self._assistant(first, content)]
        else:
            found = [*self._user(first, line, content)]
        kept = [each for each in found if each.text.strip() or each.calls]
        yield from kept

    def _assistant(self, first: Heard, content: Any) -> Heard:
        calls = tuple(
            call_of(text_of(block, "name"), text_of(block, "id"), block.get("input"))
            for block in (content if isinstance(content, list) else ())
            if isinstance(block, dict) and block.get("type") in ("tool_use", "server_tool_use")
        )
        self._tools.update({call.id: call.name for call in calls})
        return first.replace(role="assistant", text=words_in(content), calls=calls)

    def _user(self, first: Heard, line: dict[str, Any], content: Any) -> Iterator[Heard]:
        blocks = content if isinstance(content, list) else ()
        for place, block in enumerate(blocks):
            if _is_result(block):
                call = text_of(block, "tool_use_id")
                tool = named(self._tools, call)
                yield first.replace(
                    id=first.id if not place else f"{first.id}/{place}",
                    role="tool",
                    text=words_in(block.get("content")),
                    call=call[:200],
                    tool=tool,
                    origin="web" if is_web(tool) else "tool",
                )
        words = words_in(content)
        if not words.strip():
            return
        answers = any(_is_result(block) for block in blocks)
        said = first.replace(id=f"{first.id}/said" if answers else first.id, text=words)
        if flag_of(line, "isCompactSummary"):
            yield said.replace(role="assistant", summary=True)
        elif flag_of(line, "isMeta") or answers or _PROGRAM.match(words):
            yield said.replace(role="system", origin="agent")
        elif first.source == "subagent":
            yield said.replace(origin="agent")  # what an agent asks of an agent
        else:
            yield said
