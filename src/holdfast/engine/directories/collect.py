"""Removing objects that no kept version leads to and no entry or artifact holds.

Marking looks at one moment. What is removed is removed in transactions that first mark what was
made since; a push that rests on an object which went meanwhile notices by the count of collections,
and stores it again. What was stored lately is spared, so that pushes under way need not.
"""

from __future__ import annotations

from holdfast.core.trees.cut import RECIPE, decode_recipe
from holdfast.core.trees.reach import Reach, garbage, mark
from holdfast.core.trees.tree import EMPTY, EMPTY_BYTES
from holdfast.engine.directories.objects import stored, verified
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.engine.work import Core
    from holdfast.ports import Snapshot, Transaction

AT_ONCE = 2_000
PACKS_AT_ONCE = 50


class Collected(Value):
    objects: int
    bytes: int


def collect(core: Core, spared_us: int, *, dry_run: bool = False) -> Collected:
    """Remove what nothing leads to and is older than `spared_us`; or only count it, in bytes before
    they are compressed."""
    before_us = core.clock() - spared_us

    def look(snapshot: Snapshot) -> tuple[Reach, int, list[str]]:
        reach = Reach()
        _mark(snapshot, reach, 0)
        old = ((name, 0) for name in snapshot.objects_before(before_us))
        return reach, snapshot.head()[0], list(garbage(old, reach, 1))

    reach, until, names = core.storage.read(look)
    if dry_run:
        return core.storage.read(lambda snapshot: _counted(snapshot, names))
    removed = 0
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]

        def remove(tx: Transaction, some: Sequence[str] = some) -> int:
            _mark(tx, reach, until)
            return tx.drop_objects([name for name in some if name not in reach], before_us)

        removed += core.storage.write(remove)
    return Collected(objects=removed, bytes=_shrunk(core))


def _counted(snapshot: Snapshot, names: Sequence[str]) -> Collected:
    gone = set(names)
    lengths = [size for name, size in snapshot.objects_with_lengths() if name in gone]
    return Collected(objects=len(lengths), bytes=sum(lengths))


def _shrunk(core: Core) -> int:
    """Let go of the bytes that objects left behind, a few packs at a time."""
    freed = after = 0
    while True:
        after, size = core.storage.write(
            lambda tx, after=after: tx.shrink_packs(after, PACKS_AT_ONCE)
        )
        freed += size
        if not after:
            return freed


def marked(snapshot: Snapshot, trees: Iterable[str], held: Iterable[str] = ()) -> Reach:
    """All that these trees lead to, and contents that are held otherwise."""
    reach = Reach()
    _mark_from(snapshot, trees, held, reach)
    return reach


def held_by_others(snapshot: Snapshot, after: int) -> Iterator[str]:
    """The contents that no tree leads to and that are kept: of entries and artifacts."""
    yield from snapshot.held(after)
    yield from snapshot.kept_contents(after)


def _mark(snapshot: Snapshot, reach: Reach, after: int) -> None:
    _mark_from(snapshot, snapshot.kept_trees(after), held_by_others(snapshot, after), reach)


def _mark_from(snapshot: Snapshot, trees: Iterable[str], held: Iterable[str], reach: Reach) -> None:
    recipes = set(snapshot.recipes())

    def parts_of(name: str) -> list[str]:
        _, size, data = stored(snapshot, name)
        return [part.digest for part in decode_recipe(data, size)]

    def parts(names: Sequence[str]) -> Iterator[str]:
        for name in names:
            if name in recipes:
                yield from parts_of(name)

    def load(name: str) -> bytes:
        if name == EMPTY.digest:
            return EMPTY_BYTES
        form, _, data = stored(snapshot, name)
        if form == RECIPE:
            data = b"".join([stored(snapshot, part)[2] for part in parts_of(name)])
        return verified(name, data)

    mark(trees, load, parts, reach)
    reach.contents.add(parts(reach.contents.add(held)))
