"""What somebody asks to remember or to forget, done at once, with a word about it."""

from __future__ import annotations

from holdfast.core.archive import in_short
from holdfast.core.rules.asked import Asked, asked_plainly, meant
from holdfast.errors import InvalidInput
from holdfast.model.entry import NewEntry
from holdfast.model.names import check_text
from holdfast.model.profile import Remembered
from holdfast.strategies.profile.policy import Sheet, entries_of, file_of, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.model.entry import Entry, Json, Origin
    from holdfast.model.space import Store
    from holdfast.ports import Work

SENTENCE_BYTES_MAX = 65_536
NOTICE_CHARS_MAX = 200


def wish(text: str) -> Asked:
    """What a text that was given to be remembered asks for."""
    asked = asked_plainly(check_text(text, "what to remember", bytes_max=SENTENCE_BYTES_MAX))
    if asked is None:
        raise InvalidInput(
            "nothing_to_remember",
            "this is a question, so there is nothing to remember",
            hint="holdfast recall answers questions; say the fact itself to keep it",
        )
    return asked


def done(
    work: Work, store: Store, asked: Asked, origin: Origin, metadata: dict[str, Json]
) -> Remembered:
    """Keep the fact, or forget what it means."""
    if asked.what == "forget":
        return _forget(work, store, asked)
    work.expect(0, "the new entry")
    sheet = Sheet(work, store)
    sheet.add(
        NewEntry(
            text=asked.fact,
            kind=asked.file,
            scope=scope_of(asked.file, work.caller, None),
            origin=origin,
            metadata=metadata,
        )
    )
    write = sheet.only()
    known = write.outcome == "unchanged"
    where = f"{write.file}.md"
    notice = f"{'Known' if known else 'Remembered'} in {where}: {_short(write.entry.text)}"
    for gone in write.evicted:
        notice += f"; to the archive: {_short(gone.text)}"
    return Remembered(
        outcome="known" if known else "remembered",
        file=write.file,
        fact=asked.fact,
        entry=write.entry,
        evicted=write.evicted,
        notice=notice,
    )


def _forget(work: Work, store: Store, asked: Asked) -> Remembered:
    there = entries_of(work, store)
    found = [there[place] for place in meant(asked.fact, [entry.text for entry in there])]
    if len(found) == 1:
        work.expect(found[0].revision, f"{store.label} {found[0].handle}")
        sheet = Sheet(work, store)
        sheet.remove(found[0])
        gone = sheet.only().entry
        file = file_of(gone)
        notice = f"Forgot in {file}.md: {_short(found[0].text)}"
        return Remembered(
            outcome="forgotten", file=file, fact=asked.fact, entry=gone, notice=notice
        )
    notice = f"Nothing known says so: {_short(asked.fact)}"
    if found:
        notice = f"Which one is to be forgotten? {_listed(found)}"
    return Remembered(
        outcome="unclear" if found else "unknown",
        file=None,
        fact=asked.fact,
        candidates=tuple(found),
        notice=notice,
    )


def _listed(entries: list[Entry]) -> str:
    return "; ".join(f"{_short(entry.text)} [{entry.handle}]" for entry in entries)


def _short(text: str) -> str:
    return in_short(text, NOTICE_CHARS_MAX)
