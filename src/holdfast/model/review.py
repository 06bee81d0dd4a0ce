"""What a reviewer is shown, and what it may answer.

A reviewer is a function from what was said since the last review, and what memory holds already, to
suggestions. It changes nothing: the engine checks every suggestion (its evidence, its trust, the
revision that it rests on), keeps it as a proposal, and applies it by policy.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Json, Origin, Trust
    from holdfast.model.ids import EntryId, MessageId, SessionId

    Role = Literal["user", "assistant", "tool", "system"]
    SuggestionOp = Literal["add", "update", "retire"]

ROLES = ("user", "assistant", "tool", "system")
SUGGESTION_OPS = ("add", "update", "retire")


class Said(Value):
    """One message as a reviewer sees it. `number` is its place in the session, from 1.

    `said_at` is when it was said; `at` when it was written down, which an import does later.
    `origin` is where the text came from: what an assistant says right after a tool has that tool's.
    `source` is the way in: `cli`, `mcp`, `claude-code`, `cron`.
    """

    id: MessageId
    number: int
    role: Role
    source: str
    text: str
    at: datetime
    said_at: datetime | None = None
    session: SessionId
    origin: Origin = "user"
    trust: Trust = "high"


class Known(Value):
    """One thing that memory holds already. `kind` is a record's kind, or the file of a profile.

    What is `pinned` is there to be known; no reviewer changes it.
    """

    strategy: str
    store: str
    entry: EntryId
    revision: int
    text: str
    kind: str = ""
    subject: str = ""
    origin: Origin = "user"
    pinned: bool = False


class Suggestion(Value):
    """One change that somebody wants: a reviewer, or the writer of what is held back.

    `strategy` says which kind of store it is for, and `store` which one, where there are several.
    `kind` is a record's kind, or the file of a profile: `USER` or `MEMORY`. `evidence` are the
    messages that it rests on, at least one. `target` and `revision` name the entry that is updated
    or retired, as it was seen. `confidence` is from 0 to 1. `reason` says why in a few words.
    `details` are the other fields of the entry, as JSON (`core/suggesting.py`); a reviewer may
    leave them out.
    """

    op: SuggestionOp
    strategy: str
    store: str | None = None
    kind: str = ""
    subject: str = ""
    text: str = ""
    evidence: tuple[MessageId, ...]
    origin: Origin
    trust: Trust
    confidence: float
    target: EntryId | None = None
    revision: int | None = None
    reason: str = ""
    details: Mapping[str, Json] = {}
