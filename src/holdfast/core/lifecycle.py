"""The life of an entry, as one pure state machine.

    draft ──promote──▶ confirmed ──update──▶ updated      forget works from every state
      └─update─▶ draft                └─update─▶ updated  hide, show and adjust keep the state

Updating a draft leaves it a draft. To adjust is to change what an entry is worth (its importance,
a pin, a tag) and not what it says. What is forgotten stays forgotten: its id is never used again.
"""

from __future__ import annotations

from holdfast.errors import Conflict, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.model.entry import State

    Event = Literal["promote", "update", "forget", "expire", "hide", "show", "adjust"]

_NEXT: dict[tuple[State, Event], State] = {
    ("draft", "promote"): "confirmed",
    ("draft", "update"): "draft",
    ("confirmed", "update"): "updated",
    ("updated", "update"): "updated",
}
_ENDS = ("forget", "expire")
_KEEPS = ("hide", "show", "adjust")

SHOWN_STATES = ("confirmed", "updated")


def step(state: State, event: Event, name: str) -> State:
    """The state after the event. `name` is what the entry is called in an error."""
    if event in _ENDS:
        return "forgotten"
    if state == "forgotten":
        raise Conflict(
            "entry_forgotten",
            f"{name} was forgotten",
            hint="save it anew",
        )
    if event in _KEEPS:
        return state
    after = _NEXT.get((state, event))
    if after is None:
        raise Refused(
            "lifecycle_refused",
            f"{name} is {state} and cannot {event}",
            hint="only a draft can be promoted",
        )
    return after
