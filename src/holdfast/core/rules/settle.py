"""Findings held against each other and against what is known, and made into suggestions."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import FRAME, cut
from holdfast.core.rules.finding import SINGLE, Finding
from holdfast.core.text import fold
from holdfast.core.text.stop import is_english_stop_word
from holdfast.core.text.words import streams
from holdfast.model.review import Suggestion
from holdfast.model.times import to_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.core.rules.finding import FindingKind
    from holdfast.model.entry import Origin, Trust
    from holdfast.model.review import Known, Said

# Where each kind of finding is kept: the strategy, and the kind that it has there.
HOMES: dict[FindingKind, tuple[str, str]] = {
    **dict.fromkeys(
        ("name", "role", "company", "place", "timezone", "personal", "preference"),
        ("profile", "USER"),
    ),
    **dict.fromkeys(("contact", "tool", "remember"), ("profile", "MEMORY")),
    "decision": ("records", "decision"),
    "constraint": ("records", "constraint"),
    "project": ("records", "project_fact"),
    "fix": ("records", "fix"),
    "failure": ("records", "failure"),
    "date": ("narrative", ""),
    "skill": ("skills", ""),
}
WHY: dict[FindingKind, str] = {
    "name": "said who they are",
    "role": "said what they do",
    "company": "said who they work for",
    "place": "said where they are",
    "timezone": "said their time zone",
    "personal": "said it of themselves",
    "preference": "said what they want",
    "decision": "said what was decided",
    "constraint": "said what must hold",
    "project": "said how the project is",
    "date": "said when it takes place",
    "contact": "said whom to ask",
    "tool": "said what they work with",
    "fix": "told what cured a failure",
    "failure": "told what did not help",
    "remember": "asked to remember it",
    "gone": "said that it is no longer so",
    "skill": "a task of several steps with failures on the way",
}
SUBJECT_CHARS_MAX = 80
_SAME_TURNS = 2
_NEAR_TURNS = 6

_SLOTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("name", r"^(?:user(?:'s)? )?name\b|^(?:is )?called "),
        ("role", r"^role\b|^works as\b|^job\b|^profession\b"),
        ("company", r"^(?:company|employer)\b|^works (?:at|for)\b"),
        ("place", r"^(?:place|location|home|city)\b|^(?:lives|based|located) (?:in|at)\b"),
        ("timezone", r"^time ?zone\b"),
    )
)
_RANK: dict[str, int] = {"high": 2, "medium": 1, "low": 0}


class Held(Value):
    """A finding with the messages that it rests on, and the turn of its session."""

    finding: Finding
    evidence: tuple[Said, ...]
    turn: int


def settled(found: Iterable[Held], known: Sequence[Known]) -> tuple[Suggestion, ...]:
    kept: list[Held] = []
    for held in found:
        _take(kept, held)
    suggestions = (_suggestion(held, known) for held in kept)
    return tuple(each for each in suggestions if each is not None)


def words_of(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    own = " ".join(
        word
        for word in re.findall(r"[^\s,;:.!?()\"]+(?:[.:/@][^\s,;:!?()\"]+)*", fold(text))
        if word not in FRAME
    )
    return frozenset(word for word in streams(own)[0] if not is_english_stop_word(word))


def _take(kept: list[Held], new: Held) -> None:
    """Put a finding among those of the session, in place of what it corrects."""
    finding = new.finding
    if finding.kind == "gone":
        about = words_of(finding.about)
        kept[:] = [each for each in kept if not (about and about <= words_of(each.finding.text))]
        kept.append(new)
        return
    for place in range(len(kept) - 1, -1, -1):
        old = kept[place]
        if old.finding.kind != finding.kind:
            continue
        if finding.kind == "date" and finding.about == "it":
            new = _moved(old, new)
            del kept[place]
            break
        if (
            words_of(old.finding.text) == words_of(finding.text)
            and old.finding.text.lower() == finding.text.lower()
        ):
            kept[place] = old.replace(evidence=_joined(old.evidence, new.evidence))
            return
        if old.turn == new.turn and words_of(finding.text) <= words_of(old.finding.text):
            return
        if _supersedes(old, new):
            del kept[place]
            new = new.replace(evidence=_joined(old.evidence, new.evidence))
            break
    if new.finding.about == "it":
        return
    kept.append(new)


def _joined(old: tuple[Said, ...], new: tuple[Said, ...]) -> tuple[Said, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def _moved(old: Held, new: Held) -> Held:
    """The same event on another day: "actually it's Sunday"."""
    day = new.finding.text.split()[0]
    text = re.sub(r"\d{4}-\d\d-\d\d", day, old.finding.text, count=1)
    return Held(
        finding=old.finding.replace(text=text, corrects=True, on=new.finding.on),
        evidence=_joined(old.evidence, new.evidence),
        turn=new.turn,
    )


def _supersedes(old: Held, new: Held) -> bool:
    before, after = old.finding, new.finding
    if after.kind in SINGLE:
        return True
    if (
        after.about
        and words_of(after.about) & words_of(before.text)
        and after.kind not in ("fix", "failure")
    ):
        return True
    shared = words_of(before.text) & words_of(after.text)
    if after.kind == "date":
        plain = {word for word in shared if not word.isdigit()}
        whole = {word for word in words_of(before.text) if not word.isdigit()}
        return (
            bool(plain)
            and 2 * len(plain) >= len(whole)
            and before.on != after.on
            and (after.corrects or len(plain) == len(whole))
        )
    if not after.corrects:
        return False
    since = new.turn - old.turn
    return since <= _SAME_TURNS or (since <= _NEAR_TURNS and bool(shared))


def _suggestion(held: Held, known: Sequence[Known]) -> Suggestion | None:
    finding = held.finding
    if finding.kind == "gone":
        return _retired(held, known)
    strategy, kind = HOMES[finding.kind]
    if finding.of_person:
        kind = "USER"
    theirs = [
        each
        for each in known
        if each.strategy == strategy and (not kind or not each.kind or each.kind == kind)
    ]
    wanted = words_of(finding.text)
    if any(words_of(each.text) >= wanted and _same_slot(finding, each) for each in theirs):
        return None
    target = _target(finding, theirs)
    origin, trust = _source(held.evidence)
    first = held.evidence[-1]
    return Suggestion(
        op="update" if target else "add",
        strategy=strategy,
        store=target.store if target else None,
        kind=kind,
        subject=_subject(finding, strategy),
        text=finding.text,
        evidence=tuple(each.id for each in held.evidence),
        origin=origin,
        trust=trust,
        confidence=finding.confidence,
        target=target.entry if target else None,
        revision=target.revision if target else None,
        reason=("corrected: " if finding.corrects else "") + WHY[finding.kind],
        details={"said_at": to_us(first.said_at)} if first.said_at and not target else {},
    )


def _subject(finding: Finding, strategy: str) -> str:
    if strategy == "skills":
        return finding.subject
    return (
        cut(finding.text)[:SUBJECT_CHARS_MAX].rsplit(" ", 1)[0]
        if strategy == "records" and len(finding.text) > SUBJECT_CHARS_MAX
        else (finding.text if strategy == "records" else "")
    )


def _same_slot(finding: Finding, known: Known) -> bool:
    return finding.kind not in SINGLE or slot_of(known.text) in (finding.kind, "")


def slot_of(text: str) -> str:
    """Which of the things that a person has one of a known text is about; empty where none."""
    return next((kind for kind, pattern in _SLOTS if pattern.match(text)), "")


def _target(finding: Finding, known: Sequence[Known]) -> Known | None:
    """The one thing known that a finding replaces; None where it is none, or not clear which."""
    if finding.kind in SINGLE:
        fit = [each for each in known if slot_of(each.text) == finding.kind]
    elif finding.about:
        about = words_of(finding.about)
        fit = [each for each in known if about and about <= words_of(each.text)]
        if not fit and finding.corrects:
            fit = [each for each in known if about & words_of(each.text)]
    elif finding.corrects:
        wanted = words_of(finding.text)
        fit = [
            each for each in known if 2 * len(wanted & words_of(each.text)) >= max(2, len(wanted))
        ]
    else:
        return None
    return fit[0] if len(fit) == 1 else None


def _retired(held: Held, known: Sequence[Known]) -> Suggestion | None:
    about = words_of(held.finding.about)
    fit = [each for each in known if about and about <= words_of(each.text)]
    if len(fit) != 1:
        return None
    origin, trust = _source(held.evidence)
    return Suggestion(
        op="retire",
        strategy=fit[0].strategy,
        store=fit[0].store,
        kind=fit[0].kind,
        subject=fit[0].subject,
        evidence=tuple(each.id for each in held.evidence),
        origin=origin,
        trust=trust,
        confidence=held.finding.confidence,
        target=fit[0].entry,
        revision=fit[0].revision,
        reason=WHY["gone"],
    )


def _source(evidence: tuple[Said, ...]) -> tuple[Origin, Trust]:
    """Where a fact came from: the least trusted of what it rests on."""
    least = min(evidence, key=lambda each: (_RANK[each.trust], each.role == "user"))
    if least.role == "assistant" and least.origin == "user":
        return "agent", "medium"
    return least.origin, least.trust
