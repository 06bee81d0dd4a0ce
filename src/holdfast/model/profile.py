"""The two files that a session always knows, as they are read and as a write left them."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Advice, Entry, Origin

    File = Literal["USER", "MEMORY"]
    ProfileOutcome = Literal[
        "added", "replaced", "removed", "restored", "pinned", "unpinned", "rated", "unchanged"
    ]
    ChangeKind = Literal["added", "changed", "removed", "archived", "restored"]


FILES: tuple[File, ...] = ("USER", "MEMORY")
CHARS_MAX: dict[File, int] = {"USER": 1_375, "MEMORY": 2_200}
# From so many percent on, a file is said to fill up.
WARN_PERCENT = (80, 90)

# The questions, by the name of the answer, in the order in which they are asked.
QUESTIONS: dict[str, str] = {
    "name": "What are you called?",
    "role": "What do you do?",
    "company": "For whom do you work?",
    "goals": "What do you want to reach?",
    "challenges": "What makes that hard?",
    "tools": "What do you work with?",
    "timezone": "In which time zone are you?",
}


class Gauge(Value):
    """How full a file is, in characters as its reader sees them."""

    file: File
    chars: int
    chars_max: int
    entries: int
    percent: int

    def __str__(self) -> str:
        return f"[{self.percent}% — {self.chars:,}/{self.chars_max:,} chars]"


class ProfileFile(Value):
    """One of the files: `text` is its Markdown, `entries` stand in it in their order. `revision` is
    that of the newest change of what stands or stood in it."""

    file: File
    gauge: Gauge
    entries: tuple[Entry, ...]
    text: str
    revision: int
    advice: tuple[Advice, ...] = ()


class ProfileWrite(Value):
    """What one step did. `unchanged`: nothing, since `entry` says it already, or was gone already.

    `near` are other entries that say nearly the same; `evicted` went to the archive to make room.
    """

    outcome: ProfileOutcome
    entry: Entry
    file: File
    gauge: Gauge
    near: tuple[Entry, ...] = ()
    evicted: tuple[Entry, ...] = ()
    advice: tuple[Advice, ...] = ()


class ProfileBatch(Value):
    """What the steps of a batch did, in their order, and what made room for them."""

    steps: tuple[ProfileWrite, ...]
    gauges: tuple[Gauge, ...]
    evicted: tuple[Entry, ...] = ()
    advice: tuple[Advice, ...] = ()


class ProfileReset(Value):
    """What left the file for the archive, and what stands in it again or anew."""

    file: File
    gauge: Gauge
    archived: tuple[Entry, ...]
    restored: tuple[Entry, ...]
    advice: tuple[Advice, ...] = ()


class Onboarded(Value):
    """The entries of the answers; `changed` counts those that were not so before."""

    entries: tuple[Entry, ...]
    changed: int
    gauge: Gauge
    evicted: tuple[Entry, ...] = ()
    advice: tuple[Advice, ...] = ()


class Difference(Value):
    """What is not as it was when the session began. `before` is the text of then; of what was
    forgotten nothing is told but that it was there."""

    kind: ChangeKind
    file: File
    entry: Entry
    before: str = ""


class Learned(Value):
    """One moment in the life of an entry: when, what, by whom and from where."""

    at: datetime
    kind: ChangeKind
    file: File
    entry: str
    text: str
    actor: str
    session: str | None
    origin: Origin
    reason: str
    seq: int


class ProfileClash(Value):
    """An entry that a file and the memory both changed: what was kept of each."""

    entry: str
    kept: str
    added: str = ""


class ProfileSync(Value):
    """What a file edited by hand brought in, and what it is now."""

    file: File
    gauge: Gauge
    path: str = ""
    added: tuple[Entry, ...] = ()
    replaced: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    evicted: tuple[Entry, ...] = ()
    clashes: tuple[ProfileClash, ...] = ()
    written: bool = False
    advice: tuple[Advice, ...] = ()


class Remembered(Value):
    """What "remember …" or "forget …" did. `candidates` are what it may have meant, where that is
    not clear and nothing was done."""

    outcome: Literal["remembered", "known", "forgotten", "unclear", "unknown"]
    file: File | None
    fact: str
    entry: Entry | None = None
    candidates: tuple[Entry, ...] = ()
    evicted: tuple[Entry, ...] = ()
    notice: str
    advice: tuple[Advice, ...] = ()
