"""What failed and what cured it, and what somebody asked to remember."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import cut, fact, raised, third, trimmed
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.lexicon import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause

_CURED = r"(?:fixed|solved|resolved|cured|sorted)"
_BROKE = (
    r"(?:fail(?:ed|s|ing)?|br(?:oke|eaks?)|crash(?:ed|es|ing)?|hung|hangs|died|timed? out|times "
    r"out|stopped|refused|kept \w+ing|keeps \w+ing|ran out|errors?|exception|hash mismatch|"
    r"would not|wouldn't)"
)
_VAGUE = r"(?:it|that|this|everything|things|the (?:problem|issue|bug|error|thing)|all|them)"
_CAUSE_THEN = re.compile(
    rf"^(?P<problem>[^;]{{5,160}}?\b{_BROKE}\b[^;]{{0,120}}?)[,;:]? (?:and |but |so |then "
    rf")?(?P<cure>(?:[\w-]+ing|(?:a|an|the|switching|setting)) [\w ./'-]{{3,80}}?) (?:has "
    rf")?{_CURED}(?: {_VAGUE})?$",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"^(?P<problem>.{{5,100}}\b{_BROKE}\b.{{0,60}}?) until (?P<cure>(?:we|i) .{{5,80}})$",
    re.IGNORECASE,
)
_CURED_IT = re.compile(
    r"^(?P<cure>(?!(?:i|we|it|that|this|you|he|she|they|which|what|who)\b)[\w-]+ "
    rf".{{2,100}}?) (?:has )?(?:{_CURED}) (?P<problem>(?!(?:{_VAGUE}|one|two|three|some|a "
    rf"few)\b)(?:the )?\w.{{3,80}})$",
    re.IGNORECASE,
)
_CURE_ONLY = re.compile(
    rf"^(?P<cure>(?!(?:it|that|this)\b)(?:[\w-]+ing|the \w+) .{{2,100}}?) (?:(?:has "
    rf")?{_CURED} (?:it|that|this|everything|things|the (?:problem|issue|bug|error))|did "
    r"the trick|did it|made it work|solved the problem|helped)$",
    re.IGNORECASE,
)
_SHORT_CURE = re.compile(
    r"^(?P<cure>(?!(?:it|that|this)\b)[\w-]+ing [\w.-]+(?: [\w.-]+){0,3}) (?:did the trick|"
    r"fixed it|solved it|made it work)$",
    re.IGNORECASE,
)
_THE_FIX = re.compile(
    r"^(?:the|our|my) (?:fix|solution|cure|workaround) (?:was|is)(?: to)? (?P<cure>.{6,140})",
    re.IGNORECASE,
)
_SOLVED = re.compile(
    r"^(?:solved|fixed|found it|resolved|got it|figured it out)(?: it)?\s*[:,] (?P<cure>.{10,160})",
    re.IGNORECASE,
)
_ROOT = re.compile(
    r"^(?P<cure>(?:the )?root cause (?:was|is|turned out to be) .{6,140})", re.IGNORECASE
)
_GONE_ARE = re.compile(
    r"^(?P<cure>(?:disabled|removed|restarted|pinned|upgraded|downgraded|added|deleted|"
    r"replaced|set|changed|cleared|reverted|disabling|enabled) .{3,80}) and "
    r"(?P<problem>.{0,30}(?:errors?|crashes|failures|problem|warnings|issue) (?:is|are) "
    r"gone)$",
    re.IGNORECASE,
)

_FAILED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:i |we |i've |we've |last time i |last time we )*(?:tried|ran|attempted) "
        r"(?P<what>(?!(?:that|it|this|everything|all)\b).{4,100}?)(?:,? but (?:it |that "
        r")?(?:didn't|did not|doesn't|hasn't)(?: work| help|$).*|, no luck|,? to no avail|"
        r",? no effect|,? and (?:it |they |that )?(?:all )?(?:failed|didn't work|did not "
        r"work|died).*|,? didn't (?:work|help).*|,? without success)$",
        r"^(?P<what>(?!(?:it|that|this|which|he|she|they|you|i|we)\b)[\w-]+(?:ing| "
        r"\w+).{0,80}?) (?:didn't|did not|doesn't) (?:work|help|fix (?:it|anything)|change "
        r"anything|make a difference|solve (?:it|anything))\b.*$",
        r"^(?P<what>(?!(?:it|that|this)\b)[\w-]+(?:ing| \w+).{0,80}?) made no difference$",
        r"^(?P<what>rolled back|rebooted|reinstalled|restarted|downgraded|"
        r"upgraded)(?:\b.{0,40}?),? (?:still|no luck|no change|same)\b.*$",
        r"^no luck with (?P<what>.{4,80})$",
    )
)
_SAID_BY_ITSELF = re.compile(r"^(?:remember|don't forget|note|keep in mind)\b", re.IGNORECASE)

_REMEMBER = re.compile(
    r"^(?:(?:please|also|and|can you|could you) )*(?:remember(?: that|:|,)? (?!(?:to|when|"
    r"me|this|us|how|who|what|where|if|last|it|the (?:alamo|name|time|days|old)|you|him|her|"
    r"them)\b(?! that))|"
    r"don't forget(?: that|:|,)? (?!(?:to|it|me|this|about|him|her|them|us|when|your)\b)|"
    r"(?:make|take) a note(?: that|:|,| of)? (?!(?:this|it|that)$)|(?:please )?(?:note that|"
    r"note to self:?|note:|bear in mind that|keep in mind(?: that|:)?|for the record,?|mind "
    r"that|be aware that|fyi:?,?) )"
    r"(?P<what>.{6,300})$",
    re.IGNORECASE,
)
_THEN_REMEMBER = re.compile(
    r"^(?P<what>.{8,200}?)[,;]? (?:(?:please )?remember (?:that|this)|don't forget (?:that|"
    r"it)|keep that in mind|make a note of (?:that|it))$",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|has|have|had|must|can|can't|may|will|won't|needs?|runs?|goes|go|gets?|"
    r"takes?|changes?|resets?|redirects?|limits?|lives?|works?|uses?|belongs?|"
    r"comes?|starts?|ends?|opens?|closes?|replaces?|depends?|never|always|do|does|don't|"
    r"doesn't|keeps?|stays?|wants?|costs?|owns?|hates?|likes?|expires?|\w+s)\b",
    re.IGNORECASE,
)


_OF_SELF = re.compile(r"(?:i|i'm|i've|i'd|i'll|my|me|mine)\b", re.IGNORECASE)
_OF_PERSON = re.compile(
    r"(?:they|their|takes?|works?|prefers?|likes?|has|is|lives?|wants?|hates?)\b", re.IGNORECASE
)
_SELF_IS = re.compile(r"(?:i am|i'm|i've|i'd|i'll|we're|we've) \w", re.IGNORECASE)
_SELF_DOES = re.compile(
    r"i (?!am\b)(?P<how>(?:(?:always|never|usually|often|rarely|seldom|really|"
    r"also|still|only|just|mostly|generally|sometimes|currently|now|strongly|much) )*)"
    r"(?P<verb>[a-z']+)",
    re.IGNORECASE,
)
_SHORT = (("i've ", "I have "), ("i'd ", "I would "), ("i'll ", "I will "))
_DOES_OF = {
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
}
_PAST = word_set("""
    was were had did went came got gave took made said told knew thought saw left kept met ran sat
    began bought brought built caught chose drew drove ate fell felt found flew forgot grew heard
    held led lent let lost meant paid put read rode rose sent set shut slept spent spoke stood
    taught threw understood wore won wrote became broke sold used would could should might must may
    can can't will won't wouldn't couldn't shouldn't mustn't didn't wasn't weren't hadn't shall
    ought cannot
