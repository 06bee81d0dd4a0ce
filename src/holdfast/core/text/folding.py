"""Texts made alike where only the way of writing differs.

Three strengths. `normal_form` is for "the very same text": case and white space go, nothing else,
so that `10²` never equals `102`. `fold` is for comparing names and words: also accents, widths,
ligatures, digits of other scripts, Arabic and Hebrew points. `letters` is what words are found in:
like `fold`, but ASCII keeps its case (`camelCase` is still to be split) and whatever separates
words has become a space.

What an accent is depends on the script. Latin and Greek lose theirs, Cyrillic only the stress marks
and the dots of ё (й, ї and ў are letters of their own), Arabic and Hebrew their points; kana keep
their voicing marks, Indic and South East Asian scripts their vowel signs.
"""

from __future__ import annotations

import unicodedata

from holdfast.core.text.patterns import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Form = Literal["NFC", "NFD", "NFKC"]

ZWNJ = "\u200c"
ZWJ = "\u200d"

# Unicode's canonical order sorts the marks of one letter in the square of their number: where a
# text has room for a great many, those beyond a number that no language reaches are cut.
_MARKS_MAX = 30
_MARKS_COUNTED_FROM_CHARS = 512
_MANY_MARKS = lazily(f"1{{{_MARKS_MAX + 1},}}")

_PASSES_MAX = 4
_TABLE_MAX = 50_000

_BEFORE = (("´", "'"), ("™", " "), ("℠", " "))
_LOOKALIKES = {
    **dict.fromkeys("‘’‚‛ʼʹ′‵ꞌ\u05f3", "'"),
    **dict.fromkeys("“”„‟\u05f4", '"'),
    **dict.fromkeys("‐‑‒–—―−·‧\u05be\u058a", "-"),
}
_VARIANTS = {
    "ae": "æ", "oe": "œ", "th": "þ", "ss": "ß", "o": "ø", "d": "đðɗ", "l": "ł", "h": "ħ", "i": "ı",
    "t": "ŧ", "b": "ɓ", "k": "ƙ", "y": "ƴ",
    "\u0435": "\u0451\u0450", "\u0438": "\u045d",  # Cyrillic e, i
    "\u0627": "\u0671\u0672\u0673",  # Arabic alef
    "\u064a": "\u0649\u06cc\u06cd\u06d0",  # yeh: alef maksura, Farsi yeh
    "\u0647": "\u0629\u06d5\u06c1\u06be\u06c3",  # heh: teh marbuta, the hehs of Urdu
    "\u0643": "\u06a9\u06aa",  # kaf: keheh
    "\u0902": "\u0901",  # Devanagari candrabindu: anusvara
}  # fmt: skip
_PLAIN = {variant: plain for plain, variants in _VARIANTS.items() for variant in variants}
_PLAIN["ẞ"] = "SS"

# Devanagari writes a nasal before a consonant of its own row as a letter or as a dot above.
_VIRAMA = "\u094d"
_NASAL = lazily(
    f"\u0919{_VIRAMA}(?=[\u0915-\u0918])|\u091e{_VIRAMA}(?=[\u091a-\u091d])"
    f"|\u0923{_VIRAMA}(?=[\u091f-\u0922])|\u0928{_VIRAMA}(?=[\u0924-\u0927])"
    f"|\u092e{_VIRAMA}(?=[\u092a-\u092d])"
)

# Marks; and tatweel, which stretches a word, and the tones of skin.
_DROPPED = lazily(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0730-\u074a\u08ca-\u08ff\u093c\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef\u0640\U0001f3fb-\U0001f3ff]"
)
_JOINERS = lazily(f"[{ZWNJ}{ZWJ}]")
# Symbols that are words: emoji and their relatives, also those newer than this Python's tables.
SYMBOLS = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
TAGS = "\U000e0020-\U000e007f"
_KEPT = lazily(f"[{SYMBOLS}{TAGS}{ZWNJ}{ZWJ}\u2800-\u28ff]")
_INVISIBLE = lazily("[\u00ad\u200b\u2060\ufeff]+")


