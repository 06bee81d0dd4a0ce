"""A session: one stretch of work, open until it is ended or its lease runs out."""

from __future__ import annotations

from datetime import timedelta

from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.times import to_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

    from holdfast.model.ids import SessionId, SpaceId

    SessionState = Literal["open", "ended", "abandoned"]

SOURCE = "python"
LEASE = timedelta(hours=24)
STATES = ("open", "ended", "abandoned")


class Session(Value):
    """`lease_until` is when an open session counts as abandoned unless it is used before.

    `source` is where it came from: a way in, or another program, which calls it `given_id`.
    Messages up to the place `compacted` were summed up for the agent that talked.
    """

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
    source: str = ""
    given_id: str | None = None
    compacted: int = 0
    revision: int


def check_state(state: str | None) -> str | None:
    if state not in (None, *STATES):
        raise InvalidInput(
            "state_invalid", f"{shown(state)} is no state", hint=f"one of {', '.join(STATES)}"
        )
    return state


def as_of_lease(session: Session, at_us: int) -> Session:
    """The session as it counts: abandoned once its lease ran out, recorded as such or not yet."""
    lapsed = session.state == "open" and to_us(session.lease_until) < at_us
    return session.replace(state="abandoned") if lapsed else session
