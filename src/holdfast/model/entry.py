"""An entry: one remembered text with its metadata, and what is said about where it came from."""

from __future__ import annotations

from holdfast.model.ids import short
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.ids import EntryId, SessionId

    Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
    State = Literal["draft", "confirmed", "updated", "forgotten"]
    Origin = Literal["user", "agent", "tool", "web", "import"]
    Trust = Literal["high", "medium", "low"]

ORIGINS = ("user", "agent", "tool", "web", "import")
TRUST_OF: Mapping[Origin, Trust] = {
    "user": "high",
    "agent": "medium",
    "import": "medium",
    "tool": "low",
    "web": "low",
}

TEXT_BYTES_MAX = 1_048_576
METADATA_BYTES_MAX = 65_536
METADATA_DEPTH_MAX = 32


class Entry(Value):
    """One version of an entry. `revision` is the seq of the change that made this version."""

    id: EntryId
    given_id: str | None = None
    text: str
    state: State
    hidden: bool = False
    metadata: Mapping[str, Json]
    origin: Origin
    trust: Trust
    session: SessionId | None = None
    bound: bool = False
    created: datetime
    updated: datetime
    said_at: datetime | None = None
    when: datetime
    number: int
    revision: int

    @property
    def handle(self) -> str:
        """What people and agents call it by: the id that its writer gave, else the short form."""
        return self.given_id or short(self.id)


class Advice(Value):
    """What could be better about something that was nevertheless done."""

    code: str
    message: str
