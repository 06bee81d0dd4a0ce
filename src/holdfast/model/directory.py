"""Versioned directories as they are kept: the directory, its versions, and what bounds them."""

from __future__ import annotations

from holdfast.model.tree import FOLDER, Node
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal

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


class StoredObject(Value):
    """A content under its name, in the form in which it lies in the store."""

    name: str
    form: str
    size: int
    data: bytes
