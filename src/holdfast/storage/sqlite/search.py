"""The search over entries in SQLite: `ports.search.SearchReads`."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.storage.sql import load
from holdfast.storage.sqlite import rows
from holdfast.storage.sqlite.index import ENTRY_TERMS, scopes_of
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.textindex import TextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.core.rank.asked import Asked
    from holdfast.core.rank.score import Text
    from holdfast.model.entry import Entry
    from holdfast.model.search import SearchQuery
    from holdfast.model.space import Store
    from holdfast.ports.search import Candidates

STATEMENTS = load(Path(__file__).with_name("search.sql"))
LATEST = 2**63 - 1
EARLIEST = -(2**63)
LISTED = 2_000
LISTED_MAX = 16 * LISTED


class SearchReads:
    """What a snapshot says to a search."""

    _conn: apsw.Connection

    def candidates(
        self,
        stores: Sequence[Store],
        query: SearchQuery,
        asked: Asked,
        session: str | None,
        scopes: Sequence[str],
    ) -> Candidates:
        from holdfast.storage.sqlite.textsearch import TextSearch, listed

        scope = [token for store in stores for token in scopes_of(store.number, query)]
        wanted = {**_wanted(stores, query), "session": session, "scopes": json.dumps(scopes)}

        def texts_of(numbers: Sequence[int]) -> Sequence[Text]:
            bindings = {**wanted, "numbers": json.dumps(numbers)}
            found: Any = fetch(self._conn, STATEMENTS["texts"], bindings)
            return list(found)

        if asked.finds_all:
            return listed(self._newest(stores, wanted), texts_of)
        return TextSearch(TextIndex(self._conn, ENTRY_TERMS), scope, texts_of).candidates(asked)

    def entries_numbered(self, numbers: Sequence[int]) -> Sequence[Entry]:
        found = fetch(self._conn, STATEMENTS["entries_numbered"], (json.dumps(numbers),))
        return [rows.entry_from(row) for row in found]

    def _newest(self, stores: Sequence[Store], wanted: dict[str, Any]) -> Iterator[list[int]]:
        """The numbers of the stores' entries in stretches, the newest of each store first."""
        other = wanted["hidden"] or "draft" in wanted["states"]
        names = ("newest_shown", "newest_other") if other else ("newest_shown",)
        for first in range(0, LISTED_MAX, LISTED):
            part: list[int] = []
            for store in stores:
                here = {"store": store.number, "limit": LISTED, "from": first}
                for name in names:
                    bindings = {"since": wanted["since"], "until": wanted["until"], **here}
                    part += [row[0] for row in fetch(self._conn, STATEMENTS[name], bindings)]
            if not part:
                return
            yield part


def _wanted(stores: Sequence[Store], query: SearchQuery) -> dict[str, Any]:
    return {
        "stores": json.dumps([store.number for store in stores]),
        "states": json.dumps(query.states),
        "hidden": int(query.hidden),
        "importance": query.importance,
        "since": EARLIEST if query.since_us is None else query.since_us,
        "until": LATEST if query.until_us is None else query.until_us,
        "kinds": json.dumps(query.kinds) if query.kinds else None,
        "tags": json.dumps(query.tags) if query.tags else None,
    }
