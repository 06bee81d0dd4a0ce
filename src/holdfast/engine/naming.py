"""Finding a session by what a caller calls it, and holding it to its space."""

from __future__ import annotations

from holdfast.errors import Ambiguous, NotFound, Refused
from holdfast.model.ids import is_id, is_short
from holdfast.model.names import check_str, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.model.session import Session
    from holdfast.ports import Snapshot


def session_named(snapshot: Snapshot, name: str, user: str | None = None) -> Session:
    """By its whole id, or its short form where that is unique. To a user, a session of another
    one is not there."""
    check_str(name, "the session")
    session = snapshot.session(name) if is_id(name) else None
    found = [] if session is None else [session]
    if is_short(name):
        found = list(snapshot.sessions_like(name))
    found = [each for each in found if user in (None, each.user)]
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
            hint="holdfast session list, or holdfast session start; --user says whose",
        )
    return found[0]


def check_session_space(session: Session, space_name: str) -> None:
    """Nothing that a session of one space was given or bound may show in another."""
    if session.space_name != space_name:
        raise Refused(
            "session_elsewhere",
            f"session {session.id} belongs to the space {session.space_name}, not to {space_name}",
            hint="start a session in this space: holdfast session start",
        )
