"""What a reviewer's suggestion must be before anybody acts on it, and what policy does with it.

A reviewer may be wrong, or be led by what it read. So the engine holds every suggestion to the
messages that it names: none is trusted further than the least trusted of them.
"""

from __future__ import annotations

from math import isfinite

from holdfast.errors import InvalidInput
from holdfast.model.entry import ORIGINS, TEXT_BYTES_MAX, TRUST_OF
from holdfast.model.names import is_unicode
from holdfast.model.review import SUGGESTION_OPS, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.core.preferences import Settings
    from holdfast.model.entry import Entry, Trust
    from holdfast.model.message import Message
    from holdfast.model.review import Suggestion
    from holdfast.model.session import Session

_RANK: Mapping[Trust, int] = {"low": 0, "medium": 1, "high": 2}
REASON_CHARS_MAX = 500


def said_of(message: Message, session: Session) -> Said:
    """A message as a reviewer sees it."""
    return Said(
        id=message.id,
        number=message.place,
        role=message.role,
        source=session.source,
        text=message.text,
        at=message.at,
        said_at=message.said_at,
        session=message.session,
        origin=message.origin,
        trust=message.trust,
    )


def sound(suggestion: Suggestion, said: Sequence[Said]) -> Suggestion:
    """The suggestion, trusted no further than its evidence; raises what is wrong with it."""
    by_id = {each.id: each for each in said}
    evidence = [by_id[name] for name in suggestion.evidence if name in by_id]
    if not evidence or len(evidence) < len(suggestion.evidence):
        raise _unsound("it does not rest on what was said in this review's messages")
    if suggestion.op not in SUGGESTION_OPS or suggestion.origin not in ORIGINS:
        raise _unsound("it has an operation or an origin that does not exist")
    if (suggestion.op == "add") != (suggestion.target is None):
        raise _unsound("it names a target to add, or none to change")
    if suggestion.op != "retire" and not suggestion.text.strip():
        raise _unsound("it has no text")
    texts = (suggestion.text, suggestion.subject, suggestion.kind, suggestion.reason)
    if not all(map(is_unicode, texts)) or sum(map(len, texts)) > TEXT_BYTES_MAX:
        raise _unsound("its text is too long, or no Unicode")
    if not isfinite(suggestion.confidence) or not 0 <= suggestion.confidence <= 1:
        raise _unsound("its confidence is not from 0 to 1")
    least = min(evidence, key=lambda each: _RANK[each.trust])
    origin, trust = suggestion.origin, suggestion.trust
    if _RANK[TRUST_OF[origin]] > _RANK[least.trust]:
        origin = least.origin
    if trust not in _RANK or _RANK[trust] > _RANK[least.trust]:
        trust = least.trust
    return suggestion.replace(
        origin=origin, trust=trust, reason=suggestion.reason[:REASON_CHARS_MAX]
    )


def _unsound(what: str) -> InvalidInput:
    return InvalidInput(
        "suggestion_unsound",
        f"a suggestion was dropped: {what}",
        hint="the reviewer is wrong; nothing was changed",
    )


def held_for(
    suggestion: Suggestion, target: Entry | None, settings: Settings, *, instructs: bool = False
) -> str:
    """Why a suggestion waits for a person; empty where policy applies it.

    What a tool or a web page said is never believed by itself, and nothing gives way to what is
    trusted less. `instructs`: it would tell agents what to do.
    """
    if suggestion.trust == "low" or suggestion.origin in ("tool", "web"):
        return "untrusted"
    if target is not None and _RANK[target.trust] > _RANK[suggestion.trust]:
        return "less_trusted"
    approval = settings.word("review.approval")
    if instructs and settings.word("review.instructions") == "hold":
        return "approval"
    if approval == "all" or (approval == "inferred" and suggestion.origin != "user"):
        return "approval"
    if suggestion.confidence * 100 < settings.whole("review.confidence"):
        return "unsure"
    return ""


def notice_of(op: str, text: str, where: str, *, verbose: bool) -> str:
    """What a person is told of something that a review did."""
    word = {"add": "Remembered", "update": "Corrected"}.get(op, "Forgot")
    line = " ".join(text.split())
    line = line if len(line) <= 200 else f"{line[:199]}…"
    return f"{word}: {line} ({where})" if verbose else f"{word}: {line}"
