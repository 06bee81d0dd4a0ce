"""What a record keeps in the `facts` of its entry, and what follows from it.

confidence  how sure its writer is, from 0 to 1
source      where it came from, in the writer's words
from        since when it is true (microseconds)
fields      true: the body is JSON
updates     how often a draft was updated          } what supports
again       how often the same fact was said again } a promotion
idle        true: `until` is set by decay, not said
closed      why it is no longer shown: idle, ended, superseded, retired, merged, expired
closed_us   when that was
by          the id of the record that it gave way to, or became
supersedes  the ids of those that gave way to it
"""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.names import check_str, is_unicode, told
from holdfast.model.times import DAY_US, day_of, from_us, given_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from holdfast.core.preferences import Settings
    from holdfast.model.entry import Entry, Json, Trust

SOURCE_CHARS_MAX = 1_000
REOPENED = ("idle", "ended")
TRUST_RANK: Mapping[Trust, int] = {"low": 0, "medium": 1, "high": 2}


def check_confidence(confidence: float) -> float:
    if type(confidence) not in (int, float) or not 0 <= confidence <= 1:
        raise InvalidInput(
            "confidence_invalid",
            f"{told(confidence)} is no confidence",
            hint="give a number from 0 to 1, such as 0.8",
        )
    return float(confidence)


def check_source(source: str) -> str:
    check_str(source, "the source")
    if not is_unicode(source) or len(source) > SOURCE_CHARS_MAX:
        raise InvalidInput(
            "source_invalid",
            f"the source is no text of at most {SOURCE_CHARS_MAX:,} characters",
            hint="name where it came from: a file, an address, a person's role",
        )
    return source


def said_facts(
    confidence: float | None, source: str | None, since: datetime | None
) -> dict[str, Json]:
    """Those that a caller gives; what is None is not said."""
    found: dict[str, Json] = {}
    if confidence is not None:
        found["confidence"] = check_confidence(confidence)
    if source is not None:
        found["source"] = check_source(source)
    if since is not None:
        found["from"] = given_us(since)
    return found


def count(entry: Entry, name: str) -> int:
    value = entry.facts.get(name, 0)
    return value if type(value) is int else 0


def counted(entry: Entry, name: str) -> dict[str, Json]:
    return {**entry.facts, name: count(entry, name) + 1}


def text_fact(entry: Entry, name: str) -> str:
    value = entry.facts.get(name)
    return value if isinstance(value, str) else ""


def without(facts: Mapping[str, Json], *names: str) -> dict[str, Json]:
    return {name: value for name, value in facts.items() if name not in names}


def is_fields(entry: Entry) -> bool:
    return entry.facts.get("fields") is True


def is_idle_at(entry: Entry, at_us: int, until_us: int | None) -> bool:
    """Whether an episode ended for want of use, by the UTC day, and waits to be closed."""
    ends = entry.facts.get("idle") is True and until_us is not None
    return ends and until_us is not None and until_us <= day_of(at_us) * DAY_US


def idle_until(settings: Settings, used_us: int) -> datetime:
    """When an episode closes that was used last at this moment: at the start of a UTC day."""
    return from_us((day_of(used_us) + settings.whole("decay.close_days")) * DAY_US)


def closing(entry: Entry, why: str, at_us: int, by: str = "") -> dict[str, Any]:
    facts: dict[str, Any] = {**entry.facts, "closed": why, "closed_us": at_us}
    return {**facts, "by": by} if by else facts


def explained(entry: Entry) -> str:
    """A state in which a record is not simply shown, in words."""
    why, by = text_fact(entry, "closed"), text_fact(entry, "by")
    if entry.state == "forgotten":
        return "it was forgotten" if why != "expired" else "it expired: an episode nobody used"
    if why == "merged":
        return f"the same fact was confirmed as {by}"
    if entry.hidden:
        told = {
            "superseded": f"it gave way to {by}",
            "retired": "it is no longer so",
            "idle": "it was closed: an episode that nobody used",
            "ended": "it was closed: its time is over",
        }
        return told.get(why, "it is hidden")
    if entry.state == "draft":
        return "it is a draft of its session, which promoting shows to all"
    return ""
