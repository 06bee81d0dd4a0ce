"""The forms in which packs lie in a store: as they are, or compressed where that pays."""

from __future__ import annotations

import sys

from holdfast.core.trees.cut import RAW, ZSTD, ZSTD_LEVEL, packed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def pack(content: bytes) -> tuple[str, bytes]:
    """The form and the bytes in which to store a pack."""
    return packed(content, _compress)


def _compress(content: bytes) -> bytes:
    return zstd.compress(content, ZSTD_LEVEL)


def unpack(form: str, size: int, data: bytes) -> bytes | None:
    """The bytes of a pack, None if they are not what was written."""
    if form == ZSTD:
        try:
            data = zstd.ZstdDecompressor().decompress(data, size + 1)
        except zstd.ZstdError:
            return None
    return data if form in (RAW, ZSTD) and len(data) == size else None
