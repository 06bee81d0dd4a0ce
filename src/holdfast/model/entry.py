"""An entry: one remembered text with its metadata, and what is said about where it came from."""

from __future__ import annotations

from holdfast.model.ids import short
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal, TypedDict

    from holdfast.model.ids import EntryId, SessionId

    Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
    State = Literal["draft", "confirmed", "updated", "forgotten"]
    Origin = Literal["user", "agent", "tool", "web", "import"]
    Trust = Literal["high", "medium", "low"]

    class EntryChanges(TypedDict, total=False):
        """What may change of an entry from one version to the next."""

        kind: str
        subject: str
        text: str
        importance: int
        pinned: bool
        tags: tuple[str, ...]
        refs: tuple[str, ...]
        facts: Mapping[str, Json]
        holds: tuple[str, ...]
        metadata: Mapping[str, Json]
        origin: Origin
        trust: Trust
        until: datetime | None
        bound: bool


ORIGINS = ("user", "agent", "tool", "web", "import")
TRUST_OF: Mapping[Origin, Trust] = {
    "user": "high",
    "agent": "medium",
    "import": "medium",
    "tool": "low",
    "web": "low",
}

IMPORTANCE = 50
IMPORTANCE_MAX = 100
TEXT_BYTES_MAX = 1_048_576
METADATA_BYTES_MAX = 65_536
METADATA_DEPTH_MAX = 32


class Entry(Value):
    """One version of an entry. `revision` is the seq of the change that made this version.

    What a strategy says of its entries has these places: `kind`, one of the strategy's own;
    `subject`, the line by which the entry is found before it is read, empty where the text is that
    line; `until`, the end of the time that it is true for; and `facts`, JSON of the strategy's own.
    `refs` are the ids of entries of the same store that it refers to. `scope` is whom it is for:
    everyone in the space where it is empty, else `user:NAME`, `session:ID` or `task:NAME`; it never
    changes.
    `holds` names stored contents that this version is not whole without.
    `metadata` is the caller's.
    """

    id: EntryId
    given_id: str | None = None
    kind: str = ""
    subject: str = ""
    text: str
    state: State
    hidden: bool = False
    importance: int = IMPORTANCE
    pinned: bool = False
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    scope: str = ""
    facts: Mapping[str, Json] = {}
    holds: tuple[str, ...] = ()
    metadata: Mapping[str, Json]
    origin: Origin
    trust: Trust
    session: SessionId | None = None
    bound: bool = False
    created: datetime
    updated: datetime
    said_at: datetime | None = None
    when: datetime
    until: datetime | None = None
    number: int
    revision: int

    @property
    def handle(self) -> str:
        """What people and agents call it by: the id that its writer gave, else the short form."""
        return self.given_id or short(self.id)

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called by: it is found by these words as by those of its text."""
        return (self.subject, *self.tags) if self.subject else self.tags


class NewEntry(Value):
    """An entry before it has an id. Without a `trust` it has that of its origin."""

    text: str
    state: State = "confirmed"
    given_id: str | None = None
    kind: str = ""
    subject: str = ""
    importance: int = IMPORTANCE
    pinned: bool = False
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    scope: str = ""
    facts: Mapping[str, Json] = {}
    holds: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}
    origin: Origin
    trust: Trust | None = None
    said_at: datetime | None = None
    until: datetime | None = None
    bound: bool = False


class Advice(Value):
    """What could be better about something that was nevertheless done."""

    code: str
    message: str
