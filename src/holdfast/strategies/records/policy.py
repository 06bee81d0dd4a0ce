"""What may become of a record: the rules by which it is added, promoted, updated and forgotten.

The rules are those of the preferences, read in the unit of work that they decide on. A person is
whoever types: an agent's tool is none, whoever runs it. What a person forgot, only a person adds
again.
"""

from __future__ import annotations

from holdfast.core.records import facts as known
from holdfast.core.records.kinds import kinds_of, layer_of
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.entry import TRUST_OF, Entry
from holdfast.model.names import shown
from holdfast.model.record import RecordAdded, RecordPromoted, RecordUpdated
from holdfast.model.search import SearchQuery
from holdfast.model.times import from_us
from holdfast.model.value import Value
from holdfast.strategies.records.decay import let_go
from holdfast.strategies.records.rows import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.core.preferences import Settings
    from holdfast.model.entry import EntryChanges, NewEntry
    from holdfast.model.record import RecordRow
    from holdfast.model.space import Store
    from holdfast.ports import View, Work

NEAR_LOOKED = 3
NEAR_CHARS = 2_000
TAGS_MAX = 100
REFS_MAX = 1_000


class Means(Value):
    """How a call is meant: by a person, or accepted from a review with so much to support it."""

    by_person: bool = True
    support: int = 0
    approved: bool = False
    supersedes: tuple[str, ...] = ()


def find_all(view: View, store: Store, names: Sequence[str]) -> list[Entry]:
    """Those that a record refers to or takes the place of, each once."""
    found = [view.find(store, name) for name in names]
    return list({entry.id: entry for entry in found}.values())


# Adding


def add(work: Work, store: Store, new: NewEntry, means: Means) -> RecordAdded:
    """A new record, or a corroboration of the one that says the same."""
    settings = work.settings(store)
    start = settings.word("write.start")
    if start == "refused":
        raise Refused(
            "records_refused",
            f"{store.label} takes no new records: the preset {settings.preset} says so",
            hint="holdfast preferences set write.start draft",
        )
    if new.given_id is not None and (taken := work.given(store, new.given_id)) is not None:
        return _given_before(work, store, taken, new)
    work.expect(0, f"the new record in {store.label}")
    let_go(work, store, settings)
    if (again := _again(work, store, new, means, settings)) is not None:
        return again
    near = _near(work, store, new, settings)
    confirmed = start == "confirmed" or means.approved
    enough = means.support > 0 and means.support >= settings.whole("promotion.support")
    if not confirmed and enough and may_promote(settings, new.origin, means):
        confirmed = True
    others = find_all(work, store, means.supersedes)
    if confirmed:
        others = _contradicted(work, store, new, others, settings)
    elif others:
        new = new.replace(facts={**new.facts, "supersedes": [entry.id for entry in others]})
    entry = work.add(store, _dated(work, store, new, settings, confirmed=confirmed))
    gone = _give_way(work, store, entry, others) if confirmed else ()
    return RecordAdded(entry=entry, outcome="added", near=near, supersedes=gone)


def _dated(
    work: Work, store: Store, new: NewEntry, settings: Settings, *, confirmed: bool
) -> NewEntry:
    """The entry with its state; an episode without an end closes when it is not used."""
    new = new.replace(state="confirmed" if confirmed else "draft")
    layer = layer_of(kinds_of(store.options), new.kind)
    if layer == "episodic" and new.until is None and not new.pinned:
        until = known.idle_until(settings, work.at_us)
        return new.replace(until=until, facts={**new.facts, "idle": True})
    return new


def _given_before(work: Work, store: Store, taken: Entry, new: NewEntry) -> RecordAdded:
    work.expect(taken.revision, f"{store.label} {taken.handle}")
    if taken.state == "forgotten" or taken.text != new.text:
        why = "was forgotten" if taken.state == "forgotten" else "says something else"
        raise Conflict(
            "id_taken",
            f"{store.label} {shown(taken.handle)} {why}; an id is never used for a second record",
            hint="update it, or add the record under another id",
        )
    return RecordAdded(entry=taken, outcome="unchanged")


