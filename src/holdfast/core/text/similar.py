"""How much two short texts say the same thing, and where to look for such texts.

Near duplicates differ in punctuation, spacing, a word, or the order of words. A changed number, a
negation, or a word turned into its opposite makes another statement of nearly the same words: such
a pair is never near, however much else it shares. The counting is in whole numbers, so that a pair
and its mirror image score the same to the last bit.
"""

from __future__ import annotations

from binascii import crc32
from collections import Counter
from functools import cache
from itertools import pairwise

from holdfast.core.text.folding import fold, normal_form
from holdfast.core.text.patterns import lazily
from holdfast.core.text.query import content_terms
from holdfast.core.text.stop import is_english_stop_word
from holdfast.core.text.words import row, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.core.text.compounds import Tokens

# From this on two texts are near duplicates.
NEAR_MIN = 0.75
_OTHER_STATEMENT_MAX = 0.5

_SKETCH_TERMS = 8
_SMALL_WEIGHT = 3
_WEIGHT = 10
_ORDER_SHARE = 0.1
_LETTERS_COMPARED_MAX = 2_000

_DIGITS = lazily("[0-9]+")
_NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_NEGATIONS = """
    not no never none nobody nothing neither nor cannot without dont doesnt didnt isnt arent wasnt
    werent wont wouldnt cant couldnt shouldnt hasnt havent hadnt mustnt aint nicht kein keine keinen
    keinem keiner nie niemals ohne pas jamais aucun aucune sans nunca jamás sin ningún ninguna não
    nem sem nenhum nenhuma non mai senza niet geen nooit zonder değil yok hayır không chưa chẳng
    tidak bukan bez inte aldrig utan не нет никогда без δεν δε μην όχι ποτέ χωρίς لا لم لن ليس ليست
    بدون غير לא אין בלי नहीं न मत बिना
"""
_NEGATION_SIGNS = lazily("[不没沒無无未莫勿않없못]|ない|なかった|なし|ません|ไม่|មិន")
_OPPOSITES = """
    on:off true:false yes:no with:without before:after enable:disable allow:deny always:never
    like:hate love:hate start:stop open:close add:remove left:right up:down min:max first:last
    more:less minimum:maximum above:below accept:reject public:private light:dark
"""
_OPPOSING = ("un", "dis", "in", "im", "ir", "non", "mis", "de")


def similarity(one: str, other: str) -> float:
    """From 0 (nothing in common) to 1 (the same words in the same order)."""
    if normal_form(one) == normal_form(other):
        return 1.0
    words = row(one), row(other)
    score = max(_by_words(*words), _by_letters(one, other))
    if _numbers_differ(*words) or _senses_differ(*words) or _signs(one) != _signs(other):
        return min(score, _OTHER_STATEMENT_MAX)
    return score


def sketch(text: str) -> list[str]:
    """A few index tokens that near duplicates of the text are likely to share: the longest, and
    among those of one length the same choice for every text."""
    terms = content_terms(text)
    return sorted(terms, key=lambda term: (-len(term), crc32(term.encode()), term))[:_SKETCH_TERMS]


def _by_words(one: Tokens, other: Tokens) -> float:
    bags = _weighed(one), _weighed(other)
    rows = Counter(pairwise(map(stem, one))), Counter(pairwise(map(stem, other)))
    order = _shared(*rows) if rows[0] or rows[1] else _shared(*bags)
    return (1 - _ORDER_SHARE) * _shared(*bags) + _ORDER_SHARE * order


def _weighed(words: Tokens) -> Counter[str]:
    bag: Counter[str] = Counter()
    for word in words:
        bag[stem(word)] += _SMALL_WEIGHT if is_english_stop_word(word) else _WEIGHT
    return bag


def _by_letters(one: str, other: str) -> float:
    """By three letters at a time, so that `data base` is close to `databases`."""
    if max(len(one), len(other)) > _LETTERS_COMPARED_MAX:
        return 0.0
    return _shared(_thirds(one), _thirds(other))


def _thirds(text: str) -> Counter[str]:
    letters = "".join(filter(str.isalnum, fold(text)))
    return Counter(letters[at : at + 3] for at in range(len(letters) - 2))


def _shared(one: Counter[Any], other: Counter[Any]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _numbers_differ(one: Tokens, other: Tokens) -> bool:
    """Whether each has a number that the other lacks."""
    left, right = _numbers(one), _numbers(other)
    return bool(left - right) and bool(right - left)


def _numbers(words: Tokens) -> Counter[str]:
    found = Counter(run.lstrip("0") for word in words for run in _DIGITS().findall(word))
    found.update(_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS)
    return found


def _senses_differ(one: Tokens, other: Tokens) -> bool:
    """Whether one says no where the other says yes."""
    if _denials(one) != _denials(other):
        return True
    left, right = set(map(stem, one)), set(map(stem, other))
    return _opposed(set(one), right - left) or _opposed(set(other), left - right)


def _denials(words: Tokens) -> int:
    return sum(word in _negations() for word in words)


def _signs(text: str) -> int:
    return 0 if text.isascii() else len(_NEGATION_SIGNS().findall(text))


def _opposed(words: set[str], others: set[str]) -> bool:
    """Whether one of the words turns one of the other stems into its opposite."""
    return any(
        not others.isdisjoint(_opposites().get(stem(word), ()))
        or any(stem(word[len(start) :]) in others for start in _OPPOSING if word.startswith(start))
        for word in words
    )


@cache
def _negations() -> frozenset[str]:
    return frozenset(fold(_NEGATIONS).split())


@cache
def _opposites() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = map(stem, pair.split(":"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found
