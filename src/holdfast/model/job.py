"""A job: work that waits in the vault until somebody does it, once; and what models cost."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.ids import EntryId, ProposalId, SessionId
    from holdfast.model.review import Suggestion, SuggestionOp

    BudgetState = Literal["off", "open", "spent"]
    JobState = Literal["waiting", "running", "done", "failed"]
    Settled = Literal["applied", "held", "dropped"]
    CallState = Literal["reserved", "done", "failed"]

JOB_STATES = ("waiting", "running", "done", "failed")


class ReviewOutcome(Value):
    """What came of one suggestion: `entry` where it was applied, `proposal` where it was held.

    `why` is a code where it was held or dropped.
    """

    op: SuggestionOp
    strategy: str
    store: str | None
    outcome: Settled
    why: str = ""
    entry: EntryId | None = None
    proposal: ProposalId | None = None


class ReviewAnswer(Value):
    """What a reviewer answered, and what came of it so far. `note` says why it was not another."""

    reviewer: str
    note: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    outcomes: tuple[ReviewOutcome, ...] = ()


class Job(Value):
    """The review of a session's messages from place `first` to `last`."""

    number: int
    session: SessionId
    session_number: int
    space_name: str
    first: int
    last: int
    user: str
    state: JobState
    made: datetime
    done: datetime | None = None
    worker: str | None = None
    lease_us: int = 0
    tries: int = 0
    told: bool = False
    answer: ReviewAnswer | None = None


class ModelCall(Value):
    """One call of a model. `micros` is money in millionths; None where no price is known."""

    number: int
    at: datetime
    purpose: str
    model: str
    job: int | None = None
    state: CallState
    tokens_in: int
    tokens_out: int
    micros: int | None
    took_us: int = 0


class Spent(Value):
    """What calls come to. `calls` counts those that failed too."""

    purpose: str
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int
    took_us: int


class Budget(Value):
    """What models may still take today. `off`: none is set up, or its budget is zero."""

    state: BudgetState
    model: str
    tokens_today: int
    tokens_day: int
    tokens_review: int
    micros_today: int
    micros_day: int
