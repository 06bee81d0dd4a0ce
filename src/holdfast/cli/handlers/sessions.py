"""`holdfast session`."""

from __future__ import annotations

from holdfast.cli.opening import opened_space, write_options
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output


def start(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        session = space.start_session(
            call["title"] or "", agent=call["agent"] or "local", **write_options(call)
        )
        out.emit(plain(session), session.id)


def list_sessions(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        rows = [plain(item) for item in space.sessions(state=call["state"], limit=call["limit"])]
        out.table([row for row in rows if isinstance(row, dict)], _COLUMNS, empty="No sessions")


_COLUMNS = (
    Column(title="SESSION", key="id"),
    Column(title="STATE", key="state"),
    Column(title="STARTED", key="started", show=lambda at: at[:16].replace("T", " ")),
    Column(title="AGENT", key="agent"),
    Column(title="TITLE", key="title"),
)


def end(call: Call, out: Output) -> None:
    name = call["id"] or call["session"]
    if name is None:
        raise UsageError("session_missing", "no session is named", hint="give its id, or --session")
    with opened_space(call) as space:
        session = space.end_session(name, **write_options(call))
        out.emit(plain(session), "")
        out.note(f"Session {session.id} is {session.state}")
