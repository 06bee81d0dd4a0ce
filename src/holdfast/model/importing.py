"""Conversations that another program kept, as they are read, and what came of importing them."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Origin
    from holdfast.model.message import ToolCall
    from holdfast.model.review import Role

    TalkFormat = Literal["jsonl", "claude-code", "codex"]

TALK_FORMATS = ("jsonl", "claude-code", "codex")


class Heard(Value):
    """One message of another program's. `talk` is what it calls the conversation, `id` the message.

    A `summary` was written by the model in place of what stands before it.
    """

    talk: str
    id: str
    line: int
    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call: str = ""
    tool: str = ""
    origin: Origin | None = None
    said_at: datetime | None = None
    source: str = ""
    rewound: bool = False
    summary: bool = False


class Titled(Value):
    """What another program calls a conversation."""

    talk: str
    title: str


class Skipped(Value):
    """A line that is not kept, and why: a code."""

    line: int
    why: str


class SkippedLine(Value):
    """The same, with its file."""

    file: str
    line: int
    why: str


class Imported(Value):
    """What an import did, or would do. `known` were there before. `skipped` counts by reason;
    `examples` are the first of them."""

    files: int = 0
    sessions_new: int = 0
    sessions_grown: int = 0
    messages_new: int = 0
    messages_known: int = 0
    skipped: Mapping[str, int] = {}
    examples: tuple[SkippedLine, ...] = ()
    dry_run: bool = False
