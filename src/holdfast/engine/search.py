"""One search over entries: what is asked, the texts that may answer, ranked, and the best as hits.

Now and then differ in where the texts come from, the index or the log; what is asked of them and
how they are ranked is the same.
"""

from __future__ import annotations

from time import perf_counter_ns

from holdfast.core.rank.asked import asked_of, meets
from holdfast.core.rank.score import Ranking, Statistics, explained
from holdfast.core.rank.texts import terms_and_names
from holdfast.core.scope import EVERYONE, of_task, scopes_of
from holdfast.core.text.meets import stands_in
from holdfast.engine.mounts import not_declared
from holdfast.model.search import Found, Hit, Looked, Place, Weighed
from holdfast.model.times import to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from holdfast.core.rank.score import Scored, Text
    from holdfast.core.text.query import Way
    from holdfast.model.entry import Entry
    from holdfast.model.search import SearchQuery
    from holdfast.model.space import Store
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot, ToldTime

    T = TypeVar("T", bound=ToldTime)
    Past = tuple[Store, Entry]

CANDIDATES_TOLD = 50


def stores_named(stores: Sequence[Store], name: str | None, space: str) -> Sequence[Store]:
    """All of a space's stores, or the one of that name."""
    found = [store for store in stores if name in (None, store.called)]
    if name is not None and not found:
        raise not_declared(space, "store", name, stores)
    return found


def told_time(search: Callable[[], T]) -> T:
    """What a search gives, with the time that it took where it tells of itself."""
    began = perf_counter_ns()
    found = search()
    if found.looked is None:
        return found
    took_us = (perf_counter_ns() - began) // 1_000
    return found.replace(looked=found.looked.replace(took_us=took_us))


def search_now(
    snapshot: Snapshot,
    stores: Sequence[Store],
    query: SearchQuery,
    caller: Caller,
    at_us: int,
) -> Found:
    asked, scopes = asked_of(query), scopes_for(query, caller)
    texts, known, filtered, cut, entries_of = snapshot.candidates(
        stores, query, asked, caller.session, scopes
    )
    ranking = Ranking(asked, texts, known, query.weights, at_us, query.rerank)
    best, cursor = _page(ranking, query)
    entries = {entry.number: entry for entry in entries_of([one[1] for one in best])}
    named = {store.number: store for store in stores}
    pairs = [(named[one[2]], entries[one[1]]) for one in best]
    looked = _looked(query, known, ranking, shown=len(best), filtered=filtered, cut=cut)
    return Found.filled_({"hits": _hits(best, pairs), "cursor": cursor, "looked": looked})


def search_then(past: Sequence[Past], query: SearchQuery, caller: Caller, at_us: int) -> Found:
    """Among these entries as they were, of the stores that are asked."""
    asked, scopes = asked_of(query), scopes_for(query, caller)
    texts: list[Text] = []
    held: list[tuple[list[str], list[str]]] = []
    found: dict[int, Past] = {}
    for store, entry in past:
        both = terms_and_names(entry)
        held.append(both)
        if entry.scope in scopes and _fits(entry, query) and meets(asked, *both):
            texts.append(_text(store, entry, *map(" ".join, both)))
            found[entry.number] = store, entry
    length = sum(len(terms) for terms, _ in held) / len(held) if held else 0.0
    holders = {way: _holders(held, way) for way in asked.rows}
    known = Statistics(texts=len(held), length=length, holders=holders)
    ranking = Ranking(asked, texts, known, query.weights, at_us, query.rerank)
    best, cursor = _page(ranking, query)
    pairs = [found[one[1]] for one in best]
    filtered = len(held) - len(texts)
    looked = _looked(query, known, ranking, shown=len(best), filtered=filtered, cut=False)
    return Found(hits=_hits(best, pairs), cursor=cursor, looked=looked)


def merged(one: Found, other: Found, query: SearchQuery) -> Found:
    """The best of two searches for the same."""
    hits = sorted((*one.hits, *other.hits), key=lambda hit: (-hit.score, -hit.entry.number))
    best = hits[: query.limit]
    more = len(hits) > len(best) or one.cursor is not None or other.cursor is not None
    last = Place(score=best[-1].score, number=best[-1].entry.number) if best and more else None
    looked = _both_looked(one.looked, other.looked, shown=len(best))
    return Found(hits=tuple(best), cursor=None if last is None else str(last), looked=looked)


def _both_looked(one: Looked | None, other: Looked | None, *, shown: int) -> Looked | None:
    if one is None or other is None:
        return None
    both = [*one.candidates, *other.candidates]
    both.sort(key=lambda each: (-each.score, -each.number))
    return Looked(
        matched=one.matched + other.matched,
        filtered=one.filtered + other.filtered,
        dropped=one.matched + other.matched - shown,
        cut=one.cut or other.cut,
        holders={
            word: one.holders.get(word, 0) + other.holders.get(word, 0)
            for word in (*one.holders, *other.holders)
        },
        candidates=tuple(both[:CANDIDATES_TOLD]),
    )


def scopes_for(query: SearchQuery, caller: Caller) -> Sequence[str]:
    """Whom entries may be for, to be found by this caller."""
    task = () if query.task is None else (of_task(query.task),)
    return EVERYONE, *filter(None, scopes_of(caller.user, caller.session)), *task


def _page(ranking: Ranking, query: SearchQuery) -> tuple[Sequence[Scored], str | None]:
    place = query.cursor
    if place is None:
        scored = ranking.best(query.limit + 1)
    else:
        scored = [one for one in ranking.best() if one[:2] < (place.score, place.number)]
    best = scored[: query.limit]
    more = len(scored) > len(best)
    return best, str(Place(score=best[-1][0], number=best[-1][1])) if more else None


def _hits(best: Sequence[Scored], pairs: Sequence[Past]) -> tuple[Hit, ...]:
    return tuple(
        [
            Hit.filled_({"store": store, "entry": entry, "score": one[0], "why": explained(one)})
            for one, (store, entry) in zip(best, pairs, strict=True)
        ]
    )


def _looked(
    query: SearchQuery,
    known: Statistics,
    ranking: Ranking,
    *,
    shown: int,
    filtered: int,
    cut: bool,
) -> Looked | None:
    if query.diagnostics == "off":
        return None
    seen = ranking.best(CANDIDATES_TOLD) if query.diagnostics == "detailed" else ()
    return Looked(
        matched=len(ranking),
        filtered=filtered,
        dropped=len(ranking) - shown,
        cut=cut,
        holders={" ".join(way.tokens): count for way, count in known.holders.items()},
        candidates=tuple(Weighed(number=one[1], score=one[0], why=explained(one)) for one in seen),
    )


def _fits(entry: Entry, query: SearchQuery) -> bool:
    when = to_us(entry.when)
    return (
        entry.state in query.states
        and (query.hidden or not entry.hidden)
        and entry.importance >= query.importance
        and (query.since_us is None or when >= query.since_us)
        and (query.until_us is None or when < query.until_us)
        and (not query.kinds or entry.kind in query.kinds)
        and set(query.tags) <= set(entry.tags)
    )


def _text(store: Store, entry: Entry, terms: str, names: str) -> Text:
    return (
        *(entry.number, store.number, terms, names),
        *(to_us(entry.when), entry.importance, int(entry.pinned), 0),
        None if entry.until is None else to_us(entry.until),
    )


def _holders(held: Sequence[tuple[list[str], list[str]]], way: Way) -> int:
    return sum(stands_in(terms, way) or stands_in(names, way) for terms, names in held)
