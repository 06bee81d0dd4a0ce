"""English words to their stems, by the Porter2 rules (the successor of Porter's algorithm).

Two departures, both for the sake of short notes: words of three letters stay as they are (`AWS`,
`iOS`, `ids` are not plurals of anything), and irregular verbs and plurals meet their base form
(`bought`: `buy`), since "What did she buy?" is how people ask for it.
"""

from __future__ import annotations

from functools import cache, lru_cache

from holdfast.core.text.patterns import lazily

STEM_CHARS_MIN = 4
STEM_CHARS_MAX = 40

_R1_AFTER = (
    "arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers",
)  # fmt: skip
_WHOLE = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
_INVARIANT = frozenset(("news", "howe", "atlas", "cosmos", "bias", "andes"))
_KEEPS_ING = frozenset(("inn", "out", "cann", "herr", "earr", "even"))
_KEEPS_EED = frozenset(("proc", "exc", "succ"))

_IRREGULAR = """
arise:arose,arisen awake:awoke,awoken beat:beaten become:became begin:began,begun bend:bent
bite:bitten bleed:bled blow:blew,blown break:broke,broken breed:bred bring:brought build:built
burn:burnt buy:bought catch:caught child:children choose:chose,chosen cling:clung come:came
creep:crept criterion:criteria deal:dealt dig:dug draw:drew,drawn dream:dreamt drink:drank,drunk
drive:drove,driven eat:ate,eaten fall:fell,fallen feel:felt fight:fought find:found flee:fled
fly:flew,flown foot:feet forget:forgot,forgotten forgive:forgave,forgiven freeze:froze,frozen
get:got,gotten give:gave,given go:goes,went,gone goose:geese grow:grew,grown half:halves hang:hung
hear:heard hide:hidden hold:held index:indices keep:kept knife:knives know:knew,known learn:learnt
leave:left lend:lent loaf:loaves lose:lost make:made man:men matrix:matrices mean:meant meet:met
mistake:mistook,mistaken mouse:mice overcome:overcame pay:paid phenomenon:phenomena prove:proven
ride:rode,ridden ring:rang,rung run:ran say:said see:saw,seen seek:sought sell:sold send:sent
shake:shook,shaken shelf:shelves show:shown sing:sang,sung sink:sank,sunk sit:sat sleep:slept
slide:slid speak:spoke,spoken speed:sped spend:spent spin:spun stand:stood steal:stole,stolen
stick:stuck sting:stung strike:struck swear:swore,sworn sweep:swept swim:swam,swum swing:swung
take:took,taken teach:taught tear:tore,torn tell:told thief:thieves think:thought throw:threw,thrown
tooth:teeth understand:understood undertake:undertook,undertaken vertex:vertices wake:woke,woken
wear:wore,worn weep:wept wife:wives win:won withdraw:withdrew,withdrawn wolf:wolves woman:women
write:wrote,written
"""

_ENDINGS = (
    "", "d", "ed", "es", "g", "ing", "ng", "ly", "bly", "ully", "usly", "s", "ss", "ess", "ns",
    "ons", "ions", "tions", "ms", "nts", "ents", "r", "l", "y", "ty", "ity", "lity", "tivity",
    "ted", "ves", "ives", "zed", "ized",
)  # fmt: skip

_REGION = lazily("[aeiouy][^aeiouy]")
_SHORT_END = lazily("(?:^|.*[^aeiouy])[aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|^past$")
_VOWEL = lazily("[aeiouy]")
_STEP_1B = ("eedly", "ingly", "edly", "eed", "ing", "ed")
_DOUBLE = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

_STEP_2 = {
    "ization": "ize", "ational": "ate", "fulness": "ful", "ousness": "ous", "iveness": "ive",
    "tional": "tion", "biliti": "ble", "lessli": "less", "entli": "ent", "ation": "ate",
    "alism": "al", "aliti": "al", "ousli": "ous", "iviti": "ive", "fulli": "ful", "ogist": "og",
    "enci": "ence", "anci": "ance", "abli": "able", "izer": "ize", "ator": "ate", "alli": "al",
    "bli": "ble", "ogi": "og", "li": "",
}  # fmt: skip
_STEP_3 = {
    "ational": "ate", "tional": "tion", "alize": "al", "icate": "ic", "iciti": "ic", "ative": "",
    "ical": "ic", "ness": "", "ful": "",
}  # fmt: skip
_STEP_2_ENDINGS = tuple(_STEP_2)
_STEP_3_ENDINGS = tuple(_STEP_3)
_BEFORE_LI = frozenset("cdeghkmnrt")
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic",
)  # fmt: skip


