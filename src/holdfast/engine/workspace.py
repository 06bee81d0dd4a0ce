"""`workspace.yml`: reading what a folder declares, with every mistake named by line and field.

name: reviews                 # else the folder's name
memory:
  own:
    - name: decisions
      type: long_term         # or short_term, with keep: 200 and ttl: 30d or session
      strategy: narrative
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.engine.spaces import check_strategy, default_stores
from holdfast.errors import HoldfastError, InvalidInput, NotFound, OptionInvalid
from holdfast.model.names import check_name, shown
from holdfast.model.space import DEFAULT_SPACE, STORE_TYPES, SpaceSpec, StoreSpec
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FILE_NAME = "workspace.yml"
FILE_BYTES_MAX = 262_144

TEMPLATE = """\
# What agents that work in this folder remember.
name: {name}
memory:
  own:
    - name: narrative          # the newest 20 notes are in front of every session
      type: long_term          # or short_term: keeps the newest 200 for 30 days
      strategy: narrative
"""


def find_workspace(start: Path) -> Path | None:
    """The nearest `workspace.yml`, in this folder or one above it."""
    folder = Path(os.path.realpath(start))
    for place in (folder, *folder.parents):
        file = place / FILE_NAME
        if file.is_file():
            return file
    return None


def read_text(file: Path) -> str:
    """The file's text. Windows' line ends and a byte order mark are as good as none."""
    try:
        with file.open("rb") as source:
            data = source.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise NotFound(
            "workspace_not_found", f"there is no {file}", hint="holdfast space init makes one"
        ) from None
    except OSError as exc:
        raise InvalidInput(
            "workspace_unreadable", f"{file}: {exc.strerror}", hint="check its permissions"
        ) from exc
    if len(data) > FILE_BYTES_MAX:
        raise InvalidInput(
            "workspace_too_large",
            f"{file} is larger than {FILE_BYTES_MAX:,} bytes",
            hint="shorten it",
        )
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise InvalidInput(
            "workspace_encoding", f"{file}:{line}: this is not UTF-8", hint="save the file as UTF-8"
        ) from None


def parse_workspace(text: str, file: Path) -> SpaceSpec:
    """What the text declares for the folder of this file."""
    path = str(file.parent)
    root = _Node(_load(text, file), file, (), 1)
    root.only("name", "memory")
    name = root.text("name", file.parent.name)
    _check_space_name(name, root, given="name" in root)
    stores = _stores(root)
    return SpaceSpec(name=name, path=path, text=text, stores=stores)


def _check_space_name(name: str, root: _Node, *, given: bool) -> None:
    where = root.place("name")
    if name == DEFAULT_SPACE:
        raise InvalidInput(
            "name_reserved",
            f"{where}: every vault has a space {shown(name)} of its own",
            hint="choose another name",
        )
    try:
        check_name(name, "space")
    except InvalidInput as exc:
        origin = "" if given else " (the folder's name, since the file gives none)"
        raise InvalidInput(exc.code, f"{where}: {exc.message}{origin}", hint=exc.hint) from None


def _stores(root: _Node) -> tuple[StoreSpec, ...]:
    memory = root.child("memory")
    if memory is None:
        return default_stores()
    memory.only("own")
    own = memory.items("own")
    if own is None:
        return default_stores()
    specs: list[StoreSpec] = []
    for node in own:
        spec = _store(node)
        if any(spec.name == other.name for other in specs):
            raise node.wrong("name", f"the name {shown(spec.name)} stands twice", "rename one")
        specs.append(spec)
    return tuple(specs)


def _store(node: _Node) -> StoreSpec:
    name = node.text("name")
    kind = node.text("type", "long_term")
    strategy = node.text("strategy")
    try:
        check_name(name, "store")
    except InvalidInput as exc:
        raise node.wrong("name", exc.message, exc.hint) from None
    if kind not in STORE_TYPES:
        raise node.wrong("type", f"{shown(kind)} is not a type", f"one of {', '.join(STORE_TYPES)}")
    try:
        check_strategy(strategy)
    except InvalidInput as exc:
        raise node.wrong("strategy", exc.message, exc.hint) from None
    options = node.rest("name", "type", "strategy")
    spec = StoreSpec(name=name, type=kind, strategy=strategy, options=options)
    try:
        return STRATEGIES[strategy].check(spec)
    except OptionInvalid as exc:
        raise node.wrong(exc.field, exc.message, exc.hint) from None


class _Node:
    """A mapping of the file, which knows its place in it."""

    def __init__(self, value: Any, file: Path, path: Sequence[str | int], line: int) -> None:
        self._file = file
        self._path = path
        self._line = line
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise self.wrong(
                None, "this must be a mapping of names to values", "write `name: value`"
            )
        self._value: Mapping[Any, Any] = value
        for key in self._value:
            if not isinstance(key, str):
                raise self.wrong(None, f"the key {shown(str(key))} is not text", "put it in quotes")

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def place(self, key: str | None) -> str:
        return f"{self._file}:{self._line_of(key)}"

    def wrong(self, key: str | None, message: str, cure: str) -> InvalidInput:
        path = [*self._path, *([] if key is None else [key])]
        field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
        where = f"{self.place(key)}: {field}: " if field else f"{self.place(key)}: "
        return InvalidInput("workspace_invalid", where + message, hint=cure)

    def only(self, *known: str) -> None:
        for key in self._value:
            if key not in known:
                from difflib import get_close_matches

                close = get_close_matches(key, known, 1)
                cure = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
                raise self.wrong(key, f"there is no such key as {shown(key)}", cure)

    def text(self, key: str, default: str | None = None) -> str:
        value = self._value.get(key, default)
        if key not in self._value and default is None:
            raise self.wrong(None, f"{key} is missing", f"add `{key}: …`")
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "this must be text", "put it in quotes")
        return str(value)

    def child(self, key: str) -> _Node | None:
        if key not in self._value:
            return None
        return _Node(self._value[key], self._file, (*self._path, key), self._line_of(key))

    def items(self, key: str) -> list[_Node] | None:
        value = self._value.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.wrong(key, "this must be a list", "start each item with `- `")
        lines = getattr(value, "lc", None)
        nodes: list[_Node] = []
        for index, item in enumerate(value):
            line = self._line_of(key) if lines is None else lines.item(index)[0] + 1
            nodes.append(_Node(item, self._file, (*self._path, key, index), line))
        return nodes

    def rest(self, *known: str) -> dict[str, Any]:
        return {key: value for key, value in self._value.items() if key not in known}

    def _line_of(self, key: str | None) -> int:
        lines = getattr(getattr(self, "_value", None), "lc", None)
        if key is None or lines is None or lines.data is None or key not in lines.data:
            return self._line
        return lines.key(key)[0] + 1


def _load(text: str, file: Path) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="rt", pure=True).load(text)
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = "" if mark is None else f":{mark.line + 1}"
        what = (exc.problem or "this is not YAML").strip().splitlines()[0]
        raise _bad_yaml(f"{file}{line}: {what}") from None
    except (YAMLError, RecursionError, ValueError) as exc:
        what = type(exc).__name__ if isinstance(exc, RecursionError) else str(exc).splitlines()[0]
        raise _bad_yaml(f"{file}: {what}") from None


def _bad_yaml(message: str) -> HoldfastError:
    return InvalidInput("workspace_yaml", message, hint="check indentation, quotes and colons")
