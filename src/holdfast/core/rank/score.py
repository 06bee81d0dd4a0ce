"""How well texts answer what was asked: BM25 over words and names, then what else counts.

A text comes as its index tokens joined by blanks, its *terms* (what it says) and its *names* (what
it is called by: subject, tags, a speaker); a word in the names counts as several in the terms. To
what the words are worth come shares of it: for words that stand together as in the query, for what
is recent, important, pinned or used, less one for what has ended. So none of these lifts a text
above one that answers much better, and every part can be named. The arithmetic is the same wherever
the texts come from.
"""

from __future__ import annotations

from math import log
from operator import itemgetter

from holdfast.core.text.words import MARK
from holdfast.model.entry import IMPORTANCE, IMPORTANCE_MAX
from holdfast.model.times import day_of
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.core.rank.asked import Asked
    from holdfast.core.text.query import Way
    from holdfast.model.search import RankWeights, Rerank

    # number, number of the store, terms, names, when, importance, pinned, uses, until or None
    Text = tuple[int, int, str, str, int, int, int, int, int | None]
    Needle = tuple[str, float]
    # score, number, number of the store, the parts of the score
    Scored = tuple[float, int, int, tuple[float, ...]]

K1 = 1.2
B = 0.75
NEAR_WORDS = 8
NEAR_TEXTS_MAX = 64
PARTS = (
    *("words", "near", "recent", "important", "pinned", "used", "ended"),
    *("importance", "newest"),
)
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


def ranked(
    asked: Asked,
    texts: Iterable[Text],
    known: Statistics,
    weights: RankWeights,
    at_us: int,
    rerank: Rerank = "blend",
) -> list[Scored]:
    """The texts by what they score, the best first; equal ones, the newest first."""
    groups = [_needles(group, known) for group in (*asked.groups, *asked.subjects)]
    worth = _worth_of_words(groups, texts, known.length, weights.names)
    pairs = _Pairs(asked, known) if weights.near and len(groups) > 1 else None
    today, parts_of = day_of(at_us), _BY[rerank]
    found: list[Scored] = []
    for place, (words, text) in enumerate(worth):
        near = pairs.worth(text[2]) * weights.near if pairs and place < NEAR_TEXTS_MAX else 0.0
        parts = parts_of(words, near, text, weights, today)
        found.append((round(sum(parts), 6), text[0], text[1], parts))
    found.sort(reverse=True)
    return found


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
    named = zip(PARTS, one[3], strict=False)
    return {name: rounded for name, part in named if (rounded := round(part, 6))}


def _needles(group: Sequence[Way], known: Statistics) -> list[Needle]:
    """What to look for in the terms of a text, each with what it is worth."""
    return [
        (needle_of(way), rarity(known.texts, known.holders.get(way, 0)) * len(way.tokens))
        for way in group
    ]


def needle_of(way: Way) -> str:
    return f" {' '.join(way.tokens)}" + ("" if way.open_ended else " ")


def _worth_of_words(
    groups: Sequence[Sequence[Needle]], texts: Iterable[Text], length: float, names_weight: float
) -> list[tuple[float, Text]]:
    """BM25, the best first. A group counts by its best row."""
    found: list[tuple[float, Text]] = []
    for text in texts:
        terms, names = f" {text[2]} ", f" {text[3]} " if " " in text[3] else ""
        norm = K1 * (1 - B + B * (terms.count(" ") - 1) / length) if length else K1
        words = 0.0
        for group in groups:
            best = 0.0
            for needle, worth in group:
                often: float = terms.count(needle)
                if names:
                    often += names_weight * names.count(needle)
                if often:
                    best = max(best, worth * often * (K1 + 1) / (often + norm))
            words += best
        found.append((words, text))
    found.sort(key=lambda one: (-one[0], -one[1][0]))
    return found


class _Pairs:
    """How close together the words of a query stand in a text."""

    def __init__(self, asked: Asked, known: Statistics) -> None:
        self._groups: dict[str, tuple[int, float]] = {}
        for place, group in enumerate(asked.groups):
            for way in group:
                worth = rarity(known.texts, known.holders.get(way, 0))
                self._groups.setdefault(way.tokens[0], (place, worth))

    def worth(self, terms: str) -> float:
        """For every two words next to each other in the text that were both asked for: what the
        lesser is worth, divided by the square of the words between them and one."""
        best: dict[tuple[int, int], float] = {}
        before, at_before, worth_before = -1, 0, 0.0
        for at, token in enumerate(terms.partition(MARK)[0].split()):
            known = self._groups.get(token)
            if known is None:
                continue
            group, worth = known
            gap = at - at_before
            if before not in (-1, group) and gap <= NEAR_WORDS:
                pair = (before, group) if before < group else (group, before)
                best[pair] = max(best.get(pair, 0.0), min(worth, worth_before) / gap**2)
            before, at_before, worth_before = group, at, worth
        return sum(map(itemgetter(1), sorted(best.items())))