""")


def asked_to_remember(sentence: str) -> Finding | None:
    """The fact in a sentence that asks to keep it; None where it asks for no such thing."""
    what = what_to_keep(sentence)
    if what is None:
        return None
    text, about = cut(fact_kept(what)), is_of_the_person(what)
    return Finding(kind="remember", text=text, confidence=0.95, of_person=about)


def what_to_keep(sentence: str) -> str | None:
    """The words to keep of a sentence that asks for it, as they were said."""
    text = trimmed(sentence)
    found = _REMEMBER.match(text) or _THEN_REMEMBER.match(text)
    if found is None:
        return None
    what = trimmed(found["what"])
    of_self = _SELF_IS.match(what) or _SELF_DOES.match(what)
    return what if of_self or (_STATES.search(what) and len(what.split()) > 2) else None


def is_of_the_person(what: str) -> bool:
    """Whether it was said of the speaker, or reads as said of a person."""
    return _OF_SELF.match(what) is not None or _OF_PERSON.match(fact_kept(what)) is not None


def fact_kept(what: str) -> str:
    """The words as a fact: what the speaker does, somebody does."""
    for short, whole in _SHORT:
        what = f"{whole}{what[len(short) :]}" if what.lower().startswith(short) else what
    found = _SELF_DOES.match(what)
    if found is not None:
        rest = what[found.end() :]
        verb = _DOES_OF.get(found["verb"].lower()) or does(found["verb"])
        text = third(f"{found['how']}{verb}{rest}")
        return f"{text[:1].upper()}{text[1:]}"
    if re.match(r"(?i)^(?:i|we|i'm|we're)\b", what):
        return fact(what)
    the = re.sub(r"(?i)^our |^the ", lambda m: "the " if m[0].lower() != "the " else m[0], what)
    return raised(third(the))


def does(verb: str) -> str:
    """What somebody does, who says of themselves that they do it."""
    low = verb.lower()
    if low in _PAST or low.endswith("ed") or not low.isalpha():
        return verb
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def what_failed(clause: Clause, said: date) -> Iterator[Finding]:
    """Fixes with their cause, and attempts that did not help."""
    del said
    text = trimmed(clause.whole) if clause.head else ""
    if not text or _SAID_BY_ITSELF.match(text):
        return
    made = cure_in(text)
    if made is not None:
        yield made
        return
    for pattern in _FAILED:
        found = pattern.match(text)
        if found is not None and (pattern is _FAILED[0] or len(found["what"].split()) > 1):
            yield Finding(
                kind="failure", text=f"{raised(third(found['what']))} did not help", confidence=0.75
            )
            return
        if found is not None and pattern is _FAILED[3]:
            yield Finding(
                kind="failure", text=f"{raised(third(found['what']))} did not help", confidence=0.7
            )
            return


def cure_in(text: str) -> Finding | None:
    """The fix that a sentence tells of."""
    for pattern, confidence in (
        (_UNTIL, 0.85),
        (_CAUSE_THEN, 0.9),
        (_GONE_ARE, 0.85),
        (_CURED_IT, 0.85),
    ):
        found = pattern.match(text)
        if found is not None and len(found["cure"].split()) > 1:
            problem, cure = third(trimmed(found["problem"])), third(trimmed(found["cure"]))
            return Finding(
                kind="fix",
                text=raised(cut(f"{problem}: fixed by {cure}")),
                confidence=confidence,
                about=problem,
            )
    for pattern, confidence in (
        (_ROOT, 0.85),
        (_THE_FIX, 0.85),
        (_SOLVED, 0.85),
        (_SHORT_CURE, 0.75),
        (_CURE_ONLY, 0.75),
    ):
        found = pattern.match(text)
        if found is not None:
            cure = third(trimmed(found["cure"]))
            return Finding(
                kind="fix",
                text=raised(cut(cure if pattern is _ROOT else f"fixed by {cure}")),
                confidence=confidence,
            )
    return None
