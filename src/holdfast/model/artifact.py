"""An artifact: content under an id of its own, for what is too large to be a note.

Its id is `art_` and 16 characters that the vault's secret makes of the store and the content: the
same content in a store is the same artifact, and to whoever has not the secret an id tells nothing.
"""

from __future__ import annotations

from holdfast.model.ids import ALPHABET
from holdfast.model.value import Readable, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Advice
    from holdfast.model.ids import SessionId

    ArtifactState = Literal["kept", "forgotten"]

PREFIX = "art_"
BODY_CHARS = 16
BODY_BYTES = BODY_CHARS * 5 // 8
ARTIFACT_MIB = 64
ARTIFACT_MIB_MAX = 1024
HOURS = 24
MIME_CHARS_MAX = 100
TITLE_CHARS_MAX = 200
SUMMARY_CHARS_MAX = 1_000

_MEMBERS = frozenset(ALPHABET)


def make_artifact_id(secret: bytes) -> str:
    """The id of which these are the bytes."""
    number = int.from_bytes(secret[:BODY_BYTES], "big")
    return PREFIX + "".join(ALPHABET[(number >> shift) & 31] for shift in range(75, -1, -5))


def is_artifact_id(text: str) -> bool:
    body = text.removeprefix(PREFIX)
    return body != text and len(body) == BODY_CHARS and _MEMBERS.issuperset(body)


class ArtifactRow(Value):
    """An artifact as it is kept. `content` names its bytes; what was forgotten has none.

    `lines` is None where the content is no text. `until` is when it lapses, so many `hours` after
    nothing referred to it any more; None while something does. The log says nothing of `until`.
    """

    id: str
    number: int
    content: str
    mime: str
    title: str
    summary: str
    size: int
    lines: int | None
    state: ArtifactState
    session: SessionId | None
    created: datetime
    hours: int
    until: datetime | None
    revision: int

    def as_forgotten(self) -> ArtifactRow:
        """Without what it held; the id stays, for nothing else to take it."""
        return self.replace(state="forgotten", content="", title="", summary="", until=None)


class Artifact(Value):
    """An artifact as it is shown. It lapses at `until`, unless something refers to it till then;
    `references` counts what does."""

    id: str
    mime: str
    size: int
    lines: int | None = None
    title: str = ""
    summary: str = ""
    created: datetime
    references: int = 0
    until: datetime | None = None
    revision: int


class ArtifactSaved(Value):
    """`unchanged`: this content was there already, and nothing new was said of it."""

    artifact: Artifact
    outcome: Literal["saved", "described", "unchanged"]
    advice: tuple[Advice, ...] = ()


class ArtifactForgotten(Value):
    id: str
    outcome: Literal["forgotten", "unchanged"]


class Piece(Readable):
    """A part of an artifact: its bytes from `start` up to `stop`, and of a text which lines these
    are. What is no text is in base64. `more` says that it goes on."""

    id: str
    mime: str
    size: int
    start: int
    stop: int
    more: bool
    encoding: Literal["utf-8", "base64"] = "utf-8"
    first_line: int | None = None
    last_line: int | None = None
