"""A text as instructions are looked for in it: small letters without accents, nothing unseen.

Places in the folded text lead back to places in the text.
"""

from __future__ import annotations

from holdfast.core.text.patterns import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_UNSEEN = (
    *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0x300, 0x370)),
)
_QUOTES = {**dict.fromkeys("‘’‚‛ʼ´`", "'"), **dict.fromkeys("“”„‟«»「」『』", '"')}
_WIDE = lazily("[\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f149]")
_TAGS = lazily("[\U000e0000-\U000e0fff]")
_LATIN, _OTHER = lazily("[a-z]"), lazily("[\u0370-\u03ff\u0400-\u04ff]")
_DIGIT_IN_WORD = lazily(r"[a-z][013457@$][a-z]{2}")
_TWINS = dict(zip("аеорсухіјѕԁһկοαενι", "aeopcyxijsdhkoaevi", strict=True))


def _table() -> Mapping[int, str | None]:
    from unicodedata import normalize

    table: dict[int, str | None] = dict.fromkeys(_UNSEEN)
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        plain = normalize("NFD", chr(code))[0]
        if plain.isascii():
            table[code] = plain.lower()
    table.update({ord(char): other for char, other in _QUOTES.items()})
    table.update({0xA0: " ", 0x202F: " ", 0x3000: " ", 0x131: "i", 0x142: "l", 0x141: "l"})
    table.update({0xF8: "o", 0xD8: "o", 0x111: "d", 0x110: "d", 0x2010: "-", 0x2011: "-"})
    table.update({0xD7: "x", 0xDF: "s"})
    return table


_known: list[Mapping[int, str | None]] = []


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    if not _known:
        _known.append(_table())
    return _TAGS().sub("", _widths(text).translate(_known[0]).lower())


def places(text: str, wanted: Iterable[int]) -> Mapping[int, int]:
    """Where in the text these places of the folded text are. Folding drops some characters and
    never adds one."""
    left = sorted(set(wanted), reverse=True)
    if text.isascii():
        return {place: place for place in left}
    found: dict[int, int] = {}
    table, kept = _known[0], 0
    for index, char in enumerate(text):
        number = ord(char)
        if (number in table and table[number] is None) or 0xE0000 <= number < 0xE1000:
            continue
        while left and left[-1] == kept:
            found[left.pop()] = index
        if not left:
            break
        kept += 1
    return found


def twins(folded: str) -> Iterator[str]:
    """The text with what only looks like Latin letters as these: letters of other scripts, where it
    mixes them, and digits within words."""
    if not folded.isascii() and _OTHER().search(folded) and _LATIN().search(folded):
        yield folded.translate(str.maketrans(_TWINS))
    if _DIGIT_IN_WORD().search(folded):
        yield folded.translate(str.maketrans("013457@$", "oieastas"))


def _widths(text: str) -> str:
    """Wide, bold and circled letters as plain ones, one for one."""
    return _WIDE().sub(lambda match: _plain_letter(match[0]), text.replace("\u0130", "i"))


def _plain_letter(char: str) -> str:
    from unicodedata import normalize

    plain = normalize("NFKC", char)
    return plain if len(plain) == 1 else char