def _again(
    work: Work, store: Store, new: NewEntry, means: Means, settings: Settings
) -> RecordAdded | None:
    """The record that says the same, corroborated. What was forgotten does not come back."""
    same = [entry for entry in work.same(store, new.text) if entry.scope == new.scope]
    for entry in same:
        if entry.kind != new.kind or _folded(entry.subject) != _folded(new.subject):
            continue
        if entry.state == "forgotten" or (entry.state == "draft" and _is_others(work, entry)):
            continue
        why = known.text_fact(entry, "closed")
        if entry.hidden and why not in known.REOPENED:
            continue
        facts = known.counted(entry, "again")
        facts = known.without(facts, "closed", "closed_us") if entry.hidden else facts
        event = "show" if entry.hidden else "adjust"
        changes = _refreshed(work, facts, settings)
        if entry.hidden and "until" not in changes:
            changes["until"] = None  # its time was over, and it is so again
        after = work.move(store, entry, event, **changes)
        if means.approved and after.state == "draft":
            after = promote(work, store, after.id, means).entry
        return RecordAdded(entry=after, outcome="reopened" if why else "again")
    gone = any(e.state == "forgotten" and not known.text_fact(e, "closed") for e in same)
    if gone and not (means.by_person and new.origin == "user"):
        raise Refused(
            "record_forgotten",
            f"this was forgotten in {store.label}, and only a person may add it again",
            hint="holdfast record add, without --agent",
        )
    return None


def _refreshed(work: Work, facts: dict[str, Any], settings: Settings) -> EntryChanges:
    if facts.get("idle") is True:
        return {"facts": facts, "until": known.idle_until(settings, work.at_us)}
    return {"facts": facts}


def _is_others(work: Work, entry: Entry) -> bool:
    return entry.session != work.session_id or entry.hidden


def _near(work: Work, store: Store, new: NewEntry, settings: Settings) -> tuple[RecordRow, ...]:
    """The records that say nearly the same, as the preferences have them treated."""
    rule = settings.word("write.near")
    if rule == "ignore":
        return ()
    from holdfast.core.text import NEAR_MIN, similarity, sketch

    head = new.text[:NEAR_CHARS]
    asked = SearchQuery(
        text=" ".join(sketch(head)),
        match="any",
        kinds=(new.kind,),
        limit=NEAR_LOOKED,
        rerank="relevance",
    )
    found = [hit.entry for hit in work.search([store], asked) if hit.entry.scope == new.scope]
    near = [e for e in found if similarity(head, e.text[:NEAR_CHARS]) >= NEAR_MIN]
    if near and rule == "refuse":
        raise Conflict(
            "record_near",
            f"{store.label} has nearly the same: {near[0].handle}, {shown(near[0].subject)}",
            hint=f"update {near[0].handle} instead, or say what is different",
        )
    kinds = kinds_of(store.options)
    return tuple(row_of(entry, kinds) for entry in near)


def _folded(subject: str) -> str:
    return " ".join(subject.casefold().split())


# Promoting


def promote(work: Work, store: Store, name: str, means: Means) -> RecordPromoted:
    """Show a draft to all that it is for. Its scope stays what it was."""
    entry, settings = work.find(store, name), work.settings(store)
    work.expect(entry.revision, f"{store.label} {entry.handle}")
    if entry.state in ("confirmed", "updated"):
        return RecordPromoted(entry=entry, outcome="unchanged")
    if entry.state == "draft" and not entry.hidden:
        _check_support(work, store, entry, means, settings)
    let_go(work, store, settings)
    same = [
        each
        for each in work.same(store, entry.text)
        if each.state in ("confirmed", "updated") and not each.hidden
        if (each.scope, each.kind) == (entry.scope, entry.kind)
        if _folded(each.subject) == _folded(entry.subject)
    ]
    if same and entry.state == "draft":
        facts = known.closing(entry, "merged", work.at_us, same[0].id)
        work.move(store, entry, "hide", facts=facts)
        after = work.move(store, same[0], "adjust", facts=known.counted(same[0], "again"))
        return RecordPromoted(entry=after, outcome="merged")
    named = entry.facts.get("supersedes")
    wanted = (*means.supersedes, *(map(str, named) if isinstance(named, list) else ()))
    others = find_all(work, store, wanted)
    others = _contradicted(work, store, entry, others, settings)
    facts = known.without(entry.facts, "supersedes")
    after = work.move(store, entry, "promote", **_refreshed(work, facts, settings))
    gone = _give_way(work, store, after, others)
    return RecordPromoted(entry=after, outcome="promoted", supersedes=gone)


