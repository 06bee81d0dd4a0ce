"""From a suggestion to a skill: what a reviewer learned of a task, or a write that was held.

A reviewer gives a name and how the thing was done; the description is the beginning of that. What a
person approves is taken although a similar one is there.
"""

from __future__ import annotations

from holdfast.core.skillfiles import check_skill_name, name_in
from holdfast.core.suggesting import changes_of, new_entry
from holdfast.errors import Conflict, InvalidInput
from holdfast.model.names import shown
from holdfast.strategies.skills import policy
from holdfast.strategies.skills.document import DESCRIPTION_CHARS_MAX, Document, read, written
from holdfast.strategies.skills.policy import Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.model.entry import Entry, Json
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store
    from holdfast.ports import Work

_ENDS = (". ", ".\n", "。", "! ", "? ", "\n")


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    if suggestion.op == "add":
        return _added(work, store, suggestion)
    assert suggestion.target is not None
    entry = work.find(store, suggestion.target)
    if suggestion.op == "retire":
        return work.move(store, entry, "forget")
    changes: Any = changes_of(suggestion, entry)
    wanted = Wanted(
        name=entry.subject.partition(":")[0],
        body=changes.get("text"),
        description=_new_description(suggestion, entry),
        origin=suggestion.origin,
    )
    if "facts" in changes:
        wanted = _as_held(changes["facts"], suggestion).replace(name=wanted.name)
    policy.save(work, store, wanted)
    after = work.find(store, entry.id)
    metadata = suggestion.details.get("metadata")
    if isinstance(metadata, dict) and metadata != after.metadata:
        after = work.move(store, after, "adjust", metadata=metadata)
    return after


def _new_description(suggestion: Suggestion, entry: Entry) -> str | None:
    """What the suggestion says behind a name and a colon in its subject, if it does."""
    if suggestion.subject == entry.subject:
        return None
    return suggestion.subject.partition(": ")[2].strip() or None


def _added(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    new = new_entry(suggestion)
    wanted = _as_held(new.facts, suggestion) if new.facts else _as_learned(suggestion)
    wanted = wanted.replace(
        origin=new.origin,
        trust=new.trust,
        metadata=new.metadata,
        anyway=work.caller.actor.kind == "human",
    )
    if policy.named(work, store, wanted.name) is not None:
        raise Conflict(
            "skill_taken",
            f"{store.label} has a skill {shown(wanted.name)} already",
            hint="change that one, or save this under another name",
        )
    return work.find(store, policy.save(work, store, wanted).skill.id)


def _as_learned(suggestion: Suggestion) -> Wanted:
    name, _, said = suggestion.subject.partition(": ")
    name = name_in(name)
    if not name:
        raise InvalidInput(
            "skill_name_invalid",
            "the suggestion names no skill",
            hint="its subject is the name, such as fill-pdf-forms",
        )
    description = said.strip() or _first_sentence(suggestion.text)
    document = written(name, description[:DESCRIPTION_CHARS_MAX], suggestion.text)
    return Wanted(name=check_skill_name(name), document=document)


def _first_sentence(text: str) -> str:
    lines = [line.strip("#*- ") for line in text.strip().splitlines()]
    text = next((line for line in lines if line), "")
    ends = [at + len(end.rstrip()) for end in _ENDS if (at := text.find(end)) >= 0]
    return text[: min(ends, default=len(text))].strip()


def _as_held(facts: Mapping[str, Json], suggestion: Suggestion) -> Wanted:
    """A write that was held, as it was meant: the front matter and the files that it came with."""
    kept: Any = facts
    document: Document = read(kept["head"] + suggestion.text)
    return Wanted(name=document.name, document=document, files=policy.files_in(kept), only=True)
