"""`narrative`: terse, dated notes, the 20 newest of each store in front of every session.

A long-term store accumulates. A short-term one rolls: what is older than its `ttl` (whole UTC days,
so that a context is the same all day) is no longer shown, and falls out for good, with what is
beyond the `keep` newest, at the next save; with `ttl: session` a note ends with its session. What
fell out is forgotten by rule: nothing reads it, and the log and the past still have it, until
somebody asks for it to be forgotten.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.core.budget import line_of
from holdfast.core.forms import Days, Whole, checked_options
from holdfast.core.handles import handles
from holdfast.core.lens import has_members
from holdfast.core.metadata import check_metadata, check_origin
from holdfast.core.suggesting import changes_of, new_entry
from holdfast.errors import Conflict, InvalidInput, Refused
from holdfast.model.context import Draft, Line
from holdfast.model.entry import TEXT_BYTES_MAX, Advice, Entry, NewEntry
from holdfast.model.names import check_given_id, check_text, shown
from holdfast.model.query import ORDERS, Cursor, EntryQuery, Page, check_limit, cursor_from
from holdfast.model.times import DAY_US, date_of, day_of, given_us, time_in, to_us
from holdfast.model.value import Value
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Literal, Unpack

    from holdfast.core.forms import Form
    from holdfast.model.entry import Json, Origin
    from holdfast.model.query import Order
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "narrative"
HOLDS = "entries"
INJECTED = 20
KEPT_CHARS_MAX = 500
KEEP = 200
TTL_DAYS = 30
PRIORITY = 50


class Saved(Value):
    """`unchanged`: this id had this text already. `fell_out`: how many it displaced."""

    entry: Entry
    outcome: Literal["saved", "unchanged"]
    advice: tuple[Advice, ...]
    fell_out: int


class Removed(Value):
    entry: Entry
    outcome: Literal["removed", "unchanged"]


# Declaration

_PRIORITY = Whole(
    about="which block a small budget serves first", low=0, high=100, default=PRIORITY
)
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {
    "short_term": {
        "keep": Whole(about="how many of the newest are kept", low=1, high=1_000_000, default=KEEP),
        "ttl": Days(
            about="for how many UTC days, as 30d; or session: as long as its session",
            words=("session",),
            default=TTL_DAYS,
        ),
        "priority": _PRIORITY,
    },
    "long_term": {"priority": _PRIORITY},
}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    return checked_options(spec, OPTIONS)


# Policy


def save(work: Work, store: Store, note: NewEntry) -> Saved:
    known = None if note.given_id is None else work.given(store, note.given_id)
    if known is not None:
        work.expect(known.revision, f"{store.label} {known.handle}")
        return _saved_before(store, known, note)
    work.expect(0, f"the new note in {store.label}")
    bound = store.options.get("ttl") == "session"
    if bound and work.caller.session is None:
        raise Refused(
            "session_needed",
            f"{store.label} keeps notes for the length of a session, and this call names none",
            hint="give --session (HOLDFAST_SESSION), from holdfast session start",
        )
    entry = work.add(store, note.replace(bound=bound))
    fell_out = _roll(work, store, entry)
    from holdfast.core.terse import advice_on

    return Saved(entry=entry, outcome="saved", advice=advice_on(note.text), fell_out=fell_out)


def _saved_before(store: Store, known: Entry, note: NewEntry) -> Saved:
    if known.state == "forgotten" or known.text != note.text:
        why = "was forgotten" if known.state == "forgotten" else "has another text"
        raise Conflict(
            "id_taken",
            f"{store.label} {shown(known.handle)} {why}; an id is never used for a second note",
            hint="save under another id, or without one",
        )
    return Saved(entry=known, outcome="unchanged", advice=(), fell_out=0)


def _roll(work: Work, store: Store, newest: Entry) -> int:
    """Let go of what a short-term store no longer holds; refuse what it would not hold at all."""
    if store.type != "short_term":
        return 0
    keep = store.options.get("keep", KEEP)
    assert isinstance(keep, int)
    gone = work.beyond(store, keep, _since_us(store, work.at_us))
    if any(entry.number == newest.number for entry in gone):
        raise Refused(
            "note_too_old",
            f"{store.label} keeps what is newer: it would let go of this note at once",
            hint="save it in a long_term store, or without --said-at",
        )
    for entry in gone:
        work.move(store, entry, "expire")
    return len(gone)


def read(view: View, store: Store, query: EntryQuery) -> Page:
    bounds = [us for us in (_since_us(store, view.at_us), query.since_us) if us is not None]
    since_us = max(bounds) if bounds else None
    taken: list[Entry] = []
    for entry in view.shown(store, query.replace(since_us=since_us)):
        if has_members(entry.metadata, query.metadata):
            taken.append(entry)
        if len(taken) > query.limit:
            break
    more = len(taken) > query.limit
    taken = taken[: query.limit]
    last = Cursor(when_us=to_us(taken[-1].when), number=taken[-1].number) if more else None
    return Page(entries=tuple(taken), cursor=None if last is None else str(last))


def remove(work: Work, store: Store, name: str) -> Removed:
    entry = work.find(store, name)
    if work.is_gone(entry):
        return Removed(entry=entry, outcome="unchanged")
    work.expect(entry.revision, f"{store.label} {entry.handle}")
    return Removed(entry=work.move(store, entry, "forget"), outcome="removed")


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    """Notes are added and retired; of one that is there, the text may be corrected."""
    if suggestion.op == "add":
        return save(work, store, new_entry(suggestion)).entry
    assert suggestion.target is not None
    if suggestion.op == "retire":
        return remove(work, store, suggestion.target).entry
    entry = work.find(store, suggestion.target)
    return work.move(store, entry, "update", **changes_of(suggestion, entry))


def _since_us(store: Store, at_us: int) -> int | None:
    """The moment before which the store shows nothing: the start of the UTC day `ttl` days ago."""
    days = store.options.get("ttl")
    return (day_of(at_us) - days) * DAY_US if isinstance(days, int) else None


# Block


def block(view: View, store: Store) -> Draft | None:
    rows = view.newest(store, _since_us(store, view.at_us), INJECTED + 1)
    if not rows:
        return None
    names = handles([(row[0], row[1]) for row in rows])
    lines = [
        (_kept_line if len(row[3]) <= KEPT_CHARS_MAX else _line)(name, row[2] // DAY_US, row[3])
        for name, row in zip(names, rows[:INJECTED], strict=False)
    ]
    priority = store.options.get("priority", PRIORITY)
    assert isinstance(priority, int)
    return Draft(
        label=store.label,
        priority=priority,
        heading=f"## Notes {store.label} (newest first)",
        lines=tuple(lines),
        more=len(rows) > INJECTED,
        reach=f"More: memory_read(store={store.called!r})",
    )


def _line(handle: str, day: int, text: str) -> Line:
    """One note in one list item. Further lines are indented so far that they are its text, and
    can neither be a heading nor an item of their own.
    """
    lines = text.strip().splitlines()
    body = lines[0] if len(lines) == 1 else "\n      ".join(filter(str.strip, lines))
    return line_of(f"- {date_of(day * DAY_US)} {body} [{handle}]")


_kept_line = lru_cache(2_048)(_line)  # a process is asked for the same ones again and again


# Face


class Notes:
    """The notes of one narrative store."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.store = desk.store

    def save(
        self,
        text: str,
        *,
        id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        **write: Unpack[WriteOptions],
    ) -> Saved:
        """Remember one fact. The same id and text again is the same note."""
        note = NewEntry(
            text=check_text(text, "the note", bytes_max=TEXT_BYTES_MAX),
            given_id=None if id is None else check_given_id(id),
            metadata=check_metadata(metadata or {}),
            origin=check_origin(origin),
            said_at=said_at,
        )
        arguments: dict[str, Json] = {
            "text": note.text,
            "id": note.given_id,
            "metadata": dict(note.metadata),
            "origin": note.origin,
            "said_us": None if said_at is None else given_us(said_at),
        }
        return self._desk.mutate(
            "note save", arguments, lambda work, store: save(work, store, note), Write(**write)
        )

    def read(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        text: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        limit: int = INJECTED,
        cursor: str | None = None,
        order: Order = "newest",
    ) -> Page:
        """Notes by time, text and metadata; the newest first unless told otherwise."""
        if order not in ORDERS:
            raise InvalidInput(
                "order_invalid", f"{shown(order)} is not an order", hint="newest or oldest"
            )
        query = EntryQuery(
            since_us=None if since is None else given_us(since),
            until_us=None if until is None else given_us(until),
            match=text,
            metadata=check_metadata(metadata or {}),
            order=order,
            cursor=None if cursor is None else cursor_from(cursor),
            limit=check_limit(limit),
        )
        return self._desk.read(lambda view, store: read(view, store, query))

    def get(self, id: str) -> Entry:
        """One note by its id, in whatever state it is; of a forgotten one, that it was there."""
        return self._desk.read(lambda view, store: view.find(store, id))

    def remove(self, id: str, **write: Unpack[WriteOptions]) -> Removed:
        """Forget one note. Removing it again changes nothing."""
        return self._desk.mutate(
            "note remove", {"id": id}, lambda work, store: remove(work, store, id), Write(**write)
        )


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the narrative stores of a space."""

    def memory_save(
        store: str, text: str, id: str | None = None, metadata: dict[str, Json] | None = None
    ) -> Saved:
        """Save one terse fact to a store. Give an id to make repeating it harmless."""
        return Notes(desk(store)).save(text, id=id, metadata=metadata, origin="agent")

    def memory_read(
        store: str,
        id: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        text: str | None = None,
        metadata: dict[str, Json] | None = None,
        limit: int = INJECTED,
        cursor: str | None = None,
        order: Order = "newest",
    ) -> Page:
        """Read one note by its id, or a store's notes by time, words and metadata, newest first."""
        notes = Notes(desk(store))
        if id is not None:
            return Page(entries=(notes.get(id),), cursor=None)
        return notes.read(
            since=time_in(since),
            until=time_in(until),
            text=text,
            metadata=metadata,
            limit=limit,
            cursor=cursor,
            order=order,
        )

    def memory_remove(store: str, id: str) -> Removed:
        """Forget one note of a store."""
        return Notes(desk(store)).remove(id)

    return memory_save, memory_read, memory_remove
