"""What a message is made of in the files of other programs: a text, or a list of typed blocks."""

from __future__ import annotations

import json

from holdfast.core.talks.lines import text_of
from holdfast.model.message import ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WEB_TOOLS = ("webfetch", "websearch", "web_search", "web_fetch", "fetch", "browser", "url")


def words_in(content: Any) -> str:
    """The words of a text or of its blocks; what is no text is named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return words_in(content.get("content", content.get("text", "")))
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in map(_words_of_block, content) if part)


def _words_of_block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = text_of(block, "type")
    if kind in ("", "text", "input_text", "output_text", "refusal"):
        return text_of(block, "text", "refusal")
    if "image" in kind:
        return "[image]"
    if kind in ("document", "file", "input_file", "audio", "input_audio"):
        return f"[{kind.removeprefix('input_')}]"
    return ""


def call_of(name: str, id: str, arguments: Any) -> ToolCall:
    """A tool call; arguments that are a text of JSON are read, others stand under `input`."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"input": arguments}
    if not isinstance(arguments, dict):
        arguments = {"input": arguments}
    return ToolCall(name=name[:200] or "tool", id=id[:200], arguments=arguments)


def is_web(tool: str) -> bool:
    """Whether a tool, by its name, brings what somebody else wrote on a web page."""
    name = tool.lower().replace("-", "_")
    return any(word in name for word in _WEB_TOOLS)


def named(calls: Mapping[str, str], call: str) -> str:
    """The tool that a call was of, as far as it was heard."""
    return calls.get(call, "")
