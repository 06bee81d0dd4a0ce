"""Mounts: stores of other spaces as they are seen in this one, and what others may mount."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from holdfast.model.entry import Json

    Mode = Literal["ro", "rw"]
    MountScope = Literal["space", "agent", "session"]

MODES = ("ro", "rw")
MOUNT_SCOPES = ("space", "agent", "session")


class Lens(Value):
    """Which entries are seen through a mount: all, or those that the same agent or session wrote,
    and of these what has one of the kinds, one of the tags, the importance, the metadata, and is no
    older than so many days. What is not seen cannot be read, written or changed through it.
    """

    scope: MountScope = "space"
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: int = 0
    days: int | None = None
    metadata: Mapping[str, Json] = {}


ALL = Lens()


class Mount(Value):
    """`space` is where it is seen, as `name`; `lenses` are its own, and in a context those of every
    mount that reaches the same store.
    """

    space: str
    name: str
    source_space: str
    source_store: str
    mode: Mode = "ro"
    lenses: tuple[Lens, ...] = (ALL,)

    @property
    def source(self) -> str:
        return f"{self.source_space}/{self.source_store}"


class Share(Value):
    """What a space lets others mount of a store: `spaces` may, or all where it names none."""

    store: str
    spaces: tuple[str, ...] = ()
    mode: Mode = "rw"
