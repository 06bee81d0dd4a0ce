"""A process's values as one piece of JSON, and back.

A checkpoint is taken in one read and restored in one write: what was there before and is not in
it goes, what is in it comes back equal, expiry included. On a backend without transactions of its
own, "one" holds within this process (`defaults.py`). The file is written beside its place and
moved there, so that it is whole or not there.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, cast

from holdfast.core.jsonvalue import check_key, encode
from holdfast.errors import HoldfastError, InvalidInput, StorageFailed
from holdfast.kernel.names import check_process_name
from holdfast.model.keyvalue import Delete, Set
from holdfast.model.times import stamp
from holdfast.model.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.model.keyvalue import Operation
    from holdfast.ports.values import RichBackend

FORMAT = "holdfast-checkpoint"
VERSION = 1


class Checkpoint(Value):
    """The values of a process at a moment. `expires` names those that do not stay."""

    agent: str
    name: str
    process_id: str
    created_at: datetime
    values: Mapping[str, Any]
    expires: Mapping[str, datetime]

    def to_json(self) -> bytes:
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "created_at": stamp(self.created_at),
                "agent": self.agent,
                "name": self.name,
                "process_id": self.process_id,
                "values": dict(self.values),
                "expires": {key: stamp(until) for key, until in self.expires.items()},
            },
            ensure_ascii=False,
            allow_nan=False,
            indent=1,
        ).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Checkpoint:
        """The checkpoint that these bytes hold, every part of it checked."""
        try:
            found = json.loads(data, object_pairs_hook=_once)
            return cls._from_parts(found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            raise _unfit(f"it is no checkpoint ({type(exc).__name__}: {exc})") from exc
        except HoldfastError as exc:
            raise _unfit(exc.message) from exc

    @classmethod
    def _from_parts(cls, found: dict[str, Any]) -> Checkpoint:
        if found["format"] != FORMAT or found["version"] != VERSION:
            raise _unfit(f"it is {found['format']} {found['version']}, not {FORMAT} {VERSION}")
        values = cast("dict[str, Any]", found["values"])
        for key, value in values.items():
            check_key(key)
            encode(value)
        expires = {key: datetime.fromisoformat(until) for key, until in found["expires"].items()}
        if not expires.keys() <= values.keys() or any(not each.tzinfo for each in expires.values()):
            raise _unfit("an expiry has no value or no time zone")
        return cls(
            agent=check_process_name(found["agent"], "an agent"),
            name=check_process_name(found["name"], "a process"),
            process_id=str(found["process_id"]),
            created_at=datetime.fromisoformat(found["created_at"]),
            values=values,
            expires=expires,
        )


async def take(
    backend: RichBackend, namespace: str, *, agent: str, name: str, process_id: str, at: datetime
) -> Checkpoint:
    found = await backend.snapshot(namespace)
    return Checkpoint(
        agent=agent,
        name=name,
        process_id=process_id,
        created_at=at,
        values={each.key: each.value for each in found},
        expires={each.key: each.expires_at for each in found if each.expires_at},
    )


async def put_back(
    backend: RichBackend, namespace: str, checkpoint: Checkpoint, bytes_max: int | None
) -> None:
    """Make the namespace hold what the checkpoint says and nothing else."""
    gone = [key for key in await backend.list(namespace) if key not in checkpoint.values]
    operations: list[Operation] = [Delete(key=key) for key in gone]
    operations += [
        Set(key=key, value=value, expires_at=checkpoint.expires.get(key))
        for key, value in checkpoint.values.items()
    ]
    await backend.apply(namespace, operations, bytes_max)


def write_checkpoint(checkpoint: Checkpoint, path: str | os.PathLike[str]) -> None:
    """Write the file, for its owner only, and its folder where that is missing."""
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _replace(place, checkpoint.to_json())
    except OSError as exc:
        raise StorageFailed(
            "checkpoint_not_written",
            f"the checkpoint {place} was not written: {exc.strerror}",
            hint="choose a folder with room that you may write to",
        ) from exc


def _replace(place: Path, data: bytes) -> None:
    """Put the file there in full and on disk, or leave what is there."""
    handle, name = mkstemp(dir=place.parent, prefix=".checkpoint-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint without restoring it."""
    try:
        data = Path(path).read_bytes()
    except OSError as exc:
        raise StorageFailed(
            "checkpoint_not_read",
            f"the checkpoint {path} was not read: {exc.strerror}",
            hint="check the path",
        ) from exc
    return Checkpoint.from_json(data)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name stands twice")
    return members


def _unfit(fault: str) -> InvalidInput:
    return InvalidInput(
        "checkpoint_invalid",
        f"the checkpoint cannot be used: {fault}",
        hint="use a file that write_checkpoint has written",
    )
