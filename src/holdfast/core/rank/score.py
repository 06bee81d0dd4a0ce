"""How well texts answer what was asked: BM25 over words and names, then what else counts.

A text comes as its index tokens joined by blanks, its *terms* (what it says) and its *names* (what
it is called by: subject, tags, a speaker); a word in the names counts as several in the terms. To
what the words are worth come shares of it: for words that stand together as in the query, for what
is recent, important, pinned or used, less one for what has ended. So none of these lifts a text
above one that answers much better, and every part can be named. The arithmetic is the same wherever
the texts come from.
"""

from __future__ import annotations

from functools import lru_cache
from math import log
from operator import itemgetter

from holdfast.core.text.words import MARK
from holdfast.model.entry import IMPORTANCE, IMPORTANCE_MAX
from holdfast.model.times import DAY_US, day_of
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from holdfast.core.rank.asked import Asked
    from holdfast.core.text.query import Way
    from holdfast.model.search import RankWeights, Rerank

    # number, number of the store, terms, names, when, importance, pinned, uses, until or None; what
    # stands behind these is the storage's
    Text = tuple[int, int, str, str, int, int, int, int, int | None, *tuple[Any, ...]]
    Needle = tuple[str, float]
    # score, number, number of the store, the parts of the score
    Scored = tuple[float, int, int, tuple[float, ...]]

K1 = 1.2
B = 0.75
NEAR_WORDS = 8
NEAR_TEXTS_MAX = 64
NEEDLES_KEPT = 4_096
ROUGHLY = 2e-6  # more than rounding makes of two scores
PARTS = (
    *("words", "near", "recent", "important", "pinned", "used", "ended"),
    *("importance", "newest"),
)
_RECENT = PARTS.index("recent")
_MUCH_USED = log(1 + 100)
_SHARES = IMPORTANCE_MAX - IMPORTANCE


class Statistics(Value):
    """Of the whole index: how many texts, how long they are on average, and how many hold a row."""

    texts: int
    length: float
    holders: Mapping[Way, int]


def rarity(texts: int, holders: int) -> float:
    """What meeting a row is worth that so many of the texts hold."""
    held = min(holders, texts)
    return log(1 + (texts - held + 0.5) / (held + 0.5))


