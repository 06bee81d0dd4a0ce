"""`Records`: one store of records, as programs work on it."""

from __future__ import annotations

from holdfast.core.budget import check_budget
from holdfast.core.lifecycle import step
from holdfast.core.metadata import check_metadata, check_origin
from holdfast.core.records import facts as known
from holdfast.core.records.body import check_body, check_subject, subject_of
from holdfast.core.records.kinds import KIND, kind_named, kinds_of
from holdfast.core.records.versions import change_at, compared, earlier, version_of
from holdfast.core.scope import scope_for
from holdfast.errors import InvalidInput, NotFound, Refused
from holdfast.model.entry import IMPORTANCE, IMPORTANCE_MAX, TRUST_OF, NewEntry
from holdfast.model.names import check_given_id, check_label, check_str, shown
from holdfast.model.query import check_limit
from holdfast.model.record import RecordPart
from holdfast.model.times import given_us
from holdfast.model.write import Write, check_unexpected
from holdfast.strategies.records import forgetting, policy, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any, Unpack

    from holdfast.model.change import Change
    from holdfast.model.entry import Entry, EntryChanges, Json, Origin
    from holdfast.model.record import (
        RecordAdded,
        RecordDiff,
        RecordForgotten,
        RecordLinks,
        RecordNeighbours,
        RecordPromoted,
        RecordRead,
        RecordRows,
        RecordUpdated,
        RecordVersion,
    )
    from holdfast.model.search import SearchOptions
    from holdfast.model.space import Store
    from holdfast.model.write import WriteOptions
    from holdfast.ports import View, Work
    from holdfast.ports.desk import Desk

    class RecordOptions(WriteOptions, total=False):
        """What may be said of a record beside its body, subject and kind, and of the write."""

        tags: Sequence[str]
        refs: Sequence[str]
        confidence: float | None
        importance: int | None
        pinned: bool | None
        source: str | None
        origin: Origin | None
        since: datetime | None
        until: datetime | None
        metadata: Mapping[str, Json] | None


