"""Whether an entry is seen through a mount. Who wrote the entry is asked for where it matters."""

from __future__ import annotations

from holdfast.core.canonical import canonical
from holdfast.model.mount import ALL
from holdfast.model.times import DAY_US, day_of, to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.model.entry import Entry, Json
    from holdfast.model.mount import Lens

    Author = Callable[[Entry], str | None]


def shows(
    lens: Lens, entry: Entry, at_us: int, actor: str, session: str | None, author: Author
) -> bool:
    """Whether this lens shows the entry to that actor in that session. Days are UTC days."""
    if lens.kinds and entry.kind not in lens.kinds:
        return False
    if lens.tags and set(lens.tags).isdisjoint(entry.tags):
        return False
    if entry.importance < lens.importance:
        return False
    if lens.days is not None and to_us(entry.when) < (day_of(at_us) - lens.days) * DAY_US:
        return False
    if not has_members(entry.metadata, lens.metadata):
        return False
    if lens.scope == "session":
        return session is not None and entry.session == session
    return lens.scope == "space" or author(entry) == actor


def is_whole(lenses: tuple[Lens, ...]) -> bool:
    """Whether they leave nothing out."""
    return ALL in lenses


def has_members(found: Mapping[str, Json], wanted: Mapping[str, Json]) -> bool:
    """Whether it has these members, by JSON's own equality: true is not 1."""
    return all(
        key in found and canonical(found[key]) == canonical(value) for key, value in wanted.items()
    )
