"""Sessions: open until ended, or abandoned once their lease ran out.

Every call that names a session and writes renews its lease. What is bound to a session's length
goes with it, whether it ended or was abandoned. The context that it began with goes too.
"""

from __future__ import annotations

from itertools import islice

from holdfast.engine.naming import check_session_space, session_named
from holdfast.engine.spaces import space_named
from holdfast.model.ids import SessionId
from holdfast.model.query import check_limit
from holdfast.model.session import LEASE, Session, as_of_lease, check_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.work import Work
    from holdfast.model.session import SessionState
    from holdfast.model.space import SpaceInfo
    from holdfast.ports import Snapshot


def start(
    work: Work, space: SpaceInfo, *, title: str, agent: str, user: str, source: str
) -> Session:
    work.expect(0, "the new session")
    sweep(work)
    work.wake_for(space.name)
    session = Session(
        id=SessionId(work.new_id()),
        number=work.seq + 1,
        space=space.id,
        space_name=space.name,
        state="open",
        title=title,
        agent=agent,
        user=user,
        started=work.at,
        ended=None,
        lease_until=work.at + LEASE,
        source=source,
        revision=work.seq + 1,
    )
    return work.put_session(session, None, space, "start")


def end(work: Work, name: str, space_name: str) -> Session:
    """End it. Ending it again changes nothing; one whose lease ran out is abandoned."""
    session = session_named(work.tx, name, work.caller.user)
    check_session_space(session, space_name)
    if session.state != "open":
        return session
    work.expect(session.revision, f"session {session.id}")
    lapsed = as_of_lease(session, work.at_us).state == "abandoned"
    return _close(work, session, "abandoned" if lapsed else "ended")


def reopen(work: Work, session: Session, space: SpaceInfo) -> Session:
    """Let a session that was ended or abandoned go on. One that is open stays as it is."""
    until = work.at + LEASE
    if as_of_lease(session, work.at_us).state == "open":
        work.tx.renew_lease(session, until)
        return session
    after = session.replace(state="open", ended=None, lease_until=until)
    return work.put_session(after, session, space, "reopen")


def sweep(work: Work) -> Sequence[Session]:
    """Close the sessions whose lease ran out."""
    lapsed = work.tx.lapsed_sessions(work.at_us)
    return [_close(work, session, "abandoned") for session in lapsed]


def _close(work: Work, session: Session, state: SessionState) -> Session:
    for store, entry in work.tx.entries_bound(session.id):
        work.move(store, entry, "expire")
    work.tx.thaw(session.id)
    space = work.tx.space_named(session.space_name)
    assert space is not None
    return work.put_session(
        session.replace(state=state, ended=work.at), session, space, state.removesuffix("ed")
    )


def listed(
    snapshot: Snapshot, space_name: str, user: str, state: str | None, limit: int, at_us: int
) -> Sequence[Session]:
    """Those of a user, the newest first. A session whose lease ran out is abandoned, recorded as
    such or not yet."""
    check_limit(limit)
    check_state(state)
    space = space_named(snapshot, space_name)
    if space is None:
        return []
    theirs = (session for session in snapshot.sessions(space) if session.user == user)
    found = (as_of_lease(session, at_us) for session in theirs)
    return list(islice((item for item in found if state in (None, item.state)), limit))
