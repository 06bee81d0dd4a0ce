"""`directory`: versioned file trees, of which a session sees the head of each memory's `MEMORY.md`.

The trees themselves are pushed and pulled by name (`space.directories()`); a store of this strategy
says which memories of its space stand in front of a session. One that is called `directory` shows
them all, any other one the memory of its own name, unless it names others. Agents wrote
these files, so each line is shown as a quotation: none can pass for a heading of the context.
"""

from __future__ import annotations

from holdfast.core.budget import lines_of
from holdfast.core.forms import Items, Text, Whole, checked_options
from holdfast.core.suggesting import of_no_entries
from holdfast.errors import InvalidInput, OptionInvalid
from holdfast.model.context import Draft
from holdfast.model.tree import DIRECTORY_NAME_PATTERN, check_directory_name, short_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.core.forms import Form
    from holdfast.model.directory import Version
    from holdfast.model.entry import Entry, Json
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "directory"
HOLDS = "trees"
SHOWN_FILE = "MEMORY.md"
LINES = 200
HEAD_BYTES = 8 * 1024
PRIORITY = 60


# Declaration

_OPTIONS: Mapping[str, Form] = {
    "memories": Items(
        about="whose MEMORY.md a session sees; else the store's own name, in `directory` all",
        of=Text(pattern=DIRECTORY_NAME_PATTERN),
        alone=True,
    ),
    "priority": Whole(
        about="which block a small budget serves first", low=0, high=100, default=PRIORITY
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed. Without names it shows them all."""
    if spec.type != "long_term":
        raise OptionInvalid("type", "a directory store keeps what it holds", "long_term")
    if spec.name != NAME and "memories" not in spec.options:
        spec = spec.replace(options={**spec.options, "memories": [spec.name]})
    spec = checked_options(spec, OPTIONS)
    for name in _memories(spec.options) or ():
        try:
            check_directory_name(name)
        except InvalidInput as exc:
            raise OptionInvalid("memories", exc.message, exc.hint) from None
    return spec


def _memories(options: Mapping[str, Json]) -> list[str] | None:
    """The names that are shown; None for all there are."""
    names = options.get("memories")
    return [str(name) for name in names] if isinstance(names, list) else None


# Block


def block(view: View, store: Store) -> Draft | None:
    wanted, priority = _memories(store.options), store.options["priority"]
    assert isinstance(priority, int)
    texts: list[str] = []
    cut: list[str] = []
    for name, version in view.memories(store):
        if wanted is not None and name not in wanted:
            continue
        head = view.beginning(version, SHOWN_FILE, HEAD_BYTES + 1)
        if head is None:
            continue
        lines, more = _head(head)
        lines = view.screened(store, "\n".join(lines)).split("\n") if lines else lines
        texts += [_title(name, version), *(f"> {line}".rstrip() for line in lines)]
        cut += [name] if more else []
    if not texts:
        return None
    return Draft(
        label=store.label,
        priority=priority,
        heading=f"## Memories {store.label} (each one's {SHOWN_FILE})",
        lines=lines_of(texts),
        more=bool(cut),
        reach=f"More: the whole files, by holdfast memory clone {' | '.join(cut) or 'NAME'}",
    )


def _title(name: str, version: Version) -> str:
    return f"### {name} v{version.v} {short_hex(version.tree)}"


def _head(data: bytes) -> tuple[list[str], bool]:
    """The lines to show, and whether the file goes on behind them."""
    is_longer = len(data) > HEAD_BYTES
    text = data[:HEAD_BYTES].decode("utf-8-sig", errors="ignore" if is_longer else "replace")
    lines = text.splitlines()
    if is_longer and len(lines) > 1:
        lines.pop()  # it may be a part of one
    is_longer = is_longer or len(lines) > LINES
    lines = lines[:LINES]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines, is_longer


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:  # noqa: ARG001
    raise of_no_entries(store)


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:  # noqa: ARG001
    """An agent works on the files themselves."""
    return ()
