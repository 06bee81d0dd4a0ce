"""A session: one stretch of work, open until it is ended or its lease runs out."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.times import to_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.ids import SessionId, SpaceId

    SessionState = Literal["open", "ended", "abandoned"]

LEASE = timedelta(hours=24)
STATES = ("open", "ended", "abandoned")


class Session(Value):
    """`lease_until` is when an open session counts as abandoned unless it is used before."""

    id: SessionId
    number: int
    space: SpaceId
    space_name: str
    state: SessionState
    title: str
    agent: str
    user: str
    started: datetime
    ended: datetime | None
    lease_until: datetime
    revision: int


def as_of_lease(session: Session, at_us: int) -> Session:
    """The session as it counts: abandoned once its lease ran out, recorded as such or not yet."""
    lapsed = session.state == "open" and to_us(session.lease_until) < at_us
    return session.replace(state="abandoned") if lapsed else session
