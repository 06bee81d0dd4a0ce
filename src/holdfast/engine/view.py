"""What a strategy reads of a store: as it is now, or as it was at an earlier moment.

The past is rebuilt from the log: every row knows the seq of its newest change, and every change the
one before it on the same target, so a thing's history is walked backwards until the moment asked.
"""

from __future__ import annotations

from itertools import islice

from holdfast.core.images import entry_from_image
from holdfast.core.lens import is_whole, shows
from holdfast.core.lifecycle import SHOWN_STATES
from holdfast.core.scope import is_for, scopes_of
from holdfast.core.screening import any_found, anything_in
from holdfast.engine.forgetting import is_gone, remains, untold
from holdfast.engine.history import image_at, versions_of
from holdfast.engine.naming import check_session_space, session_named
from holdfast.engine.preferences import Preferences
from holdfast.engine.screening import Gate
from holdfast.errors import Ambiguous, NotFound, Refused
from holdfast.model.ids import is_id, is_short
from holdfast.model.names import check_str, is_unicode, shown
from holdfast.model.query import Cursor, EntryQuery
from holdfast.model.times import DAY_US, day_of, to_us
from holdfast.model.write import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.core.preferences import Settings
    from holdfast.model.artifact import ArtifactRow
    from holdfast.model.change import Change
    from holdfast.model.directory import Version
    from holdfast.model.entry import Entry
    from holdfast.model.ids import SessionId
    from holdfast.model.search import Found, SearchQuery
    from holdfast.model.session import Session
    from holdfast.model.space import Store
    from holdfast.ports import NewestRow, Snapshot, SubjectOrder, SubjectRow
    from holdfast.ports.links import Use
    from holdfast.ports.messages import MessageReads
    from holdfast.ports.values import ValueReads


NOBODY = Caller()
BUILT_IN = Preferences()
LATEST = 2**63 - 1


