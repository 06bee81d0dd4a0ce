"""What stands between two white spaces, taken apart: words with inner joints, numbers, symbols,
and runs of characters in scripts that do not part their words.

A compound is found by its words in a row, by the whole written together, and by the parts that
people look for alone (the `py` of `main.py`). Each compound is taken apart by itself.
"""

from __future__ import annotations

import re
import unicodedata
from operator import add

from holdfast.core.text.folding import SYMBOLS, TAGS, ZWJ, ZWNJ, letters
from holdfast.core.text.patterns import lazily
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Tokens = tuple[str, ...]

TOKEN_CHARS_MAX = 64
_JOINED_CHARS_MAX = 32
_PARTS_MAX = 12
_UNIT_CHARS_MAX = 8
_EXTENSION_CHARS_MAX = 8

# Scripts in pairs of characters, and those of them where a character may carry marks.
_SOLID = (
    "\u1100-\u11ff\u3005-\u3007\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7fb"
    "\uf900-\ufaff\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
_CLUSTERED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f"
    "\ua980-\ua9ff\uaa00-\uaadf"
)

# Runs and symbols; what is between them are words. Symbols that a joiner binds are one.
_RUNS = lazily(
    f"(?P<solid>[{_SOLID}]+)|(?P<clustered>[{_CLUSTERED}]+)"
    f"|(?P<symbol>[\U0001f1e6-\U0001f1ff]{{2}}|\U0001f3f4[{TAGS}]+"
    f"|[{SYMBOLS}](?:{ZWJ}[^\\x00-\\x7f])*)|(?P<stray>[{TAGS}]+)"
)
PAIRED = ("solid", "clustered")

_CHAR = r"[^\x00-/:-@\[-`{-\x7f]"
_JOINT = r"[.'-]|_+|(?<=[\u05d0-\u05ea])\"(?=[\u05d0-\u05ea])"
_WORDS = lazily(
    r"(?P<number>(?<![A-Za-z0-9.,'])[0-9]{1,3}(?:[,'][0-9]{3})+(?![0-9]))"
    r"|(?P<word>(?:(?<![^\s(\[{<\"'`,;:=/\\|])\.(?=[A-Za-z]))?"
    rf"{_CHAR}+(?:(?:{_JOINT}){_CHAR}+)*(?:\+\+(?![A-Za-z])|\#(?!{_CHAR}|_))?)"
)

