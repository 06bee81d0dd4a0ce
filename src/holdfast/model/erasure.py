"""Erasing: what was asked to be gone, how far that is, and the receipt.

An erasure names what it took by ids alone; no word of it is kept anywhere.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    ErasureState = Literal["pending", "done"]


class Reach(Value):
    """What an erasure takes. `shared` objects stay: something else that is kept has them."""

    what: str
    versions: int
    changes: int
    objects: int
    bytes: int
    shared: int
    copies: tuple[str, ...]


class Scrubbed(Value):
    """After the file was written anew: how many of the words that were looked for stand where, by
    table, and the copies of the vault that lie beside it."""

    standing: Mapping[str, int]
    copies: tuple[str, ...]


class Erasure(Value):
    """`done` is the receipt: the file was written anew, nobody held its old pages, and `searched`
    pieces of what was erased were looked for in all that its bytes decode to. `elsewhere` counts,
    by table, those that other memories say too, which stay. `copies` were not reached."""

    id: str
    number: int
    space: int
    what: str
    state: ErasureState
    targets: tuple[str, ...]
    gone: Mapping[str, int]
    searched: int
    elsewhere: Mapping[str, int]
    copies: tuple[str, ...]
    asked: datetime
    done: datetime | None
    revision: int
