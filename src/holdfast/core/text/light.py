"""Endings (and joined prefixes) that words lose in scripts whose languages inflect much.

No dictionary: a table of endings for each script, the longest that leaves enough of the word goes.
Wrong for a few words and right for most, and always the same for a note and for a query, so that a
word is found in its other cases and numbers. Scripts that are not in the table keep their words.
"""

from __future__ import annotations

from functools import cache

from holdfast.model.value import Value

LEFT_MIN = 3


class Endings(Value):
    """`prefixes` and `suffixes` go once, the longest first; `clitics` are single letters, and go
    as long as enough of the word is left."""

    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    clitics: str = ""


_GREEK = "ους εις ων ος ου οι ες ας ης ις ον α η ι ο ε"
_CYRILLIC = """
иями ями ами иях ого его ому ему ыми ими ях ах ой ей ий ый ій ом ем ою ею ов ев ів ие ье ия ья ию ью
ии ые их ых ую юю ая яя ое ее ам ям а е и й о у ы ь ю я і ї
"""
_ARABIC_PREFIXES = "وال بال كال فال لل ال"
_ARABIC_SUFFIXES = "ها ان ات ون ين يه ه ي"
_HEBREW = "ים ות"
_DEVANAGARI = """
ियां ियों ाओं ाएं ुओं ुएं ों ें ीं ां ाओ ाए ुओ ुए ो े ू ु ी ि ा
"""


def light_stem(word: str) -> str:
    """The word without the endings of its script; the script is that of its first letter."""
    endings = _endings_of(ord(word[0]) >> 7)
    if endings is None or len(word) <= LEFT_MIN:
        return word
    for prefix in endings.prefixes:
        if word.startswith(prefix) and len(word) - len(prefix) >= LEFT_MIN - 1:
            word = word[len(prefix) :]
            break
    for suffix in endings.suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= LEFT_MIN:
            word = word[: -len(suffix)]
            break
    start = 0
    while word[start] in endings.clitics and len(word) - start > LEFT_MIN:
        start += 1
    return word[start:]


@cache
def _endings_of(block: int) -> Endings | None:
    """By the 128 code points that a letter belongs to."""
    if block == 0x0380 >> 7:
        return Endings(suffixes=_list(_GREEK.replace("ς", "σ")))
    if block in (0x0400 >> 7, 0x0480 >> 7):
        return Endings(suffixes=_list(_CYRILLIC))
    if block in (0x0600 >> 7, 0x0680 >> 7):
        return Endings(prefixes=_list(_ARABIC_PREFIXES), suffixes=_list(_ARABIC_SUFFIXES))
    if block == 0x0580 >> 7:
        return Endings(suffixes=_list(_HEBREW), clitics="הוכלבמש")
    if block == 0x0900 >> 7:
        return Endings(suffixes=_list(_DEVANAGARI))
    return None


def _list(text: str) -> tuple[str, ...]:
    return tuple(sorted(text.split(), key=len, reverse=True))
