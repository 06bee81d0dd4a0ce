"""Sessions: open until ended, or abandoned once their lease ran out.

Every call that names a session and writes renews its lease. What is bound to a session's length
goes with it, whether it ended or was abandoned. The context that it began with goes too.
"""

from __future__ import annotations

from holdfast.errors import Ambiguous, NotFound
from holdfast.model.ids import SessionId, is_short
from holdfast.model.names import shown
from holdfast.model.session import LEASE, Session, as_of_lease
from holdfast.model.space import DEFAULT_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.work import Work
    from holdfast.model.session import SessionState
    from holdfast.model.space import SpaceInfo
    from holdfast.ports import Snapshot


def start(work: Work, space: SpaceInfo, *, title: str, agent: str, user: str) -> Session:
    sweep(work)
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
        revision=work.seq + 1,
    )
    return work.put_session(session, None, space, "start")


def end(work: Work, name: str) -> Session:
    """End it. Ending it again changes nothing."""
    session = session_named(work.tx, name)
    if session.state != "open":
        return session
    work.expect(session.revision, f"session {session.id}")
    return _close(work, session, "ended")


def sweep(work: Work) -> Sequence[Session]:
    """Close the sessions whose lease ran out."""
    lapsed = work.tx.lapsed_sessions(work.at_us)
    return [_close(work, session, "abandoned") for session in lapsed]


def _close(work: Work, session: Session, state: SessionState) -> Session:
    for store, entry in work.tx.entries_bound(session.id):
        work.forget(store, entry, "expire")
    work.tx.thaw(session.id)
    space = work.tx.space_named(session.space_name)
    assert space is not None
    return work.put_session(
        session.replace(state=state, ended=work.at), session, space, state.removesuffix("ed")
    )


def session_named(snapshot: Snapshot, name: str) -> Session:
    """By its whole id, or its short form where that is unique."""
    found = [] if (session := snapshot.session(name)) is None else [session]
    if not found and is_short(name):
        found = list(snapshot.sessions_like(name))
    if len(found) > 1:
        raise Ambiguous(
            "session_ambiguous",
            f"{shown(name)} fits the sessions {', '.join(item.id for item in found)}",
            hint="use a whole id",
        )
    if not found:
        raise NotFound(
            "session_not_found",
            f"there is no session {shown(name)}",
            hint="holdfast session list, or holdfast session start",
        )
    return found[0]


def listed(
    snapshot: Snapshot, space_name: str | None, state: str | None, limit: int, at_us: int
) -> Sequence[Session]:
    """The newest first. A session whose lease ran out is abandoned, recorded as such or not yet."""
    space = None if space_name is None else snapshot.space_named(space_name)
    if space is None and space_name == DEFAULT_SPACE:
        return []
    found = [as_of_lease(session, at_us) for session in snapshot.sessions(space, None, limit)]
    return [session for session in found if state in (None, session.state)]
