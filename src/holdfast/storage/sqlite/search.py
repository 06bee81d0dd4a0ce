"""The search over entries in SQLite: `ports.search.SearchReads`."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from holdfast.model.search import SEARCHED_STATES
from holdfast.storage.sql import load
from holdfast.storage.sqlite import rows
from holdfast.storage.sqlite.index import ENTRY_TERMS, scope_of
from holdfast.storage.sqlite.queries import fetch, fetch_all
from holdfast.storage.sqlite.remembered import Remembering
from holdfast.storage.sqlite.textindex import TextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.core.rank.asked import Asked
    from holdfast.core.rank.score import Text
    from holdfast.model.entry import Entry, State
    from holdfast.model.search import SearchQuery
    from holdfast.model.space import Store
    from holdfast.ports.search import Candidates

STATEMENTS = load(Path(__file__).with_name("search.sql"))
LATEST = 2**63 - 1
EARLIEST = -(2**63)
LISTED = 2_000
LISTED_MAX = 16 * LISTED
FEW = 16.0
IS_WANTED = 9  # the column behind those of a text; behind it may stand those of its entry


class SearchReads(Remembering):
    """What a snapshot says to a search."""

    def candidates(
        self,
        stores: Sequence[Store],
        query: SearchQuery,
        asked: Asked,
        session: str | None,
        scopes: Sequence[str],
    ) -> Candidates:
        from holdfast.storage.sqlite.textsearch import TextSearch, listed

        source = EntryTexts(self._conn, stores, query, session, scopes)
        if asked.finds_all:
            return *listed(self._newest(stores, query), source), source.entries
        index = TextIndex(self._conn, ENTRY_TERMS, self.known)
        scope = scope_of(source.stores, query.states, hidden=query.hidden)
        return *TextSearch(index, scope, source).candidates(asked), source.entries

    def _newest(self, stores: Sequence[Store], query: SearchQuery) -> Iterator[list[int]]:
        """The numbers of the stores' entries in stretches, the newest of each store first."""
        other = query.hidden or "draft" in query.states
        names = ("newest_shown", "newest_other") if other else ("newest_shown",)
        during = {
            "since": EARLIEST if query.since_us is None else query.since_us,
            "until": LATEST if query.until_us is None else query.until_us,
        }
        for first in range(0, LISTED_MAX, LISTED):
            part: list[int] = []
            for store in stores:
                here = {"store": store.number, "limit": LISTED, "from": first}
                for name in names:
                    found = fetch(self._conn, STATEMENTS[name], {**during, **here})
                    part += [row[0] for row in found]
            if not part:
                return
            yield part


class EntryTexts:
    """`textsearch.Texts` of the entries that a search asks for in all but their words."""

    def __init__(
        self,
        conn: apsw.Connection,
        stores: Sequence[Store],
        query: SearchQuery,
        session: str | None,
        scopes: Sequence[str],
    ) -> None:
        self._conn = conn
        self.stores = tuple([store.number for store in stores])
        bound = _bindings(query, session)
        conditions = (*bound, "shown") if not query.hidden else (*bound,)
        states = query.states if "session" in bound else _without_drafts(query.states)
        self._kept = self.stores, states, len(scopes), conditions
        for place, scope in enumerate(scopes):
            bound[f"scope{place}"] = scope
        self._bound = bound
        self._read: dict[int, rows.Row] = {}

    def numbered(self, numbers: Sequence[int]) -> Sequence[Text]:
        self._bound["numbers"] = json.dumps(numbers)
        found = fetch_all(self._conn, _sql("texts", *self._kept), self._bound)
        return [row for row in found if row[IS_WANTED]]

    def meeting(
        self, expression: str, below: int, limit: int, few: float | None
    ) -> tuple[Sequence[Text], int, int]:
        whole = few is not None and few <= FEW
        order = "newest_first" if few is None else ""
        statement = _sql("meeting", *self._kept, order, limit, whole=whole)
        self._bound["match"], self._bound["below"] = expression, below
        found = fetch_all(self._conn, statement, self._bound)
        last = found[-1][0] if found else below
        texts = [row for row in found if row[IS_WANTED]]
        if whole:
            self._read = {row[0]: row[IS_WANTED + 1 :] for row in texts}
        return texts, len(found), last

    def entries(self, numbers: Sequence[int]) -> Sequence[Entry]:
        """These entries, in any order."""
        if self._read:
            return [rows.entry_from(self._read[number]) for number in numbers]
        if not numbers:
            return ()
        found = fetch_all(self._conn, STATEMENTS["entries_numbered"], (json.dumps(numbers),))
        return [rows.entry_from(row) for row in found]


def _bindings(query: SearchQuery, session: str | None) -> dict[str, Any]:
    """What a search asks for in all but words, by the names of the conditions."""
    bound: dict[str, Any] = {}
    if session is not None and "draft" in query.states:
        bound["session"] = session
    if query.importance:
        bound["importance"] = query.importance
    if query.since_us is not None:
        bound["since"] = query.since_us
    if query.until_us is not None:
        bound["until"] = query.until_us
    if query.kinds:
        bound["kinds"] = json.dumps(query.kinds)
    if query.tags:
        bound["tags"] = json.dumps(query.tags)
    return bound


@lru_cache(64)
def _without_drafts(states: Sequence[State]) -> tuple[State, ...]:
    return tuple(state for state in states if state != "draft")


@lru_cache(256)
def _sql(
    name: str,
    stores: tuple[int, ...],
    states: tuple[State, ...],
    scopes: int,
    conditions: tuple[str, ...],
    order: str = "",
    limit: int = 0,
    *,
    whole: bool = False,
) -> str:
    wanted = ["wanted", *(f"wanted_{each}" for each in conditions)]
    parts = {
        "wanted": "\n    ".join(STATEMENTS[each] for each in wanted),
        "stores": ", ".join(map(str, stores)),
        "states": ", ".join(f"'{each}'" for each in SEARCHED_STATES if each in states),
        "scopes": ", ".join(f":scope{place}" for place in range(scopes)),
        "order": STATEMENTS[order] if order else "",
        "limit": str(limit),
        "whole": STATEMENTS["whole"] if whole else "",
        "by": "" if whole else STATEMENTS["by_ranked"],
    }
    found = STATEMENTS[name]
    for part, text in parts.items():
        found = found.replace(f"{{{part}}}", text)
    return found
