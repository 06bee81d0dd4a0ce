"""What the user wants of whoever works for them: preferences, dislikes, standing orders.

An order counts as standing when it says so (always, never, from now on), or when it is about the
form of the work in general; an order about one thing ("use the second one") does not.
"""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import fact, raised, third, trimmed
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.guards import REQUEST
from holdfast.core.rules.lexicon import STYLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause

_ONCE = re.compile(
    r"\b(?:for now|today|tonight|this time|this once|just once|for once|right now|at the "
    r"moment|this one|that one|"
    r"the (?:first|second|third|other|next|last|same|old|new) (?:one|file|line|option|"
    r"version|page|test|paragraph|section)|"
    r"that line|this line|line \d+|in one word|i uploaded|the file i|tomorrow)\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|ever|from now on|from here on(?: out)?|from this point on|from "
    r"today on|going forward|in (?:the )?future|"
    r"henceforth|by default|as a rule|in general|every time|each time|whenever|at all times|"
    r"next time|everywhere|until further notice)\b",
    re.IGNORECASE,
)
_MARKERS = re.compile(
    r"^(?:from (?:now|here|this point|today) on(?:wards?| out)?|going forward|in (?:the "
    r")?future|henceforth|by default|as a rule|next time)\b[\s,:]*",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:it|this|that|these|those|him|her|them|you|me|us|one|so|not|to be|not to|where|how|"
    r"when|what|who|the idea|"
    r"the (?:first|second|third|other|last|latter|former|next|same)(?: one)?|which|more|"
    r"less|either|both|neither|yours|his|hers|"
    r"(?:that|this|the|your) [\w]+)\b(?!\w)",
    re.IGNORECASE,
)
_DEICTIC = re.compile(
    r"^(?:it|this|that|these|those|him|her|them|you|me|us|there|here|so)\b", re.IGNORECASE
)
_ADVERB = (
    r"(?:really |strongly |much |very much |definitely |generally |usually |just |also |do |"
    r"still |personally |tend to |absolutely |always )*"
)
_PREFER = re.compile(rf"^(?:i|we) {_ADVERB}prefer (?P<what>.+)", re.IGNORECASE)
_BARE_PREFER = re.compile(
    r"^(?:please )?prefer (?P<what>.+ (?:over|to|instead of|rather than) .+)", re.IGNORECASE
)
_RATHER = re.compile(
    r"^(?:i'd|i would|we'd) (?:much )?rather (?!not\b|say\b|die\b|be\b)(?P<what>.+)", re.IGNORECASE
)
_RATHER_THAN = re.compile(
    r"^(?:i'd|i would|we'd) (?:like|prefer|want) (?P<what>.+ (?:rather than|instead of|over) .+)",
    re.IGNORECASE,
)
_LIKE = re.compile(
    rf"^i {_ADVERB}(?:like|love) (?P<what>(?:my [\w-]+ .+|(?:to (?:have|get|see|keep)) .+|"
    r"(?:short|long|concise|terse|simple|clean|plain|detailed|small|minimal|"
    r"brief|strict|explicit|clear|numbered|dark|light|direct|honest|formal|informal|casual|"
    r"quiet|early|late) [\w -]+))$",
    re.IGNORECASE,
)
_DISLIKE = re.compile(
    rf"^i {_ADVERB}(?:hate|dislike|can't stand|don't like|detest|can't bear|loathe|do not "
    r"like|can not stand)(?: the)? (?P<what>.+)",
    re.IGNORECASE,
)
_NOT_FAN = re.compile(
    r"^i(?:'m| am) (?:not|no) (?:an?|a big|a great|much of a)? ?fan of (?P<what>.+)", re.IGNORECASE
)
_FAVOURITE = re.compile(
    r"^my (?:favou?rite|preferred|go-to) (?P<what>[\w -]{2,40} (?:is|are) .{2,60})", re.IGNORECASE
)
_HABIT = re.compile(
    r"^(?:i|we) (?P<when>always|never) (?P<what>(?:use|want|write|take|need|format|name|"
    r"book|put|keep|commit|deploy|order|choose|buy|"
    r"pick|sign|indent|capitalise|capitalize|prefer|squash|rebase|merge|work|round|quote|"
    r"read)s? .+)",
    re.IGNORECASE,
)
_HABIT_AFTER = re.compile(
    r"^(?:i|we) (?P<what>(?:use|want|write|read|format|name|sign|take|order|book|indent|"
    r"work) .+?),? (?P<when>always)$",
    re.IGNORECASE,
)
_WANT = re.compile(
    r"^(?:i|we) (?:only |do |really )?(?P<verb>want|need|don't want|do not want|don't "
    r"need)(?: any| to see| to have| you to)? (?P<what>.+)",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:use|write|answer|reply|respond|give|show|send|format|keep|make|add|ask|tell|call|"
    r"address|avoid|stick to|start|end|begin|finish|include|put|explain|"
    r"list|name|wrap|sign|translate|round|sort|cite|quote|check|run|test|commit|push|follow|"
    r"assume|speak|talk|provide|return|leave|indent|prefix|"
    r"capitali[sz]e|double-check|mark|only|skip|limit|spell|do|be|say|number|group|link|fix|"
    r"suggest|propose|mention|treat|refer|apply|remove|delete|touch|rewrite|"
    r"change|apologi[sz]e|repeat|summari[sz]e|invent|guess|confirm|deploy|merge|edit|mix|"
    r"split|prefer|work|book|read)"
)
_NEVER = re.compile(
    r"^(?:please |you (?:must|should) )?(?P<what>(?:always|never(?: ever)?) (?:please "
    rf")?(?:you )?(?:{_VERBS}\b.*|force[- ]push.*))",
    re.IGNORECASE,
)
_ALWAYS_STYLE = re.compile(
    r"^(?:please )?(?P<what>always [\w#+.-]+,? (?:not|never) [\w#+.-]+)$", re.IGNORECASE
)
_MAKE_SURE = re.compile(
    r"^(?:please )?(?:make sure|be sure|ensure)(?: that)?(?: you| to)? (?P<what>(?:always|"
    r"never) .+)",
    re.IGNORECASE,
)
_DONT = re.compile(
    r"^(?:please |also )?(?:you )?(?P<what>(?:don't|do not|stop|avoid|refrain from|no need "
    r"to|quit) (?:ever |please |using |adding )?\w.+)",
    re.IGNORECASE,
)
_DONT_VERB = re.compile(
    rf"^(?:don't|do not)(?: ever)? (?:{_VERBS})\b|^stop \w+ing\b|^(?:avoid|refrain from|quit) \w+",
    re.IGNORECASE,
)
_DO = re.compile(rf"^(?:please |you )*(?P<what>{_VERBS}\b.+)", re.IGNORECASE)
_KEEP = re.compile(
    r"^(?:please )?(?P<what>keep (?:your |the |all |my )?(?:answers?|replies|responses?|"
    r"explanations?|summaries|messages?|commit messages|functions?|lines?|code|"
    r"tone|commits|sentences|paragraphs|names|things|prs|pull requests|emails?)\b.+)",
    re.IGNORECASE,
)
_WHENEVER = re.compile(
    rf"^(?P<what>when(?:ever)? you [\w' ]{{2,50}},? (?:always |never |please |don't "
    rf")?(?:{_VERBS})\b.+)",
    re.IGNORECASE,
)
_NO_PLEASE = re.compile(
    r"^(?P<what>no (?!problem|worries|need|thanks|rush|hurry|idea|way|one|luck|"
    r"more\b)[\w# '/-]{2,50})$",
    re.IGNORECASE,
)
_STYLE_PLEASE = re.compile(
    r"^(?P<what>[\w#+ '/-]{2,50}?),? (?:please|only)(?:,? (?P<scope>for everything|always|"
    r"everywhere|in everything))?$",
    re.IGNORECASE,
)
_NOT_STYLE = re.compile(
    r"^(?P<what>[\w#+.-]+(?: [\w#+.-]+)?,? (?:not|over|instead of|rather than) [\w#+.-]+(?: "
    r"[\w#+.-]+)?)$",
    re.IGNORECASE,
)
_SHOULD = re.compile(
    r"^(?P<what>(?:all )?(?:the )?[\w-]+(?: [\w-]+)? should (?:always |never |be ).{2,80})",
    re.IGNORECASE,
)
_ENGLISH_SO = re.compile(
    r"^(?:i )?(?:want|like) to write in (?P<what>(?:british|american|plain|simple) \w+)",
    re.IGNORECASE,
)
_ADDRESS_AS = re.compile(r"^(?:please )?(?P<what>address me (?:as|by) .{2,40})$", re.IGNORECASE)
_TIMED = re.compile(r"^no [\w -]{2,30} (?:before|after|on|during|without) .{1,40}$", re.IGNORECASE)


