"""Several rankings of different things made one, by places: scores of two indexes do not compare.

What stands at place `n` of a list is worth `1 / (60 + n)`; whoever stands in several lists gets the
sum. Sixty keeps the first of one list from outweighing what two lists agree on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import TypeVar

    K = TypeVar("K", bound=Hashable)

DAMPING = 60


def fused(lists: Mapping[str, Sequence[K]]) -> list[tuple[K, dict[str, int]]]:
    """The members of all lists, the best first, each with its place in each list (from 1).

    Equal ones stand in the order of the lists, then in that of their places.
    """
    places: dict[K, dict[str, int]] = {}
    for name, members in lists.items():
        for place, member in enumerate(members, 1):
            places.setdefault(member, {}).setdefault(name, place)
    return sorted(places.items(), key=lambda one: -_worth(one[1]))


def _worth(places: Mapping[str, int]) -> float:
    return sum(1 / (DAMPING + place) for place in places.values())
