"""Whether one text meets a query: what an index answers, for texts that no index holds."""

from __future__ import annotations

from holdfast.core.text.query import Query, ways
from holdfast.core.text.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.core.text.query import Phrase, Prefix, Way, Word


def satisfies(query: Query, *texts: str) -> bool:
    """As `match_expression` would find it; several texts are columns of one row of an index."""
    held = [tokens(text) for text in texts]
    groups = [group for group in query.wanted if any(ways(item) for item in group)]
    return (
        bool(groups)
        and all(_any(held, group) for group in groups)
        and not _any(held, query.unwanted)
    )


def _any(held: Sequence[Sequence[str]], items: Iterable[Word | Phrase | Prefix]) -> bool:
    return any(stands_in(text, way) for item in items for way in ways(item) for text in held)


def stands_in(held: Sequence[str], way: Way) -> bool:
    """Whether the row's tokens stand in the text, next to each other and in order."""
    *head, last = way.tokens
    for at in range(len(held) - len(head)):
        end = held[at + len(head)]
        fits = end.startswith(last) if way.open_ended else end == last
        if fits and all(held[at + place] == token for place, token in enumerate(head)):
            return True
    return False