class NowView:
    """The store as this snapshot has it."""

    def __init__(
        self,
        snapshot: Snapshot,
        at_us: int,
        caller: Caller = NOBODY,
        preferences: Preferences = BUILT_IN,
    ) -> None:
        self._snapshot = snapshot
        self._asking = caller
        self._preferences = preferences
        self.at_us = at_us

    @property
    def session_id(self) -> SessionId | None:
        name = self._asking.session
        if name is None:
            return None
        return session_named(self._snapshot, name, self._asking.user).id

    @property
    def asking(self) -> Caller:
        """Whoever asks, with the whole id of the session."""
        asking = self._asking
        return asking if asking.session is None else asking.replace(session=self.session_id)

    def settings(self, store: Store) -> Settings:
        return self._preferences.settings(store.space_name, dict(self._asking.preferences))

    def sees(self, entry: Entry) -> bool:
        return is_for(entry, self._scopes)

    def is_there(self, entry: Entry) -> bool:
        """Whether the entry is there for whoever asks by its id: not what is for another user or
        session, nor what another user drafts. A person who names no session finds what is for
        those of that user."""
        if entry.scope.startswith("session:") and not self.sees(entry):
            person = self._asking.session is None and self._asking.actor.kind == "human"
            return person and self._is_own(entry.scope.removeprefix("session:"))
        if entry.scope.startswith("user:"):
            return self.sees(entry)
        return entry.state != "draft" or entry.session is None or self._is_own(entry.session)

    def _is_own(self, session: str) -> bool:
        found = self._snapshot.session(session)
        return found is not None and found.user == self._asking.user

    @property
    def _scopes(self) -> tuple[str, str]:
        return scopes_of(self._asking.user, self.session_id)

    def through(self, store: Store, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries that are seen through the mount, where the store is seen through one; of
        what does not pass screening, what was found in it, and of what was forgotten, that it
        was."""
        veiled = self.gate(store).veiled
        return (veiled(remains(entry)) for entry in self._through(store, entries))

    def screened(self, store: Store, text: str) -> str:
        return self.gate(store).lines(text)

    def gate(self, store: Store) -> Gate:
        return Gate(snapshot=self._snapshot, preferences=self._preferences, store=store)

    def _through(self, store: Store, entries: Iterable[Entry]) -> Iterator[Entry]:
        if store.mount is None or is_whole(store.mount.lenses):
            return iter(entries)
        lenses, session, actor = store.mount.lenses, self.session_id, str(self._asking.actor)
        return (
            entry
            for entry in entries
            if any(shows(lens, entry, self.at_us, actor, session, self._author) for lens in lenses)
        )

    def _author(self, entry: Entry) -> str | None:
        made = self._snapshot.change(entry.number)
        return None if made is None else made.actor

    def find(self, store: Store, name: str) -> Entry:
        """By its whole id, the id that its writer gave, or its short form where that is unique."""
        check_str(name, "the id")
        found: dict[str, Entry] = {}
        if is_id(name):
            whole = self._snapshot.entry(store, name)
            found |= {} if whole is None else {whole.id: whole}
        elif is_unicode(name):
            given = self._snapshot.entry_given(store, name)
            found |= {} if given is None else {given.id: given}
        if is_short(name):
            found |= {entry.id: entry for entry in self._snapshot.entries_like(store, name)}
        there = filter(self.is_there, self.through(store, found.values()))
        entry = _only(list(there), store, name)
        if entry is None:
            raise not_found(store, name)
        return entry

    def has(self, store: Store, name: str) -> bool:
        """Whether there is an entry of that name, or several."""
        return _has(self, store, name)

    def shown(self, store: Store, query: EntryQuery) -> Iterator[Entry]:
        scopes = self._scopes
        found = self.through(store, self._snapshot.shown(store, query))
        return (entry for entry in found if is_for(entry, scopes))

    def search(self, stores: Sequence[Store], query: SearchQuery) -> Found:
        return self._veiled(self._search(stores, query))

    def _veiled(self, found: Found) -> Found:
        if not any(anything_in(hit.entry.__dict__) for hit in found.hits):
            return found
        hits = tuple(
            hit.replace(entry=shown) if shown is not hit.entry else hit
            for hit in found.hits
            for shown in (self.gate(hit.store).veiled(hit.entry),)
        )
        return found.replace(hits=hits)

    def _search(self, stores: Sequence[Store], query: SearchQuery) -> Found:
        from holdfast.engine.search import merged, search_now, search_then

        whole = [store for store in stores if not _is_lensed(store)]
        if len(whole) == len(stores):
            return search_now(self._snapshot, stores, query, self.asking, self.at_us)
        # What a mount does not show must not even be counted, so the index is not asked.
        shown = [
            (store, entry)
            for store in stores
            if _is_lensed(store)
            for entry in self.in_every_state(store)
            if entry.state in SHOWN_STATES
        ]
        found = search_then(shown, query, self.asking, self.at_us)
        if not whole:
            return found
        indexed = search_now(self._snapshot, whole, query, self.asking, self.at_us)
        return merged(found, indexed, query)

    def newest(self, store: Store, since_us: int | None, limit: int) -> Sequence[NewestRow]:
        if _is_lensed(store):
            found = self.shown(store, EntryQuery(since_us=since_us))
            return [_newest_row(entry) for entry in islice(found, limit)]
        rows = self._snapshot.newest(store, since_us, limit)
        if not any_found([row[3] for row in rows]):
            return rows
        line = self.gate(store).line
        return [(row[0], row[1], row[2], line(row[3])) for row in rows]

    def subjects(
        self, store: Store, limit: int, order: SubjectOrder = "important"
    ) -> Sequence[SubjectRow]:
        if _is_lensed(store):
            return _subject_rows(self._with_subject(store), limit, order)
        rows = self._snapshot.subjects(store, _today(self.at_us), limit, self._scopes, order)
        if not any_found([row[3] for row in rows]):
            return rows
        line = self.gate(store).line
        return [(*row[:3], line(row[3]), *row[4:]) for row in rows]

    def subject_count(self, store: Store, limit: int) -> int:
        if _is_lensed(store):
            return min(len(self._with_subject(store)), limit)
        return self._snapshot.subject_count(store, _today(self.at_us), limit, self._scopes)

    def _with_subject(self, store: Store) -> list[Entry]:
        return _with_subject(self.shown(store, EntryQuery()), self.at_us)

    def titled(self, store: Store, start: str) -> Sequence[Entry]:
        found = self.through(store, self._snapshot.entries_titled(store, start))
        return list(filter(self.sees, found))

    def content(self, name: str) -> bytes:
        from holdfast.engine.directories.objects import content

        return content(self._snapshot, name)

    def drafts(self, store: Store, *, everybodys: bool = False) -> Sequence[Entry]:
        session = self.session_id
        if session is None and not everybodys:
            return ()
        found = self._snapshot.drafts(store, None if everybodys else session)
        return list(filter(self.is_there, self.through(store, found)))

    def in_every_state(self, store: Store) -> Iterator[Entry]:
        return self.through(store, self._snapshot.all_entries(store, LATEST))

    def named(self, store: Store, ids: Sequence[str]) -> Mapping[str, Entry]:
        found = self.through(store, self._snapshot.entries_named(store, ids))
        return {entry.id: entry for entry in found}

    def referring(self, store: Store, entry: Entry) -> Sequence[Entry]:
        found = self.through(store, self._snapshot.referring(store, entry.id))
        return [each for each in found if self.sees(each)]

    def uses(self, entries: Sequence[Entry]) -> Mapping[int, Use]:
        return self._snapshot.uses([entry.number for entry in entries])

    def history(self, entry: Entry) -> Iterator[Change]:
        versions = versions_of(self._snapshot, entry.revision)
        return map(untold, versions) if is_gone(self._snapshot, entry) else versions

    def is_gone(self, entry: Entry) -> bool:
        return is_gone(self._snapshot, entry)

    @property
    def values(self) -> ValueReads:
        return self._snapshot

    def memories(self, store: Store) -> Iterator[tuple[str, Version]]:
        for found in self._snapshot.directories(store.space_name, "memory"):
            head = None if found.hidden else self._snapshot.version(found, found.head)
            if head is not None:
                yield found.name, head

    def beginning(self, version: Version, path: str, bytes_max: int) -> bytes | None:
        from holdfast.engine.directories.objects import beginning

        return beginning(self._snapshot, version, path, bytes_max)

    def artifact(self, store: Store, name: str) -> ArtifactRow:
        from holdfast.engine.artifacts import find

        return find(self._snapshot, store, name, self.at_us)

    def newest_artifacts(self, store: Store, limit: int) -> Sequence[ArtifactRow]:
        return self._snapshot.newest_artifacts(store, _today(self.at_us), limit)

    def stretch(self, name: str, start: int, stop: int) -> bytes:
        from holdfast.engine.directories.objects import stretch

        return stretch(self._snapshot, name, start, stop)

    def pieces(self, name: str) -> Iterator[bytes]:
        from holdfast.engine.directories.objects import pieces_of

        return pieces_of(self._snapshot, name)

    def references(self, artifact: ArtifactRow) -> int:
        return self._snapshot.references(artifact.id)

    @property
    def messages(self) -> MessageReads:
        return self._snapshot

    def session_of(self, store: Store, name: str) -> Session:
        session = session_named(self._snapshot, name, self._asking.user)
        check_session_space(session, store.space_name)
        return session


class PastView:
    """The store as it was after the change `seq`."""

    session_id = None

    def __init__(
        self,
        snapshot: Snapshot,
        seq: int,
        at_us: int,
        caller: Caller = NOBODY,
        preferences: Preferences = BUILT_IN,
    ) -> None:
        self._snapshot = snapshot
        self._now = NowView(snapshot, at_us, caller, preferences)
        self._seq = seq
        self.at_us = at_us

    def find(self, store: Store, name: str) -> Entry:
        now = self._now.find(store.replace(mount=None), name)
        past = self._as_it_was(now)
        shown_then = None if past is None else next(self._now.through(store, [past]), None)
        if past is not None and shown_then is None:
            raise not_found(store, name)
        if shown_then is not None and not self.is_there(shown_then):
            raise not_found(store, name)
        if shown_then is None:
            raise NotFound(
                "entry_not_yet",
                f"{store.label} had no entry {shown(name)} at that moment",
                hint="ask for a later moment",
            )
        return shown_then

    def has(self, store: Store, name: str) -> bool:
        return _has(self, store, name)

    def settings(self, store: Store) -> Settings:
        return self._now.settings(store)

    def sees(self, entry: Entry) -> bool:
        return self._now.sees(entry)

    def is_there(self, entry: Entry) -> bool:
        return self._now.is_there(entry)

    def shown(self, store: Store, query: EntryQuery) -> Iterator[Entry]:
        found = [entry for entry in self._shown_then(store) if _fits(entry, query)]
        found.sort(key=_place, reverse=query.order == "newest")
        return iter(found)

    def search(self, stores: Sequence[Store], query: SearchQuery) -> Found:
        from holdfast.engine.search import search_then

        then = [(store, entry) for store in stores for entry in self._kept_then(store)]
        return search_then(then, query, self._now.asking, self.at_us)

    def newest(self, store: Store, since_us: int | None, limit: int) -> Sequence[NewestRow]:
        then = [
            entry
            for entry in self._shown_then(store)
            if since_us is None or to_us(entry.when) >= since_us
        ]
        then.sort(key=_place, reverse=True)
        return [_newest_row(entry) for entry in then[:limit]]

    def subjects(
        self, store: Store, limit: int, order: SubjectOrder = "important"
    ) -> Sequence[SubjectRow]:
        return _subject_rows(self._with_subject(store), limit, order)

    def subject_count(self, store: Store, limit: int) -> int:
        return min(len(self._with_subject(store)), limit)

    def _with_subject(self, store: Store) -> list[Entry]:
        return _with_subject(self._shown_then(store), self.at_us)

    def titled(self, store: Store, start: str) -> Sequence[Entry]:
        return sorted(
            (
                entry
                for entry in self.in_every_state(store)
                if entry.state != "forgotten"
                and entry.subject.startswith(start)
                and self.sees(entry)
            ),
            key=lambda entry: (entry.subject, entry.number),
        )

    def content(self, name: str) -> bytes:
        return self._now.content(name)

    def drafts(
        self,
        store: Store,  # noqa: ARG002 - see `View`
        *,
        everybodys: bool = False,  # noqa: ARG002
    ) -> Sequence[Entry]:
        return ()

    def in_every_state(self, store: Store) -> Iterator[Entry]:
        then = map(self._as_it_was, self._snapshot.all_entries(store, self._seq))
        return self._now.through(store, (entry for entry in then if entry is not None))

    def named(self, store: Store, ids: Sequence[str]) -> Mapping[str, Entry]:
        then = map(self._as_it_was, self._snapshot.entries_named(store, ids))
        past = (entry for entry in then if entry is not None)
        return {entry.id: entry for entry in self._now.through(store, past)}

    def referring(self, store: Store, entry: Entry) -> Sequence[Entry]:
        return [
            each
            for each in self.in_every_state(store)
            if entry.id in each.refs and each.state != "forgotten" and self.sees(each)
        ]

    def uses(self, entries: Sequence[Entry]) -> Mapping[int, Use]:  # noqa: ARG002
        return {}

    def history(self, entry: Entry) -> Iterator[Change]:
        return (each for each in self._now.history(entry) if each.seq <= self._seq)

    def is_gone(self, entry: Entry) -> bool:
        return self._now.is_gone(entry)

    @property
    def values(self) -> ValueReads:
        raise Refused(
            "values_without_past",
            "values by key keep no history, so there is no earlier moment of them",
            hint="read them as they are now",
        )

    def memories(self, store: Store) -> Iterator[tuple[str, Version]]:
        """Those that are still kept, as they were then."""
        for found in self._snapshot.directories(store.space_name, "memory"):
            then = image_at(self._snapshot, found.revision, self._seq)
            if then is None or then.after is None or then.after["hidden"]:
                continue
            v = then.after["head"]
            head = self._snapshot.version(found, v) if isinstance(v, int) else None
            if head is not None:
                yield found.name, head

    def beginning(self, version: Version, path: str, bytes_max: int) -> bytes | None:
        return self._now.beginning(version, path, bytes_max)

    def screened(self, store: Store, text: str) -> str:
        return self._now.screened(store, text)

    def artifact(self, store: Store, name: str) -> ArtifactRow:
        from holdfast.engine.artifacts import missing, then

        for each in then(self._snapshot, store, self._seq):
            if each.id == name:
                return each
        raise missing(store, name)

    def newest_artifacts(self, store: Store, limit: int) -> Sequence[ArtifactRow]:
        from holdfast.engine.artifacts import then

        found = list(then(self._snapshot, store, self._seq))
        found.sort(key=lambda each: (each.created, each.number), reverse=True)
        return found[:limit]

    def stretch(self, name: str, start: int, stop: int) -> bytes:
        return self._now.stretch(name, start, stop)

    def pieces(self, name: str) -> Iterator[bytes]:
        return self._now.pieces(name)

    def references(self, artifact: ArtifactRow) -> int:
        return self._now.references(artifact)

    @property
    def messages(self) -> MessageReads:
        raise Refused(
            "messages_as_now",
            "what was said is read as it is now: each message says when",
            hint="leave `as of` out, and ask for a time with since and until",
        )

    def session_of(self, store: Store, name: str) -> Session:
        return self._now.session_of(store, name)

    def _shown_then(self, store: Store) -> Iterator[Entry]:
        return (entry for entry in self._kept_then(store) if not entry.hidden)

    def _kept_then(self, store: Store) -> Iterator[Entry]:
        for past in self.in_every_state(store):
            if past.state in SHOWN_STATES and self.sees(past):
                yield past

    def _as_it_was(self, entry: Entry) -> Entry | None:
        if entry.revision <= self._seq:
            return entry
        change = image_at(self._snapshot, entry.revision, self._seq)
        if change is None or change.after is None:
            return None
        if is_gone(self._snapshot, entry):
            return entry
        return entry_from_image(change.after, change.seq)


def _has(view: NowView | PastView, store: Store, name: str) -> bool:
    try:
        view.find(store, name)
    except NotFound:
        return False
    except Ambiguous:
        return True
    return True


def not_found(store: Store, name: str) -> NotFound:
    return NotFound(
        "entry_not_found",
        f"{store.label} has no entry {shown(name)}",
        hint="list what is there, or check the id",
    )


def _is_lensed(store: Store) -> bool:
    return store.mount is not None and not is_whole(store.mount.lenses)


def _newest_row(entry: Entry) -> NewestRow:
    return entry.id, entry.given_id, to_us(entry.when), entry.text


def _with_subject(entries: Iterable[Entry], at_us: int) -> list[Entry]:
    start = _today(at_us)
    return [
        entry
        for entry in entries
        if entry.subject and (entry.until is None or to_us(entry.until) > start)
    ]


def _subject_rows(
    entries: Iterable[Entry], limit: int, order: SubjectOrder
) -> Sequence[SubjectRow]:
    def worth(entry: Entry) -> tuple[int, ...]:
        return (entry.importance, *_place(entry)) if order == "important" else _place(entry)

    return [
        (each.id, each.given_id, to_us(each.when), each.subject, each.kind, each.importance)
        for each in sorted(entries, key=worth, reverse=True)[:limit]
    ]


def _only(found: Sequence[Entry], store: Store, name: str) -> Entry | None:
    if len(found) > 1:
        ids = ", ".join(entry.id for entry in found)
        raise Ambiguous(
            "entry_ambiguous",
            f"{shown(name)} fits {len(found)} entries of {store.label}: {ids}",
            hint="use a whole id",
        )
    return found[0] if found else None


def _today(at_us: int) -> int:
    return day_of(at_us) * DAY_US


def _place(entry: Entry) -> tuple[int, int]:
    return to_us(entry.when), entry.number


def _fits(entry: Entry, query: EntryQuery) -> bool:
    when, at = to_us(entry.when), query.cursor
    if query.since_us is not None and when < query.since_us:
        return False
    if query.until_us is not None and when >= query.until_us:
        return False
    if at is not None:
        here = Cursor(when_us=when, number=entry.number)
        ahead = _before(here, at) if query.order == "newest" else _before(at, here)
        if not ahead:
            return False
    if query.match is None:
        return True
    from holdfast.core.text import parse, satisfies

    return satisfies(parse(query.match), entry.text, *entry.names)


def _before(one: Cursor, other: Cursor) -> bool:
    return (one.when_us, one.number) < (other.when_us, other.number)
