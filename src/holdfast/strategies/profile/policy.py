"""What a profile keeps: how entries come into its two files, and what makes room for them.

A unit stages what it wants on a `Sheet`, which knows both files as whoever writes sees them. Only
when all of it is staged is it judged, by the size that each file would end with; then it is carried
out, whole. What is not for the caller, such as what is known of another user, is not there at all.
"""

from __future__ import annotations

from holdfast.core.profile import size
from holdfast.core.profile.markdown import bullet, written
from holdfast.core.scope import scope_for
from holdfast.errors import Ambiguous, InvalidInput, NotFound, Refused
from holdfast.model.entry import IMPORTANCE_MAX, TEXT_BYTES_MAX, Advice, NewEntry
from holdfast.model.ids import short
from holdfast.model.names import check_str, check_text, shown
from holdfast.model.profile import (
    CHARS_MAX,
    FILES,
    WARN_PERCENT,
    Gauge,
    ProfileFile,
    ProfileWrite,
)
from holdfast.model.query import EntryQuery
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.core.lifecycle import Event
    from holdfast.model.entry import Entry, EntryChanges
    from holdfast.model.profile import File, ProfileOutcome
    from holdfast.model.space import Store
    from holdfast.model.write import Caller
    from holdfast.ports import View, Work

CANDIDATES_SHOWN = 5


# The files


def check_file(name: object) -> File:
    """USER or MEMORY, however it is written."""
    wanted = name.upper().removesuffix(".MD") if isinstance(name, str) else ""
    for file in FILES:
        if file == wanted:
            return file
    raise InvalidInput(
        "file_unknown", f"{shown(name)} is no file of a profile", hint="USER or MEMORY"
    )


def file_of(entry: Entry) -> File:
    return check_file(entry.kind)


def chars_max(store: Store, file: File) -> int:
    most = store.options.get(f"{file.lower()}_chars_max", CHARS_MAX[file])
    assert isinstance(most, int)
    return most


def entries_of(view: View, store: Store) -> tuple[Entry, ...]:
    """What stands in both files, as it came: the oldest first."""
    found = view.shown(store, EntryQuery(order="oldest"))
    return tuple(entry for entry in found if entry.kind in FILES)


def gauge_of(store: Store, file: File, texts: Sequence[str]) -> Gauge:
    used, most = size.file_chars(texts), chars_max(store, file)
    percent = size.percent(used, most)
    return Gauge(file=file, chars=used, chars_max=most, entries=len(texts), percent=percent)


def advice_on(gauge: Gauge) -> tuple[Advice, ...]:
    """What a file that fills up asks for."""
    if gauge.percent < WARN_PERCENT[0]:
        return ()
    what = f"{gauge.file}.md is {gauge.percent}% full: {gauge.chars:,}/{gauge.chars_max:,} chars"
    if gauge.percent < WARN_PERCENT[1]:
        then = "join entries that belong together"
        return (Advice(code="profile_filling", message=f"{what}; {then}"),)
    then = "the least important entries go to the archive when more comes"
    return (Advice(code="profile_nearly_full", message=f"{what}; {then}"),)


def revision_of(view: View, store: Store, files: Sequence[File]) -> int:
    """That of the newest change of anything that stands or stood in these files for whoever asks,
    so that what left them moves it too."""
    theirs = (each for each in view.in_every_state(store) if each.kind in files and view.sees(each))
    return max((entry.revision for entry in theirs), default=0)


def expect(work: Work, store: Store, file: File) -> None:
    """Hold a change of a whole file to the revision of it that was seen."""
    work.expect(revision_of(work, store, (file,)), f"{file}.md of {store.label}")


def file_read(view: View, store: Store, file: File) -> ProfileFile:
    entries = tuple(entry for entry in entries_of(view, store) if entry.kind == file)
    texts = [entry.text for entry in entries]
    gauge = gauge_of(store, file, texts)
    return ProfileFile(
        file=file,
        gauge=gauge,
        entries=entries,
        text=written(f"{file}.md", texts),
        revision=revision_of(view, store, (file,)),
        advice=advice_on(gauge),
    )


# One entry


def check_entry(store: Store, file: File, text: str) -> str:
    """The text of an entry, which alone must fit into its file."""
    text = check_text(text, "the entry", bytes_max=TEXT_BYTES_MAX).strip()
    most = chars_max(store, file)
    used = size.entry_chars(text)
    if used > most or size.is_hiding(bullet(text), most):
        raise Refused(
            "entry_too_large",
            f"the entry has {max(used, len(text)):,} characters, and all of {file}.md {most:,}",
            hint="say it shorter, or keep it as a record or an artifact and say here where it is",
        )
    return text


def check_importance(importance: object) -> int:
    if isinstance(importance, int) and not isinstance(importance, bool):
        known = int(importance)
        if 0 <= known <= IMPORTANCE_MAX:
            return known
    raise InvalidInput(
        "importance_invalid",
        f"{shown(importance)} is no importance",
        hint=f"a whole number from 0 to {IMPORTANCE_MAX}; 50 is the usual",
    )