def may_promote(settings: Settings, origin: str, means: Means) -> bool:
    return means.by_person or origin in settings.words("promotion.origins")


def support_of(work: Work, store: Store, entry: Entry) -> int:
    """Updates, corroborations, and what others say the same, drafts of other sessions too."""
    others = sum(
        each.id != entry.id and each.state != "forgotten" and each.kind == entry.kind
        for each in work.same(store, entry.text)
        if not each.hidden
    )
    return known.count(entry, "updates") + known.count(entry, "again") + others


def _check_support(
    work: Work, store: Store, entry: Entry, means: Means, settings: Settings
) -> None:
    if means.approved:
        return
    need, have = settings.whole("promotion.support"), support_of(work, store, entry) + means.support
    if have < need:
        raise Refused(
            "support_missing",
            f"{store.label} {entry.handle} has {have} of the {need} updates or corroborations that "
            f"promoting asks for (preset {settings.preset})",
            hint="update it, or add the same fact again, then promote it",
        )
    if not may_promote(settings, entry.origin, means):
        raise Refused(
            "origin_refused",
            f"{store.label} {entry.handle} came from {entry.origin}, which only a person promotes "
            f"(preset {settings.preset})",
            hint="holdfast record promote, without --agent",
        )


# Contradictions


def _contradicted(
    work: Work, store: Store, new: Entry | NewEntry, named: list[Entry], settings: Settings
) -> list[Entry]:
    """Those that give way to a record: the ones that are named, and those of its kind and subject
    that say something else. Raises where one of them must not."""
    kind = kinds_of(store.options).get(new.kind)
    own = new.id if isinstance(new, Entry) else ""
    found = {each.id: each for each in named if each.id != own}
    if kind is None or not kind.single:
        return list(found.values())
    rule, trust = settings.word("promotion.supersede"), new.trust or TRUST_OF[new.origin]
    for each in work.called(store, new.kind, new.subject):
        if each.id in (own, *found) or each.scope != new.scope or each.text == new.text:
            continue
        trusted = known.TRUST_RANK[trust] >= known.TRUST_RANK[each.trust]
        gives_way = rule == "any" or (rule == "trusted" and trusted)
        if each.pinned or not gives_way:
            why = "is pinned" if each.pinned else "says something else and is trusted as it is"
            raise Refused(
                "record_contradicts",
                f"{store.label} {each.handle} {why} about {shown(each.subject)}",
                hint=f"say that it supersedes {each.handle}, or update that one",
            )
        found[each.id] = each
    return list(found.values())


def _give_way(
    work: Work, store: Store, entry: Entry, others: Sequence[Entry]
) -> tuple[RecordRow, ...]:
    """Close the others at the moment since when the record is true."""
    kinds = kinds_of(store.options)
    rows: list[RecordRow] = []
    for each in others:
        if each.state == "forgotten":
            continue
        facts = known.closing(each, "superseded", work.at_us, entry.id)
        since = entry.facts.get("from")
        begun = work.at if type(since) is not int else min(from_us(since), work.at)
        after = work.move(store, each, "hide", facts=facts, until=max(each.when, begun))
        rows.append(row_of(after, kinds))
    return tuple(rows)


# Updating


