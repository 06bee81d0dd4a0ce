"""Lines of JSON from a file of any size: one in memory at a time, and none that is too long.

Nothing that a file may hold ends the reading: a line that cannot be used is told with its reason.
Bytes that are no UTF-8, and halves of characters, become the sign for what cannot be read.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from holdfast.model.importing import Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

LINE_BYTES_MAX = 64 * 1_048_576
DEPTH_MAX = 64
_LONE = re.compile("[\ud800-\udfff]")
_BROKEN = "\N{REPLACEMENT CHARACTER}"


def objects(source: BinaryIO) -> Iterator[tuple[int, dict[str, Any]] | Skipped]:
    """The objects of a file with the numbers of their lines; blank lines are nothing."""
    for number, data in _lines(source):
        if data is None:
            yield Skipped(line=number, why="line_too_long")
            continue
        if not data.strip(b" \t\r\n\0\xef\xbb\xbf"):
            continue
        found = _parsed(data)
        if isinstance(found, dict):
            yield number, found
        else:
            yield Skipped(line=number, why="not_json" if found is None else "not_an_object")


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    while data := source.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(data) <= LINE_BYTES_MAX:
            yield number, data
            continue
        while data and not data.endswith(b"\n"):
            data = source.readline(LINE_BYTES_MAX)
        yield number, None


def _parsed(data: bytes) -> Any:
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        return _whole(json.loads(text, parse_constant=lambda _: None), DEPTH_MAX)
    except (ValueError, RecursionError):
        return None


def _whole(value: Any, depth: int) -> Any:
    """The value with no half characters in it, if it is not nested too deeply."""
    if depth < 0:
        raise ValueError(depth)
    match value:
        case str():
            return value if value.isascii() else _LONE.sub(_BROKEN, value)
        case dict():
            return {_whole(key, 0): _whole(item, depth - 1) for key, item in value.items()}
        case list():
            return [_whole(item, depth - 1) for item in value]
        case _:
            return value


def text_of(value: Any, *names: str) -> str:
    """A member of an object, by the first of these names that has a text; else nothing."""
    if isinstance(value, dict):
        for name in names:
            found = value.get(name)
            if isinstance(found, str):
                return found
    return ""


def time_of(value: Any) -> datetime | None:
    """A time as programs write it: ISO 8601, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
            return found.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > 100_000_000_000 else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def flag_of(value: dict[str, Any], name: str) -> bool:
    return value.get(name) is True