def scope_of(file: File, caller: Caller, scope: str | None) -> str:
    """Whom an entry is for: what is known of a user is for that user, the rest for everyone."""
    if scope is None:
        scope = "user" if file == "USER" else "space"
    if scope == "task":
        raise InvalidInput(
            "scope_invalid", "a profile has no entries of a task", hint="space, user or session"
        )
    return scope_for(scope, caller, None)


def is_for_session(scope: str) -> bool:
    return scope.startswith("session:")


def find(view: View, store: Store, wanted: str, file: File | None = None) -> Entry:
    """The entry of that id, in whatever state; else the only one with these words in its text."""
    return _named(view, store, wanted, file) or one_with(
        store, entries_of(view, store), wanted, file
    )


def _named(view: View, store: Store, wanted: str, file: File | None) -> Entry | None:
    check_str(wanted, "the entry")
    try:
        entry = view.find(store, wanted)
    except NotFound:
        return None
    return (
        entry if view.sees(entry) and entry.kind in (FILES if file is None else (file,)) else None
    )


def one_with(store: Store, entries: Iterable[Entry], wanted: str, file: File | None) -> Entry:
    """The only entry that says this, or has it as a part of what it says."""
    theirs = [entry for entry in entries if file in (None, entry.kind)]
    words = " ".join(wanted.casefold().split())
    texts = {entry.number: " ".join(entry.text.casefold().split()) for entry in theirs}
    found = [entry for entry in theirs if words and wanted in entry.text]
    found = found or [entry for entry in theirs if words and words in texts[entry.number]]
    found = [entry for entry in found if texts[entry.number] == words] or found
    where = store.label if file is None else f"{file}.md of {store.label}"
    if len(found) > 1:
        raise Ambiguous(
            "entry_ambiguous",
            f"{shown(wanted)} is in {len(found)} entries of {where}: {_ids(found)}",
            hint="use an id, or more of the text",
        )
    if not found:
        near = _nearest(wanted, theirs)
        raise NotFound(
            "entry_not_found",
            f"{where} has no entry {shown(wanted)}" + (f"; near to it: {_ids(near)}" * bool(near)),
            hint="holdfast profile show prints the entries with their ids",
        )
    return found[0]


def _ids(entries: Iterable[Entry]) -> str:
    return ", ".join(short(entry.id) for entry in entries)


def _nearest(wanted: str, entries: Iterable[Entry]) -> list[Entry]:
    from holdfast.core.text import similarity

    scored = [(similarity(wanted, entry.text), entry.number, entry) for entry in entries]
    scored.sort(key=lambda each: each[:2], reverse=True)
    return [entry for score, _, entry in scored[:CANDIDATES_SHOWN] if score > 0]


# Writing


class Step(Value):
    """One thing that is to happen: a new entry, or the next version of one that is there."""

    outcome: ProfileOutcome
    file: File
    entry: Entry | None = None
    new: NewEntry | None = None
    event: Event | None = None
    changes: EntryChanges | None = None
    near: tuple[Entry, ...] = ()


