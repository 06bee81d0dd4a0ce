"""`directory`: versioned file trees, of which a session sees the head of each memory's `MEMORY.md`.

The trees themselves are pushed and pulled by name (`space.directories()`); a store of this strategy
says which memories of its space stand in front of a session. One that is called `directory` shows
them all, any other one the memory of its own name, unless `memories` says otherwise. Agents wrote
these files, so each line is shown as a quotation: none can pass for a heading of the context.
"""

from __future__ import annotations

from holdfast.core.budget import estimate_tokens
from holdfast.errors import InvalidInput, OptionInvalid
from holdfast.model.context import Draft, Line
from holdfast.model.names import shown
from holdfast.model.tree import DIRECTORY_NAME_RULE, check_directory_name, short_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.model.directory import Version
    from holdfast.model.entry import Json
    from holdfast.model.space import Store, StoreSpec
    from holdfast.ports import Desk, Tool, View

NAME = "directory"
ALL = "all"
SHOWN_FILE = "MEMORY.md"
LINES = 200
HEAD_BYTES = 8 * 1024
PRIORITY = 60
_OPTIONS = ("memories", "priority")


# Declaration


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    for name in spec.options:
        if name not in _OPTIONS:
            raise OptionInvalid(
                name,
                f"a directory store has no option {shown(name)}",
                f"one of {', '.join(_OPTIONS)}",
            )
    if spec.type != "long_term":
        raise OptionInvalid(
            "type", "a directory store is long_term: versions are kept", "long_term"
        )
    priority = spec.options.get("priority", PRIORITY)
    if type(priority) is not int or not 0 <= priority <= 100:
        raise OptionInvalid(
            "priority", "priority is not a whole number from 0 to 100", f"such as {PRIORITY}"
        )
    own: Json = ALL if spec.name == NAME else [spec.name]
    memories = _memories(spec.options.get("memories", own))
    return spec.replace(options={"memories": memories, "priority": priority})


def _memories(given: Json) -> Json:
    if given == ALL:
        return given
    names = given if isinstance(given, list) else [given]
    try:
        return [check_directory_name(name if isinstance(name, str) else "") for name in names]
    except InvalidInput as exc:
        raise OptionInvalid(
            "memories", exc.message, f"names of memories, or `{ALL}`; {DIRECTORY_NAME_RULE}"
        ) from None


# Block


def block(view: View, store: Store) -> Draft | None:
    wanted, priority = store.options["memories"], store.options["priority"]
    assert isinstance(priority, int)
    texts: list[str] = []
    cut: list[str] = []
    for name, version in view.memories(store):
        if wanted != ALL and (not isinstance(wanted, list) or name not in wanted):
            continue
        head = view.beginning(version, SHOWN_FILE, HEAD_BYTES + 1)
        if head is None:
            continue
        lines, more = _head(head)
        texts += [_title(name, version), *(f"> {line}".rstrip() for line in lines)]
        cut += [name] if more else []
    if not texts:
        return None
    return Draft(
        label=store.label,
        priority=priority,
        heading=f"## Memories {store.label} (each one's {SHOWN_FILE})",
        lines=tuple(Line(text=text, tokens=estimate_tokens(text)) for text in texts),
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


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:  # noqa: ARG001
    """An agent works on the files themselves."""
    return ()
