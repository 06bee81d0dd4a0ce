"""A message: one thing that was said in a session, kept whole and apart from memory.

What was said never becomes a memory by being kept: messages are searched and read, and shown to
reviewers, but no session starts with them.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Json, Origin, Trust
    from holdfast.model.ids import MessageId, SessionId
    from holdfast.model.review import Role
    from holdfast.model.session import Session

    # number of the message, number of its session, place, score (more is better), how many
    Found = tuple[int, int, int, float, int]
    SessionClass = Literal["person", "automation"]

MESSAGE_BYTES_MAX = 16 * 1_048_576
CALLS_BYTES_MAX = 1_048_576
CALLS_MAX = 256
# What is searched of one message: its beginning.
INDEXED_CHARS_MAX = 262_144


class ToolCall(Value):
    """A tool that an assistant's message asks for. `id` is what the answer names it by."""

    name: str
    id: str = ""
    arguments: Mapping[str, Json] = {}


class NewMessage(Value):
    """A message before it has a place. `terms` are those of its text, made before the write.

    Without an `origin` it has that of its role; what an assistant says after a tool spoke has the
    tool's. `call` names the call that a tool's message answers, `tool` the tool.
    """

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call: str = ""
    tool: str = ""
    given_id: str | None = None
    origin: Origin | None = None
    said_at: datetime | None = None
    rewound: bool = False
    terms: str = ""


class Message(Value):
    """`place` counts from 1 in its session. `when` is when it was said, else written down.

    `left_out` are the bytes of a tool's answer that its store does not keep. A message that was
    rewound was taken back by whoever talked: no search finds it.
    """

    id: MessageId
    number: int
    session: SessionId
    place: int
    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call: str = ""
    tool: str = ""
    given_id: str | None = None
    origin: Origin
    trust: Trust
    at: datetime
    said_at: datetime | None = None
    when: datetime
    rewound: bool = False
    left_out: int = 0
    revision: int


class Conversation(Value):
    """A session with what was said in it, in numbers. `title` is its own or its first words."""

    session: Session
    title: str
    kind: SessionClass
    messages: int
    turns: int
    last: datetime


class Near(Value):
    """A message near one that was found, cut short."""

    place: int
    role: Role
    text: str


class SessionHit(Value):
    """A session in which a search found something: its best message, and what stands around it.

    `marks` are the spans of the snippet that were asked for. `found` counts the
    session's messages among the best that matched.
    `caution` says how old the words are; that they were said does not make them true now.
    """

    session: SessionId
    title: str
    kind: SessionClass
    source: str
    message: MessageId
    place: int
    role: Role
    when: datetime
    trust: Trust
    snippet: str
    marks: tuple[tuple[int, int], ...]
    before: tuple[Near, ...]
    after: tuple[Near, ...]
    found: int
    compacted: bool
    score: float
    caution: str


class MessageQuery(Value):
    """What one user's conversations are asked. `since_us` is included, `until_us` is not."""

    match: str
    user: str
    since_us: int | None = None
    until_us: int | None = None
    roles: tuple[Role, ...] = ()
    sources: tuple[str, ...] = ()
    limit: int = 10


class SessionQuery(Value):
    """Which sessions of a user: in a state, from these sources, last used before a time."""

    user: str
    state: str | None = None
    sources: tuple[str, ...] = ()
    before_us: int
    limit: int = 20


class Talk(Value):
    """A part of a session: its messages in order. `cursor` leads on, None at the end."""

    session: Session
    title: str
    messages: tuple[Message, ...]
    cursor: int | None


class SaidNow(Value):
    """What saying something did. `learned` are notices of what was remembered at once."""

    message: Message
    turns: int
    outcome: Literal["said", "unchanged"]
    review_due: bool = False
    notices: tuple[str, ...] = ()
