"""Suggestions for records: taken by the rules that any write keeps to.

What supports a suggestion is what it rests on: the messages in which the user said it, or, of what
an agent inferred, those beyond the one that it was inferred from. So the preset that asks for one
corroboration confirms what a user said once, and leaves a draft of the rest. What a person approved
is confirmed. A retirement ends the time that a record is true for; it does not forget.
"""

from __future__ import annotations

from holdfast.core.records.body import check_subject, subject_of
from holdfast.core.records.kinds import KIND, kind_named, kinds_of
from holdfast.core.suggesting import changes_of, new_entry
from holdfast.strategies.records import policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Entry
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store
    from holdfast.ports import Work


def accepted(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    approved = work.caller.actor.kind == "human"
    said = len(suggestion.evidence)
    support = said if suggestion.origin == "user" else max(0, said - 1)
    means = policy.Means(by_person=approved, support=support, approved=approved)
    if suggestion.op == "add":
        return _add(work, store, suggestion, means)
    assert suggestion.target is not None
    if suggestion.op == "retire":
        return policy.retire(work, store, suggestion.target)
    entry = work.find(store, suggestion.target)
    changes: Any = changes_of(suggestion, entry)
    for name in ("kind", "subject"):
        if not changes.get(name):
            changes.pop(name, None)
    if "kind" in changes:
        kind_named(kinds_of(store.options), changes["kind"])
    if "text" in changes and "subject" not in changes and entry.subject == _made_of(entry):
        fields = entry.facts.get("fields") is True
        changes["subject"] = subject_of(changes["text"], is_fields=fields)
    return policy.update(work, store, entry.id, changes, means).entry


def _add(work: Work, store: Store, suggestion: Suggestion, means: policy.Means) -> Entry:
    new = new_entry(suggestion)
    facts = dict(new.facts)
    facts.setdefault("confidence", float(suggestion.confidence))
    kind = kind_named(kinds_of(store.options), new.kind or KIND).name
    subject = check_subject(new.subject or subject_of(new.text, is_fields="fields" in facts))
    new = new.replace(kind=kind, subject=subject, facts=facts)
    return policy.add(work, store, new, means).entry


def _made_of(entry: Entry) -> str:
    return subject_of(entry.text, is_fields=entry.facts.get("fields") is True)
