"""What erasing needs of storage: the record of it, and the places that keep words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Protocol

    from holdfast.model.erasure import Erasure

    class ErasureReads(Protocol):
        def erasures(self, *, pending: bool = False) -> Sequence[Erasure]:
            """All, or those that are not done, the oldest first."""
            ...

        def bodies_of(self, targets: Collection[str]) -> int:
            """How many changes of these targets have a body still."""
            ...

    class ErasureWrites(ErasureReads, Protocol):
        def put_erasure(self, erasure: Erasure) -> None: ...

        def erase_bodies(self, targets: Collection[str]) -> int:
            """Take away all that the log says of these targets but digests; how many changes."""
            ...

        def erase_answers(self, targets: Collection[str]) -> int:
            """Drop the stored answers to calls that changed these targets or tell of them."""
            ...

        def erase_contexts(self, words: str) -> int:
            """Drop the contexts of sessions that hold these words; they are made anew."""
            ...