class Records:
    """The records of one store."""

    def __init__(self, desk: Desk, *, by_person: bool = True) -> None:
        self._desk = desk
        self._by_person = by_person
        self.store = desk.store

    # Writing

    def add(
        self,
        body: str | Mapping[str, Json],
        *,
        subject: str | None = None,
        kind: str = KIND,
        id: str | None = None,
        scope: str = "space",
        task: str | None = None,
        supersedes: Sequence[str] = (),
        said_at: datetime | None = None,
        **about: Unpack[RecordOptions],
    ) -> RecordAdded:
        """A draft of this session. Adding the same again corroborates it."""
        text, is_fields = check_body(body)
        said, write = _said(about)
        if subject is None:
            subject = subject_of(text, is_fields=is_fields)
        new = NewEntry(
            text=text,
            kind=kind,
            subject=check_subject(subject),
            given_id=None if id is None else check_given_id(id),
            said_at=said_at,
            importance=said.pop("importance", IMPORTANCE),
            origin=said.pop("origin", "user"),
            facts={**said.pop("facts", {}), **({"fields": True} if is_fields else {})},
            **{name: value for name, value in said.items() if name != "refs"},
        )
        arguments: dict[str, Json] = {
            **_meant(new),
            "refs": list(said.get("refs", ())),
            "scope": scope,
            "task": task,
            "supersedes": list(supersedes),
        }

        def unit(work: Work, store: Store) -> RecordAdded:
            kind_named(kinds_of(store.options), kind)
            whole = new.replace(
                scope=scope_for(scope, work.caller, task),
                refs=policy.check_refs(work, store, said.get("refs", ())),
            )
            return policy.add(work, store, whole, self._means(work, supersedes))

        return self._desk.mutate("record add", arguments, unit, write)

    def promote(
        self, id: str, *, supersedes: Sequence[str] = (), **write: Unpack[WriteOptions]
    ) -> RecordPromoted:
        """Show a draft to later sessions, where the preferences allow it."""
        return self._desk.mutate(
            "record promote",
            {"id": id, "supersedes": list(supersedes)},
            lambda work, store: policy.promote(work, store, id, self._means(work, supersedes)),
            Write(**write),
        )

    def update(
        self,
        id: str,
        body: str | Mapping[str, Json] | None = None,
        *,
        subject: str | None = None,
        kind: str | None = None,
        supersedes: Sequence[str] = (),
        **about: Unpack[RecordOptions],
    ) -> RecordUpdated:
        """The next version; earlier ones are kept. What is not given stays as it is."""
        said, write = _said(about)
        refs = said.pop("refs", None)
        changes: dict[str, Any] = said
        if body is not None:
            text, is_fields = check_body(body)
            origin = said.pop("origin", "user")
            changes |= {"text": text, "origin": origin, "trust": TRUST_OF[origin]}
            changes["facts"] = {**changes.get("facts", {}), "fields": is_fields}
        if subject is not None:
            changes["subject"] = check_subject(subject)
        if kind is not None:
            changes["kind"] = kind
        meant = {name: known_json(value) for name, value in changes.items()}

        def unit(work: Work, store: Store) -> RecordUpdated:
            if kind is not None:
                kind_named(kinds_of(store.options), kind)
            wanted: Any = dict(changes)
            if refs is not None:
                own = work.find(store, id).id
                wanted["refs"] = policy.check_refs(work, store, refs, own)
            wanted = _kept_form(work.find(store, id), wanted)
            return policy.update(work, store, id, wanted, self._means(work, supersedes))

        arguments: dict[str, Json] = {
            "id": id,
            "changes": meant,
            "refs": None if refs is None else list(refs),
            "supersedes": list(supersedes),
        }
        return self._desk.mutate("record update", arguments, unit, write)

    def forget(
        self,
        id: str | None = None,
        *,
        query: str | None = None,
        confirm: str | None = None,
        **write: Unpack[WriteOptions],
    ) -> RecordForgotten:
        """Forget one record; or say which a query finds, and forget these with the `confirm` that
        was answered. What is forgotten comes back by a person only."""
        if (id is None) == (query is None):
            raise InvalidInput(
                "arguments_invalid", "forget takes an id or a query", hint="give one of the two"
            )
        if id is not None:
            return self._desk.mutate(
                "record forget",
                {"id": id},
                lambda work, store: forgetting.forget(work, store, id),
                Write(**write),
            )
        asked = query or ""
        check_str(asked, "the query")
        check_unexpected(write.get("expect"), "forgetting by a query, which has `confirm`,")
        if confirm is None:
            return self._desk.read(lambda view, store: forgetting.asked(view, store, asked))
        check_str(confirm, "the confirmation")
        return self._desk.mutate(
            "record forget",
            {"query": asked, "confirm": confirm},
            lambda work, store: forgetting.forget_found(work, store, asked, confirm),
            Write(**write),
        )

    def revert(
        self, id: str, to: int | None = None, **write: Unpack[WriteOptions]
    ) -> RecordUpdated:
        """Make it say again what a version said; without one, what it said before."""

        def unit(work: Work, store: Store) -> RecordUpdated:
            entry = work.find(store, id)
            changes = list(work.history(entry))
            name = f"{store.label} {entry.handle}"
            if to is None:
                then = earlier(changes)
                if then is None:
                    step(entry.state, "update", name)  # what was forgotten says nothing at all
                    raise Refused(
                        "version_first",
                        f"{name} has said nothing else before",
                        hint="holdfast record history lists its versions",
                    )
            else:
                then = change_at(changes, to, name)
            return policy.update(work, store, id, _as_then(then, name), self._means(work, ()))

        return self._desk.mutate("record revert", {"id": id, "to": to}, unit, Write(**write))

    def _means(self, work: Work, supersedes: Sequence[str]) -> policy.Means:
        is_person = self._by_person and work.caller.actor.kind == "human"
        return policy.Means(by_person=is_person, supersedes=tuple(supersedes))

    # Reading

    def search(
        self,
        query: str = "",
        *,
        budget: int | None = None,
        summary: bool = False,
        **asked: Unpack[SearchOptions],
    ) -> RecordRows:
        """The best rows, subjects without bodies. What is not asked is as preferred."""
        check_budget(budget)
        return self._desk.timed(
            lambda view, store: reading.search(view, store, query, budget, summary, {**asked})
        )

    def list(
        self,
        which: reading.Listed = "shown",
        *,
        kinds: Sequence[str] = (),
        limit: int = reading.LIST_LIMIT,
        cursor: str | None = None,
        everybodys: bool = False,
    ) -> RecordRows:
        """Records by state, the newest first; drafts are those of this session, unless those of
        everybody are asked for."""
        return self._desk.read(
            lambda view, store: reading.listed(
                view, store, which, kinds, limit, cursor, everybodys=everybodys
            )
        )

    def read(self, id: str | None = None, *, query: str | None = None) -> RecordRead:
        """One record in full: by its id, whatever its state, or the best for a query."""
        if (id is None) == (query is None):
            raise InvalidInput(
                "arguments_invalid", "read takes an id or a query", hint="give one of the two"
            )
        found = self._desk.read(
            lambda view, store: (
                reading.read(view, store, id)
                if id is not None
                else reading.read_found(view, store, query or "")
            )
        )
        self._desk.used(found.entry)
        return found

    def expand(self, id: str, path: str | Sequence[str]) -> RecordPart:
        """One section by its heading path (`Setup > Linux`), or one field (`steps[0].name`)."""

        def unit(view: View, store: Store) -> tuple[Entry, RecordPart]:
            return view.find(store, id), reading.expand(view, store, id, path)

        entry, part = self._desk.read(unit)
        self._desk.used(entry)
        return part

    def layer(
        self, layer: str, *, limit: int = reading.LIST_LIMIT, cursor: str | None = None
    ) -> RecordRows:
        """The rows of one layer: semantic, procedural or episodic."""
        return self._desk.read(
            lambda view, store: reading.in_one_layer(view, store, layer, limit, cursor)
        )

    def part(
        self,
        id: str | None,
        path: str | Sequence[str] | None,
        layer: str | None,
        cursor: str | None,
    ) -> RecordPart:
        """What `expand` gives for an id and a path, or `layer` for a layer, as one answer."""
        if layer is not None and id is None and path is None:
            rows = self.layer(layer, cursor=cursor)
            return RecordPart(path=layer, rows=rows.rows, cursor=rows.cursor)
        if id is None or path is None or layer is not None:
            raise InvalidInput(
                "arguments_invalid",
                "a part is a path in a record, or a layer of all",
                hint="give id and path, or layer",
            )
        return self.expand(id, path)

    def history(self, id: str, *, limit: int = 100) -> Sequence[RecordVersion]:
        """Its versions, the newest first."""
        check_limit(limit)

        def unit(view: View, store: Store) -> Sequence[RecordVersion]:
            changes = view.history(view.find(store, id))
            return [version_of(change) for _, change in zip(range(limit), changes, strict=False)]

        return self._desk.read(unit)

    def compare(self, id: str, before: int | None = None, after: int | None = None) -> RecordDiff:
        """What differs between two versions: else the one before, and the newest."""

        def unit(view: View, store: Store) -> RecordDiff:
            entry = view.find(store, id)
            changes = list(view.history(entry))
            name = f"{store.label} {entry.handle}"
            new = changes[0] if after is None else change_at(changes, after, name)
            if before is None:
                old = earlier(changes[changes.index(new) :]) or new
            else:
                old = change_at(changes, before, name)
            return compared(old, new)

        return self._desk.read(unit)

    def links(self, id: str) -> RecordLinks:
        """What it refers to and what refers to it."""
        return self._desk.read(lambda view, store: reading.links(view, store, id))

    def neighbours(self, id: str, *, depth: int = 1, limit: int = 50) -> RecordNeighbours:
        """The records around it, and the links that lead nowhere."""
        return self._desk.read(
            lambda view, store: reading.neighbours(view, store, id, depth, limit)
        )


