"""Spaces and the stores that they declare."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Json
    from holdfast.model.ids import SpaceId, StoreId
    from holdfast.model.mount import Mount

    StoreType = Literal["short_term", "long_term"]

DEFAULT_SPACE = "default"
STORE_TYPES = ("short_term", "long_term")


class StoreSpec(Value):
    """A store as it is declared: what `workspace.yml` says of it, checked."""

    name: str
    type: StoreType = "long_term"
    strategy: str
    options: Mapping[str, Json] = {}


class Store(Value):
    """A store as it is kept. `position` is its place in the declaration, None once withdrawn;
    `mount` is how it is seen from another space, None in its own.
    """

    id: StoreId
    number: int
    space: SpaceId
    space_number: int
    space_name: str
    name: str
    type: StoreType
    strategy: str
    options: Mapping[str, Json]
    position: int | None
    revision: int
    mount: Mount | None = None

    @property
    def label(self) -> str:
        """Which store it is, wherever it is seen."""
        return f"{self.space_name}/{self.name}"

    @property
    def called(self) -> str:
        """What the space that sees it calls it."""
        return self.name if self.mount is None else self.mount.name

    @property
    def seen_in(self) -> str:
        """The space that sees it: its own, or the one that mounts it."""
        return self.space_name if self.mount is None else self.mount.space


class SpaceSpec(Value):
    """What a `workspace.yml` declares: the space's name, its folder, its stores, and its text.

    `settings` has what else its sections say, by their names; `places` the file and line of what
    only the vault can judge, by the name of the field.
    """

    name: str
    path: str | None
    text: str
    stores: tuple[StoreSpec, ...]
    settings: Mapping[str, Json] = {}
    places: Mapping[str, str] = {}


class SpaceInfo(Value):
    """A space as it is kept: with an id of its own, the folder that it belongs to, and the text of
    the `workspace.yml` that was applied last, by which a start knows that nothing changed.
    `settings` has what the file says beside the stores, by the names of its sections.
    """

    id: SpaceId
    number: int
    name: str
    path: str | None
    declared: str | None
    settings: Mapping[str, Json] = {}
    created: datetime
    revision: int
