"""Candidates of a search in a full-text index: few enough to be ranked in full, and the right ones.

Where little of an index is in scope, the scope goes into the question, so that a small store in a
large vault is searched in the time of a small one.

A sentence is answered without reading all that it could meet. The rarest rows are read first, up
to `POSTINGS_MAX` texts a row; once `ESSENTIAL` texts are known, rows that more texts hold only add
to those; and the best of these by what they are known to hold are handed on to be ranked in full.
Everything is asked by number, the newest first, so the answer does not depend on how the index lies
in its segments.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from operator import itemgetter

from holdfast.core.rank.asked import expression_of
from holdfast.core.rank.score import Statistics, rarity
from holdfast.core.text.query import quoted
from holdfast.storage.sqlite.textindex import NO_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.core.rank.asked import Asked
    from holdfast.core.rank.score import Text
    from holdfast.core.text.query import Way
    from holdfast.ports.search import Candidates
    from holdfast.storage.sqlite.textindex import TextIndex

    # The texts with these numbers that are asked for in all other respects.
    TextsOf = Callable[[Sequence[int]], Sequence[Text]]

MATCHES_MAX = 2_000
MATCHES_LOOKED_AT_MAX = 16 * MATCHES_MAX
POSTINGS_MAX = 40_000
ESSENTIAL = 16_000
WEIGHED = 200
WEIGHED_LOOKED_AT_MAX = 5_000
HOLDERS_COUNTED_MAX = 1_000
SCOPE_COUNTED_MAX = 1_000
SCOPE_SMALL = 0.25
NOTHING: Candidates = (), Statistics(texts=0, length=0.0, holders={}), 0, False


class TextSearch:
    """One search in one index, as far as these scopes reach."""

    def __init__(self, index: TextIndex, scope: Sequence[str], texts_of: TextsOf) -> None:
        self._index = index
        self._scope = " OR ".join(f'"{token}"' for token in scope)
        self._texts_of = texts_of
        self._texts, self._tokens = index.totals()

    def candidates(self, asked: Asked) -> Candidates:
        """What may answer, for `core/rank` to rank."""
        if not self._texts or not self._scope or asked.finds_nothing:
            return NOTHING
        if asked.is_sentence:
            holders, numbers = self._by_any(asked)
            step, most, looked_at_max = WEIGHED, WEIGHED, WEIGHED_LOOKED_AT_MAX
        else:
            holders = {way: self._holders(way) for way in asked.rows}
            numbers = self._by_all(expression_of(asked))
            step, most, looked_at_max = MATCHES_MAX, MATCHES_MAX, MATCHES_LOOKED_AT_MAX
        known = Statistics(texts=self._texts, length=self._tokens / self._texts, holders=holders)
        found: list[Text] = []
        looked_at = 0
        while looked_at < looked_at_max and (part := list(islice(numbers, step))):
            looked_at += len(part)
            found += self._texts_of(part)
            if len(found) >= most or len(part) < step:
                break
        left = next(numbers, None) is not None
        return found, known, looked_at - len(found), left

    def _by_all(self, expression: str) -> Iterator[int]:
        """The numbers of the texts that meet an expression, the newest first."""
        below, scoped = NO_NUMBER, expression
        while True:
            part = self._index.numbers(scoped, MATCHES_MAX, below)
            yield from part
            if len(part) < MATCHES_MAX:
                return
            below = part[-1]
            if scoped is expression and self._is_small:
                scoped = f"({expression}) AND ({self._scope})"

    def _by_any(self, asked: Asked) -> tuple[dict[Way, int], Iterator[int]]:
        """How many hold each row, and the numbers of the texts that hold the rarest, those that
        are known to hold most first."""
        must = expression_of(asked)
        lists: list[tuple[int, list[int], Way]] = []
        for (way,) in asked.groups:
            expression = quoted(way)
            part = self._index.numbers(expression, POSTINGS_MAX)
            held = self._estimated(len(part), part[-1] if part else 0, POSTINGS_MAX)
            if len(part) == POSTINGS_MAX and self._is_small:
                part = self._index.numbers(f"{expression} AND ({self._scope})", POSTINGS_MAX)
            if must and part:
                part = self._index.numbers(f"{expression} AND ({must})", POSTINGS_MAX)
            lists.append((held, part, way))
        lists.sort(key=itemgetter(0))
        worth: dict[int, float] = {}
        for held, part, _ in lists:
            rare = rarity(self._texts, held)
            if len(worth) < ESSENTIAL:
                more = dict.fromkeys(part, rare)
                for number in more.keys() & worth.keys():
                    more[number] += worth[number]
                worth |= more
            else:
                for number in worth.keys() & set(part):
                    worth[number] += rare
        holders = {way: self._holders(way) for group in asked.subjects for way in group}
        holders |= {way: held for held, _, way in lists}
        return holders, _best_first(worth)

    @cached_property
    def _is_small(self) -> bool:
        """Whether so little of the index is in scope that it is worth asking for the scope."""
        count, oldest = self._index.counted(self._scope, SCOPE_COUNTED_MAX)
        return self._estimated(count, oldest, SCOPE_COUNTED_MAX) < SCOPE_SMALL * self._texts

    def _holders(self, way: Way) -> int:
        return self._estimated(
            *self._index.counted(quoted(way), HOLDERS_COUNTED_MAX), HOLDERS_COUNTED_MAX
        )

    def _estimated(self, count: int, oldest: int, limit: int) -> int:
        """How many there are in all, by how far back the newest of them reach."""
        if count < limit:
            return count
        head = self._index.newest()
        return min(self._texts, count * head // (head - oldest + 1))


def _best_first(worth: dict[int, float]) -> Iterator[int]:
    """The best, put in order only as far as they are asked for."""
    values = sorted(worth.values(), reverse=True)
    below = float("inf")
    for last in (WEIGHED, WEIGHED_LOOKED_AT_MAX):
        least = values[min(last, len(values)) - 1] if values else below
        part = [(value, number) for number, value in worth.items() if least <= value < below]
        part.sort(reverse=True)
        yield from map(itemgetter(1), part)
        below = least


def listed(parts: Iterator[list[int]], texts_of: TextsOf) -> Candidates:
    """What may answer a search without words: the newest."""
    found: list[Text] = []
    looked_at = 0
    for part in parts:
        looked_at += len(part)
        found += texts_of(part)
        if len(found) >= MATCHES_MAX:
            break
    _, nothing_known, *_ = NOTHING
    return found, nothing_known, looked_at - len(found), next(parts, None) is not None
