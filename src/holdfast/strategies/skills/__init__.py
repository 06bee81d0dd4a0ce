"""`skills`: how things are done, as `SKILL.md` documents with their files.

A session starts with their names and descriptions; bodies and files are read when they are needed.
The library grows without limit: what nobody uses is marked stale and then archived by a curator,
and nothing is deleted by itself.
"""

from __future__ import annotations

from holdfast.core.budget import lines_of
from holdfast.core.forms import Days, Whole, checked_options
from holdfast.errors import OptionInvalid
from holdfast.model.context import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.core.forms import Form
    from holdfast.model.entry import Entry
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "skills"
HOLDS = "entries"
INSTRUCTS = True
SHOWN = 100
COUNTED = 100_000
PRIORITY = 45
STALE_DAYS = 30
ARCHIVE_DAYS = 90


# Declaration

_OPTIONS: Mapping[str, Form] = {
    "shown": Whole(
        about="how many skills a session is shown at most", low=1, high=1_000, default=SHOWN
    ),
    "stale": Days(about="after how many days without use one is stale", default=STALE_DAYS),
    "archive": Days(about="after how many days without use it is put away", default=ARCHIVE_DAYS),
    "priority": Whole(
        about="which block a small budget serves first", low=0, high=100, default=PRIORITY
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    if spec.type != "long_term":
        raise OptionInvalid("type", "a skills store keeps what it holds", "long_term")
    spec = checked_options(spec, OPTIONS)
    if spec.options["archive"] <= spec.options["stale"]:  # pyright: ignore[reportOperatorIssue]
        what = "a skill would be put away before it is stale"
        raise OptionInvalid("archive", what, "more days than `stale`")
    return spec


# Block


def block(view: View, store: Store) -> Draft | None:
    most, priority = store.options["shown"], store.options["priority"]
    assert isinstance(most, int)
    assert isinstance(priority, int)
    rows = view.subjects(store, most)
    if not rows:
        return None
    lines = [f"- {subject}" for _, _, _, subject, _, _ in rows]
    count = view.subject_count(store, COUNTED) if len(rows) == most else len(rows)
    return Draft(
        label=store.label,
        priority=priority,
        heading=f"## Skills {store.label} (before you do one of these, read how: skill_view)",
        lines=lines_of(lines),
        more=count > len(rows),
        beyond=count - len(rows),
        beyond_known=count < COUNTED,
        reach="And {more} more. Find them: memory_recall(query=…)",
    )


# Suggestions


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    from holdfast.strategies.skills.suggested import accept as accepted

    return accepted(work, store, suggestion)


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the skills of a space."""
    from holdfast.strategies.skills.face import skill_tools

    return skill_tools(desk)
