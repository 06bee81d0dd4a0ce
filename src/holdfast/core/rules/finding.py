"""What a rule finds in a sentence, before it is held against what is known."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date
    from typing import Literal

    from holdfast.core.rules.clauses import Clause

    FindingKind = Literal[
        "name",
        "role",
        "company",
        "place",
        "timezone",
        "personal",
        "preference",
        "decision",
        "constraint",
        "project",
        "date",
        "contact",
        "tool",
        "fix",
        "failure",
        "remember",
        "gone",
        "skill",
    ]
    Rule = Callable[[Clause, date], Iterator["Finding"]]


class Finding(Value):
    """One fact. `about` is what it is about, such as what was replaced by it or what is gone.

    `of_person` where the user asked to remember it and spoke of themselves.
    `corrects` where it was said as a correction of something said before.
    """

    kind: FindingKind
    text: str
    confidence: float
    subject: str = ""
    about: str = ""
    corrects: bool = False
    body: str = ""
    on: date | None = None
    of_person: bool = False


# Of these a person has one: a newer one takes the place of what is known.
SINGLE = frozenset(("name", "role", "company", "place", "timezone"))
