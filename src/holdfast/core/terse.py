"""What could be better about a note: advice, never a refusal.

A note is one dated fact in one line. Longer text costs every later session, a preamble says
nothing, two facts cannot be forgotten one by one, and "tomorrow" means another day on the day
after.
"""

from __future__ import annotations

import re

from holdfast.model.entry import Advice

NOTE_CHARS = 100
ARTIFACT_CHARS = 500
LOOKED_AT_CHARS = 2_000  # whatever can be said of a note shows there
ABBREVIATION_CHARS = 8

_PREAMBLE = re.compile(
    r"\s*(?:please\s+)?(?:(?:the\s+)?user\s+(?:has\s+)?(?:said|says|told|mentioned|stated|noted|asked|"
    r"wants?\s+me\s+to\s+remember)|(?:i|we)\s+(?:have\s+)?(?:learned|noted|noticed|found\s+out|"
    r"discovered)|note(?:\s+to\s+self)?\s*:|remember(?:\s+that|\s*:)|it\s+(?:should\s+be\s+noted|"
    r"is\s+(?:important|worth\s+noting))|important\s*:|fyi\b)",
    re.IGNORECASE,
)
_TIME_BOUND = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|now|currently|at\s+the\s+moment|soon|recently|"
    r"(?:this|next|last)\s+(?:week|month|quarter|year|sprint|monday|tuesday|wednesday|thursday|"
    r"friday|saturday|sunday|morning|afternoon|evening)|(?:in|for)\s+(?:a|an|two|three|\d+)\s+"
    r"(?:hours?|days?|weeks?|months?|years?)|until|as\s+of|deadline|due)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\(\d{4}-\d{2}-\d{2}\)|\b\d{4}-\d{2}-\d{2}\b")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z\"'(\d])|[。！？](?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|mr|mrs|ms|dr|st|[a-z]))\.$", re.IGNORECASE
)
_JOIN = re.compile(
    r";\s|\s+(?:also|additionally|furthermore|moreover)\b|\n\s*(?:[-*]|\d+[.)])\s", re.IGNORECASE
)


def advice_on(text: str) -> tuple[Advice, ...]:
    """What to do better next time, most useful first."""
    found: list[Advice] = []
    chars = len(text)
    if chars > ARTIFACT_CHARS:
        found.append(
            _advice(
                "note_is_document",
                f"{chars} characters: keep the text as an artifact (artifact_save, or holdfast "
                "artifact save), and note one line that names its id",
            )
        )
    elif chars > NOTE_CHARS:
        found.append(
            _advice(
                "note_long",
                f"{chars} characters: a note of up to {NOTE_CHARS} is read sooner and costs less",
            )
        )
    text = text[:LOOKED_AT_CHARS]
    preamble = _PREAMBLE.match(text)
    if preamble:
        found.append(
            _advice("note_preamble", f"leave out {preamble[0].strip()!r}: say the fact itself")
        )
    if _facts(text) > 1:
        found.append(
            _advice(
                "note_many_facts",
                "several facts in one note: save each, so that each can be found and removed alone",
            )
        )
    bound = _TIME_BOUND.search(text)
    if bound and not _DATED.search(text):
        found.append(
            _advice(
                "note_undated",
                f"{bound[0]!r} will mean something else later: add the date as (YYYY-MM-DD)",
            )
        )
    return tuple(found)


def _facts(text: str) -> int:
    ends = sum(
        not _ABBREVIATION.search(text[max(0, m.end() - ABBREVIATION_CHARS) : m.end()])
        for m in _SENTENCE_END.finditer(text)
    )
    return 1 + ends + len(_JOIN.findall(text))


def _advice(code: str, message: str) -> Advice:
    return Advice(code=code, message=message)
