"""The rules as a reviewer: from what was said in a session and what is known to suggestions.

The session is read once, in its order. What is said later about the same thing takes the place of
what was said before. Facts about the user come from the user's own words only; what an assistant or
a tool said is kept only as a fix that the user confirmed, with the trust of its source.
"""

from __future__ import annotations

import re

from holdfast.core.rules import guards
from holdfast.core.rules.around import people, project, tools
from holdfast.core.rules.clauses import Clause, clauses, cut, raised, third, trimmed
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.gone import what_is_gone
from holdfast.core.rules.plans import what_must_hold, what_takes_place, what_was_decided
from holdfast.core.rules.settle import Held, settled
from holdfast.core.rules.speech import Sentence, sentences
from holdfast.core.rules.wants import what_is_wanted
from holdfast.core.rules.who import about_the_user
from holdfast.core.rules.work import asked_to_remember, cure_in, what_failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from holdfast.core.rules.finding import Rule
    from holdfast.model.review import Known, Said, Suggestion

# The first that finds something in a clause has it.
_RULES: tuple[Rule, ...] = (
    about_the_user,
    what_is_gone,
    people,
    what_failed,
    what_was_decided,
    what_is_wanted,
    what_takes_place,
    what_must_hold,
    project,
    tools,
)

_CONFIRMS = re.compile(
    r"^(?:(?:great|nice|perfect|yes|yep|yeah|awesome|ok|okay|cool|thanks|wow|excellent|"
    r"super)[,.! ]+)*(?:(?:that|it|this)(?:'s)? "
    r"(?:worked|works|did it|fixed it|solved it|did the trick|is fixed|fixed)|works now|all "
    r"green|fixed(?: it)?|solved)\b",
    re.IGNORECASE,
)
_TELLS_CURE = re.compile(
    r"^(?P<cure>.{3,160}?) (?:has )?(?:fixed|solved|resolved|cured) (?P<what>it|this|the "
    r"(?:problem|issue|error)|the [\w ./-]{3,80})(?:: (?P<why>.{5,200}))?$",
    re.IGNORECASE,
)
_BREAKS = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|err(?:or|ors|!)?|crash(?:es|ed|ing)?|broken|breaks|broke|"
    r"doesn't work|didn't work|not working|5\d\ds?(?:ing)?|"
    r"timeout|timed out|denied|exception|hangs|hung|pager|black screen|no luck|still)\b",
    re.IGNORECASE,
)
_SKILL_TURNS_MIN = 4
_STEPS_MAX = 8
_STEP_CHARS_MAX = 160


def review(said: Sequence[Said], known: Sequence[Known]) -> tuple[Suggestion, ...]:
    """What the rules would change. The same input gives the same answer, everywhere."""
    return settled(_found(said), known)


def _found(said: Sequence[Said]) -> Iterator[Held]:
    playing = False
    turn = 0
    task: list[Said] = []
    for message in said:
        if message.role != "user" or message.origin in ("tool", "web"):
            task.append(message)
            continue
        turn += 1
        task.append(message)
        if guards.ends_play(message.text):
            playing = False
        elif guards.begins_play(message.text):
            playing = True
        if playing or guards.tries_to_command(message.text):
            continue
        cured: Finding | None = None
        for finding in in_message(message):
            cured = finding if finding.kind == "fix" else cured
            yield Held(finding=finding, evidence=(message,), turn=turn)
        confirmed = None if cured else _confirmed(task)
        if confirmed is not None:
            yield confirmed.replace(turn=turn)
            cured = confirmed.finding
        if cured is not None:
            skill = _skill(task, cured)
            if skill is not None:
                yield skill.replace(turn=turn)
            task = []


def in_message(message: Said) -> Iterator[Finding]:
    """What the rules find in one message of the user, read by itself."""
    day = (message.said_at or message.at).date()
    for sentence in sentences(message.text):
        why = guards.left_alone(sentence)
        if why:
            continue
        asked = asked_to_remember(sentence.text)
        if asked is not None:
            yield asked
            continue
        yield from _in_sentence(sentence, day)


