"""`profile`: two small files that a session always knows in full, `USER.md` and `MEMORY.md`.

USER.md says who the user is, and is that user's own; MEMORY.md says what holds in the space. Each
has a size. What would go beyond it sends the least important entries, the oldest first, to the
archive, says which, and finds them again; what is pinned stays. Both files stand before every
session, in full, as they were when it began.
"""

from __future__ import annotations

from holdfast.core.budget import lines_of
from holdfast.core.forms import Text, Whole, checked_options
from holdfast.core.profile.markdown import bullet
from holdfast.core.profile.size import worth
from holdfast.core.suggesting import changes_of, new_entry
from holdfast.errors import NotFound, OptionInvalid, Refused
from holdfast.model.context import Draft
from holdfast.model.names import shown
from holdfast.model.profile import CHARS_MAX, FILES
from holdfast.strategies.profile.policy import (
    Sheet,
    check_file,
    entries_of,
    gauge_of,
    scope_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.core.forms import Form
    from holdfast.model.entry import Entry
    from holdfast.model.profile import File
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "profile"
HOLDS = "entries"
PRIORITY = 90
LARGEST = 1_000_000
HEADINGS: Mapping[File, str] = {
    "USER": "## USER.md: who the user is",
    "MEMORY": "## MEMORY.md: what holds here",
}


# Declaration

_OPTIONS: Mapping[str, Form] = {
    "user_chars_max": Whole(
        about="how many characters USER.md has room for",
        low=1,
        high=LARGEST,
        default=CHARS_MAX["USER"],
    ),
    "memory_chars_max": Whole(
        about="how many characters MEMORY.md has room for",
        low=1,
        high=LARGEST,
        default=CHARS_MAX["MEMORY"],
    ),
    "mirror": Text(about="a folder beside workspace.yml in which both files are kept up to date"),
    "priority": Whole(
        about="which block a small budget serves first", low=0, high=100, default=PRIORITY
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    if spec.type != "long_term":
        raise OptionInvalid("type", "a profile keeps what it holds", "long_term")
    spec = checked_options(spec, OPTIONS)
    mirror = str(spec.options.get("mirror", "."))
    if mirror.startswith(("/", "~")) or ".." in mirror.replace("\\", "/").split("/"):
        raise OptionInvalid(
            "mirror", f"{shown(mirror)} leads out of the workspace", "name a folder in it"
        )
    return spec


# Block


def block(view: View, store: Store) -> Sequence[Draft]:
    """Both files in full; where a smaller budget was asked for, what is wanted most comes first."""
    entries = entries_of(view, store)
    drafts = [_draft(store, file, [e for e in entries if e.kind == file]) for file in FILES]
    return [draft for draft in drafts if draft.lines]


def _draft(store: Store, file: File, entries: Sequence[Entry]) -> Draft:
    gauge = gauge_of(store, file, [entry.text for entry in entries])
    lines = [bullet(entry.text) for entry in sorted(entries, key=worth, reverse=True)]
    priority = store.options.get("priority", PRIORITY)
    assert isinstance(priority, int)
    return Draft(
        label=f"{store.label}/{file}.md",
        priority=priority,
        heading=f"{HEADINGS[file]} {gauge}",
        lines=lines_of(lines),
        more=False,
        reach=f"More: memory_profile(action='read', file={file!r})",
    )


# Suggestions


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    """Entries are added, corrected and retired by the rules that any write keeps to."""
    sheet = Sheet(work, store)
    if suggestion.op == "add":
        file = check_file(suggestion.kind or "MEMORY")
        new = new_entry(suggestion, kind=file)
        if not new.scope:
            new = new.replace(scope=scope_of(file, work.caller, None))
        sheet.add(new)
        return sheet.only().entry
    assert suggestion.target is not None
    entry = work.find(store, suggestion.target)
    if not work.sees(entry):
        raise NotFound(
            "entry_not_found",
            f"{store.label} has no such entry",
            hint="it may be for another user, or for another session",
        )
    if entry.pinned and work.caller.actor.kind == "reviewer":
        raise Refused(
            "entry_pinned", "what is pinned is changed by nobody but people", hint="unpin it first"
        )
    if suggestion.op == "retire":
        sheet.remove(entry)
    else:
        changes = changes_of(suggestion, entry)
        changes.pop("kind", None)
        sheet.replace(entry, changes.pop("text", entry.text), changes)
    return sheet.only().entry


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the two files of a space."""
    from holdfast.strategies.profile.tool import tools_of

    return tools_of(desk)
