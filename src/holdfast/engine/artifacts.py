"""Artifacts as views and units of work have them: read with what a mount shows, kept with their
changes, and let go when their time is over.

An artifact that nothing refers to lapses so many hours after it was saved, or after the last
reference to it went. From that moment on nobody gets it; that it is swept, which the log tells of,
follows off everybody's path.
"""

from __future__ import annotations

from hashlib import blake2b

from holdfast.core.images import artifact_from_image
from holdfast.engine.history import image_at
from holdfast.errors import NotFound
from holdfast.model.artifact import BODY_BYTES, make_artifact_id
from holdfast.model.names import check_str, shown
from holdfast.model.times import to_us
from holdfast.model.write import Actor, Caller, Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.engine.work import Core, Work
    from holdfast.model.artifact import ArtifactRow
    from holdfast.model.space import Store
    from holdfast.ports import Snapshot

SWEPT_AT_ONCE = 200
SWEEPER = Caller(actor=Actor(kind="tool", name="sweeper"))


# Reading


def find(snapshot: Snapshot, store: Store, name: str, at_us: int) -> ArtifactRow:
    """The artifact of that id, which must be kept and not have lapsed."""
    check_str(name, "the id")
    found = snapshot.artifact(store, name) if name.isascii() else None
    if found is None:
        raise missing(store, name)
    if found.state == "forgotten" or _has_lapsed(found, at_us):
        raise NotFound(
            "artifact_gone",
            f"{store.label} has artifact {name} no more: it was forgotten, or lapsed because "
            "nothing referred to it",
            hint="save the content again; note its id where it is to last",
        )
    return found


def _has_lapsed(artifact: ArtifactRow, at_us: int) -> bool:
    return artifact.until is not None and to_us(artifact.until) <= at_us


def missing(store: Store, name: str) -> NotFound:
    return NotFound(
        "artifact_not_found",
        f"{store.label} has no artifact {shown(name)}",
        hint="an id is `art_` and 16 characters; holdfast artifact get lists the newest",
    )


def then(snapshot: Snapshot, store: Store, seq: int) -> Iterator[ArtifactRow]:
    """The artifacts that were kept after a change, as they were; but none that was forgotten."""
    for now in snapshot.all_artifacts(store):
        if now.state == "forgotten" and snapshot.was_forgotten(now.number):
            continue
        change = image_at(snapshot, now.revision, seq)
        if change is not None and change.after is not None:
            was = artifact_from_image(change.after, change.seq)
            if was.state == "kept":
                yield was


def id_of(secret: bytes, store: Store, content: str) -> str:
    said = f"artifact/{store.id}/{content}".encode()
    return make_artifact_id(blake2b(said, key=secret, digest_size=BODY_BYTES).digest())


# Letting go


def sweep(core: Core) -> Sequence[str]:
    """Let go of the artifacts whose time is over; their ids."""
    gone: list[str] = []
    while some := _sweep_some(core):
        gone += some
    return gone


def any_lapsed(snapshot: Snapshot, at_us: int) -> bool:
    return bool(snapshot.lapsed_artifacts(at_us, 1))


def _sweep_some(core: Core) -> Sequence[str]:
    from holdfast.engine.work import mutate

    if not core.storage.read(lambda snapshot: any_lapsed(snapshot, core.clock())):
        return ()

    def unit(work: Work) -> tuple[str, ...]:
        lapsed = work.tx.lapsed_artifacts(work.at_us, SWEPT_AT_ONCE)
        for number, artifact in lapsed:
            store = work.tx.store_numbered(number)
            work.put_artifact(store, artifact.as_forgotten(), artifact, "expire")
        return tuple([artifact.id for _, artifact in lapsed])

    return mutate(core, SWEEPER, Write(reason="nothing referred to it"), "sweep", {}, unit)
