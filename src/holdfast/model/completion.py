"""What a language model is asked, what it answers, and what that cost.

A prompt says the task apart from the material, because the material was written by anybody. Where
it has a schema, the answer is JSON of that form; whoever asked checks it like any input.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from holdfast.model.entry import Json
    from holdfast.model.review import Suggestion

    Purpose = Literal["review", "summary", "digest"]

TOKENS_OUT_MAX = 2_000


class Prompt(Value):
    """One question. `task` is ours, `material` is data; `name` is what the answer is called."""

    task: str
    material: str
    schema: Mapping[str, Json] | None = None
    name: str = "answer"
    tokens_out_max: int = TOKENS_OUT_MAX


class Completion(Value):
    """One answer. `model` is what the service says that answered."""

    text: str
    tokens_in: int
    tokens_out: int
    model: str


class ModelCall(Value):
    """One request that left for a service, whatever came of it: what a ledger keeps.

    `outcome` is `done`, or the code of the error. Where the service did not say what it counted,
    the numbers are estimates (`estimated`), never zero for a request that may have been worked on.
    """

    purpose: Purpose
    model: str
    tokens_in: int
    tokens_out: int
    took_us: int
    outcome: str = "done"
    estimated: bool = False


class Reviewed(Value):
    """What a review came to, by which reviewer. `problem` is the code of the error for which
    another reviewer than the one that was wanted made it; `dropped` counts answers that did not
    hold: without evidence, about what nobody may touch, not of their form."""

    reviewer: str
    suggestions: tuple[Suggestion, ...]
    problem: str = ""
    dropped: int = 0
