"""What an editor made of a file comes back: joined with what changed meanwhile, whole or not at
all.

A file that says nothing any more empties nothing without being told, and one that is larger than it
may be changes nothing.
"""

from __future__ import annotations

from holdfast.core.profile import size
from holdfast.core.profile.markdown import decoded, read
from holdfast.core.profile.merging import Was, merged, text_digest
from holdfast.errors import InvalidInput, Refused
from holdfast.model.entry import TRUST_OF, Advice, NewEntry
from holdfast.model.profile import ProfileClash, ProfileSync
from holdfast.model.value import Value
from holdfast.strategies.profile.policy import (
    Sheet,
    advice_on,
    chars_max,
    entries_of,
    expect,
    scope_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.core.profile.markdown import Item
    from holdfast.core.profile.merging import Plan
    from holdfast.model.entry import Entry, Origin
    from holdfast.model.profile import File, ProfileOutcome, ProfileWrite
    from holdfast.model.space import Store
    from holdfast.ports import Work

FILE_BYTES_MAX = 4 * 1_048_576


class Edited(Value):
    """What stands in a file that somebody edited, and what it was when it was written."""

    file: File
    items: tuple[Item, ...]
    base: tuple[Was, ...]
    empties: bool = False  # a file without entries is meant to be so
    origin: Origin = "user"
    advice: tuple[Advice, ...] = ()


def was(entries: Iterable[Entry]) -> tuple[Was, ...]:
    """The entries as a file has them that is written now."""
    return tuple(Was(id=entry.id, digest=text_digest(entry.text)) for entry in entries)


def edited(
    file: File, data: bytes, base: Sequence[Was], *, empties: bool, origin: Origin
) -> Edited:
    """The entries of a file, from its bytes, whatever its encoding and its line breaks are."""
    if len(data) > FILE_BYTES_MAX:
        raise InvalidInput(
            "profile_file_too_large",
            f"the file has {len(data):,} bytes; the limit is {FILE_BYTES_MAX:,}",
            hint="it is no file of a profile; nothing was changed",
        )
    text, damaged = decoded(data)
    advice = ()
    if damaged:
        what = f"some of {file}.md is not UTF-8, and was read as what it most likely is"
        advice = (Advice(code="profile_file_encoding", message=what),)
    items = read(text)
    return Edited(
        file=file,
        items=items,
        base=tuple(base),
        empties=empties,
        origin=origin,
        advice=advice,
    )


def merge(work: Work, store: Store, wanted: Edited) -> ProfileSync:
    """Take the edits in, beside what changed meanwhile."""
    file = wanted.file
    expect(work, store, file)
    there: dict[str, Entry] = {
        entry.id: entry for entry in entries_of(work, store) if entry.kind == file
    }
    plan = merged(wanted.base, {name: each.text for name, each in there.items()}, wanted.items)
    if plan.remove and not wanted.items and not wanted.empties:
        raise Refused(
            "profile_file_empty",
            f"the file has no entries, and {file}.md has {len(there)}",
            hint="if all of them should go, say so with --empty, or use holdfast profile reset",
        )
    _check_size(store, wanted, [entry.text for entry in there.values()])
    sheet = Sheet(work, store)
    _stage(work, sheet, wanted, plan, there)
    writes, gone = sheet.carry_out()
    gauge = sheet.gauge(file)
    return ProfileSync(
        file=file,
        gauge=gauge,
        added=_those(writes, "added", "restored"),
        replaced=_those(writes, "replaced"),
        removed=_those(writes, "removed"),
        evicted=gone,
        clashes=tuple(
            ProfileClash(entry=there[name].handle, kept=there[name].text, added=text)
            for name, text in plan.clashes
        ),
        advice=wanted.advice + advice_on(gauge),
    )


def _stage(work: Work, sheet: Sheet, wanted: Edited, plan: Plan, there: dict[str, Entry]) -> None:
    from holdfast.core.text import normal_form

    for name in plan.remove:
        sheet.remove(there[name])
    for name, text in plan.update:
        by = {"origin": wanted.origin, "trust": TRUST_OF[wanted.origin]}
        sheet.replace(there[name], text, by)  # pyright: ignore[reportArgumentType]
    new = {normal_form(text): text for text in reversed(plan.add)}
    for text in reversed(new.values()):
        sheet.add(
            NewEntry(
                text=text,
                kind=wanted.file,
                scope=scope_of(wanted.file, work.caller, None),
                origin=wanted.origin,
            )
        )


def _check_size(store: Store, wanted: Edited, before: Sequence[str]) -> None:
    """What somebody wrote by hand is taken whole or not at all: nothing of it is evicted."""
    most = chars_max(store, wanted.file)
    used = size.file_chars([item.text for item in wanted.items])
    if used > max(most, size.file_chars(before)):
        raise Refused(
            "profile_file_too_full",
            f"the edited {wanted.file}.md has {used:,} characters, and there is room for {most:,}",
            hint=f"nothing was changed; make it shorter by {used - most:,}",
        )


def _those(writes: Iterable[ProfileWrite], *outcomes: ProfileOutcome) -> tuple[Entry, ...]:
    return tuple(write.entry for write in writes if write.outcome in outcomes)