def what_is_wanted(clause: Clause, said: date) -> Iterator[Finding]:
    """At most one wish of a clause; the most certain form first."""
    del said
    if _ONCE.search(clause.whole):
        return
    text = REQUEST.sub("", trimmed(clause.text)).strip()
    whole = REQUEST.sub("", trimmed(clause.whole)).strip() if clause.head else text
    found = _taste(text) or (_of_sentence(whole) if clause.head else None) or _order(text, clause)
    if found is not None:
        yield Finding(
            kind="preference", text=found[0], confidence=found[1], corrects=clause.corrects
        )


def _taste(text: str) -> tuple[str, float] | None:
    """What somebody likes or does not, said of oneself."""
    for pattern, verb, confidence in (
        (_PREFER, "Prefers", 0.95),
        (_BARE_PREFER, "Prefers", 0.85),
        (_RATHER_THAN, "Prefers", 0.85),
        (_RATHER, "Prefers to", 0.8),
        (_NOT_FAN, "Dislikes", 0.85),
        (_DISLIKE, "Dislikes", 0.8),
        (_LIKE, "Likes", 0.75),
    ):
        found = pattern.match(text)
        if found is None:
            continue
        what = found["what"]
        vague = (
            _DEICTIC.match(what)
            or (verb != "Prefers" and _VAGUE.match(what))
            or _VAGUE.fullmatch(what)
        )
        if vague or re.match(r"(?i)(?:it|this|that|these|those) (?:when|if)|^not\b|^n't\b", what):
            return None
        return f"{verb} {third(what)}", confidence
    found = _FAVOURITE.match(text)
    if found is not None:
        return f"Favourite {third(found['what'])}" if "favour" in text.lower() else raised(
            third(text[3:])
        ), 0.9
    return _habit(text)