class Sheet:
    """Both files as the caller sees them, and what is to happen to them."""

    def __init__(self, work: Work, store: Store) -> None:
        self._work, self._store = work, store
        self._there = {entry.number: entry for entry in entries_of(work, store)}
        self._texts = {number: entry.text for number, entry in self._there.items()}
        self._before = {file: self._size(file) for file in FILES}
        self._touched: set[int] = set()
        self.steps: list[Step] = []

    def add(self, new: NewEntry) -> Step:
        """Take it in, unless it is there; what is in the archive comes back."""
        file = check_file(new.kind)
        text = check_entry(self._store, file, new.text)
        known = self._same(text)
        if known is not None:
            return self._step(Step(outcome="unchanged", file=file_of(known), entry=known))
        kept = self._kept(text, file)
        if kept is not None:
            return self.restore(kept, {"importance": new.importance, "pinned": new.pinned})
        near = self._near(text)
        new = new.replace(kind=file, text=text, bound=is_for_session(new.scope))
        return self._step(Step(outcome="added", file=file, new=new, near=near))

    def replace(self, entry: Entry, text: str, changes: EntryChanges | None = None) -> Step:
        file = file_of(entry)
        text = check_entry(self._store, file, text)
        known = self._same(text)
        if known is not None and (known.number != entry.number or text == entry.text):
            return self._step(Step(outcome="unchanged", file=file_of(known), entry=known))
        changed: EntryChanges = {**(changes or {}), "text": text}
        self._touched.add(entry.number)
        self._texts[entry.number] = text
        near = tuple(each for each in self._near(text) if each.number != entry.number)
        return self._step(
            Step(
                outcome="replaced",
                file=file,
                entry=entry,
                event="update",
                changes=changed,
                near=near,
            )
        )

    def remove(self, entry: Entry) -> Step:
        file = file_of(entry)
        if self._work.is_gone(entry) or entry.number in self._gone:
            return self._step(Step(outcome="unchanged", file=file, entry=entry))
        self._texts.pop(entry.number, None)
        return self._step(Step(outcome="removed", file=file, entry=entry, event="forget"))

    def restore(self, entry: Entry, changes: EntryChanges | None = None) -> Step:
        """Bring an entry back from the archive."""
        file = file_of(entry)
        if entry.number in self._texts:
            return self._step(Step(outcome="unchanged", file=file, entry=entry))
        check_entry(self._store, file, entry.text)
        self._texts[entry.number] = entry.text
        self._touched.add(entry.number)
        return self._step(
            Step(outcome="restored", file=file, entry=entry, event="show", changes=changes)
        )

    def find(self, wanted: str, file: File | None) -> Entry:
        """An entry, by its id or by what earlier steps made of its text."""
        named = _named(self._work, self._store, wanted, file)
        staged = (self._there[n].replace(text=text) for n, text in self._texts.items())
        return named or self._there[one_with(self._store, staged, wanted, file).number]

    def carry_out(self) -> tuple[tuple[ProfileWrite, ...], tuple[Entry, ...]]:
        """Do what is staged; what was done, and what had to make room for it."""
        evicted = [each for file in FILES for each in self._evicted(file)]
        for entry in evicted:
            del self._texts[entry.number]
        made = [(step, self._do(step)) for step in self.steps]
        gone = tuple([self._work.move(self._store, entry, "hide") for entry in evicted])
        gauges = {file: self.gauge(file) for file in FILES}
        writes = tuple(
            ProfileWrite(
                outcome=step.outcome,
                entry=entry,
                file=step.file,
                gauge=gauges[step.file],
                near=step.near,
                evicted=tuple(each for each in gone if each.kind == step.file),
                advice=advice_on(gauges[step.file]) if step.event or step.new else (),
            )
            for step, entry in made
        )
        return writes, gone

    def gauge(self, file: File) -> Gauge:
        return gauge_of(self._store, file, self._file(file))

    def only(self) -> ProfileWrite:
        """Carry out the one step that there is."""
        (write,), _ = self.carry_out()
        return write

    @property
    def _gone(self) -> set[int]:
        return {s.entry.number for s in self.steps if s.entry is not None and s.event == "forget"}

    def _step(self, step: Step) -> Step:
        self.steps.append(step)
        return step

    def _do(self, step: Step) -> Entry:
        if step.new is not None:
            return self._work.add(self._store, step.new)
        assert step.entry is not None
        if step.event is None:
            return step.entry
        now = self._now(step.entry)
        changes: EntryChanges = step.changes or {}
        after = self._work.move(self._store, now, step.event, **changes)
        self._there[after.number] = after
        return after

    def _now(self, entry: Entry) -> Entry:
        """The entry after the steps that were carried out before."""
        known = self._there.get(entry.number)
        return entry if known is None or known.revision < entry.revision else known

    def _same(self, text: str) -> Entry | None:
        """The entry of either file that says it already, folding case and space."""
        from holdfast.core.text import normal_form

        wanted = normal_form(text)
        for step in self.steps:
            if step.new is not None and normal_form(step.new.text) == wanted:
                raise InvalidInput(
                    "batch_repeats",
                    "a batch adds one text twice",
                    hint="leave one of them out",
                )
        for number, each in self._texts.items():
            if number in self._there and normal_form(each) == wanted:
                return self._there[number]
        return None

    def _kept(self, text: str, file: File) -> Entry | None:
        """The entry of the archive that says it."""
        for entry in self._work.same(self._store, text):
            kept = entry.hidden and entry.state != "forgotten" and entry.kind == file
            if kept and self._work.sees(entry) and entry.number not in self._texts:
                return entry
        return None

    def _near(self, text: str) -> tuple[Entry, ...]:
        from holdfast.core.text import NEAR_MIN, similarity

        return tuple(
            self._there[number]
            for number, each in self._texts.items()
            if number in self._there and similarity(each, text) >= NEAR_MIN
        )

    def _file(self, file: File) -> list[str]:
        kept = [
            text
            for number, text in self._texts.items()
            if (self._there.get(number) or self._restored(number)).kind == file
        ]
        return kept + [s.new.text for s in self.steps if s.new is not None and s.file == file]

    def _restored(self, number: int) -> Entry:
        return next(s.entry for s in self.steps if s.entry is not None and s.entry.number == number)

    def _size(self, file: File) -> int:
        texts = (text for number, text in self._texts.items() if self._there[number].kind == file)
        return size.file_chars(texts)

    def _evicted(self, file: File) -> tuple[Entry, ...]:
        """What must go so that the file fits. One that only shrank is never refused."""
        after, most = size.file_chars(self._file(file)), chars_max(self._store, file)
        if after <= max(most, self._before[file]):
            return ()
        free = [
            entry
            for number, entry in self._there.items()
            if entry.kind == file and number in self._texts and number not in self._touched
        ]
        gone = size.evicted(free, after - most)
        if gone is None:
            raise Refused(
                "profile_full",
                f"{file}.md would have {after:,} of {most:,} characters, and what could go to the "
                "archive is not enough: the rest is pinned or part of this change",
                hint="unpin or remove an entry, or say it shorter",
            )
        return gone
