"""One rule of screening: a pattern, what must stand in a text for it to be tried, and a check.

The stems are looked for first, as plain text, so that everyday text costs no regular expression.
Every pattern is linear: no quantifier stands in another one without a bound, and every gap between
two words has a width that it cannot exceed.
"""

from __future__ import annotations

from holdfast.core.text.patterns import lazily
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    Span = tuple[str, int, int]

# So many findings say enough about a text.
FINDINGS_MAX = 20


class Rule(Value):
    """`stems`: one of them stands in the text, else the rule is not tried. What is found is the
    group `s`, or the whole match where there is none; `check` has the last word."""

    code: str
    stems: tuple[str, ...]
    pattern: Callable[[], re.Pattern[str]]
    check: Callable[[re.Match[str]], bool] | None = None

    def spans(self, text: str, stems_in: str) -> Iterator[Span]:
        """Where it finds something in the text; the stems are looked for in `stems_in`."""
        if not any(stem in stems_in for stem in self.stems):
            return
        for match in self.pattern().finditer(text):
            if self.check is None or self.check(match):
                start, end = match.span("s" if "s" in match.re.groupindex else 0)
                yield self.code, start, end


def rule(
    code: str,
    stems: str,
    pattern: str,
    check: Callable[[re.Match[str]], bool] | None = None,
    flags: int = 0,
) -> Rule:
    """Stems are separated by bars."""
    return Rule(
        code=code, stems=tuple(stems.split("|")), pattern=lazily(pattern, flags), check=check
    )