# What callers give


def _said(about: RecordOptions) -> tuple[dict[str, Any], Write]:
    """The fields of an entry that a caller says, and the conditions of the write; what is None is
    not said."""
    given: dict[str, Any] = {name: value for name, value in about.items() if value is not None}
    write = Write(**{name: given.pop(name) for name in Write.fields_ if name in given})
    said: dict[str, Any] = {}
    _check_times(given.get("since"), given.get("until"))
    facts = known.said_facts(
        given.pop("confidence", None), given.pop("source", None), given.pop("since", None)
    )
    if facts:
        said["facts"] = facts
    for name, value in given.items():
        match name:
            case "tags":
                said[name] = _tags(value)
            case "refs":
                for each in value:
                    check_str(each, "a reference")
                said[name] = tuple(value)
            case "metadata":
                said[name] = check_metadata(value)
            case "origin":
                said[name] = check_origin(value)
            case "until":
                given_us(value)
                said[name] = value
            case "importance":
                said[name] = _importance(value)
            case "pinned":
                said[name] = bool(value)
            case _:
                raise TypeError(f"records know no {name!r}")
    return said, write


def _check_times(since: datetime | None, until: datetime | None) -> None:
    if since is not None and until is not None and given_us(until) < given_us(since):
        raise InvalidInput(
            "times_reversed",
            f"it would be true until {until:%Y-%m-%d %H:%M}, and since {since:%Y-%m-%d %H:%M}",
            hint="let `until` be later than `since`",
        )


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str) or len(tags) > policy.TAGS_MAX:
        raise InvalidInput(
            "tags_invalid",
            f"the tags are no list of at most {policy.TAGS_MAX} words",
            hint='such as ["deploy", "ops"]',
        )
    return tuple(dict.fromkeys(check_label(tag, "a tag") for tag in tags))


