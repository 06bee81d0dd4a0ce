"""Whom an entry is for: everyone in its space, one user, one session, or whoever names its task.

A scope is fixed when an entry is made and never widens: promoting, updating and reverting keep it.
"""

from __future__ import annotations

from holdfast.errors import InvalidInput, Refused
from holdfast.model.names import check_label, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.model.entry import Entry
    from holdfast.model.write import Caller

SCOPES = ("space", "user", "session", "task")
EVERYONE = ""


def scope_for(kind: str, caller: Caller, task: str | None) -> str:
    """The scope of a new entry, for whom its writer says."""
    if kind not in SCOPES:
        raise InvalidInput(
            "scope_invalid", f"{shown(kind)} is no scope", hint=f"one of {', '.join(SCOPES)}"
        )
    if (kind == "task") != (task is not None):
        raise InvalidInput(
            "scope_invalid",
            "the scope `task` and the name of a task go together",
            hint="give both: scope task, task NAME",
        )
    match kind:
        case "user":
            return f"user:{caller.user}"
        case "session":
            if caller.session is None:
                raise Refused(
                    "session_needed",
                    "what is for one session needs one, and this call names none",
                    hint="give --session (HOLDFAST_SESSION), from holdfast session start",
                )
            return f"session:{caller.session}"
        case "task":
            return of_task(task or "")
        case _:
            return EVERYONE


def of_task(task: str) -> str:
    return f"task:{check_label(task, 'a task')}"


def scopes_of(user: str, session: str | None) -> tuple[str, str]:
    """The scopes of a caller, beside what is for everyone."""
    return f"user:{user}", "" if session is None else f"session:{session}"


def is_for(entry: Entry, scopes: tuple[str, ...]) -> bool:
    return entry.scope == EVERYONE or entry.scope in scopes
