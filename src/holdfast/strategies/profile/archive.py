"""What left the two files and can come back: evicted to make room, or put away by a reset.

An archived entry is hidden, not forgotten. A reset marks what it touched with the seq that it began
at, so that it can be taken back as a whole.
"""

from __future__ import annotations

from holdfast.errors import Refused
from holdfast.model.names import check_str
from holdfast.model.profile import FILES, ProfileReset
from holdfast.model.search import SearchQuery
from holdfast.strategies.profile.onboarding import answer_of, field_of
from holdfast.strategies.profile.policy import Sheet, entries_of, expect, gauge_of, one_with
from holdfast.strategies.profile.policy import find as find_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.model.entry import Entry
    from holdfast.model.profile import File
    from holdfast.model.space import Store
    from holdfast.ports import View, Work

RESET = "reset"


def archived(
    view: View, store: Store, query: str, file: File | None, limit: int
) -> tuple[Entry, ...]:
    """What is in the archive for the caller, the last to go first; or what a query finds there."""
    kinds = FILES if file is None else (file,)
    if not query.strip():
        found = _all_archived(view, store)
        kept = [entry for entry in found if entry.kind in kinds]
        return tuple(sorted(kept, key=lambda entry: entry.revision, reverse=True)[:limit])
    asked = SearchQuery(text=query, match="any", kinds=kinds, hidden=True, limit=100)
    hits = (hit.entry for hit in view.search([store], asked).hits)
    return tuple([entry for entry in hits if entry.hidden and view.sees(entry)][:limit])


def find(view: View, store: Store, wanted: str) -> Entry:
    """An archived entry, by its id or by words that only it has there."""
    check_str(wanted, "the entry")
    there = {entry.id: entry for entry in _all_archived(view, store)}
    for entry in there.values():
        if wanted in (entry.id, entry.handle):
            return entry
    shown = entries_of(view, store)
    if any(wanted in (entry.id, entry.handle) for entry in shown):
        return find_any(view, store, wanted)
    return one_with(store, there.values(), wanted, None)


def _all_archived(view: View, store: Store) -> list[Entry]:
    return [
        entry
        for entry in view.in_every_state(store)
        if entry.hidden and entry.state != "forgotten" and entry.kind in FILES and view.sees(entry)
    ]


def reset(work: Work, store: Store, file: File, *, onboarding: bool) -> ProfileReset:
    """Put a file's entries away. What onboarding asked for stays, as it was answered."""
    expect(work, store, file)
    mark = work.seq
    there = [entry for entry in entries_of(work, store) if entry.kind == file]
    kept = _answers(work, store, file) if onboarding else {}
    gone = tuple(
        [
            work.move(store, entry, "hide", facts={**entry.facts, RESET: mark})
            for entry in there
            if entry.id not in kept
        ]
    )
    back = Sheet(work, store)
    for entry in kept.values():
        if entry.hidden:
            back.restore(entry, {"facts": {**entry.facts, RESET: mark}})
    restored = tuple(write.entry for write in back.carry_out()[0])
    return _now(work, store, file, gone, restored + _as_answered(work, store, file, kept, mark))


def _as_answered(
    work: Work, store: Store, file: File, kept: Mapping[str, Entry], mark: int
) -> tuple[Entry, ...]:
    """The answers that were edited, as they were given."""
    sheet = Sheet(work, store)
    for entry in entries_of(work, store):
        text = answer_of(entry)
        if entry.kind == file and entry.id in kept and entry.text != text:
            sheet.replace(entry, text, {"facts": {**entry.facts, RESET: mark}})
    return tuple(write.entry for write in sheet.carry_out()[0])


def _answers(work: Work, store: Store, file: File) -> Mapping[str, Entry]:
    """The last entry that answers each question of the onboarding, archived or not."""
    by_field: dict[str, Entry] = {}
    known = [*_all_archived(work, store), *entries_of(work, store)]
    for entry in sorted(known, key=lambda each: each.revision):
        field = field_of(entry)
        if entry.kind == file and field:
            by_field[field] = entry
    return {entry.id: entry for entry in by_field.values()}


def undo_reset(work: Work, store: Store, file: File) -> ProfileReset:
    """Take the last reset back: what it put away comes back, others make room where needed."""
    expect(work, store, file)
    known = [*_all_archived(work, store), *entries_of(work, store)]
    marked = [e for e in known if e.kind == file and isinstance(e.facts.get(RESET), int)]
    last = max((str(e.facts[RESET]).rjust(20) for e in marked), default="")
    touched = [e for e in marked if str(e.facts[RESET]).rjust(20) == last]
    if not touched:
        raise Refused(
            "reset_unknown",
            f"{file}.md of {store.label} was not reset, or that was taken back already",
            hint="holdfast profile archive shows what left the files",
        )
    sheet = Sheet(work, store)
    for entry in sorted(touched, key=lambda each: each.number):
        facts = {name: value for name, value in entry.facts.items() if name != RESET}
        text = _text_before(work, entry, int(last))
        if entry.hidden:
            sheet.restore(entry, {"facts": facts})
        elif text != entry.text:
            sheet.replace(entry, text, {"facts": facts})
    writes, _ = sheet.carry_out()
    return _now(work, store, file, (), tuple(write.entry for write in writes))


def _text_before(work: Work, entry: Entry, seq: int) -> str:
    for change in work.history(entry):
        if change.seq <= seq and change.after is not None:
            return str(change.after["text"])
    return entry.text


def _now(
    work: Work, store: Store, file: File, gone: tuple[Entry, ...], back: tuple[Entry, ...]
) -> ProfileReset:
    texts = [entry.text for entry in entries_of(work, store) if entry.kind == file]
    gauge = gauge_of(store, file, texts)
    return ProfileReset(file=file, gauge=gauge, archived=gone, restored=back)
