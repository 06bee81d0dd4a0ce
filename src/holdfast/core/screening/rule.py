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
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Span = tuple[str, int, int]
    # what matched, and what was found as it is written
    Check = Callable[[re.Match[str], str], bool]


# So many findings of one rule say enough about a text.
FINDINGS_MAX = 20
PIECES_KEPT = 16_384
PIECE_CHARS_MAX = 40


class Rule(Value):
    """`stems`: one of them stands in the text, else the rule is not tried. What is found is the
    group `s`, or the whole match where there is none; `check` has the last word.
    """

    code: str
    stems: tuple[str, ...]
    pattern: Callable[[], re.Pattern[str]]
    check: Check | None = None

    def spans(self, text: str, original: str) -> Iterator[Span]:
        """Where it finds something, without a look at the stems. `original` is the text as it is
        written, of the same length."""
        pattern = self.pattern()
        group = "s" if "s" in pattern.groupindex else 0
        left = FINDINGS_MAX
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if self.check is None or self.check(match, original[start:end]):
                yield self.code, start, end
                left -= 1
                if not left:
                    return


class Rules:
    """Many rules, of which those are tried that have a stem in the text.

    A stem without white space stands in one piece of a text, and most pieces stood in texts before:
    those that have no stem are remembered.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        by_stem: dict[str, list[Rule]] = {}
        for one in rules:
            for stem in one.stems:
                by_stem.setdefault(stem, []).append(one)
        self._of_stem = tuple(by_stem.values())
        stems = list(enumerate(by_stem))
        self._in_piece = [(at, stem) for at, stem in stems if stem.split() == [stem]]
        self._across = [(at, stem) for at, stem in stems if stem.split() != [stem]]
        self._without: set[str] = set()

    def tried(self, text: str) -> Iterable[Rule]:
        places = {at for at, stem in self._across if stem in text}
        for piece in set(text.split()).difference(self._without):
            here = [at for at, stem in self._in_piece if stem in piece]
            places.update(here)
            if not here and len(piece) <= PIECE_CHARS_MAX:
                self._remember(piece)
        found = [self._of_stem[at] for at in sorted(places)]
        return {id(one): one for rules in found for one in rules}.values()

    def tries_none(self, text: str, pieces: Sequence[str]) -> bool:
        """Whether it is known that no rule has a stem in the text, whose pieces these are."""
        if not self._without.issuperset(pieces):
            return False
        for _, stem in self._across:  # noqa: SIM110 - a generator takes twice as long
            if stem in text:
                return False
        return True

    def _remember(self, piece: str) -> None:
        if len(self._without) >= PIECES_KEPT:
            self._without.clear()
        self._without.add(piece)

    def spans(self, text: str, original: str | None = None) -> Iterator[Span]:
        """Where they find something in the text; `original` as in `Rule.spans`."""
        for one in self.tried(text):
            yield from one.spans(text, text if original is None else original)


def rule(
    code: str,
    stems: str,
    pattern: str,
    check: Check | None = None,
) -> Rule:
    """Stems are separated by bars."""
    return Rule(code=code, stems=tuple(stems.split("|")), pattern=lazily(pattern), check=check)
