"""What was decided, what must hold, and when things take place."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import cut, fact, raised, third, trimmed
from holdfast.core.rules.dates import moments, repeated
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.lexicon import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause
    from holdfast.core.rules.dates import When

_CHOICE_VERBS = (
    r"(?:use|go (?:with|for)|stick (?:with|to)|adopt|switch to|move to|drop|keep|book|pay|"
    r"stay with|standardi[sz]e on|"
    r"migrate to|ship|build|rent|buy|hire|release|support|rename|start with|focus on)"
)
_DECIDED = tuple(
    (re.compile(pattern, re.IGNORECASE), confidence)
    for pattern, confidence in (
        (
            r"^(?:i|we|the team|my team|our team)(?:'ve| have|'ve just| just| finally| all| "
            r"both)* (?:decided|resolved|agreed) (?:to |on |against |that |not "
            r")?(?P<what>.+)",
            0.95,
        ),
        (
            r"^(?:it(?:'s| is| was)|that's)(?: now| finally)? (?:decided|settled|agreed|"
            r"final)\b(?: that)?[,:]? (?P<what>.+)",
            0.9,
        ),
        (r"^(?:the |our |my )?(?:final )?decision(?: is| was|:|made:)+(?: to)? (?P<what>.+)", 0.95),
        (
            r"^(?:i|we|the team)(?:'ve| have)? (?:finally )?(?:settled (?:on|for)|chose|"
            r"chosen|picked|opted (?:for|to)|went with|ruled out|voted (?:for|to)|signed "
            r"off on) (?P<what>.+)",
            0.9,
        ),
        (
            r"^(?:we|i)(?:'ll| will|'re going to| are going to|'m going to)(?: now| just| "
            r"then)? (?P<what>(?:use|go (?:with|for)|stick (?:with|to)|adopt|switch to|move "
            r"to|drop|keep|standardi[sz]e on|migrate to) .+)",
            0.85,
        ),
        (rf"^let's(?: just| then)? (?P<what>(?:not )?{_CHOICE_VERBS} .+)", 0.8),
        (r"^let's (?P<what>take (?:the )?[A-Z].+)", 0.75),
        (
            r"^(?:we|i)(?:'re| are|'m| am) (?P<what>(?:going (?:with|for)|sticking (?:with|"
            r"to)|dropping|switching to|moving to|keeping|adopting|standardi[sz]ing on|not "
            r"going to (?:use|support)) .+)",
            0.85,
        ),
        (r"^(?:we|i) (?P<what>go (?:with|for) .+)", 0.75),
        (
            r"^we (?P<what>(?:won't|will not) (?:support|use|ship|build|do|offer|accept|"
            r"hire|renew) .+)",
            0.85,
        ),
        (r"^(?P<what>keep .{2,60} for all (?:our |my |the )?.+)", 0.75),
    )
)
_VAGUE_CHOICE = re.compile(
    r"^(?:not )?(?:(?:use|go (?:with|for)|stick (?:with|to)|adopt|switch to|move to|drop|"
    r"keep|book|going (?:with|for)|sticking (?:with|to)|"
    r"dropping|keeping|take|pay|start with|buy) )?(?:(?:it|this|that|these|those|him|her|"
    r"them|you|one|both|either|neither|nothing|anything|yes|no)\b|"
    r"(?:the )?(?:option|number|plan|variant|choice|version)? ?(?:[a-d]|\d|one|two|three)$|"
    r"(?:the )?(?:first|second|third|other|last|latter|former|next|same|cheaper|cheapest|"
    r"better|best|new|old|bigger|smaller|named)(?: (?:one|option|file|version|ones))?$)",
    re.IGNORECASE,
)
_NO_DECISION = re.compile(
    r"\b(?:yet|haven't|not decided|nothing|can't decide|need to decide|by the|whether|if we)\b",
    re.IGNORECASE,
)

_PLAIN_SUBJECT = (
    r"(?!(?:i|you|it|that|this|there|he|she|they|we|one|who|which|these|those|what|things?|"
    r"something|someone|somebody|everything|everyone|people)\b)"
    r"(?:the |our |my |a |an |all |any |every |each |no |old )?[\w'-]+(?: [\w'/-]+){0,5}?"
)
_MUST = re.compile(
    rf"^(?P<what>{_PLAIN_SUBJECT} (?:must(?: never| not| always| only)?|has to|have to|"
    r"needs to|need to(?= be)|may (?:not|only|never)|may have (?:at most|no more)|can't|"
    r"can only|"
    r"mustn't|should never|shall not|is not allowed to|are not allowed to|isn't allowed to|"
    r"is only allowed|are only allowed|are only possible|is only possible|have maximum|has "
    r"maximum|"
    r"is limited to|are limited to|is capped at|are capped at|should not exceed|mustn't "
    r"exceed|is forbidden|are forbidden|is prohibited|are prohibited)\b.{2,})",
    re.IGNORECASE,
)
_NOT_MUST = re.compile(
    r"\b(?:must|has to|have to) (?:be (?:a|an|the|it|wrong|kidding|joking|right|nice|hard|"
    r"great|fun|down|broken|some)\b|have (?:been|misunderstood|gone)\b|say\b|admit\b|go$|"
    r"see\b|talk$)",
    re.IGNORECASE,
)
_WE_MUST = re.compile(
    r"^(?:we|i(?= (?:can't|must not|may not) (?:spend|exceed|pay|accept|use)\b)) "
    r"(?P<what>(?:must(?: not| never| always)?|have to|need to|can't|can not|may not|can "
    r"only|may only|aren't allowed to|are not allowed to|never) "
    r"(?:use|support|keep|store|run|ship|comply|stay|accept|exceed|depend|release|pay|spend|"
    r"send|hire|deploy|add|install|host|log|collect|share|process|build with|sell|"
    r"buy|serve|import|export|charge|open|hand|meet|negotiate|fire|work (?:on|before|after)|"
    r"raise|publish|disclose|change the)\b.+)",
    re.IGNORECASE,
)
_ONLY_HAVE = re.compile(
    r"^(?:we|i) (?P<what>(?:only have|have only|have at most|have no more than) (?:\d|one|"
    r"two|three|an? )[\w. ]*.{2,60})",
    re.IGNORECASE,
)
_NOT_ALLOWED = re.compile(
    r"^(?:we're|we are|i'm|i am|they're) (?P<what>not allowed to (?!say\b|tell\b).+)", re.IGNORECASE
)
_LIMIT = re.compile(
    r"\b(?:no more than|at most|not more than|max(?:imum)?(?: of)?|up to|fewer than|less "
    r"than|at least|minimum(?: of)?|no longer than|no later than|under|below|"
    r"within|not exceed|more than)\s+(?:[$€£]\s?)?(?:\d|one\b|two\b|three\b|four\b|five\b|"
    r"six\b|ten\b)|(?:\d[\d.,]*\s?(?:[a-z$€£%]+)?)\s+(?:max(?:imum)?|tops|at most|or less|"
    r"or fewer|minimum)\b",
    re.IGNORECASE,
)
_BUDGET = re.compile(
    r"^(?P<what>(?:the |our |my |total |so |ad |overall )*(?:budget|limit|quota|cap|"
    r"spending limit)\b[\w ]{0,30} (?:is|are|of|:) ?(?:[$€£]?\s?\d).{0,60})",
    re.IGNORECASE,
)
_MAX_IS = re.compile(
    r"^(?P<what>(?:the |our )?(?:max|maximum|min|minimum)(?:imum)? [\w ]{2,40} (?:is|are) .{1,60})",
    re.IGNORECASE,
)
_HELD_ONLY = re.compile(
    r"^(?P<what>(?:the |our )?[\w-]+(?: [\w-]+){0,3} (?:is|are) (?:held|open|allowed|"
    r"possible|accepted|permitted) [\w ]{2,40} only)$",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^(?P<what>(?:nobody|no one|no [\w-]+(?: \w+)?) (?:may|can|must|is allowed to) .{3,})",
    re.IGNORECASE,
)
_WITHOUT = re.compile(
    r"^(?:so )?(?P<what>nothing (?:with|from|over|containing) .{2,50})", re.IGNORECASE
)
_OF_THE_MOMENT = re.compile(
    r"\b(?:go|talk|leave|run|sleep|eat|wait|hurry|think|stop|see)$", re.IGNORECASE
)

_NOT_EVENT = re.compile(
    r"^(?:see you|talk|i'll do|i will do|i'll (?:be|let|get|have|see|check|look|try|send)|"
    r"wait|it's|it is|is |was |until|maybe|what|not|the file is|"
    r"(?:today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday) is\b|back "
    r"(?:in|to)|since|let's|do it|remind|i was|we were|it was|i went|i had)",
    re.IGNORECASE,
)
_TAKES_PLACE = re.compile(
    r"\b(?:is|are|'s|'re|'m|starts?|begins?|ends?|closes?|opens?|leaves?|arrives?|departs?|"
    r"expires?|runs? out|moved|takes? place|due|goes live|go live|launch(?:es|ed)?|lands?|"
    r"has been (?:fixed|moved|set|scheduled|postponed)|got (?:moved|postponed|pushed)|was "
    r"(?:moved|postponed|pushed)|wants?|turns|meet|flying|flies|fly|visiting|arriving|"
    r"leaving|starting|travel(?:ling)?|lasts|scheduled)\b",
    re.IGNORECASE,
)
_LIMITING = re.compile(
    r"\b(?:must|has to|have to|needs to) (?:be )?(?:ready|done|finished|submitted|delivered|"
    r"in place|paid)\b.*\b(?:before|until|by)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\s+(?:on|by|at|in|until|till|before|for|from|to|the|is|are|and|around)$", re.IGNORECASE
)
_DATE_LEAD = re.compile(r"^(?:on|by|until|till|before|from|for|due|this coming)\b", re.IGNORECASE)
_AFTER_DATE = re.compile(r"^\s*(?:and|so|because|but|,|which|where|if|then)\b.*$", re.IGNORECASE)


def what_was_decided(clause: Clause, said: date) -> Iterator[Finding]:
    del said
    text = trimmed(clause.text)
    if _NO_DECISION.search(text):
        return
    for pattern, confidence in _DECIDED:
        found = pattern.match(text)
        if found is None:
            continue
        what = re.sub(r"(?i)^(?:to|on|that we|that|for|we'll|we will|we) ", "", found["what"])
        if _VAGUE_CHOICE.match(what) or len(what) < 4:
            return
        lead = _lead_of(text[: found.start("what")])
        yield Finding(
            kind="decision",
            text=cut(f"{lead}{third(what)}"),
            about=_rejected(what),
            confidence=confidence,
            corrects=clause.corrects,
        )
        return
    made = re.match(r"(?i)^(?:we|i)'ll (?:then )?(?P<what>use .+)", text)
    if made is not None and not _VAGUE_CHOICE.match(made["what"]):
        yield Finding(
            kind="decision",
            text=cut(f"Decided: {third(made['what'])}"),
            confidence=0.8,
            corrects=clause.corrects,
        )


def _rejected(what: str) -> str:
    """What a choice takes the place of: "Postgres instead of MySQL"."""
    found = re.search(
        r"(?i)\b(?:instead of|rather than|over|and not) (?:the )?(?P<old>[\w.+#-]+)", what
    )
    return found["old"] if found is not None else ""


def _lead_of(before: str) -> str:
    words = before.lower()
    for word in ("against", "ruled out", "not"):
        if words.rstrip().endswith(word):
            return f"Decided: {word} "
    return "Decided: "


def what_must_hold(clause: Clause, said: date) -> Iterator[Finding]:
    del said
    text = trimmed(clause.text)
    if _NOT_MUST.search(text) or (_OF_THE_MOMENT.search(text) and "must" not in text):
        return
    for pattern, confidence in (
        (_NOBODY, 0.85),
        (_MUST, 0.85),
        (_BUDGET, 0.9),
        (_MAX_IS, 0.85),
        (_ONLY_HAVE, 0.8),
        (_NOT_ALLOWED, 0.85),
        (_HELD_ONLY, 0.8),
        (_WITHOUT, 0.75),
        (_WE_MUST, 0.85),
    ):
        found = pattern.match(text)
        if found is not None:
            yield _constraint(found["what"], confidence, clause)
            return
    if (
        _LIMIT.search(text)
        and len(text.split()) <= 16
        and not re.match(r"(?i)^(?:i|you|he|she|they|it|that|there|if|we (?:had|made|saw))\b", text)
    ):
        yield _constraint(text, 0.75, clause)


def _constraint(what: str, confidence: float, clause: Clause) -> Finding:
    text = re.sub(r"(?i)^(?:our|the|so) ", "", what)
    return Finding(
        kind="constraint",
        text=raised(cut(third(text))),
        confidence=confidence,
        corrects=clause.corrects,
    )


def what_takes_place(clause: Clause, said: date) -> Iterator[Finding]:
    """An event with its day: the words as they were said, the day in place of "next Friday"."""
    text = trimmed(clause.text)
    if _NOT_EVENT.match(text) and not (
        clause.corrects and re.match(r"(?i)(?:it's|it is|they)\b", text)
    ):
        return
    found = [each for each in moments(text, said) if each.day is not None]
    again = repeated(text)
    if again is not None and re.search(r"(?i)\b(?:must|has to|have to|needs? to)\b", text):
        return
    if again is not None and EVENTS.search(text[: again.start]):
        yield Finding(
            kind="date", text=_repeating(text, again), confidence=0.75, corrects=clause.corrects
        )
        return
    if not found or again is not None:
        return
    first = found[0]
    event = text[: first.start].strip()
    if clause.corrects and re.match(r"(?i)^(?:it's|it is|they moved it|that's|it)\b", event):
        yield Finding(
            kind="date", text=first.text, confidence=0.7, corrects=True, on=first.day, about="it"
        )
        return
    if first.past and not re.search(r"(?i)\blaunched|moved\b", event):
        return
    if not _is_event(event, text[first.end :], text):
        return
    yield Finding(
        kind="date",
        text=_dated(text, found),
        confidence=0.85,
        corrects=clause.corrects,
        on=first.day,
    )


def _is_event(before: str, after: str, text: str) -> bool:
    words = before.split()
    if _LIMITING.search(text):
        return False
    named = EVENTS.search(before)
    if not words:
        return bool(EVENTS.match(after.strip()))
    if re.match(r"(?i)^(?:i|we)\b", before):
        return bool(
            re.match(
                r"(?i)^(?:i'm|i am|we're|we are|we|i) (?:meet|fly(?:ing)?|travel(?:ling)?|"
                r"leav(?:e|ing)|mov(?:e|ing)|launch(?:ed|ing)?|start(?:ing)?|visit(?:ing)?|"
                r"have (?:an? |the |our |my )|marry|getting married)",
                before,
            )
        )
    if re.search(
        r"(?i)\b(?:said|was|were|is fine|happened|before|since|used)\b", before
    ) and not re.search(r"(?i)was moved|moved to", before):
        return False
    return bool(named and (_TAKES_PLACE.search(before) or len(words) <= 6)) or bool(
        re.search(
            r"(?i)\b(?:due|expires?|begins?|starts?|ends?|launch(?:es)?|opens?|closes?|"
            r"leaves?|turns|visiting)\b",
            before,
        )
        and len(words) <= 10
    )


def _dated(text: str, found: list[When]) -> str:
    made, at = "", 0
    for place, when in enumerate(found):
        if place and when.start - at > 60:
            break
        lead = text[at : when.start]
        word = _DATE_LEAD.match(text[when.start : when.end])
        keep = (
            f"{word[0].lower()} "
            if word and word[0].lower() in ("due", "until", "by", "before", "from")
            else ""
        )
        made += (
            f"{_PREPOSITION.sub('', lead.rstrip()) if not keep else lead.rstrip()} "
            f"{keep}{when.text}"
        )
        at = when.end
    rest = text[at:]
    if rest.strip() and not _AFTER_DATE.match(rest) and len(rest.split()) <= 6:
        made += f" {rest}"
    return _event_text(made)


def _repeating(text: str, again: When) -> str:
    end = f" {again.time}" if again.time else ""
    repeats = re.sub(r"(?i)\s+at\s+[\d:]+\s*(?:[ap]m)?$", "", text[again.start : again.end])
    return _event_text(f"{text[: again.start]}{repeats}{end}")


def _event_text(text: str) -> str:
    said = re.sub(r"\s+", " ", fact(text)).strip(" ,")
    return raised(re.sub(r"(?i)^(?:the|our|my|their) ", "", said))
