"""Forgetting records: one by its id, or those that a query finds, once somebody saw which.

What a query would forget is told first, with a word that stands for just these records as they
are. With that word they are forgotten; if one of them changed since, or another came, none is.
"""

from __future__ import annotations

from holdfast.core.canonical import canonical, digest
from holdfast.core.records.kinds import kinds_of
from holdfast.errors import Conflict, InvalidInput
from holdfast.model.record import RecordForgotten
from holdfast.model.search import HITS_MAX, search_query
from holdfast.strategies.records.rows import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.entry import Entry
    from holdfast.model.space import Store
    from holdfast.ports import View, Work

CONFIRM_CHARS = 16


def forget(work: Work, store: Store, name: str) -> RecordForgotten:
    entry = work.find(store, name)
    kinds = kinds_of(store.options)
    if work.is_gone(entry):
        return RecordForgotten(rows=(row_of(entry, kinds),), outcome="unchanged")
    work.expect(entry.revision, f"{store.label} {entry.handle}")
    row = row_of(entry, kinds)
    work.move(store, entry, "forget")
    return RecordForgotten(rows=(row,), outcome="forgotten")


def asked(view: View, store: Store, query: str) -> RecordForgotten:
    found, kinds = _found(view, store, query), kinds_of(store.options)
    if not found:
        return RecordForgotten(rows=(), outcome="unchanged")
    rows = tuple(row_of(entry, kinds) for entry in found)
    return RecordForgotten(rows=rows, outcome="asked", confirm=_word(found))


def forget_found(work: Work, store: Store, query: str, confirm: str) -> RecordForgotten:
    found, kinds = _found(work, store, query), kinds_of(store.options)
    if _word(found) != confirm:
        raise Conflict(
            "forget_moved",
            f"{query!r} finds other records in {store.label} than those that were told",
            hint="ask again without the confirmation, and look at what it finds now",
        )
    rows = tuple(row_of(entry, kinds) for entry in found)
    for entry in found:
        work.move(store, entry, "forget")
    return RecordForgotten(rows=rows, outcome="forgotten")


def _found(view: View, store: Store, query: str) -> Sequence[Entry]:
    if not query.strip():
        raise InvalidInput(
            "query_empty",
            "the query is empty, and would find every record",
            hint="say what to look for",
        )
    hits = view.search([store], search_query(query, limit=HITS_MAX))
    return [hit.entry for hit in hits]


def _word(found: Sequence[Entry]) -> str:
    seen = canonical([[entry.id, entry.revision] for entry in found])
    return digest("forget", seen).hex()[:CONFIRM_CHARS]