def _of_sentence(text: str) -> tuple[str, float] | None:
    """Forms that reach over a comma: "whenever you write SQL, use …", "I write in …, always"."""
    text = _MARKERS.sub("", text)
    found = _WHENEVER.match(text) or _ADDRESS_AS.match(text)
    if found is not None:
        return fact(found["what"]), 0.85
    found = _HABIT_AFTER.match(text)
    if found is not None:
        return f"{found['when'].capitalize()} {third(found['what'])}", 0.8
    found = _STYLE_PLEASE.match(text)
    if (
        found is not None
        and STYLE.search(found["what"])
        and not _DO.match(text)
        and not _DONT.match(text)
    ):
        return raised(third(f"{found['what']} {found['scope'] or ''}".strip())), 0.75
    return None


def _habit(text: str) -> tuple[str, float] | None:
    found = _HABIT.match(text)
    if found is not None and not re.match(
        r"(?i)\w+ (?:it|this|that|him|them|you|her)\b", found["what"]
    ):
        return f"{found['when'].capitalize()} {third(found['what'])}", 0.8
    found = _ENGLISH_SO.match(text)
    if found is not None:
        return f"Wants to write in {found['what']}", 0.8
    found = _WANT.match(text)
    if found is None or _DEICTIC.match(found["what"]) or not STYLE.search(found["what"]):
        return None
    lasting = _STANDING.search(text) or found["verb"].lower() in ("don't want", "do not want")
    if not lasting and not re.search(
        r"(?i)\b(?:in|for) (?:all|every|my|the) (?:code|answers?|files?|summar\w+)|\bones?$",
        found["what"],
    ):
        return None
    if found["verb"].lower().startswith("d"):
        return f"Does not want {third(found['what'])}", 0.8
    return f"Wants {third(found['what'])}", 0.8