def _importance(importance: int) -> int:
    if type(importance) is not int or not 0 <= importance <= IMPORTANCE_MAX:
        raise InvalidInput(
            "importance_invalid",
            f"{shown(importance)} is no importance",
            hint=f"give a whole number from 0 to {IMPORTANCE_MAX}",
        )
    return importance


def _meant(new: NewEntry) -> dict[str, Json]:
    return {name: known_json(getattr(new, name)) for name in new.fields_}


def known_json(value: Any) -> Json:
    from holdfast.core.codec import plain

    return plain(value)


def _kept_form(entry: Entry, wanted: Any) -> EntryChanges:
    """Facts that are not asked to change stay; `fields` is there only where it is true."""
    facts = wanted.get("facts")
    if facts is not None and not facts.get("fields") and "fields" not in entry.facts:
        facts.pop("fields", None)
        if not facts:
            del wanted["facts"]
    return wanted


def _as_then(then: Change, name: str) -> EntryChanges:
    """What a version said, as changes of what is said now."""
    from holdfast.core.images import entry_from_image

    if then.after is None or then.after["state"] == "forgotten":
        raise NotFound(
            "version_not_found",
            f"{name} says nothing in version {then.seq}: it was forgotten or erased",
            hint="choose another version",
        )
    was = entry_from_image(then.after, then.seq)
    facts: dict[str, Any] = {"fields": was.facts.get("fields") is True}
    for fact in ("confidence", "source", "from"):
        if fact in was.facts:
            facts[fact] = was.facts[fact]
    changes: Any = {
        "kind": was.kind,
        "subject": was.subject,
        "text": was.text,
        "tags": was.tags,
        "refs": was.refs,
        "importance": was.importance,
        "pinned": was.pinned,
        "origin": was.origin,
        "trust": was.trust,
        "facts": facts,
    }
    return changes
