"""Whether one text meets a query: what an index answers, for texts that no index holds."""

from __future__ import annotations

from holdfast.core.text.query import Query, ways
from holdfast.core.text.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.core.text.query import Phrase, Prefix, Way, Word


def satisfies(query: Query, text: str) -> bool:
    """As `match_expression` would find it."""
    held = tokens(text)
    groups = [group for group in query.wanted if any(ways(item) for item in group)]
    return (
        bool(groups)
        and all(_any(held, group) for group in groups)
        and not _any(held, query.unwanted)
    )


def _any(held: list[str], items: Iterable[Word | Phrase | Prefix]) -> bool:
    return any(_stands_in(held, way) for item in items for way in ways(item))


def _stands_in(held: list[str], way: Way) -> bool:
    """Whether the row's tokens stand in the text, next to each other and in order."""
    *head, last = way.tokens
    for at in range(len(held) - len(head)):
        end = held[at + len(head)]
        fits = end.startswith(last) if way.open_ended else end == last
        if fits and held[at : at + len(head)] == head:
            return True
    return False
