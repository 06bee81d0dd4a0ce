"""What is asked of the full-text index, and what answers: hits whose scores explain themselves.

A score is the sum of its named parts, so that whoever wonders why something was found can be told
in the same numbers that ranked it. The order is by score and, where two are equal, by what was made
last; nothing else has a say, so the same vault answers the same way on the same day.
"""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.entry import IMPORTANCE_MAX
from holdfast.model.names import check_str, is_unicode, shown
from holdfast.model.query import check_limit
from holdfast.model.times import given_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Literal, TypedDict, TypeVar

    from holdfast.model.entry import Entry, State
    from holdfast.model.space import Store

    T = TypeVar("T", bound=str)
    Matching = Literal["words", "any"]
    Rerank = Literal["blend", "relevance", "importance", "newest"]
    Diagnostics = Literal["off", "basic", "detailed"]

    class SearchOptions(TypedDict, total=False):
        """What a caller may ask beside the text."""

        match: Matching
        subject: str
        kinds: tuple[str, ...]
        tags: tuple[str, ...]
        states: tuple[State, ...]
        hidden: bool
        task: str | None
        since: datetime | None
        until: datetime | None
        importance: int
        limit: int
        cursor: str | None
        rerank: Rerank
        diagnostics: Diagnostics


HITS = 8
HITS_MAX = 50
CURSOR_CHARS_MAX = 40
MATCHINGS = ("words", "any")
RERANKS = ("blend", "relevance", "importance", "newest")
DIAGNOSTICS = ("off", "basic", "detailed")
SEARCHED_STATES = ("confirmed", "updated", "draft")
_HEX = frozenset("0123456789abcdef")


class RankWeights(Value):
    """How much a score gains beyond its words, as shares of what the words are worth.

    `names` is how much more a word counts in a subject or a tag than in the text. `recent` is for
    what is from today and halves each `recent_days`; `important` is for an importance of 100, and
    is taken away for one of 0. `used` is for a hundred uses; `ended` is taken away where the time
    is over that an entry is true for.
    """

    names: float = 2.0
    near: float = 0.25
    recent: float = 0.1
    recent_days: int = 90
    important: float = 0.15
    pinned: float = 0.1
    used: float = 0.1
    ended: float = 0.5


class Place(Value):
    """The place behind a hit: what comes next scores less, or as much and was made before."""

    score: float
    number: int

    def __str__(self) -> str:
        return f"{round(self.score * 1_000_000):x}-{self.number:x}"


class SearchQuery(Value):
    """`match` is `words` for the query language, `any` for a sentence ranked by any of its words.

    `subject` is in the query language and must be met by the subject or a tag alone. `states` may
    name `draft`: those of the session that asks. `hidden` adds what is hidden, `task` what is for a
    task alone. Tags are all
    wanted, kinds are alternatives. `since_us` is included, `until_us` is not.
    """

    text: str = ""
    match: Matching = "words"
    subject: str = ""
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[State, ...] = SEARCHED_STATES
    hidden: bool = False
    task: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    importance: int = 0
    limit: int = HITS
    cursor: Place | None = None
    weights: RankWeights = RankWeights()
    rerank: Rerank = "blend"
    diagnostics: Diagnostics = "off"


class Hit(Value):
    """`why` has the parts of the score by name; they add up to it."""

    store: Store
    entry: Entry
    score: float
    why: Mapping[str, float]


class Weighed(Value):
    """A candidate by its number, what it scored and why, whether or not it was shown."""

    number: int
    score: float
    why: Mapping[str, float]


class Looked(Value):
    """How an answer was found: `matched` were weighed, `filtered` met the words and not the rest
    of what was asked, `dropped` were weighed and not shown. `cut` says that more met the words than
    were looked at: the newest were. `holders` says how many texts hold what was looked for, exactly
    or by estimate; `candidates` has the best that were weighed, for detailed diagnostics. `took_us`
    is the time that it took.
    """

    matched: int
    filtered: int
    dropped: int
    cut: bool
    holders: Mapping[str, int]
    candidates: tuple[Weighed, ...] = ()
    took_us: int = 0


class Found(Value):
    """The best hits, the best first. `cursor` leads to the next; None when there are no more.
    `looked` is there where diagnostics were asked for."""

    hits: tuple[Hit, ...] = ()
    cursor: str | None = None
    looked: Looked | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def search_query(
    text: str = "",
    *,
    match: Matching = "words",
    subject: str = "",
    kinds: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    states: tuple[State, ...] = SEARCHED_STATES,
    hidden: bool = False,
    task: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    importance: int = 0,
    limit: int = HITS,
    cursor: str | None = None,
    rerank: Rerank = "blend",
    diagnostics: Diagnostics = "off",
) -> SearchQuery:
    """What a caller asked, checked."""
    check_str(text, "the text to search for")
    check_str(subject, "the subject to search for")
    _one_of(match, MATCHINGS, "way to match")
    for state in states:
        _one_of(state, SEARCHED_STATES, "state to search in")
    for word in (*kinds, *tags):
        check_str(word, "a kind or a tag")
    if type(importance) is not int or not 0 <= importance <= IMPORTANCE_MAX:
        raise InvalidInput(
            "importance_invalid",
            f"{shown(importance)} is no importance",
            hint=f"ask for a whole number from 0 to {IMPORTANCE_MAX}",
        )
    return SearchQuery.filled_(
        {
            "text": text,
            "match": match,
            "subject": subject,
            "kinds": tuple(filter(is_unicode, kinds)) or (("",) if kinds else ()),
            "tags": tags,
            "states": states,
            "hidden": hidden,
            "task": task,
            "since_us": None if since is None else given_us(since),
            "until_us": None if until is None else given_us(until),
            "importance": importance,
            "limit": check_limit(limit, HITS_MAX),
            "cursor": None if cursor is None else place_from(cursor),
            "weights": SearchQuery.weights,
            "rerank": _one_of(rerank, RERANKS, "order"),
            "diagnostics": _one_of(diagnostics, DIAGNOSTICS, "detail of diagnostics"),
        }
    )


def place_from(text: str) -> Place:
    score, _, number = text.partition("-")
    if score and number and _HEX.issuperset(score + number) and len(text) <= CURSOR_CHARS_MAX:
        place = Place(score=int(score, 16) / 1_000_000, number=int(number, 16))
        if place.number < 2**63 and place.score < 2**53:
            return place
    raise InvalidInput(
        "cursor_invalid",
        f"{shown(text)} is not a cursor",
        hint="use the cursor that the page before gave",
    )


def _one_of(value: T, known: Sequence[T], what: str) -> T:
    if value not in known:
        raise InvalidInput(
            "search_invalid",
            f"{shown(value)} is no {what}",
            hint=f"one of {', '.join(known)}",
        )
    return value
