"""What artifacts need of storage: their rows, and the index of what refers to them.

Their contents are objects like those of directories. Which entries and messages mention an artifact
is written down in the transaction that writes these, and so is when one lapses that none mentions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from holdfast.model.artifact import ArtifactRow
    from holdfast.model.space import Store

    class ContentReads(Protocol):
        def artifact(self, store: Store, id: str) -> ArtifactRow | None:
            """In every state."""
            ...

        def artifact_same(self, store: Store, content: str) -> ArtifactRow | None:
            """The one that is kept with this content."""
            ...

        def newest_artifacts(
            self, store: Store, lapsed_us: int, limit: int
        ) -> Sequence[ArtifactRow]:
            """Those that are kept, the newest first, without those that lapsed before then."""
            ...

        def lapsed_artifacts(self, at_us: int, limit: int) -> Sequence[tuple[int, ArtifactRow]]:
            """Those that are kept and lapsed by then, the first first, with their stores'
            numbers."""
            ...

        def all_artifacts(self, store: Store) -> Iterator[ArtifactRow]: ...

        def references(self, id: str) -> int:
            """How many entries and messages refer to it."""
            ...

        def kept_contents(self, after: int) -> Iterator[str]:
            """The contents of artifacts that were changed after that change and are kept."""
            ...

    class ContentWrites(ContentReads, Protocol):
        def put_artifact(self, store: Store, artifact: ArtifactRow) -> None: ...

    class ArtifactView(Protocol):
        """What a strategy may read of artifacts."""

        def artifact(self, store: Store, name: str) -> ArtifactRow:
            """One that is kept and has not lapsed, by its id."""
            ...

        def newest_artifacts(self, store: Store, limit: int) -> Sequence[ArtifactRow]:
            """Those that are kept, the newest first, without those whose time was over on an
            earlier UTC day."""
            ...

        def stretch(self, name: str, start: int, stop: int) -> bytes:
            """A stretch of a content's bytes, verified."""
            ...

        def pieces(self, name: str) -> Iterator[bytes]:
            """A content piece by piece, each verified."""
            ...

        def references(self, artifact: ArtifactRow) -> int:
            """How many entries and messages refer to it now."""
            ...

    class ArtifactWork(Protocol):
        """What a strategy may do to artifacts inside a unit of work."""

        def same_artifact(self, store: Store, content: str) -> ArtifactRow | None:
            """The one that has this content: kept, or in whatever state under the id that this
            content has in the store."""
            ...

        def artifact_id(self, store: Store, content: str) -> str:
            """The id that a content has in the store."""
            ...

        def put_artifact(
            self, store: Store, artifact: ArtifactRow, before: ArtifactRow | None, op: str
        ) -> ArtifactRow:
            """Write what an artifact became, with its change. What nothing refers to lapses
            when its hours are over."""
            ...
