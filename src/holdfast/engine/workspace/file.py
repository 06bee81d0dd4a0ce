"""The file `workspace.yml`: finding it, reading it, and knowing on which line everything stands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ruamel.yaml import YAML

FILE_NAME = "workspace.yml"
FILE_BYTES_MAX = 262_144


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


class Place(Value):
    """A file and what was read from it, which knows the line of each of its fields."""

    file: Path
    root: Any

    def of(self, path: tuple[str | int, ...]) -> str:
        """The file and line of a field; of what is not there, those of what should hold it."""
        value, line = self.root, 1
        for part in path:
            lines = getattr(value, "lc", None)
            if lines is None or lines.data is None or part not in lines.data:
                break
            line = (lines.item(part) if isinstance(part, int) else lines.key(part))[0] + 1
            value = value[part]
        return f"{self.file}:{line}"

    def wrong(self, path: tuple[str | int, ...], message: str, cure: str) -> InvalidInput:
        field = field_name(path)
        where = f"{self.of(path)}: {field}: " if field else f"{self.of(path)}: "
        return InvalidInput("workspace_invalid", where + message, hint=cure)

    def places(self, *keys: str) -> dict[str, str]:
        """Where the items of a list stand, and the fields of each, by name."""
        items = self.root
        for key in keys:
            items = items.get(key) if isinstance(items, Mapping) else None
        found: dict[str, str] = {}
        known: list[Any] = items if isinstance(items, list) else []
        for number, item in enumerate(known):
            path = (*keys, number)
            found[field_name(path)] = self.of(path)
            if isinstance(item, Mapping):
                found |= {field_name((*path, key)): self.of((*path, key)) for key in item}
        return found


def field_name(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def yaml() -> YAML:
    """Reads and writes YAML so that what is written again looks as before."""
    from ruamel.yaml import YAML

    made = YAML(typ="rt", pure=True)
    made.preserve_quotes = True
    made.width = 4096
    made.indent(mapping=2, sequence=4, offset=2)
    return made


def load(text: str, file: Path) -> Any:
    """What the YAML says, with lines and comments kept."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return yaml().load(text)
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
