"""What somebody says of themselves at the beginning: it seeds USER.md, one entry a question."""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.entry import TEXT_BYTES_MAX, NewEntry
from holdfast.model.names import check_text, shown
from holdfast.model.profile import QUESTIONS, Onboarded
from holdfast.strategies.profile.policy import Sheet, entries_of, expect, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.model.entry import Entry
    from holdfast.model.space import Store
    from holdfast.ports import Work

IMPORTANCE_ANSWERED = 80
ASKED, ANSWER = "asked", "answer"


def check_answers(answers: Mapping[str, str]) -> Mapping[str, str]:
    """The answers in the order of the questions; what was not answered is left out."""
    for name in answers:
        if name not in QUESTIONS:
            raise InvalidInput(
                "answer_unknown",
                f"nobody asks for {shown(name)}",
                hint=f"known are {', '.join(QUESTIONS)}",
            )
    checked = {
        name: check_text(answers[name], f"the answer {name}", bytes_max=TEXT_BYTES_MAX).strip()
        for name in QUESTIONS
        if answers.get(name)
    }
    if not checked:
        raise InvalidInput(
            "answers_missing",
            "there is no answer to keep",
            hint=f"give one of {', '.join(QUESTIONS)}",
        )
    return checked


def field_of(entry: Entry) -> str:
    """Which question the entry answers; empty where it is none of the answers."""
    return str(entry.facts.get(ASKED, ""))


def answer_of(entry: Entry) -> str:
    """The entry's text as it was answered."""
    return str(entry.facts.get(ANSWER, entry.text))


def onboard(work: Work, store: Store, answers: Mapping[str, str]) -> Onboarded:
    """One entry for each answer, in place of the earlier one."""
    expect(work, store, "USER")
    sheet = Sheet(work, store)
    known = {field_of(entry): entry for entry in entries_of(work, store) if entry.kind == "USER"}
    for name, answer in answers.items():
        text = f"{name.capitalize()}: {answer}"
        facts = {ASKED: name, ANSWER: text}
        if name in known:
            sheet.replace(known[name], text, {"facts": facts})
            continue
        sheet.add(
            NewEntry(
                text=text,
                kind="USER",
                importance=IMPORTANCE_ANSWERED,
                scope=scope_of("USER", work.caller, None),
                facts=facts,
                origin="user",
            )
        )
    writes, gone = sheet.carry_out()
    return Onboarded(
        entries=tuple(write.entry for write in writes),
        changed=sum(write.outcome != "unchanged" for write in writes),
        gauge=sheet.gauge("USER"),
        evicted=gone,
    )
