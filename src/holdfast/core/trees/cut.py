"""How contents are stored: whole or cut, and compressed or as they are.

None of this has a part in any name: a content is named by all of its bytes, so the same file has
the same name however it was cut, and the numbers here may change without changing one tree's id.
They must stay the same, and the cutter with them, for equal stretches of two files to be stored
once. A content that is cut is stored under its own name as a recipe: the names of its parts in
order. A folder's bytes are a content too, of which small edits touch little, so they are cut finer.
"""

from __future__ import annotations

from holdfast.errors import Damaged
from holdfast.model.tree import DIGEST_TAG, is_digest
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

KIB = 1024
RAW, ZSTD, RECIPE = "raw", "zstd", "recipe"
ZSTD_LEVEL = 1
RECIPE_HEADER = "holdfast recipe 1\n"


class Cut(Value):
    """Contents longer than `whole_max` are cut into parts of these sizes, in bytes."""

    whole_max: int
    part_min: int
    part_average: int
    part_max: int


FILE_CUT = Cut(whole_max=1024 * KIB, part_min=64 * KIB, part_average=256 * KIB, part_max=1024 * KIB)
FOLDER_CUT = Cut(whole_max=64 * KIB, part_min=4 * KIB, part_average=16 * KIB, part_max=64 * KIB)


class Part(Value):
    digest: str
    size: int


def encode_recipe(parts: Iterable[Part]) -> bytes:
    lines = [f"{part.size} {part.digest[len(DIGEST_TAG) :]}\n" for part in parts]
    return (RECIPE_HEADER + "".join(lines)).encode()


def decode_recipe(data: bytes, size: int) -> tuple[Part, ...]:
    """The parts of a content of `size` bytes. Whether they make it is for its reader to verify."""
    try:
        lines = data.decode("ascii").removeprefix(RECIPE_HEADER).splitlines()
        pairs = [line.split(" ", 1) for line in lines]
        parts = tuple(Part(digest=DIGEST_TAG + digest, size=int(count)) for count, digest in pairs)
    except ValueError:
        parts = ()
    fits = parts and all(part.size > 0 and is_digest(part.digest) for part in parts)
    if not fits or encode_recipe(parts) != data or sum(part.size for part in parts) != size:
        raise Damaged(
            "recipe_damaged",
            f"the recipe of a content of {size} bytes is damaged",
            hint="`holdfast verify` names what it belongs to",
        )
    return parts


def packed(content: bytes, compress: Callable[[bytes], bytes]) -> tuple[str, bytes]:
    """The form in which to store it: compressed only where that saves a sixteenth or more."""
    small = compress(content)
    if len(small) <= len(content) - len(content) // 16 - 1:
        return ZSTD, small
    return RAW, content
