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
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    from holdfast.core.rank.asked import Asked
    from holdfast.core.rank.score import Text
    from holdfast.core.text.query import Way
    from holdfast.ports.search import TextsFound
    from holdfast.storage.sqlite.textindex import TextIndex

    class Texts(Protocol):
        """The texts that are asked for in all respects but their words."""

        def numbered(self, numbers: Sequence[int]) -> Sequence[Text]:
            """Those of these numbers."""
            ...

        def meeting(
            self, expression: str, below: int, limit: int, few: float | None
        ) -> tuple[Sequence[Text], int, int]:
            """Those among the newest so many that meet an expression; how many met it, and the
            number of the last. `few`: about so many meet it, and not so many that order matters.
            """
            ...


MATCHES_MAX = 2_000
MATCHES_LOOKED_AT_MAX = 16 * MATCHES_MAX
POSTINGS_MAX = 40_000
ESSENTIAL = 16_000
WEIGHED = 200
WEIGHED_LOOKED_AT_MAX = 5_000
HOLDERS_COUNTED_MAX = 1_000
SCOPE_COUNTED_MAX = 1_000
SCOPE_SMALL = 0.25
NOTHING: TextsFound = (), Statistics(texts=0, length=0.0, holders={}), 0, False


class TextSearch:
    """One search in one index, as far as these scopes reach."""

    def __init__(self, index: TextIndex, scope: str, source: Texts) -> None:
        self._index = index
        self._scope = scope
        self._source = source
        self._texts, self._tokens = index.totals()

    def candidates(self, asked: Asked) -> TextsFound:
        """What may answer, for `core/rank` to rank."""
        if not self._texts or not self._scope or asked.finds_nothing:
            return NOTHING
        if asked.is_sentence:
            holders, numbers = self._by_any(asked)
            found, looked_at, left = self._best_known(numbers)
        else:
            holders = self._holders(asked.rows)
            few = _few(asked, holders, self._texts)
            found, looked_at, left = self._newest(expression_of(asked), few)
        length = self._tokens / self._texts
        known = Statistics.filled_({"texts": self._texts, "length": length, "holders": holders})
        return found, known, looked_at - len(found), left

    def _best_known(self, numbers: Iterator[int]) -> tuple[Sequence[Text], int, bool]:
        """The texts of the first of these numbers, how many were looked at, and whether that was
        not all."""
        found: list[Text] = []
        looked_at = 0
        while looked_at < WEIGHED_LOOKED_AT_MAX and (part := list(islice(numbers, WEIGHED))):
            looked_at += len(part)
            found += self._source.numbered(part)
            if len(found) >= WEIGHED or len(part) < WEIGHED:
                break
        return found, looked_at, next(numbers, None) is not None

    def _newest(self, expression: str, few: float | None) -> tuple[Sequence[Text], int, bool]:
        """The same of the texts that meet an expression, the newest."""
        found, count, last = self._source.meeting(expression, NO_NUMBER, MATCHES_MAX, few)
        if count < MATCHES_MAX:
            return found, count, False
        scoped = f"({expression}) AND ({self._scope})" if self._is_small else expression
        whole, looked_at = list(found), count
        while len(whole) < MATCHES_MAX and looked_at < MATCHES_LOOKED_AT_MAX:
            part, count, last = self._source.meeting(scoped, last, MATCHES_MAX, None)
            whole += part
            looked_at += count
            if count < MATCHES_MAX:
                return whole, looked_at, False
        return whole, looked_at, bool(self._index.numbers(scoped, 1, last))

    def _by_any(self, asked: Asked) -> tuple[dict[Way, int], Iterator[int]]:
        """How many hold each row, and the numbers of the texts that hold the rarest, those that
        are known to hold most first."""
        must = expression_of(asked)
        lists: list[tuple[int, list[int], Way]] = []
        for (way,) in asked.groups:
            expression = quoted(way)
            part = self._index.numbers(expression, POSTINGS_MAX)
            held = self._index.estimated(len(part), part[-1] if part else 0, POSTINGS_MAX)
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
        holders = self._holders([way for group in asked.subjects for way in group])
        holders |= {way: held for held, _, way in lists}
        return holders, _best_first(worth)

    @cached_property
    def _is_small(self) -> bool:
        """Whether so little of the index is in scope that it is worth asking for the scope."""
        count, oldest = self._index.counted(self._scope, SCOPE_COUNTED_MAX)
        return self._index.estimated(count, oldest, SCOPE_COUNTED_MAX) < SCOPE_SMALL * self._texts

    def _holders(self, ways: Sequence[Way]) -> dict[Way, int]:
        counts = self._index.holders(list(map(quoted, ways)), HOLDERS_COUNTED_MAX)
        return dict(zip(ways, counts, strict=True))


def _few(asked: Asked, holders: Mapping[Way, int], texts: int) -> float | None:
    """How many will meet all that is asked, if they are like others, where that is known not to be
    many."""
    few, least = float(texts), texts
    for group in (*asked.groups, *asked.subjects):
        count = 0
        for way in group:
            count += holders[way]
        few *= count / texts
        least = min(least, count)
    return few if least < HOLDERS_COUNTED_MAX else None


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


def listed(parts: Iterator[list[int]], source: Texts) -> TextsFound:
    """What may answer a search without words: the newest."""
    found: list[Text] = []
    looked_at = 0
    for part in parts:
        looked_at += len(part)
        found += source.numbered(part)
        if len(found) >= MATCHES_MAX:
            break
    _, nothing_known, *_ = NOTHING
    return found, nothing_known, looked_at - len(found), next(parts, None) is not None
