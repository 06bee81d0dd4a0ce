"""Three-way merge of files that hold data: JSON, and YAML where a reader of it is given.

The data are merged by key, and that decides what the result means. How it looks comes from the
lines: where a merge of the lines reads as just that data, it is the result, with every comment and
space as somebody wrote it. Else JSON is written anew, in the style of the side that changed it; for
YAML, which cannot be written anew without losing comments, it is a clash.
"""

from __future__ import annotations

import json

from holdfast.model.value import Value

from .data import MISSING, DataClash, is_deep, merge_data, text_of
from .text import Clash, merge_text, unite_anywhere
from .threeway import pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from typing import TypeAlias

    from .data import Data, Key

    Loaded: TypeAlias = "dict[object, Loaded] | list[Loaded] | str | bytes | float | date | None"
    LoadYaml = Callable[[bytes], Loaded]

DATA_BYTES_MAX = 4 * 1024 * 1024
DEPTH_MAX = 64


class Style(Value):
    """How a JSON file is written. `indent` is None where it is all on one line."""

    indent: str | None
    comma: str
    colon: str
    escaped: bool
    crlf: bool
    ended: bool


def merge_json(base: bytes | None, ours: bytes, theirs: bytes) -> bytes | Clash | None:
    """The merged file, or where it clashes; None where a version is not JSON."""
    merged = _merge_data(base, ours, theirs, read_json)
    if merged is None or isinstance(merged, Clash):
        return merged
    lines = merge_text(base or b"", ours, theirs, unite_anywhere)
    if isinstance(lines, bytes) and _reads_as(lines, merged[0]):
        return lines
    styles = [style_of(version) for version in (base or b"", ours, theirs)]
    return write_json(merged[0], _merge_styles(*styles))


def _reads_as(lines: bytes, value: Data) -> bool:
    try:
        return read_json(lines) == value
    except (ValueError, RecursionError):
        return False


def merge_yaml(
    base: bytes | None, ours: bytes, theirs: bytes, load: LoadYaml
) -> bytes | Clash | None:
    """The same for YAML. `load` gives plain data or raises ValueError: for what is not YAML, and
    for repeated keys, aliases, tags and further documents."""

    def read(data: bytes) -> Data:
        return plain(load(data))

    merged = _merge_data(base, ours, theirs, read)
    if merged is None or isinstance(merged, Clash):
        return merged
    lines = merge_text(base or b"", ours, theirs, unite_anywhere)
    if isinstance(lines, Clash):
        return lines
    try:
        same = _unordered(read(lines)) == _unordered(merged[0])
    except (ValueError, RecursionError):
        same = False
    return lines if same else Clash(reason="keys")


def _merge_data(
    base: bytes | None, ours: bytes, theirs: bytes, read: Callable[[bytes], Data]
) -> tuple[Data] | Clash | None:
    if max(len(base or b""), len(ours), len(theirs)) > DATA_BYTES_MAX:
        return Clash(reason="too_large")
    try:
        first = read(base) if base and base.strip() else MISSING
        versions = first, read(ours), read(theirs)
        if any(is_deep(version, DEPTH_MAX) for version in versions):
            return Clash(reason="too_deep")
        return (merge_data(*versions),)
    except ValueError:
        return None
    except RecursionError:
        return Clash(reason="too_deep")
    except DataClash as clash:
        return Clash(reason="keys", where=clash.where)


def read_json(data: bytes) -> Data:
    """The data of a JSON text. Refuses, as ValueError, what only some readers take."""
    return json.loads(
        data.decode(),
        parse_int=_number,
        parse_float=_number,
        parse_constant=_no_constant,
        object_pairs_hook=_object,
    )


def _number(text: str) -> Data:
    return ("number", text)


def _no_constant(text: str) -> Data:
    raise ValueError(text)


def _object(pairs: list[tuple[Key, Data]]) -> Data:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def plain(value: Loaded) -> Data:
    """What a reader of YAML made, as data."""
    if isinstance(value, dict):
        return {_plain_key(key): plain(element) for key, element in value.items()}
    if isinstance(value, list):
        return [plain(element) for element in value]
    return _plain_key(value)


def _plain_key(value: object) -> Key:
    if value is None or isinstance(value, (bool, str)):
        return value
    return (type(value).__name__, repr(value))


def _unordered(data: Data) -> str:
    """Its text with lists sorted: lines and data may unite two lists in different orders."""
    if isinstance(data, dict):
        return "{" + ",".join(sorted([f"{k!r}:{_unordered(v)}" for k, v in data.items()])) + "}"
    if isinstance(data, list):
        return "[" + ",".join(sorted([_unordered(value) for value in data])) + "]"
    return text_of(data)


# --- writing JSON ---------------------------------------------------------------------------------


def style_of(data: bytes) -> Style:
    text = data.decode()
    body = text.strip()
    _, broken, rest = body.partition("\n")
    line = rest.lstrip("\r\n")
    spaced = bool(broken) or ": " in body or ":" not in body
    return Style(
        indent=line[: len(line) - len(line.lstrip(" \t"))] if broken else None,
        comma="," if broken or not (", " in body if "," in body else spaced) else ", ",
        colon=": " if spaced else ":",
        escaped=text.isascii() and "\\u" in text,
        crlf="\r\n" in text,
        ended=text.endswith("\n"),
    )


def _merge_styles(base: Style, ours: Style, theirs: Style) -> Style:
    picked = {
        field: pick(getattr(base, field), getattr(ours, field), getattr(theirs, field))
        for field in Style.fields_
    }
    return Style(**picked)


def write_json(value: Data, style: Style) -> bytes:
    end = "\r\n" if style.crlf else "\n"
    newline = None if style.indent is None else end
    text = _json_text(value, style, newline) + (end if style.ended else "")
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates can only be written as an escape
        return write_json(value, style.replace(escaped=True))


def _json_text(value: Data, style: Style, newline: str | None) -> str:
    if isinstance(value, dict):
        inside = None if newline is None else newline + (style.indent or "")
        items = [
            f"{_quote(str(key), style)}{style.colon}{_json_text(element, style, inside)}"
            for key, element in value.items()
        ]
        return _enclosed("{", items, "}", style, newline)
    if isinstance(value, list):
        inside = None if newline is None else newline + (style.indent or "")
        return _enclosed("[", [_json_text(v, style, inside) for v in value], "]", style, newline)
    if isinstance(value, tuple):
        return value[1]
    if isinstance(value, str):
        return _quote(value, style)
    return "true" if value is True else "false" if value is False else "null"


def _enclosed(start: str, items: list[str], end: str, style: Style, newline: str | None) -> str:
    if not items:
        return start + end
    if newline is None:
        return start + style.comma.join(items) + end
    inside = newline + (style.indent or "")
    return start + inside + f",{inside}".join(items) + newline + end


def _quote(text: str, style: Style) -> str:
    return json.dumps(text, ensure_ascii=style.escaped)
