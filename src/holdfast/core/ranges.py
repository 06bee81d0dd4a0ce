"""Parts of a content by bytes or lines: `0-99`, `120-160`, `120-`. Bytes count from 0, lines from
1, and both ends are meant."""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.names import check_str, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ENDLESS = 2**62


def parse_range(text: str, what: str, *, first: int) -> tuple[int, int]:
    """The first and the last that a range means; `first` is what such things count from."""
    check_str(text, f"the range of {what}")
    low, dash, high = text.partition("-")
    numbers = [part for part in (low, high) if part]
    good = low and all(part.isascii() and part.isdigit() and len(part) < 18 for part in numbers)
    if good:
        start = int(low)
        stop = int(high) if high else ENDLESS if dash else start
        if first <= start <= stop:
            return start, stop
    raise InvalidInput(
        "range_invalid",
        f"{shown(text)} is no range of {what}",
        hint=f"such as {first}-{first + 99}, or {first}- for all from there",
    )


def lines_between(pieces: Iterable[bytes], first: int, last: int) -> tuple[int, int, int]:
    """Where the lines from `first` to `last` (from 1) begin and end, and how many of them there
    are. Only as much is looked at as is needed."""
    line, at, start, end = 1, 0, 0 if first == 1 else -1, b"\n"
    for piece in pieces:
        seen = 0
        while (found := piece.find(b"\n", seen)) >= 0:
            seen = found + 1
            if line == last:
                return start, at + seen, last - first + 1
            line += 1
            if line == first:
                start = at + seen
        at += len(piece)
        end = piece[-1:] or end
    lines = line - (end == b"\n")
    return (at, at, 0) if lines < first else (start, at, lines - first + 1)


def whole_characters(data: bytes) -> tuple[int, int]:
    """How many bytes to leave away at both ends, so that UTF-8 cut anywhere is text again."""
    before = 0
    while before < min(len(data), 3) and data[before] & 0xC0 == 0x80:
        before += 1
    for after in range(min(4, len(data) - before)):
        byte = data[len(data) - 1 - after]
        if byte & 0xC0 == 0x80:
            continue
        width = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        return before, 0 if width <= after + 1 else after + 1
    return before, 0