def normal_form(text: str) -> str:
    """Equal for texts that differ in case, white space and invisible characters only."""
    if text.isascii():
        return " ".join(text.lower().split())
    text = _INVISIBLE().sub("", text)
    for _ in range(_PASSES_MAX):
        formed = compose(compose(text, "NFD").casefold(), "NFC")
        if formed == text:
            break
        text = formed
    return " ".join(text.split())


def fold(text: str) -> str:
    """Equal for texts that a reader would call the same words; punctuation and spaces stay."""
    if text.isascii():
        return text.lower()
    for _ in range(_PASSES_MAX):
        folded = _JOINERS().sub("", _translated(text, _FOLD)).lower()
        if folded == text:
            break
        text = folded
    return text


def letters(text: str) -> str:
    """Folded but for the case of ASCII; every separator beyond ASCII is a space or ASCII."""
    text = _translated(text, _LETTERS)
    return text if unicodedata.is_normalized("NFKC", text) else _translated(text, _LETTERS)


def compose(text: str, form: Form) -> str:
    """Unicode's normal form, in linear time whatever the text."""
    if len(text) > _MARKS_COUNTED_FROM_CHARS and not text.isascii():
        text = _without_excess_marks(text)
    return unicodedata.normalize(form, text)


def _translated(text: str, table: _Table) -> str:
    for char, instead in _BEFORE:
        text = text.replace(char, instead)
    text = compose(text, "NFKC").translate(table)
    return _NASAL().sub("\u0902", text) if _VIRAMA in text else text


def _without_excess_marks(text: str) -> str:
    is_mark = text.translate(_IS_MARK)
    kept: list[str] = []
    at = 0
    for run in _MANY_MARKS().finditer(is_mark):
        kept.append(text[at : run.start() + _MARKS_MAX])
        at = run.end()
    return "".join(kept) + text[at:] if kept else text


class _Table(dict[int, str]):
    """A table for `str.translate` that learns a character when it meets it."""

    def __missing__(self, code: int) -> str:
        value = self.look_up(chr(code))
        if len(self) < _TABLE_MAX:
            self[code] = value
        return value

    def look_up(self, char: str) -> str:
        raise NotImplementedError


class _IsMark(_Table):
    def look_up(self, char: str) -> str:
        return "1" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else "0"


class _Folds(_Table):
    def look_up(self, char: str) -> str:
        if _DROPPED().match(char):
            return ""
        if char.isascii() or _KEPT().match(char):
            return char
        if char in _LOOKALIKES:
            return _LOOKALIKES[char]
        category = unicodedata.category(char)
        if category == "Nd":
            return str(unicodedata.decimal(char))
        if category == "Cf":
            return ""
        return _letter(char) if category[0] in "LM" else char


class _Letters(_Folds):
    def look_up(self, char: str) -> str:
        folded = super().look_up(char)
        if folded != char or char.isascii() or _KEPT().match(char):
            return folded
        category = unicodedata.category(char)
        if category == "Cn":  # perhaps a letter of a script newer than this Python's tables
            return " " if ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF else char
        return " " if category[0] in "PSZC" else char


def _letter(char: str) -> str:
    """A letter without accent and, unless ASCII, without case."""
    lower = char.lower()
    plain = _PLAIN.get(char) or _PLAIN.get(lower)
    if plain:
        return plain[0].upper() + plain[1:] if plain.isascii() and char != lower else plain
    parts = unicodedata.normalize("NFD", char)
    if len(parts) > 1 and (parts[0] < "\u0400" or "\u0600" <= parts[0] < "\u0700"):
        return _letter(parts[0])
    return char if char.isascii() else char.casefold()


_IS_MARK = _IsMark()
_FOLD = _Folds()
_LETTERS = _Letters()
