"""The part of a unit of work that keeps artifacts: each row with its change, as all are written."""

from __future__ import annotations

from datetime import timedelta

from holdfast.core.images import artifact_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from holdfast.model.artifact import ArtifactRow
    from holdfast.model.space import Store
    from holdfast.model.vault import VaultInfo
    from holdfast.ports import Transaction


class ArtifactWork:
    """`ports.contents.ArtifactWork`, for a work that has these."""

    tx: Transaction
    seq: int
    _vault: VaultInfo

    if TYPE_CHECKING:

        @property
        def at(self) -> datetime: ...

        def wake_for(self, space_name: str) -> None: ...

        def _record(self, *args: Any, **named: Any) -> None: ...

    def artifact_id(self, store: Store, content: str) -> str:
        from holdfast.engine.artifacts import id_of

        return id_of(self._vault.secret, store, content)

    def same_artifact(self, store: Store, content: str) -> ArtifactRow | None:
        known = self.tx.artifact_same(store, content)
        return known or self.tx.artifact(store, self.artifact_id(store, content))

    def put_artifact(
        self, store: Store, artifact: ArtifactRow, before: ArtifactRow | None, op: str
    ) -> ArtifactRow:
        lasts = artifact.state == "forgotten" or self.tx.references(artifact.id)
        until = None if lasts else self.at + timedelta(hours=artifact.hours)
        after = artifact.replace(until=until, revision=self.seq + 1)
        self._record(
            "artifact",
            after.id,
            op,
            artifact_image(after),
            None if before is None else before.revision,
            space=store.space_number,
            store=store,
        )
        self.tx.put_artifact(store, after)
        if op != "expire":
            self.wake_for(store.space_name)
        return after
