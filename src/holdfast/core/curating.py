"""What a curator does with skills that nobody uses: a plan, from what is known of them.

A skill that was neither used nor changed for so many days is marked stale; later it is archived,
which hides it and loses nothing. One that is used again is taken back. What is pinned, and what a
person wrote, is left alone. Days are whole days since the last use.
"""

from __future__ import annotations

from holdfast.model.times import DAY_US
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

    CuratorStep = Literal["stale", "archive", "wake", "restore"]


class Curated(Value):
    """A skill as the curator sees it. `put_away` is when the curator archived it, None where it
    did not."""

    name: str
    exempt: bool
    stale: bool
    hidden: bool
    put_away_us: int | None
    last_us: int


class Step(Value):
    """What is done with a skill, and after how many days without use."""

    name: str
    step: CuratorStep
    days: int


def plan(skills: Iterable[Curated], at_us: int, stale: int, archive: int) -> Iterator[Step]:
    for skill in skills:
        days = max(0, at_us - skill.last_us) // DAY_US
        step = _step(skill, days, stale, archive)
        if step is not None:
            yield Step(name=skill.name, step=step, days=days)


def _step(skill: Curated, days: int, stale: int, archive: int) -> CuratorStep | None:
    if skill.hidden:
        away = skill.put_away_us
        woken = away is not None and (skill.exempt or skill.last_us > away)
        return "restore" if woken else None
    if skill.exempt or days < stale:
        return "wake" if skill.stale else None
    if days >= archive:
        return "archive"
    return None if skill.stale else "stale"
