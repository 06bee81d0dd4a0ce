"""Which artifacts a text, or JSON with texts in it, mentions."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.model.artifact import BODY_CHARS, PREFIX, is_artifact_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.model.entry import Entry
    from holdfast.model.message import Message

# The tool that makes an artifact: its answer names the artifact, and is no reference to it.
MAKER = "artifact_save"


def mentioned(*parts: Any) -> frozenset[str]:
    """The ids in all texts of these parts, keys of mappings included."""
    return frozenset(found for part in parts for found in _walk(part))


def of_entry(entry: Entry | None) -> frozenset[str]:
    """What an entry refers to; what was forgotten refers to nothing, what is hidden still does."""
    if entry is None or entry.state == "forgotten":
        return frozenset()
    return mentioned(entry.text, entry.subject, entry.tags, entry.refs, entry.facts, entry.metadata)


def of_message(message: Message | None) -> frozenset[str]:
    """What a message refers to; neither the call that makes an artifact does, nor what was taken
    back."""
    if message is None or message.rewound or message.tool.endswith(MAKER):
        return frozenset()
    calls = [call.arguments for call in message.calls if not call.name.endswith(MAKER)]
    return mentioned(message.text, calls)


def _walk(part: Any) -> Iterator[str]:
    match part:
        case str():
            if PREFIX in part:
                yield from _in_text(part)
        case Mapping():
            for key, value in part.items():
                yield from _walk(key)
                yield from _walk(value)
        case list() | tuple():
            for item in part:
                yield from _walk(item)
        case _:
            pass


def _in_text(text: str) -> Iterator[str]:
    at = text.find(PREFIX)
    while at >= 0:
        end = at + len(PREFIX) + BODY_CHARS
        if is_artifact_id(text[at:end]) and not (
            _joins(text[at - 1 : at]) or _joins(text[end:][:1])
        ):
            yield text[at:end]
        at = text.find(PREFIX, at + 1)


def _joins(char: str) -> bool:
    """Whether a character makes one word with what stands beside it."""
    return char.isalnum() or char == "_"