def _in_sentence(sentence: Sentence, day: date) -> Iterator[Finding]:
    gone: Finding | None = None
    for clause in clauses(sentence.text):
        for finding in _in_clause(clause, day):
            if finding.kind == "gone":
                gone = finding
            else:
                yield finding if gone is None else _instead(finding, gone)
                gone = None
    if gone is not None:
        yield gone


def _instead(finding: Finding, gone: Finding) -> Finding:
    """ "I no longer want long explanations, I want short ones"."""
    last = gone.about.split()[-1]
    text = re.sub(r"\bones?$", lambda _: last, finding.text)
    return finding.replace(text=text, about=finding.about or gone.about, corrects=True)


def _in_clause(clause: Clause, day: date) -> Iterator[Finding]:
    for rule in _RULES:
        found = list(rule(clause, day))
        if found:
            yield from found
            return


def _confirmed(task: list[Said]) -> Held | None:
    """A fix that an assistant told of and the user, in the message after it, confirmed."""
    answer = task[-1]
    if len(task) < 2 or not _CONFIRMS.match(answer.text) or guards.left_alone(_first(answer)):
        return None
    told = task[-2]
    if told.role != "assistant" or guards.tries_to_command(told.text):
        return None
    for sentence in sentences(told.text):
        fix = _told_cure(sentence)
        if fix is not None:
            return Held(finding=fix, evidence=(told, answer), turn=0)
    return None


def _first(message: Said) -> Sentence:
    return next(iter(sentences(message.text)), Sentence(text="", asks=True))


def _told_cure(sentence: Sentence) -> Finding | None:
    if guards.holds_secret(sentence.text) or sentence.asks:
        return None
    text = trimmed(
        re.split(r"(?i)^[\w ]{3,40} (?:passed|succeeded|works now): ", sentence.text)[-1]
    )
    found = _TELLS_CURE.match(text)
    if found is None:
        return cure_in(text)
    problem = found["why"] or (
        ""
        if re.match(r"(?i)^(?:it|this|the (?:problem|issue|error))$", found["what"])
        else found["what"]
    )
    if not problem:
        return None
    said = f"{third(problem)}: fixed by {third(found['cure'])}"
    return Finding(kind="fix", text=raised(cut(said)), confidence=0.8, about=problem)


def _skill(task: list[Said], fix: Finding) -> Held | None:
    """How a problem was worked on, where it took several turns and something failed on the way."""
    start = next(
        (place for place, each in enumerate(task) if _BREAKS.search(each.text[:2_000])), None
    )
    if start is None:
        return None
    part = task[start:]
    own = [each for each in part if each.role == "user"]
    failed = [each for each in part[1:] if _BREAKS.search(each.text[:2_000])]
    if len(own) < _SKILL_TURNS_MIN or not failed:
        return None
    steps = [step for each in own for step in _steps(each)][:_STEPS_MAX]
    if len(steps) < 2:
        return None
    body = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    finding = Finding(
        kind="skill",
        text=f"{fix.text}\n\n{body}",
        confidence=0.6,
        subject=_slug(fix),
    )
    return Held(finding=finding, evidence=tuple(part), turn=0)


def _steps(message: Said) -> Iterator[str]:
    for sentence in sentences(message.text):
        if (
            not guards.left_alone(sentence)
            and not _CONFIRMS.match(sentence.text)
            and len(sentence.text.split()) > 2
        ):
            yield third(trimmed(sentence.text))[:_STEP_CHARS_MAX]


def _slug(fix: Finding) -> str:
    words = re.findall(r"[a-z0-9]+", (fix.about or fix.text).lower())
    kept = [
        word
        for word in words
        if word
        not in (
            "the",
            "a",
            "an",
            "with",
            "by",
            "fixed",
            "because",
            "it",
            "was",
            "were",
            "to",
            "of",
            "and",
            "on",
        )
    ]
    return "-".join(kept[:5])[:64].strip("-")
