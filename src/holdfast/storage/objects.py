"""The forms in which contents lie in a store: as they are, or compressed where that pays."""

from __future__ import annotations

import sys

from holdfast.core.trees.cut import RAW, RECIPE, ZSTD, ZSTD_LEVEL, packed
from holdfast.errors import Damaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def pack(content: bytes) -> tuple[str, bytes]:
    """The form and the bytes in which to store a content."""
    return packed(content, _compress)


def _compress(content: bytes) -> bytes:
    return zstd.compress(content, ZSTD_LEVEL)


def unpack(name: str, form: str, size: int, data: bytes) -> bytes:
    """The content of an object that is whole; of one that is cut, its recipe."""
    if form == ZSTD:
        try:
            data = zstd.ZstdDecompressor().decompress(data, size + 1)
        except zstd.ZstdError:
            raise damaged(name) from None
    if form not in (RAW, ZSTD, RECIPE) or (form != RECIPE and len(data) != size):
        raise damaged(name)
    return data


def damaged(name: str) -> Damaged:
    return Damaged(
        "object_damaged",
        f"object {name} is not what was written",
        hint="push a folder that has the same content, which heals it, or restore a backup",
    )
