"""`tally`: how often each word was counted, the most frequent in front of every session."""

from __future__ import annotations

from holdfast.core.budget import estimate_tokens
from holdfast.core.forms import Whole, checked_options
from holdfast.core.suggesting import new_entry
from holdfast.model.context import Draft, Line
from holdfast.model.entry import NewEntry
from holdfast.model.names import check_text
from holdfast.model.query import EntryQuery
from holdfast.model.write import Write

NAME = "tally"
HOLDS = "entries"
_OPTIONS = {
    "most": Whole(about="how many words a session is shown", low=1, high=100, default=10),
    "priority": Whole(about="which block a small budget serves first", low=0, high=100, default=20),
}
OPTIONS = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec):
    return checked_options(spec, OPTIONS)


def block(view, store):
    found = sorted(view.shown(store, EntryQuery()), key=lambda e: (-e.facts["count"], e.text))
    most = store.options["most"]
    lines = [f"- {' '.join(e.text.split())}: {e.facts['count']}" for e in found[:most]]
    if not lines:
        return None
    return Draft(
        label=store.label,
        priority=store.options["priority"],
        heading=f"## Words of {store.label} (the most frequent)",
        lines=tuple(Line(text=line, tokens=estimate_tokens(line)) for line in lines),
        more=len(found) > most,
        reach="More: memory_recall",
    )


def accept(work, store, suggestion):
    return work.add(store, new_entry(suggestion, facts={"count": 1}))


class Tally:
    def __init__(self, desk):
        self._desk = desk

    def count(self, word, **write):
        word = check_text(word, "the word", bytes_max=1000)

        def unit(work, store):
            same = [e for e in work.same(store, word) if e.state != "forgotten"]
            if not same:
                return work.add(store, NewEntry(text=word, origin="agent", facts={"count": 1}))
            count = same[0].facts["count"] + 1
            return work.move(store, same[0], "update", facts={"count": count})

        entry = self._desk.mutate("tally count", {"word": word}, unit, Write(**write))
        return entry.facts["count"]

    def counts(self):
        return self._desk.read(
            lambda view, store: {e.text: e.facts["count"] for e in view.shown(store, EntryQuery())}
        )


def tools(desk):
    def tally_count(word: str, store: str | None = None) -> int:
        """Count a word, and say how often it was counted."""
        return Tally(desk(store)).count(word)

    return (tally_count,)
