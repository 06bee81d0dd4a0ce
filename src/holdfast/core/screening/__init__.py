"""Screening: what must not be remembered without a person's word, found in any text.

Three classes: secrets, characters that hide something, and instructions to the agent. A finding
says what was found and where; it never holds the text. All of it is pure and bounded: the same text
gives the same findings, in time that grows with its length alone.
"""

from __future__ import annotations

from functools import cache, lru_cache

from holdfast.core.screening.rule import FINDINGS_MAX
from holdfast.core.text.patterns import lazily
from holdfast.model.proposal import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from holdfast.core.screening.rule import Rules, Span

    # a field, its text, and the name under which it stands
    Field = tuple[str, str, str]

CLASSES = ("secrets", "hidden", "instructions")
_CLASS_OF = {"secret": "secrets", "hidden": "hidden", "instruction": "instructions"}
SCREENED = ("text", "subject", "given_id", "tags", "scope", "facts", "metadata", "reason")
KEPT_IN_MIND = 4_096
LONG_KEPT_IN_MIND = 4
KEPT_CHARS_MAX = 2_000
EVERYDAY_CHARS_MAX = 13
_DIGITS_MIN = 12
_ALONE = ("text", "subject", "reason")  # each is one text
_SELDOM = tuple(name for name in SCREENED if name not in _ALONE)


def class_of(finding: Finding) -> str:
    return _CLASS_OF[finding.code.partition("_")[0]]


def find(text: str, field: str = "text", name: str = "") -> tuple[Finding, ...]:
    """What is found in one text. `name`: what it is called where it stands, such as `password`."""
    spans = (_remembered if len(text) <= KEPT_CHARS_MAX else _remembered_long)(text, name)
    if not spans:
        return ()
    return tuple(Finding(code=code, field=field, start=a, end=b) for code, a, b in spans)


def any_found(texts: Iterable[str]) -> bool:
    """Whether anything is found in any of these texts, each of which stands alone."""
    for text in texts:
        if (_remembered if len(text) <= KEPT_CHARS_MAX else _remembered_long)(text, ""):
            return True
    return False


def anything_in(values: Mapping[str, Any]) -> bool:
    """Whether anything is found in the texts of an entry."""
    text, subject = values["text"], values["subject"]
    if not any(map(values.__getitem__, _SELDOM)):
        return any_found((text, subject) if subject else (text,))
    return any(find(text, field, name) for field, text, name in fields_of(values))


def _spans(text: str, name: str) -> tuple[Span, ...]:
    if not name and _is_everyday(text):
        return ()
    from holdfast.core.screening.hidden import hidden_in
    from holdfast.core.screening.instructions import instructions_in
    from holdfast.core.screening.secrets import secrets_in

    before = f"{name}: " if name else ""
    shift = len(before)
    found = [
        (code, max(start - shift, 0), end - shift)
        for code, start, end in secrets_in(f"{before}{text}")
        if end > shift
    ]
    found += hidden_in(text)
    found += instructions_in(text)
    found.sort(key=lambda span: (span[1], -span[2], span[0]))
    return tuple(_apart(found))[:FINDINGS_MAX]


_remembered = lru_cache(KEPT_IN_MIND)(_spans)
_remembered_long = lru_cache(LONG_KEPT_IN_MIND)(_spans)


def _is_everyday(text: str) -> bool:
    """Whether no rule of any class is tried at a text: short words of plain letters and signs, in
    which no rule begins. Most lines are so, and it is told in a third of the time."""
    if not (text.isascii() and text.isprintable()) or _BEYOND_EVERYDAY().search(text):
        return False
    small = text.lower()
    pieces = small.split()
    return len(max(pieces, key=len, default="")) < EVERYDAY_CHARS_MAX and all(
        rules.tries_none(small, pieces) for rules in _everyday_rules()
    )


# What other rules need: a digit, or what is read as a letter within a word.
_BEYOND_EVERYDAY = lazily("[0-9@$]")


@cache
def _everyday_rules() -> tuple[Rules, ...]:
    from holdfast.core.screening.instructions import LATIN
    from holdfast.core.screening.secrets import SAID

    return LATIN, SAID


def look_ahead(values: Iterable[Any]) -> None:
    """Look at long texts now, so that nobody waits for it where others wait too."""
    for value in values:
        if isinstance(value, str) and len(value) > KEPT_CHARS_MAX:
            find(value)


def _apart(found: Iterable[Span]) -> Iterator[Span]:
    """Of findings of one class that overlap, the first that covers the other."""
    ends: dict[str, int] = {}
    for code, start, end in found:
        kind = code.partition("_")[0]
        if end > ends.get(kind, -1) and start >= ends.get(kind, 0):
            yield code, start, end
            ends[kind] = end


def fields_of(values: Mapping[str, Any]) -> Iterator[Field]:
    """The texts of an entry, or of what is to change of one, by field."""
    for name in SCREENED:
        value = values.get(name)
        if isinstance(value, str) and name in _ALONE:
            yield name, value, ""
        elif value:
            yield from _within("id" if name == "given_id" else name, value, "")


def _within(path: str, value: Any, name: str) -> Iterator[Field]:
    if isinstance(value, str):
        yield path, value, name
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if len(digits := str(value)) >= _DIGITS_MIN:
            yield path, digits, name
    elif isinstance(value, (list, tuple)):
        for place, each in enumerate(value):
            yield from _within(f"{path}.{place + 1}", each, name)
    elif hasattr(value, "items"):
        for place, (key, each) in enumerate(value.items()):
            yield f"{path} (name {place + 1})", key, ""
            yield from _within(f"{path}.{_shown(key, place)}", each, key)


def _shown(key: str, place: int) -> str:
    """A name as part of a path, unless it is none to be shown."""
    plain = key.replace("_", "").replace("-", "").isalnum() and key.isascii() and len(key) <= 40
    return key if plain and not find(key) else f"({place + 1})"
