"""What the archive of conversations says about itself: whose words, how it is called, how old."""

from __future__ import annotations

import json

from holdfast.core.canonical import canonical
from holdfast.errors import InvalidInput
from holdfast.model.entry import METADATA_DEPTH_MAX, TRUST_OF
from holdfast.model.message import CALLS_BYTES_MAX, CALLS_MAX, ToolCall
from holdfast.model.names import shown
from holdfast.model.review import ROLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.model.entry import Origin, Trust
    from holdfast.model.message import Found, Message, NewMessage
    from holdfast.model.review import Role

TITLE_CHARS_MAX = 60
NEAR_CHARS_MAX = 160
_ORIGIN_OF: dict[str, Origin] = {"user": "user", "tool": "tool"}
_UNTRUSTED = ("tool", "web")


def origin_of(new: NewMessage, heard: Message | None) -> tuple[Origin, Trust]:
    """Where a message's words came from. `heard` is what was said before it.

    An assistant that speaks after a tool says what the tool said, for all that anybody knows, until
    the user speaks again.
    """
    origin: Origin = new.origin or _ORIGIN_OF.get(new.role, "agent")
    if new.role == "assistant" and heard is not None and heard.role != "user":
        origin = heard.origin if heard.origin in _UNTRUSTED else origin
    return origin, TRUST_OF[origin]


def title_of(title: str, first_words: str) -> str:
    """What a session is called: its title, else how the user began."""
    return title or in_short(first_words, TITLE_CHARS_MAX)


def in_short(text: str, chars_max: int) -> str:
    """The text in one line, cut behind a word where one ends near."""
    line = " ".join(text.split())
    if len(line) <= chars_max:
        return line
    cut = line[: chars_max - 1]
    head, _, tail = cut.rpartition(" ")
    return f"{head if head and len(tail) < 20 else cut}…"


def caution(when: datetime, now: datetime) -> str:
    """How old something is that was said, and what that means."""
    days = (now.date() - when.date()).days
    if days <= 0:
        age = "today"
    elif days < 60:
        age = f"{days} day{'s' if days > 1 else ''} ago"
    elif days < 730:
        age = f"{days // 30} months ago"
    else:
        age = f"{days // 365} years ago"
    return f"said on {when:%Y-%m-%d}, {age}; it may be outdated"


def by_session(found: Iterable[Found], limit: int) -> Sequence[tuple[Found, int]]:
    """The best message of each session and how many were found there, in their order."""
    best: dict[int, Found] = {}
    counts: dict[int, int] = {}
    for each in found:
        best.setdefault(each[1], each)
        counts[each[1]] = counts.get(each[1], 0) + each[4]
    return [(each, counts[session]) for session, each in list(best.items())[:limit]]


def check_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(
        "role_invalid", f"{shown(role)} is no role", hint=f"one of {', '.join(ROLES)}"
    )


def check_calls(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls with arguments of their own, if these are JSON and not too large."""
    if len(calls) > CALLS_MAX:
        raise InvalidInput(
            "calls_invalid",
            f"a message makes {len(calls):,} tool calls; the limit is {CALLS_MAX}",
            hint="say it in several messages",
        )
    checked = tuple([_checked(call) for call in calls])
    size = sum(len(canonical(dict(call.arguments))) for call in checked)
    if size > CALLS_BYTES_MAX:
        raise InvalidInput(
            "calls_invalid",
            f"the arguments of a message's tool calls have {size:,} bytes; the limit is"
            f" {CALLS_BYTES_MAX:,}",
            hint="leave the long ones out",
        )
    return checked


def _checked(call: ToolCall) -> ToolCall:
    try:
        arguments: Any = json.loads(canonical(_plain(call.arguments, METADATA_DEPTH_MAX)))
        canonical([call.id, call.name])
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            "calls_invalid",
            f"the arguments of the tool {shown(call.name)} are not JSON: {type(exc).__name__}",
            hint="use text, numbers, true, false, null, lists and objects with text keys",
        ) from None
    return call.replace(arguments=arguments)


def _plain(value: Any, depth: int) -> Any:
    """A copy, so deep that what holds itself has an end."""
    if depth < 0:
        raise ValueError(depth)
    if isinstance(value, dict):
        return {key: _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    return value
