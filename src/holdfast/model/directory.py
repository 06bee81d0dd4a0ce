"""Versioned directories as they are kept: the directory, its versions, and what bounds them."""

from __future__ import annotations

from collections import namedtuple

from holdfast.model.tree import FOLDER, Node
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal, NamedTuple

    DirectoryType = Literal["memory", "artifact", "volume"]
    VersionKind = Literal["ordinary", "recovery"]

DIRECTORY_TYPES = ("memory", "artifact", "volume")
MIB, GIB = 1024**2, 1024**3


class Directory(Value):
    """`head` is the v of the version that folders are brought to, 0 before there is one. What is
    hidden is left out of lists; `state` is `kept` or `forgotten`."""

    id: str
    number: int
    space_number: int
    space_name: str
    name: str
    type: DirectoryType
    state: str
    hidden: bool
    head: int
    created: datetime
    revision: int


class Version(Value):
    """A tree at a moment. `parents` are the v of the versions that it was made from. A recovery
    version keeps what a forced command replaced; it was never the head's successor."""

    id: str
    number: int
    directory: int
    v: int
    tree: str
    files: int
    size: int
    parents: tuple[int, ...]
    kind: VersionKind
    author: str
    run: str | None
    session: str | None
    message: str
    at: datetime

    @property
    def root(self) -> Node:
        return Node(FOLDER, self.files, self.size, self.tree)


class Limits(Value):
    """What a tree may hold."""

    file_bytes: int = GIB
    tree_bytes: int = 10 * GIB
    files: int = 1_000_000


class Pack(Value):
    """Contents that lie in a store together, compressed as one. They have `size` bytes."""

    items: tuple[Packed, ...]
    form: str
    size: int
    data: bytes


if TYPE_CHECKING:

    class Packed(NamedTuple):
        name: str
        is_recipe: bool
        size: int
        at: int
        length: int

else:
    Packed = namedtuple("Packed", "name is_recipe size at length")  # noqa: PYI024 - typing is slow
    Packed.__doc__ = """Where in its pack an object lies: `length` bytes from `at`. `size` is
    that of the content, of which a recipe has only the names of its parts."""
