"""python -m bench.review [--misses] [--json]

Precision and recall of the rules on a labelled corpus of our own, by kind, for the part that the
rules were worked on and for the part that nobody tunes on. `--misses` shows what went wrong in the
first, never in the second.

A file of the corpus has conversations of lines:

    @ 2026-03-04 a voice    begins one, said on that day; with `@*` each turn is one of its own
    u text                  the user says; `a` the assistant, `t` a tool, `w` a web page
    | text                  the message goes on
    + kind: words           what should be found in what the user said last; `+!` as a correction;
    + kind update e1: words   with what it changes; the words that must be in it
    k strategy kind e1 text what is known before

A suggestion is right when its kind, its change and its evidence are those of an expectation, every
word of the expectation is in it, and it has at most twice as many words and four. What a later
correction took back need not be found.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.rules import review
from holdfast.core.rules.settle import WHY, words_of
from holdfast.model.ids import EntryId, MessageId, SessionId
from holdfast.model.review import Known, Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.model.review import Suggestion

CORPUS = Path(__file__).parent.parent / "tests" / "data" / "review"
WORK, HELD = CORPUS / "work.txt", CORPUS / "held.txt"
KINDS = tuple(kind for kind in WHY if kind != "gone")
_KIND_OF = {why: kind for kind, why in WHY.items()}
_ROLES = {
    "u": ("user", "user", "high"),
    "a": ("assistant", "agent", "medium"),
    "t": ("tool", "tool", "low"),
    "w": ("tool", "web", "low"),
}
_EXPECTED = re.compile(
    r"^\+(?P<corrects>!?) (?P<kind>\w+)(?: (?P<op>update|retire) (?P<target>\w+))?:"
    r"\s*(?P<words>.*)$"
)


class Expected(NamedTuple):
    kind: str
    op: str
    target: str
    words: str
    messages: frozenset[str]
    corrects: bool


class Conversation(NamedTuple):
    voice: str
    said: list[Said]
    known: list[Known]
    expected: list[Expected]


class Count:
    """How often a kind was right, wrongly found, and missed."""

    def __init__(self) -> None:
        self.right = self.wrong = self.missed = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


class Score(NamedTuple):
    kinds: dict[str, Count]
    total: Count
    corrections: Count
    turns: int
    notes: list[str]


def conversations(file: Path) -> Iterator[Conversation]:
    now: Conversation | None = None
    alone = False
    day = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for line in file.read_text("utf-8").splitlines():
        sign, _, text = line.partition(" ")
        if sign in ("@", "@*"):
            if now is not None:
                yield now
            date, _, voice = text.partition(" ")
            alone, day = sign == "@*", datetime.fromisoformat(date).replace(hour=12, tzinfo=UTC)
            now = Conversation(voice, [], [], [])
            continue
        if now is None or not line or sign == "#":
            continue
        if alone and sign == "u" and any(each.role == "user" for each in now.said):
            yield now
            now = Conversation(now.voice, [], list(now.known), [])
        _line(now, sign, text, line, day)
    if now is not None:
        yield now


def _line(now: Conversation, sign: str, text: str, line: str, day: datetime) -> None:
    said, known, expected = now.said, now.known, now.expected
    if sign in _ROLES:
        role, origin, trust = _ROLES[sign]
        number = len(said) + 1
        after_tool = sign == "a" and bool(said) and said[-1].role == "tool"
        said.append(
            Said(
                id=MessageId(f"m{number}"),
                number=number,
                role=role,
                source="cli",
                text=text,
                at=day,
                said_at=day,
                session=SessionId("s"),
                origin="tool" if after_tool else origin,
                trust="low" if after_tool else trust,
            )
        )
    elif sign == "|":
        said[-1] = said[-1].replace(text=f"{said[-1].text}\n{text}")
    elif sign == "k":
        strategy, kind, name, words = text.split(" ", 3)
        known.append(
            Known(
                strategy=strategy,
                store=strategy,
                entry=EntryId(name),
                revision=1,
                text=words,
                kind=kind,
            )
        )
    else:
        found = _EXPECTED.match(line)
        assert found is not None, line
        last = max(place for place, each in enumerate(said) if each.role == "user")
        expected.append(
            Expected(
                found["kind"],
                found["op"] or "add",
                found["target"] or "",
                found["words"],
                frozenset(each.id for each in said[last:]),
                bool(found["corrects"]),
            )
        )


def kind_of(suggestion: Suggestion) -> str:
    return _KIND_OF[suggestion.reason.removeprefix("corrected: ")]


def fits(suggestion: Suggestion, expected: Expected) -> bool:
    if suggestion.op != expected.op or (expected.target and suggestion.target != expected.target):
        return False
    if expected.op == "retire":
        return True
    if kind_of(suggestion) != expected.kind or not expected.messages & set(suggestion.evidence):
        return False
    wanted, words = words_of(expected.words), words_of(suggestion.text)
    return wanted <= words and (expected.kind == "skill" or len(words) <= 2 * len(wanted) + 4)


def superseded(one: Expected, expected: list[Expected]) -> bool:
    """Whether it was taken back later in the same conversation: only the later is wanted."""
    after = expected[expected.index(one) + 1 :]
    return any(each.kind == one.kind and each.corrects for each in after)


def score(file: Path) -> Score:
    kinds: dict[str, Count] = defaultdict(Count)
    total, corrections, turns = Count(), Count(), 0
    notes: list[str] = []
    for talk in conversations(file):
        turns += sum(each.role == "user" for each in talk.said)
        left = list(talk.expected)
        for suggestion in review(talk.said, talk.known):
            match = next((each for each in reversed(left) if fits(suggestion, each)), None)
            kind = (
                match.kind
                if match
                else "gone"
                if suggestion.op == "retire"
                else kind_of(suggestion)
            )
            if match is None or superseded(match, talk.expected):
                last = next(each.text for each in talk.said if each.id == suggestion.evidence[-1])
                notes.append(
                    f"WRONG  {kind:<11} {suggestion.op} {suggestion.text!r}  <- {last[:90]!r}"
                    f"  [{talk.voice}]"
                )
                kinds[kind].wrong += 1
                total.wrong += 1
                continue
            left.remove(match)
            kinds[kind].right += 1
            total.right += 1
            corrections.right += match.corrects
        for each in left:
            if superseded(each, talk.expected):
                continue
            text = next(said.text for said in talk.said if said.id in each.messages)
            notes.append(
                f"MISSED {each.kind:<11} {each.words!r}  <- {text[:100]!r}  [{talk.voice}]"
            )
            kinds[each.kind].missed += 1
            total.missed += 1
            corrections.missed += each.corrects
    return Score(dict(kinds), total, corrections, turns, notes)


def table(scores: dict[str, Score]) -> str:
    lines = [
        "| kind | " + " | ".join(f"{name}: found, precision, recall" for name in scores) + " |",
        "|---|" + "---|" * len(scores),
    ]
    for kind in KINDS:
        counts = [each.kinds.get(kind, Count()) for each in scores.values()]
        lines.append(f"| {kind} | " + " | ".join(map(_cell, counts)) + " |")
    lines.append("| **all** | " + " | ".join(_cell(each.total) for each in scores.values()) + " |")
    lines.append(
        "| corrections, recall | "
        + " | ".join(
            f"{each.corrections.right} of {each.corrections.right + each.corrections.missed}"
            for each in scores.values()
        )
        + " |"
    )
    lines.append(
        "| turns of the user | " + " | ".join(str(each.turns) for each in scores.values()) + " |"
    )
    return "\n".join(lines)


def _cell(count: Count) -> str:
    expected = count.right + count.missed
    if not expected and not count.wrong:
        return "–"
    return (
        f"{count.right} of {expected} (+{count.wrong}), {count.precision:.2f}, {count.recall:.2f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.review")
    parser.add_argument(
        "--misses", action="store_true", help="what went wrong in the part that is worked on"
    )
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    scores = {"worked on": score(WORK), "held out": score(HELD)}
    if asked.misses:
        print("\n".join(scores["worked on"].notes))
    if asked.json:
        print(
            json.dumps(
                {
                    name: {
                        "precision": each.total.precision,
                        "recall": each.total.recall,
                        "turns": each.turns,
                    }
                    for name, each in scores.items()
                }
            )
        )
    else:
        print(table(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