def update(
    work: Work, store: Store, name: str, changes: EntryChanges, means: Means
) -> RecordUpdated:
    """Its next version. What changes only what it is worth makes no version of what it says."""
    entry, settings = work.find(store, name), work.settings(store)
    work.expect(entry.revision, f"{store.label} {entry.handle}")
    if entry.pinned and work.caller.actor.kind == "reviewer":
        raise Refused(
            "entry_pinned",
            f"{store.label} {entry.handle} is pinned, and no reviewer changes it",
            hint="a person may: holdfast record update",
        )
    wanted = _differing(entry, changes)
    if entry.state != "forgotten" and not wanted:
        return RecordUpdated(entry=entry, outcome="unchanged")
    says = not {"text", "subject", "kind", "facts", "refs", "until"}.isdisjoint(wanted)
    facts = {**entry.facts, **wanted.get("facts", {})}
    if entry.state == "draft" and says:
        facts = {**facts, "updates": known.count(entry, "updates") + 1}
    if wanted.get("pinned") and facts.get("idle"):
        wanted["until"], facts = None, known.without(facts, "idle")
    elif facts.get("idle") and "until" not in wanted:
        wanted["until"] = known.idle_until(settings, work.at_us)
    elif "until" in wanted:
        facts = known.without(facts, "idle")
    elif entry.hidden and entry.until is not None and entry.until <= work.at:
        wanted["until"] = None  # it is so again
    after = entry.replace(**{**wanted, "facts": facts})
    others = _replaced(work, store, entry, after, means, settings) if says else []
    if entry.hidden and entry.state != "forgotten":
        entry = work.move(store, entry, "show")
        facts = known.without(facts, "closed", "closed_us", "by")
    event = "update" if says or entry.state == "forgotten" else "adjust"
    wanted["facts"] = facts
    made = work.move(store, entry, event, **wanted)
    gone = _give_way(work, store, made, others)
    return RecordUpdated(
        entry=made, outcome="updated" if event == "update" else "adjusted", supersedes=gone
    )


def _differing(entry: Entry, changes: EntryChanges) -> Any:
    """What is not so already."""
    wanted: dict[str, Any] = {
        name: value for name, value in changes.items() if value != getattr(entry, name)
    }
    if "facts" in wanted:
        facts: dict[str, Any] = wanted.pop("facts")
        given = {name: each for name, each in facts.items() if entry.facts.get(name) != each}
        wanted |= {"facts": given} if given else {}
    if not {"text", "subject"}.intersection(wanted):
        wanted.pop("origin", None)
        wanted.pop("trust", None)
    return wanted


def _replaced(
    work: Work, store: Store, entry: Entry, after: Entry, means: Means, settings: Settings
) -> list[Entry]:
    """Those that give way to what it says now. Two records do not come to say the same."""
    if entry.state == "forgotten":
        return []
    for each in work.same(store, after.text):
        is_twin = each.id != entry.id and not each.hidden and each.state in ("confirmed", "updated")
        if is_twin and (each.kind, each.scope) == (after.kind, after.scope):
            if _folded(each.subject) != _folded(after.subject):
                continue
            raise Conflict(
                "record_exists",
                f"{store.label} {each.handle} says this already",
                hint=f"forget {entry.handle}, or say what is different",
            )
    others = find_all(work, store, means.supersedes)
    if entry.state == "draft":
        return others
    return _contradicted(work, store, after, others, settings)


def check_refs(work: Work, store: Store, names: Sequence[str], own: str = "") -> tuple[str, ...]:
    """The whole ids of the records that one refers to. One that is not there is named."""
    if len(names) > REFS_MAX:
        raise InvalidInput(
            "refs_invalid", f"{len(names):,} references; the limit is {REFS_MAX:,}", hint="fewer"
        )
    found: list[str] = []
    for name in names:
        try:
            entry = work.find(store, name)
        except NotFound:
            raise NotFound(
                "ref_not_found",
                f"{store.label} has no record {shown(name)} to refer to",
                hint="refer to records of the same store, by their ids",
            ) from None
        if entry.id not in (own, *found):
            found.append(entry.id)
    return tuple(found)


def retire(work: Work, store: Store, name: str) -> Entry:
    """It is no longer so: out of the block and of searches, with the end of its time."""
    entry = work.find(store, name)
    if entry.hidden or entry.state == "forgotten":
        return entry
    if entry.pinned and work.caller.actor.kind == "reviewer":
        raise Refused(
            "entry_pinned",
            f"{store.label} {entry.handle} is pinned, and no reviewer retires it",
            hint="a person may: holdfast record update --until now",
        )
    facts = known.closing(entry, "retired", work.at_us)
    return work.move(store, entry, "hide", facts=facts, until=work.at)
