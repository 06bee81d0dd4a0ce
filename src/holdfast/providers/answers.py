"""What a model answered, judged like any input: what does not hold is dropped.

A suggestion holds when it is of the form, names messages that exist and that its words come from,
does not rest on a tool or a web page where it is about the user, changes only what it was shown and
what nobody has pinned, and carries no secret and no order. It counts as the agent's inference,
trusted no further than what it rests on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from holdfast.core.rules.guards import holds_secret, tries_to_command
from holdfast.core.rules.settle import words_of
from holdfast.errors import ModelFailed
from holdfast.model.review import Suggestion
from holdfast.model.times import to_us
from holdfast.providers.prompts import PROFILE_KINDS, RECORD_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.model.entry import Origin, Trust
    from holdfast.model.review import Known, Said
    from holdfast.providers.prompts import Question

SUGGESTIONS_MAX = 30
TEXT_CHARS_MAX = 500
SKILL_CHARS_MAX = 8_000
SUBJECT_CHARS_MAX = 120
REASON_CHARS_MAX = 200
# How much of what a text says must have been said by its evidence.
SUPPORT_MIN = 0.6
_FENCED = re.compile(r"^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$", re.DOTALL)
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff]"
)
_SKILL_NAME = re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d\d:\d\d\b")
_RANK: dict[Trust, int] = {"high": 2, "medium": 1, "low": 0}


class _Item(msgspec.Struct, forbid_unknown_fields=True):
    op: Literal["add", "update", "retire"]
    strategy: Literal["profile", "records", "narrative", "skills"]
    evidence: list[int]
    kind: str = ""
    subject: str = ""
    text: str = ""
    target: str | None = ""
    confidence: float = 0.5
    reason: str = ""


class _Answer(msgspec.Struct):
    suggestions: list[msgspec.Raw]


def suggestions_in(text: str, question: Question) -> Iterator[Suggestion]:
    """The suggestions of an answer that hold. Raises ModelFailed for an answer that is none."""
    fenced = _FENCED.match(text)
    try:
        answer = msgspec.json.decode(fenced[1] if fenced else text, type=_Answer)
    except (msgspec.DecodeError, RecursionError):
        raise ModelFailed(
            "model_answer_invalid",
            "the model's answer is not of the form that was asked for",
            hint="nothing was changed; the rules review meanwhile",
        ) from None
    for raw in answer.suggestions[:SUGGESTIONS_MAX]:
        try:
            item = msgspec.json.decode(raw, type=_Item)
        except (msgspec.DecodeError, RecursionError):
            continue
        held = _judged(item, question)
        if held is not None:
            yield held


def _judged(item: _Item, question: Question) -> Suggestion | None:
    evidence = [
        question.said[number] for number in dict.fromkeys(item.evidence) if number in question.said
    ]
    if not evidence or len(evidence) < len(set(item.evidence)) or not _of_form(item):
        return None
    target = question.known.get(item.target or "")
    if (item.op == "add") != (not item.target) or (item.target and not _may_change(item, target)):
        return None
    if not _may_rest_on(item, evidence) or (item.op != "retire" and not _supported(item, evidence)):
        return None
    origin, trust = _source(evidence)
    latest = evidence[-1]
    return Suggestion(
        op=item.op,
        strategy=item.strategy,
        store=target.store if target else None,
        kind=item.kind,
        subject=item.subject
        or (item.text[:SUBJECT_CHARS_MAX] if item.strategy == "records" else ""),
        text="" if item.op == "retire" else item.text.strip(),
        evidence=tuple(each.id for each in evidence),
        origin=origin,
        trust=trust,
        confidence=min(max(item.confidence, 0.0), 1.0),
        target=target.entry if target else None,
        revision=target.revision if target else None,
        reason=" ".join(item.reason.split())[:REASON_CHARS_MAX],
        details={"said_at": to_us(latest.said_at)} if latest.said_at and not target else {},
    )


def _of_form(item: _Item) -> bool:
    kinds = {"profile": PROFILE_KINDS, "records": RECORD_KINDS}.get(item.strategy, ("",))
    skill = item.strategy == "skills"
    if item.kind not in kinds or not 0 <= item.confidence <= 1:
        return False
    if len(item.text) > (SKILL_CHARS_MAX if skill else TEXT_CHARS_MAX):
        return False
    if len(item.subject) > SUBJECT_CHARS_MAX or (skill and not _SKILL_NAME.match(item.subject)):
        return False
    if ("\n" in item.text.strip() and not skill) or "\n" in item.subject:
        return False
    words = f"{item.subject}\n{item.text}\n{item.reason}"
    if _HIDDEN.search(words):
        return False
    if any(map(holds_secret, words.split("\n"))) or tries_to_command(words):
        return False
    return item.op == "retire" or bool(item.text.strip())


def _may_change(item: _Item, target: Known | None) -> bool:
    return (
        target is not None
        and not target.pinned
        and target.strategy == item.strategy
        and (item.op == "retire" or not target.kind or target.kind == item.kind)
    )


def _may_rest_on(item: _Item, evidence: Sequence[Said]) -> bool:
    """What is about the user, or takes something away, rests on the user's own words."""
    own = any(each.role == "user" and each.origin in ("user", "import") for each in evidence)
    least = min(_RANK[each.trust] for each in evidence)
    about_user = item.strategy == "profile" or item.kind == "preference"
    if about_user or item.op != "add":
        return own and least > 0
    return True


def _supported(item: _Item, evidence: Sequence[Said]) -> bool:
    """Whether most of what it says, and every number, was said by its evidence."""
    said = words_of(" ".join(each.text for each in evidence))
    wanted = words_of(_DAY.sub(" ", item.text))
    made = wanted - said
    if any(char.isdigit() for word in made for char in word):
        return item.strategy == "skills"
    return bool(wanted) and len(wanted - made) >= SUPPORT_MIN * len(wanted)


def _source(evidence: Sequence[Said]) -> tuple[Origin, Trust]:
    least = min(evidence, key=lambda each: _RANK[each.trust])
    if _RANK[least.trust] > _RANK["medium"] or least.origin == "user":
        return "agent", "medium" if _RANK[least.trust] else "low"
    return (least.origin if least.trust == "low" else "agent"), least.trust
