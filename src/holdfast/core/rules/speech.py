"""What of a message its writer said in their own words, sentence by sentence.

Left out are code, logs, pasted and quoted text, and whatever follows words that announce such text
("here's the log:", "translate this:"). A message counts up to a length, a line and a sentence up to
theirs; what is longer was not typed. Every pattern here works on one line at a time and repeats
nothing that could repeat in two ways, so that the time grows with the length and no faster.
"""

from __future__ import annotations

import re

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CHARS_MAX = 20_000
LINE_CHARS_MAX = 1_000
SENTENCE_CHARS_MAX = 400
SENTENCES_MAX = 120

# Stands for words that are somebody else's.
QUOTE = "\ufffc"

_SIGNS = str.maketrans({"’": "'", "‘": "'", "`": "`", "\u00a0": " ", "\ufffc": " "})
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_NOT_SPEECH = re.compile(
    r"^(?:\s{4,}|\t|\s*(?:>|[$%#]\s|[\[{<]|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|"
    r"[+-](?=[^\s\d])|@@|diff --|commit [0-9a-f]{7}|Traceback|File \"|at [\w.$]+\(|npm ERR!|"
    r"(?:select|insert|update|delete|create|drop|alter) [\w*,. ]{1,60} (?:from|into|set|table)\b|"
    r"[A-Za-z_.]*(?:Error|Exception|Warning):|[\w.-]+:\s*[\w.-]+$|[\w.]+\s*=\s*\S))",
    re.IGNORECASE,
)
_LOG_LEVEL = re.compile(r"\b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b\s*[\]:\[ ]")
_CODE_END = re.compile(r"(?:[;{}]|=>|\(\)|\):)\s*$")
_PASTED_LEAD = re.compile(
    r"\b(?:here'?s|here (?:is|are)|this is|these are|(?:the )?following|below|it says|reads?|"
    r"the (?:log|output|error|config|text|e-?mail|mail|message|transcript|file|code|result)s?\b|"
    r"translate|rewrite|rephrase|paraphrase|proofread|summari[sz]e|and this|fill in|compose|"
    r"(?:write|draft)(?= (?:me )?(?:a|an|the)\b)|an? example)\b[^:]{0,90}:(?!\S)",
    re.IGNORECASE,
)
_PASTED_NOUN = re.compile(
    r"^.{0,40}\b(?:log|output|error|config|text|e-?mail|message|transcript|file|code|result|trace|"
    r"ad|stack ?trace|snippet|dump)\b(?: (?:was|is|said|says))?\s*:?$",
    re.IGNORECASE,
)
_REWORK = re.compile(
    r"^\W*(?:(?:can|could|would) you )?(?:please )?(?:translate|rewrite|rephrase|paraphrase|"
    r"proofread|summari[sz]e|fill in|(?:write|draft|compose|make up|give "
    r"me)\b.{0,40}\b(?:e-?mail|mail|"
    r"letter|tweet|post|bio|story|poem|song|reply|essay|speech|script|dialog(?:ue)?|scene|"
    r"sentence|cover letter)\b.{0,60}(?:saying|that says|first person|:|\bwith \"))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}[”“]|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]")
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_END = re.compile(r"[.!?…。！？]+[\"')\]]*(?=\s|$)|\s[–—-]{1,2}\s")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|vs|no|approx|inc|ltd|e\.g|i\.e|a\.m|p\.m|[a-z])\.$",
    re.IGNORECASE,
)


class Sentence(Value):
    """`asks` where it ends as a question does."""

    text: str
    asks: bool = False


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a message that are its writer's own words, in their order."""
    found: list[Sentence] = []
    for line in own_lines(text):
        for piece, asks in _cut(_quotes_marked(line)):
            if len(piece) <= SENTENCE_CHARS_MAX:
                found.append(Sentence(text=piece, asks=asks))
            if len(found) == SENTENCES_MAX:
                return tuple(found)
    return tuple(found)


def own_lines(text: str) -> Iterator[str]:
    """The lines that are neither code nor log nor quoted, until something pasted is announced."""
    lines = text[:CHARS_MAX].translate(_SIGNS).splitlines()
    fenced = traced = False
    for place, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if line.lstrip().startswith("Traceback"):
            traced = True
        if not line.strip():
            traced = False
        if fenced or traced or len(line) > LINE_CHARS_MAX or not line.strip() or not _speech(line):
            continue
        if _REWORK.match(line):
            return
        lead = _PASTED_LEAD.search(line)
        if lead is not None:
            yield line[: lead.start()]
            return
        yield line
        if place + 1 < len(lines) and _PASTED_NOUN.match(line):
            return


def _speech(line: str) -> bool:
    return not (_NOT_SPEECH.match(line) or _LOG_LEVEL.search(line) or _CODE_END.search(line))


def _quotes_marked(line: str) -> str:
    """A quoted word or two are a way to name a thing; more are somebody's words."""

    def marked(found: re.Match[str]) -> str:
        return found[0] if len(found[0].split()) < 3 else QUOTE

    def plain(found: re.Match[str]) -> str:
        return found[1] if len(found[1].split()) < 4 else QUOTE

    return _INLINE.sub(plain, _QUOTED.sub(marked, line))


def _cut(line: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for end in _END.finditer(line):
        if end[0].startswith(".") and _ABBREVIATED.search(
            line[max(0, end.start() - 12) : end.start() + 1]
        ):
            continue
        piece = line[start : end.start()].strip()
        if piece:
            yield piece, "?" in end[0] or "？" in end[0]
        start = end.end()
    rest = line[start:].strip()
    if rest:
        yield rest, False
