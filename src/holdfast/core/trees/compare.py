"""What differs between two trees. Folders with one digest are equal and are never opened, and of
two others only the records that differ are read, so the cost follows what changed."""

from __future__ import annotations

from holdfast.model.tree import FOLDER, Change, Node, check_depth

from .folder import decode_difference
from .tree import EMPTY, EMPTY_BYTES, LEAVES_MAX, too_many_leaves, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tree import Load

    Pair = tuple[str, Node | None, Node | None]


def compare(
    before: Node, after: Node, load: Load, *, changes_max: int = 2 * LEAVES_MAX
) -> Iterator[Change]:
    """Each leaf that is not the same in both trees, in the order of the paths' parts."""
    count = 0
    stack: list[Pair] = [("", before, after)]
    while stack:
        path, old, new = stack.pop()
        if old == new:
            continue
        check_depth(path)
        if old and new and _is_open(path, old) and _is_open(path, new):
            stack += reversed(_pairs(path, old, new, load))
            continue
        for change in _replaced(path, old, new, load):
            count += 1
            if count > changes_max:
                raise too_many_leaves(changes_max)
            yield change


def _is_open(path: str, node: Node | None) -> bool:
    """Whether it is a folder to look into; an empty one is a leaf, except at the root."""
    return node is not None and node.kind == FOLDER and (node.digest != EMPTY.digest or not path)


def _pairs(path: str, old: Node, new: Node, load: Load) -> list[Pair]:
    """The names that do not stand for the same in both folders, with what each stands for."""
    bytes_of = (
        EMPTY_BYTES if node.digest == EMPTY.digest else load(node.digest) for node in (old, new)
    )
    before, after = decode_difference(*bytes_of)
    inside = path + "/" if path else ""
    return [
        (inside + name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
    ]


def _replaced(path: str, old: Node | None, new: Node | None, load: Load) -> Iterator[Change]:
    """Something was added, deleted, or changed as a leaf; or a leaf and a folder took turns."""
    if old and new and not (_is_open(path, old) or _is_open(path, new)):
        yield Change(path=path, before=old, after=new)
        return
    sides = [(old, True), (new, False)]
    for side, is_old in sorted(sides, key=lambda side: _is_open(path, side[0])):
        for at, node in walk(side, load, at=path) if side else ():
            yield Change(path=at, before=node if is_old else None, after=None if is_old else node)
