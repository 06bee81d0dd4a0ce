"""Which contents lie together in a pack, and are compressed as one.

Small files compress better together, and one row of a hundred kilobytes costs a database less
than fifty of two. A pack is small enough that reading one content of it takes no more than a
moment. What is large lies alone.
"""

from __future__ import annotations

from holdfast.core.trees.cut import KIB
from holdfast.model.directory import Pack, Packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Compress = Callable[[bytes], tuple[str, bytes]]
    Given = tuple[str, bool, int, bytes]

PACK_BYTES = 128 * KIB
PACK_ALONE_BYTES = 64 * KIB


def packs(objects: Iterable[Given], compress: Compress) -> Iterator[Pack]:
    """Packs of these: name, whether it is a recipe, the content's size, the bytes to keep."""
    return (pack_of(group, compress) for group in groups(objects))


def groups(objects: Iterable[Given]) -> Iterator[list[Given]]:
    """Which objects lie together. They keep their order but for the large ones, and each group is
    given as soon as it is full."""
    waiting: list[Given] = []
    held = 0
    for item in objects:
        length = len(item[3])
        if length >= PACK_ALONE_BYTES:
            yield [item]
            continue
        waiting.append(item)
        held += length
        if held >= PACK_BYTES:
            yield waiting
            waiting, held = [], 0
    if waiting:
        yield waiting


def pack_of(objects: list[Given], compress: Compress) -> Pack:
    items: list[Packed] = []
    at = 0
    for name, is_recipe, size, data in objects:
        items.append(Packed(name, is_recipe, size, at, len(data)))
        at += len(data)
    form, data = compress(b"".join([item[3] for item in objects]))
    return Pack(items=tuple(items), form=form, size=at, data=data)
