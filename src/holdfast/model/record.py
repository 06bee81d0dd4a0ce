"""What the store of records answers: rows of subject level, one record in full, its versions."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Entry, Json, State
    from holdfast.model.search import Looked

    LinkState = Literal["confirmed", "updated", "draft", "closed", "forgotten", "missing"]


class RecordRow(Value):
    """A record as it is found before it is read. `why` has the parts of its score by name."""

    id: str
    subject: str
    kind: str
    layer: str
    state: State
    when: datetime
    until: datetime | None = None
    importance: int
    pinned: bool = False
    closed: str = ""
    summary: str = ""
    score: float | None = None
    why: Mapping[str, float] = {}


class RecordRows(Value):
    """`cursor` leads to the next page. `tokens` is what the rows take in a context; `left_out`
    counts what the token budget cost them. `looked` is there where diagnostics were asked for."""

    rows: tuple[RecordRow, ...] = ()
    cursor: str | None = None
    tokens: int = 0
    budget: int | None = None
    left_out: int = 0
    looked: Looked | None = None

    def __iter__(self) -> Iterator[RecordRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class RecordAdded(Value):
    """`again`: the same fact was there, and was corroborated. `near` are those that say nearly the
    same, `supersedes` those that gave way to it."""

    entry: Entry
    outcome: Literal["added", "again", "reopened", "unchanged"]
    near: tuple[RecordRow, ...] = ()
    supersedes: tuple[RecordRow, ...] = ()


class RecordPromoted(Value):
    """`merged`: the same fact was confirmed already, and is what the draft became."""

    entry: Entry
    outcome: Literal["promoted", "merged", "unchanged"]
    supersedes: tuple[RecordRow, ...] = ()


class RecordUpdated(Value):
    entry: Entry
    outcome: Literal["updated", "adjusted", "unchanged"]
    supersedes: tuple[RecordRow, ...] = ()


class RecordForgotten(Value):
    """What was forgotten, or what would be: then `confirm` is the word with which it will."""

    rows: tuple[RecordRow, ...]
    outcome: Literal["forgotten", "unchanged", "asked"]
    confirm: str | None = None


class RecordRead(Value):
    """One record in full. `says` explains a state in which it is not simply shown; a structured
    body is in `fields`, and is `body` as text. `sections` are paths for `expand`, of `of_sections`
    in all. `others` were found by the same query."""

    entry: Entry
    layer: str
    body: str
    fields: Mapping[str, Json] | None = None
    sections: tuple[str, ...] = ()
    of_sections: int = 0
    confidence: float | None = None
    source: str = ""
    since: datetime | None = None
    says: str = ""
    links: tuple[RecordLink, ...] = ()
    others: tuple[RecordRow, ...] = ()


class RecordPart(Value):
    """One section or field of a record; or, where a layer was asked for, its rows."""

    id: str | None = None
    path: str = ""
    text: str = ""
    value: Json = None
    rows: tuple[RecordRow, ...] = ()
    cursor: str | None = None


class RecordLink(Value):
    """A reference from one record to another. `state` is that of the record at the far end:
    `missing` and `forgotten` are dead links."""

    source: str
    target: str
    subject: str = ""
    state: LinkState
    depth: int = 1

    @property
    def is_dead(self) -> bool:
        return self.state in ("missing", "forgotten")


class RecordLinks(Value):
    """`refers`: what it refers to; `referred`: what refers to it."""

    id: str
    refers: tuple[RecordLink, ...] = ()
    referred: tuple[RecordLink, ...] = ()


class RecordNeighbours(Value):
    """The records within so many links, the nearest first, and the links that lead nowhere."""

    id: str
    rows: tuple[tuple[int, RecordRow], ...] = ()
    dead: tuple[RecordLink, ...] = ()
    more: bool = False


class RecordVersion(Value):
    """What one change made of a record, with who, when and why."""

    revision: int
    at: datetime
    actor: str
    session: str | None
    op: str
    reason: str
    state: State
    kind: str
    subject: str
    body: str


class RecordDiff(Value):
    """What differs between two versions: fields as pairs of before and after, and the body as a
    unified diff."""

    before: int
    after: int
    fields: Mapping[str, Json]
    body: str