def english_stem(word: str) -> str:
    """The stem of a word of lower-case ASCII letters."""
    word = _irregular().get(word, word)
    if not STEM_CHARS_MIN <= len(word) <= STEM_CHARS_MAX:
        return word
    if word in _WHOLE or word in _INVARIANT:
        return _WHOLE.get(word, word)
    marked = _mark_y(word)
    r1 = len(_start(marked)) or _region(marked, 0)
    r2 = _region(marked, r1)
    marked = _step_1c(_step_1b(_step_1a(marked), r1))
    marked = _step_4(_step_3(_step_2(marked, r1), r1, r2), r2)
    return _step_5(marked, r1, r2).replace("Y", "y")


def is_irregular(word: str) -> bool:
    """Whether the stem is that of another word."""
    return word in _irregular()


@lru_cache(1024)
def stems_beyond(prefix: str) -> tuple[str, ...]:
    """The stems, other than those that begin with the prefix, of words that begin with it.

    A prefix may reach into an ending: words that begin with `configurati` are held as `configur`.
    The endings are few that bring every such stem to light.
    """
    stems = {english_stem(prefix + ending) for ending in _ENDINGS}
    return tuple(sorted(found for found in stems if not found.startswith(prefix)))


@cache
def _irregular() -> dict[str, str]:
    pairs = (line.split(":") for line in _IRREGULAR.split())
    return {form: base for base, forms in pairs for form in forms.split(",")}


def _mark_y(word: str) -> str:
    """A `y` that is a consonant becomes `Y`: at the start, and after a vowel."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in "aeiouy"):
            letters[at] = "Y"
    return "".join(letters)


def _start(word: str) -> str:
    """The beginning, if it is one of those that count as a whole."""
    return next(filter(word.startswith, _R1_AFTER)) if word.startswith(_R1_AFTER) else ""


def _region(word: str, start: int) -> int:
    found = _REGION().search(word, start)
    return found.end() if found else len(word)


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")) or not word.endswith("s"):
        return word
    return word[:-1] if _VOWEL().search(word, 0, len(word) - 2) else word


def _step_1b(word: str, r1: int) -> str:
    ending = _ending(word, _STEP_1B)
    if not ending:
        return word
    rest = word[: -len(ending)]
    if ending.startswith("eed"):
        return rest + "ee" if len(rest) >= r1 and rest not in _KEEPS_EED else word
    if ending == "ing" and rest in _KEEPS_ING:
        return word
    if ending == "ing" and len(rest) == 2 and rest[1] in "yY" and rest[0] not in "aeiouy":
        return rest[0] + "ie"
    if not _VOWEL().search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLE):
        return rest if len(rest) == 3 and rest[0] in "aeo" else rest[:-1]
    if r1 >= len(rest) and _SHORT_END().match(rest):
        return rest + "e"
    return rest


def _step_1c(word: str) -> str:
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in "aeiouy":
        return word[:-1] + "i"
    return word


def _step_2(word: str, r1: int) -> str:
    ending = _ending(word, _STEP_2_ENDINGS)
    rest = word[: -len(ending)]
    if not ending or len(rest) < r1:
        return word
    if ending in ("ogi", "ogist") and not rest.endswith("l"):
        return word
    if ending == "li" and rest[-1:] not in _BEFORE_LI:
        return word
    return rest + _STEP_2[ending]


def _step_3(word: str, r1: int, r2: int) -> str:
    ending = _ending(word, _STEP_3_ENDINGS)
    rest = word[: -len(ending)]
    if not ending or len(rest) < (r2 if ending == "ative" else r1):
        return word
    return rest + _STEP_3[ending]


def _step_4(word: str, r2: int) -> str:
    ending = _ending(word, _STEP_4)
    rest = word[: -len(ending)]
    if not ending or len(rest) < r2 or (ending == "ion" and rest[-1:] not in ("s", "t")):
        return word
    return rest


def _ending(word: str, endings: tuple[str, ...]) -> str:
    """The first of the endings, the longest first, that the word has."""
    if not word.endswith(endings):
        return ""
    return next(ending for ending in endings if word.endswith(ending))


def _step_5(word: str, r1: int, r2: int) -> str:
    if word.endswith("e"):
        at = len(word) - 1
        gone = at >= r2 or (at >= r1 and not _SHORT_END().match(word[:-1]))
        return word[:-1] if gone else word
    if word.endswith("ll") and len(word) > r2:
        return word[:-1]
    return word
