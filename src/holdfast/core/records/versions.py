"""The versions of a record, from the changes that made them, and what differs between two."""

from __future__ import annotations

from holdfast.core.trees.unified import unified
from holdfast.errors import NotFound
from holdfast.model.record import RecordDiff, RecordVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from holdfast.model.change import Change
    from holdfast.model.entry import Json

# What a version says and how it is told apart; the others follow from what was done with it.
SAID = (
    *("kind", "subject", "state", "hidden", "importance", "pinned", "tags", "refs", "origin"),
    *("trust", "until_us"),
)
_FACTS = ("confidence", "source", "from")


def version_of(change: Change) -> RecordVersion:
    """What was erased, or forgotten, says nothing."""
    after: Mapping[str, Any] = change.after or {}
    gone = not after or after["state"] == "forgotten"
    return RecordVersion(
        revision=change.seq,
        at=change.at,
        actor=change.actor,
        session=change.session,
        op=change.op,
        reason=change.reason,
        state=after.get("state", "forgotten"),
        kind=after.get("kind", ""),
        subject="" if gone else after["subject"],
        body="" if gone else after["text"],
    )


def change_at(changes: Iterable[Change], revision: int, name: str) -> Change:
    """The change that made this version."""
    for change in changes:
        if change.seq == revision:
            return change
        if change.seq < revision:
            break
    raise NotFound(
        "version_not_found",
        f"{name} has no version {revision}",
        hint="holdfast record history lists them",
    )


def earlier(changes: Sequence[Change]) -> Change | None:
    """The newest version that says something else than the newest of all, which comes first."""
    newest: Mapping[str, Any] = changes[0].after or {}
    for change in changes[1:]:
        after: Mapping[str, Any] = change.after or {}
        if after and _says(after) != _says(newest):
            return change
    return None


def _says(image: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(image[name] for name in ("kind", "subject", "text")) if image else ()


def compared(before: Change, after: Change) -> RecordDiff:
    old, new = _sayings(before), _sayings(after)
    fields: dict[str, Json] = {
        name: [old.get(name), new.get(name)]
        for name in (*SAID, *_FACTS, "fields")
        if old.get(name) != new.get(name)
    }
    texts = _ended(version_of(before).body, version_of(after).body)
    names = f"version {before.seq}", f"version {after.seq}"
    lines = b"".join(unified(*texts, *names)).decode()
    return RecordDiff(before=before.seq, after=after.seq, fields=fields, body=lines)


def _sayings(change: Change) -> dict[str, Json]:
    after: Mapping[str, Any] = change.after or {}
    facts = after.get("facts", {})
    return {
        **{name: after.get(name) for name in SAID},
        **{name: facts.get(name) for name in _FACTS},
        "fields": bool(facts.get("fields")),
    }


def _ended(old: str, new: str) -> tuple[bytes, bytes]:
    """Bodies of which neither ends its last line differ in other things than that."""
    if old and new and not old.endswith("\n") and not new.endswith("\n"):
        old, new = f"{old}\n", f"{new}\n"
    return old.encode(), new.encode()
