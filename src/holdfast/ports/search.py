"""What a search needs of storage: the texts that may answer, and the entries that do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from holdfast.core.rank.asked import Asked
    from holdfast.core.rank.score import Statistics, Text
    from holdfast.model.entry import Entry
    from holdfast.model.search import SearchQuery
    from holdfast.model.space import Store

    # the texts, what is known of the index, how many were filtered out, whether there are more
    TextsFound = tuple[Sequence[Text], Statistics, int, bool]
    # the entries of these numbers, which are among the texts, in any order
    EntriesOf = Callable[[Sequence[int]], Sequence[Entry]]
    Candidates = tuple[Sequence[Text], Statistics, int, bool, EntriesOf]

    class SearchReads(Protocol):
        def candidates(
            self,
            stores: Sequence[Store],
            query: SearchQuery,
            asked: Asked,
            session: str | None,
            scopes: Sequence[str],
        ) -> Candidates:
            """The texts of these stores that meet what is asked, as far as ranking them is worth
            it: what is left out for the sake of speed holds only words that many texts hold, or
            is older than what is there. Drafts are those of the session; entries are for one of
            these scopes; the forgotten have no text. The same vault gives the same candidates,
            however its index is laid out.
            """
            ...
