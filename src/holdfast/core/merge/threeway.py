"""Three versions of a sequence, cut into regions: what nobody changed, what one side changed, what
both changed alike, and where the sides clash.

Two changes clash when they touch a common item of the base, or insert at one and the same place.
Changes that merely lie side by side do not: each stands at its own place. Nothing here depends on
which side is called ours.
"""

from __future__ import annotations

from holdfast.model.value import Value

from .match import match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T", bound=Hashable)
    P = TypeVar("P")
    Edit = tuple[int, int, int]  # start and stop in the base, and what the side's length gains

KEPT, OURS, THEIRS, ALIKE, CLASH = "kept", "ours", "theirs", "alike", "clash"


class Region(Value):
    """A stretch of each version, as (start, stop), and who changed it."""

    kind: str
    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


def regions(
    base: Sequence[Hashable], ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> Iterator[Region]:
    """The regions in order. Joined, their stretches are the whole of each version."""
    b = o = t = 0
    for start, stop, gain_ours, gain_theirs in _groups(_edits(base, ours), _edits(base, theirs)):
        if start > b:
            yield _region(KEPT, (b, start), (o, o + start - b), (t, t + start - b))
            b, o, t = start, o + start - b, t + start - b
        stop_ours = o + stop - start + (gain_ours or 0)
        stop_theirs = t + stop - start + (gain_theirs or 0)
        if gain_ours is None:
            kind = THEIRS
        elif gain_theirs is None:
            kind = OURS
        else:
            kind = ALIKE if ours[o:stop_ours] == theirs[t:stop_theirs] else CLASH
        yield _region(kind, (b, stop), (o, stop_ours), (t, stop_theirs))
        b, o, t = stop, stop_ours, stop_theirs
    if b < len(base):
        yield _region(KEPT, (b, len(base)), (o, len(ours)), (t, len(theirs)))


def _region(
    kind: str, base: tuple[int, int], ours: tuple[int, int], theirs: tuple[int, int]
) -> Region:
    return Region(kind=kind, base=base, ours=ours, theirs=theirs)


def _edits(base: Sequence[Hashable], side: Sequence[Hashable]) -> list[Edit]:
    """The gaps between what matches."""
    edits: list[Edit] = []
    i = j = 0
    for start, side_start, n in [*match(base, side), (len(base), len(side), 0)]:
        if start > i or side_start > j:
            edits.append((i, start, (side_start - j) - (start - i)))
        i, j = start + n, side_start + n
    return edits


def _groups(
    ours: list[Edit], theirs: list[Edit]
) -> Iterator[tuple[int, int, int | None, int | None]]:
    """Edits that clash, taken together: start, stop, and the gain of each side that has a part."""
    edits = sorted([(*edit, 0) for edit in ours] + [(*edit, 1) for edit in theirs])
    first = stop = -1
    gains: list[int | None] = [None, None]
    for start, end, gain, side in edits:
        if start >= stop and (start, end) != (first, stop):
            if first >= 0:
                yield first, stop, gains[0], gains[1]
            first, stop = start, end
            gains = [None, None]
        stop = max(stop, end)
        gains[side] = (gains[side] or 0) + gain
    if first >= 0:
        yield first, stop, gains[0], gains[1]


def apart(ours: Sequence[T], theirs: Sequence[T]) -> tuple[list[T], list[T], list[T], list[T]]:
    """What both begin with, what each has of its own, and what both end with."""
    room = min(len(ours), len(theirs))
    head = 0
    while head < room and ours[head] == theirs[head]:
        head += 1
    tail = 0
    while tail < room - head and ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    end = len(ours) - tail
    middle = list(theirs[head : len(theirs) - tail])
    return list(ours[:head]), list(ours[head:end]), middle, list(ours[end:])


def pick(base: P, ours: P, theirs: P) -> P:
    """One value of three versions that cannot be kept twice. Who changed it has it."""
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else min(ours, theirs, key=repr)
