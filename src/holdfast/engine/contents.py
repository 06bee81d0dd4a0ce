"""Contents that entries hold: stored before the change that names them, or together with it.

Cutting and compressing is done outside of the transaction. Until an entry holds them they are
nothing: a collector may take them away, so the change is made only if none was collected meanwhile,
and else they are stored again.
"""

from __future__ import annotations

from holdfast.core.trees.digest import digest_of
from holdfast.engine.directories.desk import Overtaken, repeated
from holdfast.engine.directories.objects import Storing, file_content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from holdfast.engine.work import Core, Work

    T = TypeVar("T")


def with_contents(
    core: Core, contents: Sequence[bytes], write: Callable[[Callable[[Work], None]], T]
) -> T:
    """What `write` gives, which calls what it is given at the beginning of its unit of work."""

    def attempt() -> T:
        collections = core.storage.read(lambda snapshot: snapshot.collections())
        storing = Storing(core.storage, core.clock(), Overtaken)
        storing.add(
            file_content(digest_of(content), len(content), lambda content=content: content)
            for content in contents
        )

        def put(work: Work) -> None:
            if work.tx.collections() != collections:
                raise Overtaken
            work.tx.put_packs(storing.rest, work.at_us)

        return write(put)

    return repeated(attempt, "what the vault stores")
