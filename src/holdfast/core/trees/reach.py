"""What a collector must keep: everything that the roots of kept versions lead to.

Memory is bounded: a name is remembered by the first 8 bytes of its digest, a million of them in 8
megabytes. Should two names ever begin alike, one too many is kept, never one too few. A content and
a folder may have the same bytes and then the same name, so they are marked apart. Whatever cannot
be read raises, and then nothing at all is known to be garbage.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from holdfast.model.tree import DIGEST_TAG, FOLDER

from .folder import decode_folder
from .tree import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .tree import Load

    Parts = Callable[[Sequence[str]], Iterable[str]]

PENDING_MAX = 65_536
_START, _STOP = len(DIGEST_TAG), len(DIGEST_TAG) + 16


class Marks:
    """A set of names that grows: most of it a sorted array, the newest a plain set."""

    def __init__(self) -> None:
        self._sorted = array("Q")
        self._pending: set[int] = set()

    def __contains__(self, name: str) -> bool:
        return self._has(int(name[_START:_STOP], 16))

    def add(self, names: Iterable[str]) -> list[str]:
        """Those of the names that were not in yet."""
        fresh: list[str] = []
        for name in names:
            number = int(name[_START:_STOP], 16)
            if not self._has(number):
                self._pending.add(number)
                fresh.append(name)
        if len(self._pending) > PENDING_MAX:
            self._sorted.extend(sorted(self._pending))
            self._sorted = array("Q", sorted(self._sorted))
            self._pending.clear()
        return fresh

    def _has(self, number: int) -> bool:
        if number in self._pending:
            return True
        at = bisect_left(self._sorted, number)
        return at < len(self._sorted) and self._sorted[at] == number


class Reach:
    """What has been reached so far."""

    def __init__(self) -> None:
        self.folders = Marks()
        self.contents = Marks()

    def __contains__(self, name: str) -> bool:
        return name in self.folders or name in self.contents


def mark(roots: Iterable[str], load: Load, parts: Parts, reach: Reach) -> None:
    """Mark all that the root folders lead to. `parts` gives, for contents, the parts of those that
    are stored cut; folders may be stored cut too."""
    for root in roots:
        waiting = reach.folders.add([root])
        reach.contents.add(parts(waiting))
        while waiting:
            folder = waiting.pop()
            nodes = {} if folder == EMPTY.digest else decode_folder(load(folder))
            below = [node.digest for node in nodes.values() if node.kind == FOLDER]
            leaves = [node.digest for node in nodes.values() if node.kind != FOLDER]
            fresh = reach.folders.add(below)
            reach.contents.add(parts(fresh))
            reach.contents.add(parts(reach.contents.add(leaves)))
            waiting += fresh


def garbage(objects: Iterable[tuple[str, int]], reach: Reach, before: int) -> Iterator[str]:
    """Of all objects (name, when it was last stored or asked for) those that may be removed.

    `before` is when marking began or an open push did, whichever was earlier: what was stored or
    asked for since may belong to a version that is being made.
    """
    for name, touched in objects:
        if touched < before and name not in reach:
            yield name
