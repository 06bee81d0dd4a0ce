"""python -m bench.screening [--misses] [--json]

Precision and recall of screening on a labelled corpus of our own, by class, for the part that its
rules were worked on and for the part that nobody tunes on; and what a text costs. `--misses` shows
what went wrong in the first, never in the second. What a line of the corpus means stands at the
top of tests/data/screening/work.txt.

A text counts for each class that it is labelled with, or that is found in it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.screening import CLASSES, class_of, find
from holdfast.core.screening.cards import luhn

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parent.parent / "tests" / "data" / "screening"
WORK, HELD = CORPUS / "work.txt", CORPUS / "held.txt"
_CLASS = {"s": "secrets", "h": "hidden", "i": "instructions"}
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
_KINDS = {
    "an": f"{_LETTERS}23456789",
    "hex": "0123456789abcdef",
    "up": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "cap": "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
    "b64": f"{_LETTERS}0123456789./",
    "b64a": f"{_LETTERS}0123456789+/",
    "b64u": f"{_LETTERS}0123456789-_",
    "dig": "0123456789",
}
_MADE = re.compile(r"<<((?:[^<>]|<(?!<)|>(?!>))+)>>")
_PART = re.compile(r"~(card|b64a|b64u|b64|an|hex|up|cap|dig)(\d+)")
_ESCAPE = re.compile(r"\\(n|t|r|\\|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


class Case(NamedTuple):
    text: str
    classes: frozenset[str]


class Count:
    def __init__(self) -> None:
        self.right = self.wrong = self.missed = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


class Score(NamedTuple):
    classes: dict[str, Count]
    total: Count
    passed: int
    everyday: int
    notes: list[str]


def cases(file: Path) -> Iterator[Case]:
    for line in file.read_text("utf-8").splitlines():
        sign, _, text = line.partition(" ")
        if not line or sign == "#":
            continue
        made = _MADE.sub(lambda match: _put_together(match[1], match.string), text)
        said = _ESCAPE.sub(lambda match: _char(match[1]), made)
        yield Case(said, frozenset(_CLASS[each] for each in sign if each != "."))


def _char(escape: str) -> str:
    return _PLAIN[escape] if escape in _PLAIN else chr(int(escape[1:], 16))


def _put_together(parts: str, seed: str) -> str:
    random = Random(seed)  # the same corpus makes the same tokens
    return _PART.sub(lambda match: _some(random, match[1], int(match[2])), parts.replace("|", ""))


def _some(random: Random, kind: str, count: int) -> str:
    if kind != "card":
        return "".join(random.choice(_KINDS[kind]) for _ in range(count))
    size = 15 if str(count).startswith("3") else 16
    while True:
        digits = str(count) + "".join(random.choice("0123456789") for _ in range(20))
        digits = digits[:size]
        if luhn(digits):
            return " ".join(digits[at : at + 4] for at in range(0, 16, 4)) if size == 16 else digits


def score(file: Path) -> Score:
    classes = {name: Count() for name in CLASSES}
    notes: list[str] = []
    passed = everyday = 0
    for case in cases(file):
        found = {class_of(finding) for finding in find(case.text)}
        for name in CLASSES:
            _count(classes[name], wanted=name in case.classes, found=name in found)
        if not case.classes:
            everyday += 1
            passed += not found
        if found != case.classes:
            what = ", ".join(sorted(found)) or "nothing"
            notes.append(f"{', '.join(sorted(case.classes)) or 'nothing'} → {what}: {case.text!r}")
    total = Count()
    for each in classes.values():
        total.right += each.right
        total.wrong += each.wrong
        total.missed += each.missed
    return Score(classes, total, passed, everyday, notes)


def _count(count: Count, *, wanted: bool, found: bool) -> None:
    count.right += wanted and found
    count.wrong += found and not wanted
    count.missed += wanted and not found


def micros() -> float:
    """What it costs to look at an everyday text for the first time, in microseconds of work."""
    from time import thread_time_ns

    from holdfast.core.screening import _spans  # pyright: ignore[reportPrivateUsage]

    texts = [case.text for case in cases(WORK) if not case.classes]
    for text in texts:
        _spans(text, "")
    rounds: list[int] = []
    for _ in range(7):
        began = thread_time_ns()
        for text in texts:
            _spans(text, "")
        rounds.append(thread_time_ns() - began)
    return min(rounds) / len(texts) / 1_000


def table() -> tuple[list[tuple[str, ...]], Score]:
    rows: list[tuple[str, ...]] = []
    work = score(WORK)
    for name, part in (("work", work), ("held", score(HELD))):
        for label, count in (*part.classes.items(), ("all", part.total)):
            cells = (str(count.right), str(count.wrong), str(count.missed))
            rates = (f"{count.precision:.3f}", f"{count.recall:.3f}")
            rows.append((name, label, *cells, *rates))
        rows.append(
            (name, "everyday", str(part.passed), str(part.everyday - part.passed), "", "", "")
        )
    return rows, work


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.screening", description=__doc__)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    head = ("part", "class", "right", "wrong", "missed", "precision", "recall")
    rows, work = table()
    cost = micros()
    if wanted.json:
        print(json.dumps({"rows": [dict(zip(head, row, strict=True)) for row in rows], "us": cost}))
        return 0
    for row in (head, *rows):
        print(
            "".join(
                cell.ljust(width) for cell, width in zip(row, (7, 15, 8, 8, 8, 11, 8), strict=True)
            )
        )
    print(f"\n{cost:.1f} µs a text, when it is looked at for the first time")
    if wanted.misses:
        print("\n".join(["", *work.notes]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
