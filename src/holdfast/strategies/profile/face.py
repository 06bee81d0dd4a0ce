"""`Profile`: the two files of a space, as one caller reads and changes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.core.metadata import check_metadata, check_origin
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.model.entry import IMPORTANCE, TRUST_OF, Advice, NewEntry
from holdfast.model.names import check_str, shown
from holdfast.model.profile import FILES, ProfileBatch, ProfileSync, ProfileWrite
from holdfast.model.query import check_limit
from holdfast.model.times import given_us
from holdfast.model.write import Write, check_unexpected
from holdfast.strategies.profile import archive, hand, onboarding, timeline
from holdfast.strategies.profile.asked import done, wish
from holdfast.strategies.profile.folder import Folder
from holdfast.strategies.profile.policy import (
    Sheet,
    advice_on,
    check_file,
    check_importance,
    entries_of,
    file_of,
    file_read,
    find,
    gauge_of,
    revision_of,
    scope_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import Protocol, Self, TypeVar, Unpack

    from holdfast.core.profile.merging import Was
    from holdfast.model.entry import Entry, EntryChanges, Json, Origin
    from holdfast.model.profile import (
        Difference,
        File,
        Learned,
        Onboarded,
        ProfileFile,
        ProfileReset,
        Remembered,
    )
    from holdfast.model.space import Store
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Work
    from holdfast.ports.desk import Desk

    class Advised(Protocol):
        @property
        def advice(self) -> tuple[Advice, ...]: ...

        def replace(self, **changes: tuple[Advice, ...]) -> Self: ...

    T = TypeVar("T", bound=Advised)

STEPS_MAX = 200


class Profile:
    """USER.md and MEMORY.md of one profile store."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.store = desk.store

    # Reading

    def read(self, file: str | None = None) -> tuple[ProfileFile, ...]:
        """The files with their entries, as the caller sees them: one of them, or both."""
        wanted = FILES if file is None else (check_file(file),)
        return self._desk.read(
            lambda view, store: tuple([file_read(view, store, each) for each in wanted])
        )

    def get(self, entry: str, file: str | None = None) -> Entry:
        """One entry, by its id in whatever state, or by words that only it has."""
        wanted = None if file is None else check_file(file)
        return self._desk.read(lambda view, store: find(view, store, entry, wanted))

    def archive(
        self, query: str = "", *, file: str | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """What went to the archive, the newest first; or what of it is found for a query."""
        check_str(query, "the query")
        check_limit(limit)
        wanted = None if file is None else check_file(file)
        return self._desk.read(
            lambda view, store: archive.archived(view, store, query, wanted, limit)
        )

    def changes(self, session: str | None = None) -> tuple[Difference, ...]:
        """What is not as it was when a session began: the caller's, unless another is named."""
        return self._desk.read(lambda view, store: timeline.changes(view, store, session))

    def timeline(self, file: str | None = None, *, limit: int = 50) -> tuple[Learned, ...]:
        """What was learned when, the newest first."""
        check_limit(limit)
        wanted = None if file is None else check_file(file)
        return self._desk.read(lambda view, store: timeline.learned(view, store, wanted, limit))

    # Writing

    def add(
        self,
        text: str,
        file: str = "MEMORY",
        *,
        importance: int = IMPORTANCE,
        pinned: bool = False,
        scope: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        origin: Origin = "user",
        said_at: datetime | None = None,
        **write: Unpack[WriteOptions],
    ) -> ProfileWrite:
        """Keep one fact. What is there already stays as it is; what is in the archive comes back.

        USER.md is the user's own; what is in MEMORY.md holds for everyone in the space. `scope`
        says otherwise: space, user, or session, with which it ends.
        """
        given = check_file(file)
        check_importance(importance)
        check_str(text, "the entry")
        new = NewEntry(
            text=text,
            kind=given,
            importance=importance,
            pinned=bool(pinned),
            metadata=check_metadata(metadata or {}),
            origin=check_origin(origin),
            said_at=said_at,
        )

        def unit(work: Work, store: Store) -> ProfileWrite:
            work.expect(0, "the new entry")
            sheet = Sheet(work, store)
            sheet.add(new.replace(scope=scope_of(given, work.caller, scope)))
            return sheet.only()

        arguments: dict[str, Json] = {
            "file": given,
            "text": text,
            "importance": importance,
            "pinned": pinned,
            "scope": scope,
            "metadata": dict(new.metadata),
            "origin": new.origin,
            "said_us": None if said_at is None else given_us(said_at),
        }
        return self._written("profile add", arguments, unit, Write(**write))

    def replace(
        self,
        entry: str,
        text: str,
        *,
        file: str | None = None,
        origin: Origin = "user",
        **write: Unpack[WriteOptions],
    ) -> ProfileWrite:
        """Say something else in place of what an entry said, longer or shorter."""
        wanted = None if file is None else check_file(file)
        check_str(text, "the entry")
        by: EntryChanges = {"origin": check_origin(origin), "trust": TRUST_OF[origin]}

        def unit(work: Work, store: Store) -> ProfileWrite:
            sheet = Sheet(work, store)
            known = sheet.find(entry, wanted)
            work.expect(known.revision, f"{store.label} {known.handle}")
            sheet.replace(known, text, by)
            return sheet.only()

        arguments: dict[str, Json] = {
            "entry": entry,
            "text": text,
            "file": wanted,
            "origin": origin,
        }
        return self._written("profile replace", arguments, unit, Write(**write))

    def remove(
        self, entry: str, *, file: str | None = None, **write: Unpack[WriteOptions]
    ) -> ProfileWrite:
        """Forget an entry. Removing it again changes nothing."""
        wanted = None if file is None else check_file(file)

        def unit(work: Work, store: Store) -> ProfileWrite:
            sheet = Sheet(work, store)
            known = sheet.find(entry, wanted)
            if not work.is_gone(known):
                work.expect(known.revision, f"{store.label} {known.handle}")
            sheet.remove(known)
            return sheet.only()

        arguments: dict[str, Json] = {"entry": entry, "file": wanted}
        return self._written("profile remove", arguments, unit, Write(**write))

    def batch(
        self,
        steps: Sequence[Mapping[str, object]],
        *,
        origin: Origin = "user",
        **write: Unpack[WriteOptions],
    ) -> ProfileBatch:
        """Several steps as one: all of them happen or none, and only the final size counts.

        A step is a mapping: `op` is add (with text, and maybe file, importance, pinned), replace
        (with entry and text) or remove (with entry). `expect` is the newer of both files'
        revisions.
        """
        checked = [_checked_step(step) for step in _some(steps)]
        check_origin(origin)

        def unit(work: Work, store: Store) -> ProfileBatch:
            work.expect(revision_of(work, store, FILES), f"the newer file of {store.label}")
            sheet = Sheet(work, store)
            for step in checked:
                _stage(work, sheet, step, origin)
            writes, gone = sheet.carry_out()
            gauges = tuple(sheet.gauge(file) for file in FILES)
            advice = tuple(each for gauge in gauges for each in advice_on(gauge))
            return ProfileBatch(steps=writes, gauges=gauges, evicted=gone, advice=advice)

        arguments: dict[str, Json] = {"steps": [dict(step) for step in checked], "origin": origin}
        return self._written("profile batch", arguments, unit, Write(**write))

    def pin(
        self,
        entry: str,
        *,
        pinned: bool = True,
        importance: int | None = None,
        **write: Unpack[WriteOptions],
    ) -> ProfileWrite:
        """Keep an entry out of the archive, or no longer; say how important it is."""
        if importance is not None:
            check_importance(importance)

        def unit(work: Work, store: Store) -> ProfileWrite:
            known = find(work, store, entry)
            work.expect(known.revision, f"{store.label} {known.handle}")
            return _rated(work, store, known, pinned=pinned, importance=importance)

        arguments: dict[str, Json] = {
            "entry": entry,
            "pinned": pinned,
            "importance": importance,
        }
        return self._written("profile pin", arguments, unit, Write(**write))

    def restore(self, entry: str, **write: Unpack[WriteOptions]) -> ProfileWrite:
        """Bring an entry back from the archive; others make room for it where that is needed."""

        def unit(work: Work, store: Store) -> ProfileWrite:
            known = archive.find(work, store, entry)
            work.expect(known.revision, f"{store.label} {known.handle}")
            sheet = Sheet(work, store)
            sheet.restore(known)
            return sheet.only()

        return self._written("profile restore", {"entry": entry}, unit, Write(**write))

    def remember(
        self, text: str, *, origin: Origin = "user", **write: Unpack[WriteOptions]
    ) -> Remembered:
        """Do what a sentence asks for: keep its fact, or forget it."""
        asked = wish(text)
        check_origin(origin)
        return self._written(
            "remember",
            {"text": text, "origin": origin},
            lambda work, store: done(work, store, asked, origin, {}),
            Write(**write),
        )

    # Whole files

    def merge(
        self,
        file: str,
        text: str | bytes,
        before: ProfileFile,
        *,
        empties: bool = False,
        origin: Origin = "user",
        **write: Unpack[WriteOptions],
    ) -> ProfileSync:
        """Take in what an editor made of a file, beside what changed since it was `before`.

        A text without entries is refused, unless it is said that it `empties` the file.
        """
        given = check_file(file)
        data = text.encode(errors="replace") if isinstance(text, str) else text
        base = hand.was(before.entries)
        return self._merged(given, data, base, empties=empties, origin=origin, write=Write(**write))

    def export(self, folder: str | os.PathLike[str]) -> tuple[ProfileSync, ...]:
        """Write both files into a folder, as clean Markdown. Nothing there is written over that
        holds edits which were not read in."""
        there = self._folder(folder)
        made = self.read()
        seen = {each.file: there.check(each.file) for each in made}
        return tuple([self._put(there, each, seen[each.file]) for each in made])

    def sync(
        self,
        folder: str | os.PathLike[str],
        *,
        empties: bool = False,
        origin: Origin = "user",
        **write: Unpack[WriteOptions],
    ) -> tuple[ProfileSync, ...]:
        """Take in what somebody edited in the folder's files, and write there what is so then."""
        check_unexpected(write.get("expect"), "a sync of two files")
        there = self._folder(folder)
        synced: list[ProfileSync] = []
        for file in FILES:
            data, base = there.data(file), there.base(file)
            taken = None
            if data is not None and there.is_edited(file, data):
                taken = self._merged(
                    file, data, base, empties=empties, origin=origin, write=Write(**write)
                )
            (now,) = self.read(file)
            put = self._put(there, now, data)
            synced.append(
                put if taken is None else taken.replace(path=put.path, written=put.written)
            )
        return tuple(synced)

    def _written(
        self,
        op: str,
        arguments: Mapping[str, Json],
        unit: Callable[[Work, Store], T],
        write: Write,
    ) -> T:
        """What a write did, once its files are as they should be where they are mirrored."""
        made = self._desk.mutate(op, arguments, unit, write)
        try:
            self._mirror()
        except HoldfastError as exc:
            what = f"the files in the workspace are behind: {exc.message}"
            behind = Advice(code="mirror_behind", message=what)
            return made.replace(advice=(*made.advice, behind))
        return made

    def _mirror(self) -> None:
        """Bring the files of the workspace along, taking in what somebody edited there."""
        name, folder = self.store.options.get("mirror"), self._desk.folder()
        if isinstance(name, str) and folder is not None:
            self.sync(Path(folder) / name)

    def _merged(
        self,
        file: File,
        data: bytes,
        base: tuple[Was, ...],
        *,
        empties: bool,
        origin: Origin,
        write: Write,
    ) -> ProfileSync:
        wanted = hand.edited(file, data, base, empties=empties, origin=check_origin(origin))
        arguments: dict[str, Json] = {
            "file": file,
            "items": [item.with_heading for item in wanted.items],
            "base": [each.id for each in base],
            "empties": empties,
        }
        return self._desk.mutate(
            "profile merge", arguments, lambda work, store: hand.merge(work, store, wanted), write
        )

    def _folder(self, path: str | os.PathLike[str]) -> Folder:
        store = self._desk.read(lambda _, store: store.id)
        return Folder(Path(path), store, self._desk.caller.user)

    def _put(self, there: Folder, made: ProfileFile, seen: bytes | None) -> ProfileSync:
        written = there.write(made, seen)
        path = str(there.file(made.file))
        return ProfileSync(file=made.file, gauge=made.gauge, path=path, written=written)

    def reset(
        self, file: str, *, onboarding: bool = False, **write: Unpack[WriteOptions]
    ) -> ProfileReset:
        """Send a file's entries to the archive; with `onboarding`, all but what it asked for."""
        given = check_file(file)
        return self._written(
            "profile reset",
            {"file": given, "onboarding": onboarding},
            lambda work, store: archive.reset(work, store, given, onboarding=onboarding),
            Write(**write),
        )

    def undo_reset(self, file: str, **write: Unpack[WriteOptions]) -> ProfileReset:
        """Make the file what it was before it was last reset, with what came since."""
        given = check_file(file)
        return self._written(
            "profile reset undo",
            {"file": given},
            lambda work, store: archive.undo_reset(work, store, given),
            Write(**write),
        )

    def onboard(self, answers: Mapping[str, str], **write: Unpack[WriteOptions]) -> Onboarded:
        """Seed USER.md with what somebody says of themselves: name, role, company, goals,
        challenges, tools, timezone. What was answered before is replaced."""
        checked = onboarding.check_answers(answers)
        return self._written(
            "profile onboard",
            {"answers": dict(checked)},
            lambda work, store: onboarding.onboard(work, store, checked),
            Write(**write),
        )


def _some(steps: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
    if not isinstance(steps, list | tuple) or not 1 <= len(steps) <= STEPS_MAX:
        raise InvalidInput(
            "batch_invalid",
            f"a batch is a list of 1 to {STEPS_MAX} steps",
            hint='such as [{"op": "add", "file": "MEMORY", "text": "…"}]',
        )
    return steps


_STEP_KEYS: dict[str, tuple[set[str], set[str]]] = {
    "add": ({"op", "text"}, {"file", "importance", "pinned"}),
    "replace": ({"op", "entry", "text"}, {"file"}),
    "remove": ({"op", "entry"}, {"file"}),
}


def _checked_step(step: object) -> dict[str, Json]:
    known = step if isinstance(step, Mapping) else {}
    given = {key: value for key, value in known.items() if value is not None}
    needs, takes = _STEP_KEYS.get(str(given.get("op")), (set[str](), set[str]()))
    keys = set(given)
    if not needs or not needs <= keys or keys - needs - takes:
        raise InvalidInput(
            "batch_invalid",
            f"the step {shown(given.get('op'))} of a batch does not have the form of one",
            hint="add: file, text, importance, pinned; replace: entry, text; remove: entry",
        )
    checked: dict[str, Json] = {"op": str(given["op"])}
    for name in ("text", "entry"):
        if name in given:
            check_str(given[name], f"the {name} of a step")
            checked[name] = str(given[name])
    if given["op"] == "add":
        checked["importance"] = check_importance(given.get("importance", IMPORTANCE))
        checked["pinned"] = bool(given.get("pinned", False))
        checked["file"] = check_file(given.get("file", "MEMORY"))
    elif "file" in given:
        checked["file"] = check_file(given["file"])
    return checked


def _stage(work: Work, sheet: Sheet, step: Mapping[str, Json], origin: Origin) -> None:
    named = step.get("file")
    file: File | None = None if named is None else check_file(named)
    text, importance = str(step.get("text", "")), step.get("importance", IMPORTANCE)
    assert isinstance(importance, int)
    if step["op"] == "add":
        assert file is not None
        sheet.add(
            NewEntry(
                text=text,
                kind=file,
                importance=importance,
                pinned=bool(step.get("pinned", False)),
                scope=scope_of(file, work.caller, None),
                origin=origin,
            )
        )
        return
    entry = sheet.find(str(step["entry"]), file)
    if step["op"] == "remove":
        sheet.remove(entry)
    else:
        sheet.replace(entry, text, {"origin": origin, "trust": TRUST_OF[origin]})


def _rated(
    work: Work, store: Store, entry: Entry, *, pinned: bool, importance: int | None
) -> ProfileWrite:
    changes: EntryChanges = {}
    if entry.pinned != pinned:
        changes["pinned"] = pinned
    if importance not in (None, entry.importance):
        assert importance is not None
        changes["importance"] = importance
    after = work.move(store, entry, "adjust", **changes) if changes else entry
    outcome = "pinned" if pinned else "unpinned"
    if "pinned" not in changes:
        outcome = "rated" if changes else "unchanged"
    file = file_of(after)
    texts = [each.text for each in entries_of(work, store) if each.kind == file]
    return ProfileWrite(outcome=outcome, entry=after, file=file, gauge=gauge_of(store, file, texts))
