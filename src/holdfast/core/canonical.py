"""Canonical bytes and digests: the same value gives the same bytes on every machine.

Canonical JSON is UTF-8 with sorted keys, no white space, and numbers as Python writes them
(shortest form that reads back equal). A digest is SHA-256 over a domain and the length-prefixed
parts, so that no two lists of parts share their bytes and no row's digest is another kind's.
"""

from __future__ import annotations

import json
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.model.entry import Json


def encoder(*, sort_keys: bool) -> Callable[[Any], str]:
    """JSON as text, without white space. What `JSONEncoder.encode` makes anew at each call, which
    is half of a small value's time, is made once."""
    plain = json.JSONEncoder(
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=sort_keys,
        separators=(",", ":"),
        check_circular=False,
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    quoted: Any = json.encoder.encode_basestring
    parts = make(None, plain.default, quoted, None, ":", ",", sort_keys, False, False)
    return lambda value: "".join(parts(value, 0))


_encode = encoder(sort_keys=True)
_encode_row = encoder(sort_keys=False)  # the columns of a row have an order of their own


def canonical(value: Json) -> bytes:
    return _encode(value).encode()


def canonical_text(value: Json) -> str:
    return _encode(value)


def digest(domain: str, *parts: bytes) -> bytes:
    pieces = [f"holdfast/{domain}/1\n".encode()]
    for part in parts:
        pieces += len(part).to_bytes(8, "big"), part
    last = pieces.pop()  # what is long comes last, and is not copied
    state = _sha256()(b"".join(pieces))
    state.update(last)
    return state.digest()


@cache
def _sha256() -> Callable[[bytes], Any]:
    """Imported when it is first needed: light commands do without."""
    from hashlib import sha256

    return sha256


def row_digest(table: str, columns: tuple[object, ...]) -> bytes:
    """What a row says, as a digest: its table and its columns in the order of the schema."""
    plain = [column.hex() if isinstance(column, bytes) else column for column in columns]
    return digest(f"row/{table}", _encode_row(plain).encode(errors="surrogatepass"))


def keyed(key: bytes, text: str) -> bytes:
    """A fingerprint that cannot be guessed at without the vault's own key."""
    from hashlib import blake2b

    return blake2b(text.encode(), key=key, digest_size=16).digest()