class Ranking:
    """The texts weighed against what is asked. Only of the best is every part worked out."""

    def __init__(
        self,
        asked: Asked,
        texts: Sequence[Text],
        known: Statistics,
        weights: RankWeights,
        at_us: int,
        rerank: Rerank = "blend",
    ) -> None:
        rare = {way: rarity(known.texts, held) for way, held in known.holders.items()}
        groups = [
            [(needle_of(way), rare[way] * len(way.tokens)) for way in group]
            for group in ((*asked.groups, *asked.subjects) if texts else ())
        ]
        self._texts = texts
        self._weights = weights
        self._today = day_of(at_us)
        self._parts_of = _BY[rerank]
        said = [f" {text[2]} " for text in texts]
        self._words = _worth_of_words(groups, texts, said, known.length, weights.names)
        self._near: dict[int, float] = {}
        if weights.near and len(groups) > 1:
            pairs = _Pairs(asked, rare)
            for place in _first(self._words, texts, NEAR_TEXTS_MAX):
                near = pairs.worth(said[place])
                if near:
                    self._near[place] = near * weights.near
        self._rough = rerank == "blend"

    def __len__(self) -> int:
        return len(self._texts)

    def best(self, most: int | None = None) -> list[Scored]:
        """So many, the best first; of equal ones, the newest first."""
        places: Iterable[int] = range(len(self._texts))
        if most is not None and self._rough and len(self._texts) > most:
            rough = self._roughly()
            least = sorted(rough)[-most] - ROUGHLY
            places = [place for place, score in enumerate(rough) if score >= least]
        found = [self._scored(place) for place in places]
        found.sort(reverse=True)
        return found[:most]

    def _scored(self, place: int) -> Scored:
        text = self._texts[place]
        near = self._near.get(place, 0.0)
        parts = self._parts_of(self._words[place], near, text, self._weights, self._today)
        return round(sum(parts), 6), text[0], text[1], parts

    def _roughly(self) -> list[float]:
        """The scores but for their rounding."""
        share_of, weights, today = _Shares(self._weights, self._today), self._weights, self._today
        recent = _Recent(weights, today)
        near = self._near
        found: list[float] = []
        for place, (words, text) in enumerate(zip(self._words, self._texts, strict=False)):
            both = words + near[place] if place in near else words
            share = recent[text[4] // DAY_US] + share_of[text[5:9]]
            found.append(both + (both or 1.0) * share)
        return found


class _Recent(dict[int, float]):
    """What being from a day is worth, as a share."""

    def __init__(self, weights: RankWeights, today: int) -> None:
        super().__init__()
        self._weights, self._today = weights, today

    def __missing__(self, day: int) -> float:
        text: Text = (0, 0, "", "", day * DAY_US, IMPORTANCE, 0, 0, None)
        share = self[day] = _blend(1.0, 0.0, text, self._weights, self._today)[_RECENT]
        return share


class _Shares(dict[tuple[int, int, int, int | None], float]):
    """What importance, pinning, uses and an end are worth together, as a share."""

    def __init__(self, weights: RankWeights, today: int) -> None:
        super().__init__()
        self._weights, self._today = weights, today

    def __missing__(self, key: tuple[int, int, int, int | None]) -> float:
        text: Text = (0, 0, "", "", 0, *key)
        parts = _blend(1.0, 0.0, text, self._weights, self._today)
        share = self[key] = sum(parts[3:])
        return share


def _first(words: Sequence[float], texts: Sequence[Text], count: int) -> Iterable[int]:
    """The places of so many texts, those whose words are worth most; of equal ones, the newest."""
    if len(texts) <= count:
        return range(len(texts))
    least = sorted(words)[-count]
    places = [place for place, worth in enumerate(words) if worth >= least]
    if len(places) > count:
        places.sort(key=lambda place: (-words[place], -texts[place][0]))
    return places[:count]


def _blend(
    words: float, near: float, text: Text, weights: RankWeights, today: int
) -> tuple[float, ...]:
    base = words + near or 1.0
    age = max(0, today - day_of(text[4]))
    return (
        words,
        near,
        base * weights.recent * 0.5 ** (age / weights.recent_days),
        base * weights.important * (text[5] - IMPORTANCE) / _SHARES,
        base * weights.pinned if text[6] else 0.0,
        base * weights.used * min(1.0, log(1 + text[7]) / _MUCH_USED) if text[7] else 0.0,
        -base * weights.ended if text[8] is not None and day_of(text[8]) < today else 0.0,
    )


def _relevance(words: float, near: float, *_: object) -> tuple[float, ...]:
    return words, near


def _importance(words: float, near: float, text: Text, *_: object) -> tuple[float, ...]:
    """Relevance decides between those of one importance, and is worth less than a point of it."""
    points = (words + near) / (1 + words + near)
    return (points, *_NOTHING, float(text[5]))


def _newest(_words: float, _near: float, text: Text, *_: object) -> tuple[float, ...]:
    """Seconds since 1970."""
    return (0.0, *_NOTHING, 0.0, text[4] / 1_000_000)


_NOTHING = (0.0,) * 6
_BY: Mapping[Rerank, Callable[..., tuple[float, ...]]] = {
    "blend": _blend,
    "relevance": _relevance,
    "importance": _importance,
    "newest": _newest,
}


def explained(one: Scored) -> dict[str, float]:
    """The parts of a score by name; those that are nothing are left out."""
    found: dict[str, float] = {}
    for name, part in zip(PARTS, one[3]):  # noqa: B905 - further parts belong to other orders
        if part and (rounded := round(part, 6)):
            found[name] = rounded
    return found


@lru_cache(NEEDLES_KEPT)
def needle_of(way: Way) -> str:
    """What to look for in the tokens of a text, with a blank at either end."""
    return f" {' '.join(way.tokens)}" + ("" if way.open_ended else " ")


def _worth_of_words(
    groups: Sequence[Sequence[Needle]],
    texts: Sequence[Text],
    said: Sequence[str],
    length: float,
    names_weight: float,
) -> list[float]:
    """BM25 of each text, whose terms are `said` with a blank at either end. A group counts by its
    best row."""
    called = [f" {text[3]} " if " " in text[3] else "" for text in texts]
    is_called = any(called)
    counted: list[list[float]] = []
    for group in groups:
        for needle, _ in group:
            often: list[float] = [terms.count(needle) for terms in said]
            if is_called:
                also = [names.count(needle) for names in called]
                often = [
                    a + names_weight * b if b else a for a, b in zip(often, also, strict=False)
                ]
            counted.append(often)
    blanks = [terms.count(" ") for terms in said]
    worth = _Worth(groups, length)
    return [worth[key] for key in zip(blanks, *counted, strict=False)]


class _Worth(dict[tuple[float, ...], float]):
    """What the words of a text are worth, by its blanks (one more than its tokens) and how often
    each needle stands in it."""

    def __init__(self, groups: Sequence[Sequence[Needle]], length: float) -> None:
        self._groups, self._length = groups, length

    def __missing__(self, key: tuple[float, ...]) -> float:
        length, words, place = self._length, 0.0, 0
        norm = K1 * (1 - B + B * (key[0] - 1) / length) if length else K1
        for group in self._groups:
            best = 0.0
            for _, worth in group:
                place += 1
                often = key[place]
                if often:
                    found = worth * often * (K1 + 1) / (often + norm)
                    best = max(best, found)
            words += best
        self[key] = words
        return words


class _Pairs:
    """How close together the words of a query stand in a text."""

    def __init__(self, asked: Asked, rare: Mapping[Way, float]) -> None:
        first: dict[str, tuple[int, float]] = {}
        for place, group in enumerate(asked.groups):
            for way in group:
                first.setdefault(way.tokens[0], (place, rare[way]))
        self._needles = [(f" {token} ", *known) for token, known in first.items()]

    def worth(self, said: str) -> float:
        """For every two words next to each other in the text that were both asked for: what the
        lesser is worth, divided by the square of the words between them and one."""
        text = said.partition(MARK)[0] if MARK in said else said
        if len(self._needles) == 2:
            (one, here, worth), (other, there, least) = self._needles
            at, beyond = text.find(one), text.find(other)
            if at < 0 or beyond < 0 or here == there:
                return 0.0
            if text.find(one, at + 1) < 0 and text.find(other, beyond + 1) < 0:
                gap = text.count(" ", at, beyond) if at < beyond else text.count(" ", beyond, at)
                return min(worth, least) / gap**2 if gap <= NEAR_WORDS else 0.0
        places: list[tuple[int, int, float]] = []
        for needle, group, worth in self._needles:
            at = text.find(needle)
            while at >= 0:
                places.append((at, group, worth))
                at = text.find(needle, at + 1)
        if len(places) < 2:
            return 0.0
        places.sort()
        best: dict[tuple[int, int], float] = {}
        before, at_before, worth_before = -1, 0, 0.0
        for at, group, worth in places:
            gap = text.count(" ", at_before, at)
            if before not in (-1, group) and gap <= NEAR_WORDS:
                pair = (before, group) if before < group else (group, before)
                best[pair] = max(best.get(pair, 0.0), min(worth, worth_before) / gap**2)
            before, at_before, worth_before = group, at, worth
        return sum(map(itemgetter(1), sorted(best.items())))
