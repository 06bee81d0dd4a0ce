"""What storage must offer of links between entries, and of how often entries are used.

Both are derived, or worth no more than that: a link can be made again from the entry that has it,
and a use is a matter of ranking, which leaves no trace in the log.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from holdfast.model.entry import Entry
    from holdfast.model.space import Store

    # how often, and when last (microseconds)
    Use = tuple[int, int]

    class LinkReads(Protocol):
        def referring(self, store: Store, target: str) -> Sequence[Entry]:
            """The entries of the store that refer to this id and were not forgotten."""
            ...

        def uses(self, numbers: Sequence[int]) -> Mapping[int, Use]:
            """By the numbers of entries; those never used are left out."""
            ...

    class LinkWrites(Protocol):
        def add_uses(self, uses: Mapping[int, Use]) -> None:
            """Add what is counted since the last time."""
            ...