def _order(text: str, clause: Clause) -> tuple[str, float] | None:
    """A standing order, or one about the form of all work."""
    bare = _MARKERS.sub("", text)
    standing = bare != text or _STANDING.search(text) is not None
    for pattern, confidence in (
        (_NEVER, 0.9),
        (_MAKE_SURE, 0.85),
        (_ALWAYS_STYLE, 0.85),
        (_KEEP, 0.8),
    ):
        found = pattern.match(bare)
        if found is not None and not _about_one(found["what"]):
            return fact(found["what"]), confidence
    found = _DONT.match(bare)
    if found is not None and _DONT_VERB.match(found["what"]):
        return _forbidden(found["what"], clause, standing)
    found = _NO_PLEASE.match(bare)
    if found is not None and (STYLE.search(found["what"]) or _TIMED.match(found["what"])):
        return raised(found["what"]), 0.8
    if _styled(bare, standing):
        return fact(bare), 0.75
    found = _DO.match(bare)
    if found is None or (bare == text and _about_one(found["what"])):
        return None
    if standing:
        return fact(found["what"]), 0.85
    asked = "please" in clause.whole.lower() or REQUEST.match(clause.whole)
    if asked and _of_form(found["what"]):
        return fact(found["what"]), 0.7
    return None


def _styled(text: str, standing: bool) -> bool:
    """A bare phrase about form: "tabs not spaces", "British English please"."""
    found = _NOT_STYLE.match(text) or _SHOULD.match(text)
    if found is not None and STYLE.search(found["what"]):
        return not _DEICTIC.match(text) and (
            standing or " should " not in text.lower() or "always" in text.lower()
        )
    return bool(
        re.match(r"(?i)^(?:british|american|metric|plain|simple)\b[\w ,]{0,40}$", text)
        and standing | ("for everything" in text)
    )


def _forbidden(what: str, clause: Clause, standing: bool) -> tuple[str, float] | None:
    rest = re.sub(r"(?i)^(?:don't|do not|stop|avoid|refrain from|quit)(?: ever)? ", "", what)
    target = rest.split(" ", 1)[1] if " " in rest else ""
    if _DEICTIC.match(target) or re.search(r"(?i)\bthat (?:line|file|test|one)\b|\bthis\b", target):
        return None
    alone = bool(
        re.match(r"(?i)^stop \w+ing(?: all the time| so much| constantly)?$", what)
    ) and re.search(r"(?i)apolog|prais|flatter", what)
    if (
        standing
        or STYLE.search(rest)
        or alone
        or re.search(r"(?i)\bwithout (?:asking|telling|checking)", rest)
    ):
        return fact(what), 0.85 if standing or "please" in clause.whole.lower() else 0.75
    return None


def _about_one(what: str) -> bool:
    rest = re.sub(
        rf"(?i)^(?:always |never |ever |please |you |don't )*(?:{_VERBS}) ?", "", what, count=1
    )
    return (
        bool(_DEICTIC.match(rest))
        and not _STANDING.search(what)
        and not re.match(r"(?i)me\b", rest)
    )


def _of_form(what: str) -> bool:
    """Whether an order is about the form of the work, and not about one piece of it."""
    return bool(
        STYLE.search(what)
        and re.match(
            r"(?i)^(?:use|write|format|keep|answer|reply|respond|address|sign|explain|only)\b", what
        )
        and not re.search(
            r"(?i)\b(?:this|that|these|those|a|an|the (?!output|code|answers?)\w+|for "
            r"(?:the|my|our) \w+)\b",
            what,
        )
    )
