"""What the tests of records share."""

from __future__ import annotations

from holdfast.model.entry import NewEntry
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.model.record import RecordRows


def tools(space: Space) -> dict[str, Callable[..., Any]]:
    return {tool.__name__: tool for tool in space.tools()}


def subjects(rows: RecordRows) -> list[str]:
    return [row.subject for row in rows]


def fill(space: Space, count: int) -> None:
    """So many records at once, as one change."""

    def unit(work: Any, store: Any) -> None:
        for number in range(count):
            new = NewEntry(
                text=f"Fact number {number} of the project",
                subject=f"Fact {number:06}",
                kind="project_fact",
                given_id=f"n{number:06}",
                importance=number % 101,
                origin="user",
            )
            work.add(store, new)

    space.desk("records").mutate("fill", {}, unit, Write())
