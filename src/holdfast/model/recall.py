"""What was recalled: labelled lines within a budget of tokens, each with why, how old, how sure."""

from __future__ import annotations

from holdfast.model.value import Readable, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from holdfast.model.entry import Origin, State, Trust
    from holdfast.model.search import Looked

BUDGET = 1_500


class Recalled(Value):
    """One memory. `text` is what of it was shown; `whole` says that it is all.

    `why` has the parts of its score where it was found, and `place` is its place there, from 1.
    """

    label: str
    strategy: str
    id: str
    text: str
    whole: bool
    when: datetime
    age_days: int
    state: State
    origin: Origin
    trust: Trust
    tokens: int
    score: float
    place: int
    why: Mapping[str, float]


class Recall(Readable):
    """`left_out` were found and not shown: they did not fit, or say what another one says.

    `looked` is there where diagnostics were asked for.
    """

    tokens: int
    budget: int
    hits: tuple[Recalled, ...]
    left_out: int
    looked: Looked | None
