"""What is no longer so: what somebody stopped using, left, or took back."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import trimmed
from holdfast.core.rules.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:i|we) no longer (?:work (?:at|for)|live in|use|want|like|prefer|need|eat|"
        r"speak|have) (?P<what>.{2,60})$",
        r"^(?:i|we) (?:don't|do not) (?:work (?:at|for)|live in|use|want|like|prefer|need|"
        r"eat|have) (?P<what>.{2,60}?),? (?:any ?more|any longer)$",
        r"^(?:i|we)(?:'ve| have)? (?:stopped using|stopped|dropped|got rid of|abandoned|"
        r"quit|ditched|retired) (?P<what>.{2,60})$",
        r"^(?:i|we)(?:'ve| have)? left (?P<what>[A-Z].{1,40})$",
        r"^forget (?:what i said about|about the|everything about|that i said) (?P<what>.{3,60})$",
    )
)
_TAIL = re.compile(
    r"(?i)\s+(?:any ?more|any longer|as of .*|since .*|altogether|last (?:week|month|year)|"
    r"this (?:week|month|year))$"
)


def what_is_gone(clause: Clause, said: date) -> Iterator[Finding]:
    """It changes nothing unless something is known that it is about."""
    del said
    text = trimmed(clause.text)
    for pattern in _PATTERNS:
        found = pattern.match(text)
        if found is not None:
            about = _TAIL.sub("", found["what"])
            yield Finding(kind="gone", text=text, confidence=0.85, about=about)
            return
