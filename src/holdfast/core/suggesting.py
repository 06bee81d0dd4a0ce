"""Suggestions and entries: a write that is held becomes a suggestion, and back, with nothing lost.

What a `Suggestion` has no field for stands in its `details`, as JSON: only what differs from what a
new entry has anyhow. A strategy's `accept` reads them with `new_entry` and `changes_of`.
"""

from __future__ import annotations

from holdfast.core.codec import plain
from holdfast.errors import Refused
from holdfast.model.entry import NewEntry
from holdfast.model.review import Suggestion
from holdfast.model.times import from_us, to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.model.entry import Entry, EntryChanges, Json
    from holdfast.model.space import Store

_OWN = ("text", "kind", "subject", "origin", "trust")
_TIMES = ("said_at", "until")
_LISTS = ("tags", "refs", "holds")


def of_new(store: Store, new: NewEntry, trust: Any) -> Suggestion:
    """The suggestion to add an entry."""
    details = {
        name: _json(getattr(new, name))
        for name in new.fields_
        if name not in _OWN and getattr(new, name) != new.defaults_.get(name)
    }
    return Suggestion(
        op="add",
        strategy=store.strategy,
        store=store.name,
        kind=new.kind,
        subject=new.subject,
        text=new.text,
        evidence=(),
        origin=new.origin,
        trust=trust,
        confidence=1.0,
        details=details,
    )


def of_changes(store: Store, entry: Entry, changes: EntryChanges) -> Suggestion:
    """The suggestion to update an entry. Its details are the changes that it has no field for."""
    given: dict[str, Any] = dict(changes)
    return Suggestion(
        op="update",
        strategy=store.strategy,
        store=store.name,
        kind=given.get("kind", entry.kind),
        subject=given.get("subject", entry.subject),
        text=given.get("text", entry.text),
        evidence=(),
        origin=given.get("origin", entry.origin),
        trust=given.get("trust", entry.trust),
        confidence=1.0,
        target=entry.id,
        revision=entry.revision,
        details={name: _json(value) for name, value in given.items() if name not in _OWN},
    )


def new_entry(suggestion: Suggestion, **others: Any) -> NewEntry:
    """The entry that a suggestion wants to add; `others` replace what it says."""
    fields = {name: getattr(suggestion, name) for name in _OWN} | _fields(suggestion.details)
    return NewEntry(**{**fields, **others})


def changes_of(suggestion: Suggestion, entry: Entry) -> EntryChanges:
    """What a suggestion wants to change of its target."""
    wanted = {name: getattr(suggestion, name) for name in _OWN} | _fields(suggestion.details)
    changes: Any = {
        name: value for name, value in wanted.items() if value != getattr(entry, name, value)
    }
    return changes


def of_no_entries(store: Store) -> Refused:
    return Refused(
        "suggestion_misplaced",
        f"{store.label} keeps {store.strategy} and no entries, so nothing can be proposed for it",
        hint="name a store of notes, records or a profile",
    )


def suggestion_image(suggestion: Suggestion) -> dict[str, Json]:
    return {name: plain(getattr(suggestion, name)) for name in suggestion.fields_}


def suggestion_from(image: Mapping[str, Any]) -> Suggestion:
    fields: dict[str, Any] = {**image, "evidence": tuple(image["evidence"])}
    return Suggestion(**fields)


def _fields(details: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(details)
    for name in _TIMES:
        if made.get(name) is not None:
            made[name] = from_us(made[name])
    for name in _LISTS:
        if name in made:
            made[name] = tuple(made[name])
    return made


def _json(value: Any) -> Json:
    from datetime import datetime

    return to_us(value) if isinstance(value, datetime) else plain(value)
