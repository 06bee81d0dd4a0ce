"""What versioned directories need of storage: their rows, their versions, and objects by name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Protocol

    from holdfast.model.directory import Directory, Pack, Version

    class TreeReads(Protocol):
        def directory_named(self, space: str, kind: str, name: str) -> Directory | None:
            """The one that is kept; a forgotten one is not found."""
            ...

        def knows_directory(self, directory: str) -> bool:
            """Whether one with this id ever was here, kept or not."""
            ...

        def directories_ever(self, space: str, kind: str, name: str) -> Sequence[Directory]:
            """Those of a name, the forgotten among them, the oldest first."""
            ...

        def trees_but(self, directories: Sequence[Directory]) -> Iterator[str]:
            """The trees that are kept whatever becomes of these directories."""
            ...

        def objects_with_lengths(self) -> Iterator[tuple[str, int]]:
            """Every object, and the bytes that it takes before they are compressed."""
            ...

        def directories(self, space: str, kind: str) -> Sequence[Directory]:
            """All that are kept, by name, the hidden among them."""
            ...

        def versions(self, directory: Directory) -> Sequence[Version]:
            """The newest first."""
            ...

        def newest_version(self, directory: Directory) -> int:
            """The v that was given last, 0 before any."""
            ...

        def version(self, directory: Directory, v: int) -> Version | None: ...

        def objects(self, names: Collection[str]) -> Iterator[tuple[str, str, int, bytes | None]]:
            """Those of the names that are there, in the order in which they are read best: name,
            form, size of the content, and the content, or the recipe where that is the form; None
            where it cannot be read. Whether a content has its name is for the caller."""
            ...

        def known_objects(self, names: Collection[str]) -> set[str]: ...

        def recipes(self) -> Iterator[str]:
            """The names of the contents that are stored cut."""
            ...

        def objects_before(self, stored_us: int) -> Iterator[str]: ...

        def kept_trees(self, after: int) -> Iterator[str]:
            """The trees of the versions that were made after that change and are not forgotten."""
            ...

        def collections(self) -> int:
            """How often objects were dropped."""
            ...

    class HoldingReads(Protocol):
        def held(self, after: int) -> Iterator[str]:
            """The names of the contents that entries hold since a change after that one, and of
            those that proposals which wait would hold. Forgotten entries hold theirs still."""
            ...

    class HoldingWrites(HoldingReads, Protocol):
        def hold(self, entry: int, names: Iterable[str], seq: int) -> None:
            """An entry, by its number, holds these from that change on."""
            ...

    class TreeWrites(TreeReads, Protocol):
        def put_directory(self, directory: Directory) -> None: ...

        def put_version(self, version: Version) -> None: ...

        def drop_versions(self, directory: Directory) -> int:
            """Of an erased directory; how many they were."""
            ...

        def put_packs(self, packs: Iterable[Pack], at_us: int) -> None:
            """Unlogged: what no version refers to is nothing yet. What is there is replaced."""
            ...

        def drop_objects(self, names: Iterable[str], stored_us: int) -> int:
            """Drop those that were stored before then; how many they were."""
            ...

        def shrink_packs(self, after: int, limit: int) -> tuple[int, int]:
            """Let go of the bytes that no object refers to, in the next so many packs after that
            number; the number of the last one, 0 when there was none, and the bytes freed."""
            ...
