"""A proposal: a change that somebody wants and nobody has applied yet, and why it is held."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.ids import ProposalId, SessionId
    from holdfast.model.review import Suggestion

    ProposalState = Literal["pending", "applied", "rejected", "stale"]
    HeldFor = Literal["review", "approval", "screening"]

PROPOSAL_STATES = ("pending", "applied", "rejected", "stale")


class Finding(Value):
    """What screening found and where: characters `start` to `end` of a field, never the text.

    `field` is `text`, `subject`, or a path such as `metadata.note`.
    """

    code: str
    field: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.code} in {self.field} at {self.start + 1}–{self.end}"


class Proposal(Value):
    """`held` says why nobody has applied it: a reviewer's policy, an approval that a person wants
    to give, or screening, which then says what it found. `suggestion` is None once a held text was
    rejected, since what nobody wanted is not kept, and where what it is about was forgotten since.
    `stale`: its target changed before it was decided.
    """

    id: ProposalId
    number: int
    space: int
    space_name: str
    store: int
    store_name: str
    strategy: str
    state: ProposalState
    held: HeldFor
    findings: tuple[Finding, ...] = ()
    suggestion: Suggestion | None
    actor: str
    user: str
    session: SessionId | None
    created: datetime
    decided: datetime | None = None
    decided_by: str | None = None
    revision: int

    @property
    def label(self) -> str:
        return f"{self.space_name}/{self.store_name}"
