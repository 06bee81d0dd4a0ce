"""Reading the conversations that other programs kept: pure, one line at a time, for any input."""

from __future__ import annotations

from itertools import islice

from holdfast.core.talks import claude_code, codex, own
from holdfast.core.talks.lines import objects
from holdfast.model.importing import Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from holdfast.model.importing import Heard, TalkFormat, Titled

_LOOKED_AT = 50


def format_of(source: Callable[[], BinaryIO]) -> TalkFormat | None:
    """Which program wrote a file, by its first lines; None where nobody known did."""
    with source() as file:
        for found in islice(objects(file), _LOOKED_AT):
            if isinstance(found, Skipped):
                continue
            line = found[1]
            if codex.is_like(line):
                return "codex"
            if claude_code.is_like(line):
                return "claude-code"
            if own.is_like(line):
                return "jsonl"
    return None


def heard(
    source: Callable[[], BinaryIO], format: TalkFormat, talk: str
) -> Iterator[Heard | Titled | Skipped]:
    """What a file says, in its order. `talk`: what the conversation is called where it does not."""
    match format:
        case "claude-code":
            return claude_code.read(source)
        case "codex":
            return codex.read(source)
        case "jsonl":
            return own.read(source, talk=talk)