_EDGES = ",;:!?()\"'"
_SIGNS = str.maketrans("+#.", "＋＃．")
_CLITIC = lazily("'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
_NEGATED = lazily("'t$", re.IGNORECASE)
_INNER_MARK = lazily("(?<=[\u0400-\u06ff])['\"](?=[\u0400-\u06ff])")
_INNER_ZWNJ = lazily(f"(?<=[\u0600-\u06ff]){ZWNJ}(?=[\u0600-\u06ff])")
_ELIDED = lazily("(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|all|dall|dell|nell|sull|un)'", re.IGNORECASE)
_JOINTS = lazily("[_'\"-]+")
_DECIMAL = lazily(r"([A-Za-z]*)([0-9]+(?:\.[0-9]+)+)([A-Za-z]*)")
_NUMBER_JOINED = lazily(r"[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EXTENSION = lazily(rf"\.([A-Za-z][A-Za-z0-9]{{1,{_EXTENSION_CHARS_MAX - 1}}})$")
_HUMPS = lazily("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ACRONYMS = lazily("[A-Z]{2,}s")


class Form(Value):
    """What a compound says, its words as they are written.

    `wholes` are other ways to write all of it, `parts` are worth finding alone; `asked` is set
    where only this finds it, and its plain words do not: who asks for `C++` does not mean C.
    """

    words: Tokens
    wholes: tuple[Tokens, ...] = ()
    parts: Tokens = ()
    asked: Tokens = ()


def written(piece: str) -> str:
    """The piece in the writing that compounds are found in."""
    return piece if piece.isascii() else letters(piece)


def plain_word(piece: str) -> str:
    """The one word that a piece is, if it is nothing else; what most pieces are, told quickly."""
    core = piece.strip(_EDGES).rstrip(_EDGES + ".")
    if not core.isalpha() or not core.isascii() or len(core) > TOKEN_CHARS_MAX:
        return ""
    has_no_humps = core.islower() or core.isupper() or core[1:].islower()
    return core.lower() if has_no_humps else ""


def compounds(piece: str) -> Iterator[re.Match[str]]:
    """The compounds of a text that `written` gave, in order."""
    at = 0
    if not piece.isascii():
        for run in _RUNS().finditer(piece):
            yield from _WORDS().finditer(piece, at, run.start())
            yield run
            at = run.end()
    yield from _WORDS().finditer(piece, at)


def form_of(compound: re.Match[str]) -> Form:
    text = compound[0]
    match compound.lastgroup:
        case "number":
            groups = tuple(re.split("[,']", text))
            return Form(words=("".join(groups),), wholes=(groups,))
        case "solid":
            return Form(words=pairs(text))
        case "clustered":
            return Form(words=pairs(units(text)))
        case "symbol":
            members = tuple(text.split(ZWJ)) if ZWJ in text else ()
            return Form(words=_cut(text), parts=members[:_PARTS_MAX])
        case "word":
            return _word(text)
        case _:
            return Form(words=())


def pairs(run: Sequence[str]) -> Tokens:
    """Every character with the next one, and the last alone."""
    return (*map(add, run, run[1:]), run[-1])


def units(run: str) -> list[str]:
    """The characters of a run, each with the marks that it carries."""
    found: list[str] = []
    for char in run:
        is_mark = unicodedata.category(char)[0] == "M"
        if is_mark and found and len(found[-1]) < _UNIT_CHARS_MAX:
            found[-1] += char
        else:
            found.append(char)
    return found


def is_paired(token: str) -> bool:
    """Whether the token comes from a run of characters in pairs."""
    run = _RUNS().match(token)
    return run is not None and run.lastgroup in PAIRED


def _word(text: str) -> Form:
    core = text.strip(".+#")
    words, parts = _split(_spoken(core))
    wholes: list[Tokens] = []
    humps = [hump for word in words for hump in _humps(word)]
    if len(words) < len(humps) <= _PARTS_MAX:
        wholes.append(_lowered(humps))
    if len(words) > 1 and _joins(core, words, parts):
        wholes.append(("".join(words).lower(),))
    if _ACRONYMS().fullmatch(core):
        parts.append(core[:-1])
    form = Form(words=_cut(*words), wholes=tuple(wholes), parts=_lowered(parts))
    return form if text == core else _signed(form, text, core)


def _spoken(core: str) -> str:
    """Without what is written inside a word and is none of it: `'s`, points, joiners."""
    if ZWNJ in core or ZWJ in core:
        core = _INNER_ZWNJ().sub("_", core).replace(ZWNJ, "").replace(ZWJ, "")
    if "'" in core or '"' in core:
        core = _NEGATED().sub("t", _CLITIC().sub("", _INNER_MARK().sub("", core)))
    return core


def _split(core: str) -> tuple[list[str], list[str]]:
    """The words of a compound, and what is worth finding alone beside them."""
    words: list[str] = []
    parts: list[str] = []
    for segment in _JOINTS().split(core):
        decimal = _DECIMAL().fullmatch(segment)
        if decimal is None:
            words += segment.split(".")
            continue
        before, digits, after = decimal.groups()
        numbers = digits.split(".")
        words += [word for word in (before if before not in "vV" else "", *numbers, after) if word]
        parts += [before + numbers[0]] if before else []
        parts += [numbers[-1] + after] if after else []
    extension = _EXTENSION().search(core)
    if extension:
        parts.append("．" + extension[1])
    return [word for word in words if word], parts


def _humps(word: str) -> list[str]:
    """`getURLOf` is three words, `8GB` two; a number in base 16 is one."""
    if not word.isascii() or (word.isalpha() and word[1:].islower()):
        return [word]
    humps: list[str] = _HUMPS().findall(word)
    return humps if sum(map(str.isdigit, humps)) <= 2 else [word]


def _joins(core: str, words: list[str], parts: list[str]) -> bool:
    """Whether people also write the compound as one word."""
    if len(words) > _PARTS_MAX or sum(map(len, words)) > _JOINED_CHARS_MAX:
        return False
    if all(map(str.isdigit, words)):
        return _NUMBER_JOINED().fullmatch(core) is not None
    return not (parts and parts[0][0] != "．") and _ELIDED().match(core) is None


def _signed(form: Form, text: str, core: str) -> Form:
    """A word with a sign that says which word it is: `C++`, `C#`, `.NET`."""
    if text[0] == ".":
        sign = "．" + form.words[0]
        asked = (sign,) if len(form.words) == 1 else ()
        return form.replace(parts=(*form.parts, sign), asked=asked)
    word = "".join(form.words)
    sign = word + text[len(core) :].translate(_SIGNS)
    if len(word) == 1:
        return Form(words=(sign,))
    if text.endswith("#"):
        return form
    return form.replace(parts=(*form.parts, sign), asked=(sign,))


def _lowered(words: Iterable[str]) -> Tokens:
    return tuple(map(str.lower, words))


def _cut(*words: str) -> Tokens:
    """Lower case, and none longer than an index takes well."""
    if all(len(word) <= TOKEN_CHARS_MAX for word in words):
        return _lowered(words)
    size = TOKEN_CHARS_MAX
    return tuple([w[at : at + size].lower() for w in words for at in range(0, len(w), size)])
