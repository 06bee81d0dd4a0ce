"""The part of a text that shows best why it was found.

The window that holds the most different things that were asked for, then the most of them, then
the earliest; with some text before it and more behind, cut between words, or at least between
characters as a reader sees them. Matches are offsets, so that every surface can mark its own way.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate

from holdfast.core.text.compounds import PAIRED, Form, compounds, form_of, units
from holdfast.core.text.folding import ZWJ, letters
from holdfast.core.text.patterns import lazily
from holdfast.core.text.query import Query, Way, parse, ways
from holdfast.core.text.words import of_piece, stem
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.core.text.compounds import Tokens

_PIECE = lazily(r"\S+")
_CLUSTER_CHARS_MAX = 32
_BORDER_CHARS_MAX = 24
_VIRAMA = "\u094d"
# What belongs to the character before it though it is no mark: jamo, joiners, skin tones, tags.
_JOINED = lazily("[\u1160-\u11ff\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAG = lazily("[\U0001f1e6-\U0001f1ff]")


class Snippet(Value):
    """A part of a text: where it starts there, and the spans of the matches within the part."""

    text: str
    start: int
    matches: tuple[tuple[int, int], ...]
    more_before: bool
    more_after: bool


class Spot(Value):
    """A compound in a text: its words with their spans, and the other forms of the whole."""

    start: int
    end: int
    words: tuple[tuple[str, int, int], ...]
    forms: tuple[Tokens, ...]


class Match(Value):
    """A span that meets a group of what is wanted."""

    start: int
    end: int
    group: int


def snippet(text: str, query: str | Query, chars: int) -> Snippet:
    """The best part of at most `chars` characters; the beginning where nothing matches."""
    chars = max(chars, 1)
    asked = parse(query) if isinstance(query, str) else query
    matches = sorted(_Matcher(asked).matches(text), key=lambda match: (match.start, match.end))
    start, end = _widened(text, *_best(matches, chars), chars)
    return Snippet(
        text=text[start:end],
        start=start,
        matches=_shown(matches, start, end),
        more_before=start > 0,
        more_after=end < len(text),
    )


class _Matcher:
    """Finds the rows of tokens that a query wants, in one pass over a text."""

    def __init__(self, asked: Query) -> None:
        self.rows: dict[str, list[tuple[int, Way]]] = {}
        self.beginnings: list[tuple[int, Way]] = []
        for group, items in enumerate(asked.wanted):
            for way in (way for item in items for way in ways(item)):
                if way.open_ended and len(way.tokens) == 1:
                    self.beginnings.append((group, way))
                else:
                    self.rows.setdefault(way.tokens[0], []).append((group, way))
        self.prefixes = tuple(way.tokens[0] for _, way in self.beginnings)
        self.begun: list[tuple[int, Way, int, int]] = []

    def matches(self, text: str) -> Iterator[Match]:
        for piece in _PIECE().finditer(text):
            if self.begun or self._touches(piece[0]):
                for spot in _spots(piece[0], piece.start()):
                    yield from self._in_words(spot)
                    yield from self._in_forms(spot)

    def _touches(self, piece: str) -> bool:
        words, others = of_piece(piece)
        if not (self.rows.keys().isdisjoint(words) and self.rows.keys().isdisjoint(others)):
            return True
        return bool(self.prefixes) and any(
            word.startswith(self.prefixes) for word in (*words, *others)
        )

    def _in_words(self, spot: Spot) -> Iterator[Match]:
        for word, start, end in spot.words:
            token = stem(word)
            rows = [*self.rows.get(token, ()), *self.beginnings]
            going = [*self.begun, *((group, way, 0, start) for group, way in rows)]
            self.begun = []
            for group, way, at, begun_at in going:
                if _meets(way, at, word) or _meets(way, at, token):
                    if at + 1 == len(way.tokens):
                        yield Match(start=begun_at, end=end, group=group)
                    else:
                        self.begun.append((group, way, at + 1, begun_at))

    def _in_forms(self, spot: Spot) -> Iterator[Match]:
        for form in spot.forms:
            for at, token in enumerate(form):
                for group, way in (*self.rows.get(token, ()), *self.beginnings):
                    row = form[at : at + len(way.tokens)]
                    if len(row) == len(way.tokens) and all(
                        _meets(way, place, found) for place, found in enumerate(row)
                    ):
                        yield Match(start=spot.start, end=spot.end, group=group)


def _meets(way: Way, at: int, token: str) -> bool:
    wanted = way.tokens[at]
    if way.open_ended and at + 1 == len(way.tokens):
        return token.startswith(wanted)
    return token == wanted


def _spots(piece: str, offset: int) -> Iterator[Spot]:
    """The compounds of a piece of a text that starts at `offset`."""
    shown, starts, ends = _aligned(piece, offset)
    for compound in compounds(shown):
        form = form_of(compound)
        first, last = starts[compound.start()], ends[compound.end() - 1]
        if compound.lastgroup in PAIRED:
            sizes = accumulate(map(len, units(compound[0])), initial=compound.start())
            borders = list(sizes)
            lefts = [starts[at] for at in borders[:-1]]
            rights = [ends[at - 1] for at in borders[1:]]
            spans = zip(form.words, lefts, [*rights[1:], rights[-1]], strict=True)
            yield Spot(start=first, end=last, words=tuple(spans), forms=())
        else:
            words = tuple((word, first, last) for word in form.words)
            yield Spot(start=first, end=last, words=words, forms=_forms(form))


def _forms(form: Form) -> tuple[Tokens, ...]:
    rows = (*((part,) for part in form.parts), *form.wholes)
    return tuple(tuple(map(stem, row)) for row in rows)


def _aligned(piece: str, offset: int) -> tuple[str, Sequence[int], Sequence[int]]:
    """The piece as it is analysed, and where each character of that begins and ends in the text."""
    if piece.isascii():
        return piece, range(offset, offset + len(piece)), range(offset + 1, offset + len(piece) + 1)
    shown: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = offset
    for cluster in _clusters(piece):
        folded = _letters(cluster)
        shown.append(folded)
        starts += [at] * len(folded)
        at += len(cluster)
        ends += [at] * len(folded)
    return "".join(shown), starts, ends


def _clusters(piece: str) -> Iterator[str]:
    """Characters with what changes them when they are folded."""
    start = 0
    for at in range(1, len(piece)):
        goes_on = _continues(piece[at]) or piece[at - 1] == _VIRAMA
        if not goes_on or at - start >= _CLUSTER_CHARS_MAX:
            yield piece[start:at]
            start = at
    yield piece[start:]


def _continues(char: str) -> bool:
    return not char.isascii() and (
        unicodedata.category(char)[0] == "M" or _JOINED().match(char) is not None
    )


_letters = lru_cache(4096)(letters)


def _best(matches: Sequence[Match], chars: int) -> tuple[int, int]:
    """The span of the best matches that fit together; the very start where there are none."""
    best = (0, 0)
    span = (0, 0)
    counts: dict[int, int] = {}
    left = 0
    for right, match in enumerate(matches):
        counts[match.group] = counts.get(match.group, 0) + 1
        while left < right and match.end - matches[left].start > chars:
            group = matches[left].group
            counts[group] -= 1
            if not counts[group]:
                del counts[group]
            left += 1
        value = (len(counts), right - left + 1)
        if value > best:
            best = value
            span = (matches[left].start, min(match.end, matches[left].start + chars))
    return span


def _widened(text: str, start: int, end: int, chars: int) -> tuple[int, int]:
    """The span with text around it, a third of it before, cut where a reader would cut."""
    room = chars - (end - start)
    first = max(0, start - room // 3)
    last = min(len(text), first + chars)
    first = max(0, min(first, last - chars))
    return _border_after(text, first, start), _border_before(text, last, end)


def _border_after(text: str, at: int, limit: int) -> int:
    """The first place to cut from `at` on that is not beyond `limit`."""
    if at == 0 or text[at - 1].isspace():
        return at
    for space in range(at, min(limit, at + _BORDER_CHARS_MAX)):
        if text[space].isspace():
            return space + 1
    while at < limit and not _is_border(text, at):
        at += 1
    return at


def _border_before(text: str, at: int, limit: int) -> int:
    """The last place to cut up to `at` that is not before `limit`."""
    if at == len(text) or text[at].isspace():
        return at
    for space in range(at - 1, max(limit, at - _BORDER_CHARS_MAX) - 1, -1):
        if text[space].isspace():
            return space
    while at > limit and not _is_border(text, at):
        at -= 1
    return at


def _is_border(text: str, at: int) -> bool:
    """Whether a reader sees two characters meet here."""
    char = text[at]
    if _continues(char) or text[at - 1] == ZWJ:
        return False
    if not (_FLAG().match(char) and _FLAG().match(text[at - 1])):
        return True
    flags = re.search("[\U0001f1e6-\U0001f1ff]*$", text[max(0, at - 64) : at])
    return flags is None or len(flags[0]) % 2 == 0


def _shown(matches: Sequence[Match], start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The matches within the part, cut to it and joined where they overlap."""
    spans: list[tuple[int, int]] = []
    for match in matches:
        left, right = max(match.start, start) - start, min(match.end, end) - start
        if left >= right:
            continue
        if spans and left <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], right))
        else:
            spans.append((left, right))
    return tuple(spans)
