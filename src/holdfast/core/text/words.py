"""The words of a text: what an index holds of it, and what finds it again.

A text is cut at white space and each piece is analysed by itself, so that a piece means the same
wherever it stands and can be remembered. What a piece gives comes in two streams:

- *words*, in the order of the text, one token a word: `user_id` gives `user id`, `GitHub` gives
  `github`, 東京都 gives 東京 京都 都. Phrases live here.
- *others*, further forms by which one may look for the same piece: `userid`, `git hub`, and the
  word as it was written where its stem is not its beginning. They stand after all words, with
  marks between them, so that no phrase reaches across.

Scripts that are written without spaces, and Korean, whose particles join the word, give overlapping
pairs of characters and the last character alone: each character starts exactly one token, so that
one is found as a prefix, two as a token, and more as a phrase.

A token holds lower-case ASCII letters and digits and characters beyond ASCII, nothing else: a
tokenizer that keeps those together keeps every token whole. Signs that matter (`C++`, `C#`, `.NET`)
are held by their full-width twins, which folding takes from every text, so that no text forges one.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.core.text.compounds import PAIRED, compounds, form_of, plain_word, written
from holdfast.core.text.english import english_stem, is_irregular
from holdfast.core.text.light import light_stem
from holdfast.core.text.stop import is_english_stop_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.text.compounds import Tokens

MARK = "｜"

_REMEMBERED_MAX = 16_384
_REMEMBERED_CHARS_MAX = 48


def tokens(text: str) -> list[str]:
    """The index terms: the words in order, then, behind a mark, the other forms."""
    words, others = streams(text)
    if others and others[0] != MARK:
        words.append(MARK)
    return words + others


def streams(text: str) -> tuple[list[str], list[str]]:
    """The words in order, and the other forms by which they may be looked for."""
    words: list[str] = []
    others: list[str] = []
    for piece in text.split():
        found = _known(piece) if len(piece) <= _REMEMBERED_CHARS_MAX else _analysed(piece)
        words += found[0]
        others += found[1]
    return words, others


def of_piece(piece: str) -> tuple[Tokens, Tokens]:
    """Both streams of a text without white space."""
    return _known(piece) if len(piece) <= _REMEMBERED_CHARS_MAX else _analysed(piece)


def row(text: str) -> Tokens:
    """The words of a text in order, before stemming."""
    pieces = map(written, text.split())
    return tuple([word for p in pieces for item in compounds(p) for word in form_of(item).words])


def alternatives(piece: str) -> tuple[Tokens, ...]:
    """The rows of words, before stemming, any of which finds a text without white space."""
    return _asked(piece) if len(piece) <= _REMEMBERED_CHARS_MAX else _alternatives(piece)


def _alternatives(piece: str) -> tuple[Tokens, ...]:
    plain = plain_word(piece)
    if plain:
        return ((plain,),)
    forms = [form_of(compound) for compound in compounds(written(piece))]
    if len(forms) == 1:
        form = forms[0]
        rows = (form.asked,) if form.asked else (form.words, *form.wholes)
    else:
        rows = (tuple([word for form in forms for word in form.words]),)
    return tuple(filter(None, rows))


@lru_cache(_REMEMBERED_MAX)
def stem(word: str) -> str:
    """What an index holds in place of the word."""
    if not word.isascii():
        return light_stem(word)
    return english_stem(word) if word.isalpha() and not is_english_stop_word(word) else word


def _analysed(piece: str) -> tuple[Tokens, Tokens]:
    plain = plain_word(piece)
    if plain:
        return (stem(plain),), (plain,) if is_irregular(plain) else ()
    words: list[str] = []
    singles: list[str] = []
    inflected: list[str] = []
    groups: list[str] = []
    for compound in compounds(written(piece)):
        form = form_of(compound)
        if compound.lastgroup in PAIRED:
            words += form.words
            continue
        words += map(stem, form.words)
        singles += map(stem, form.parts)
        for whole in form.wholes:
            if len(whole) == 1:
                singles.append(stem(whole[0]))
            else:
                groups += (MARK, *map(stem, whole))
        rows = (form.words, form.parts, *form.wholes)
        inflected += [word for row in rows for word in row if _is_kept(word)]
    # No phrase has an inflected form in it, so those need no mark between them.
    return tuple(words), (*inflected, *((MARK, *singles) if singles else ()), *groups)


def _is_kept(word: str) -> bool:
    """Whether the word is held beside its stem, which does not begin like it."""
    return is_irregular(word) if word.isascii() else stem(word) != word


_known = lru_cache(_REMEMBERED_MAX)(_analysed)
_asked = lru_cache(1024)(_alternatives)
