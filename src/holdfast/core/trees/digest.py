"""Objects are named by the SHA-256 of their content, with the algorithm's tag before it."""

from __future__ import annotations

from holdfast.model.tree import DIGEST_TAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def digest_of(content: bytes | memoryview) -> str:
    from hashlib import sha256

    return DIGEST_TAG + sha256(content).hexdigest()


def digest_of_parts(parts: Iterable[bytes | memoryview]) -> str:
    """The name of what the parts make when they are joined."""
    from hashlib import sha256

    whole = sha256()
    for part in parts:
        whole.update(part)
    return DIGEST_TAG + whole.hexdigest()
