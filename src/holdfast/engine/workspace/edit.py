"""Changing a `workspace.yml` as its writer would: comments, order and quotes stay as they are.

Whoever changes the file holds a lock on its folder, so that two programs do not undo each other;
what an editor saved meanwhile is noticed and never overwritten.
"""

from __future__ import annotations

import fcntl
import io
import os
from contextlib import contextmanager

from holdfast.core.forms import Misfit, mapping
from holdfast.engine.workspace.file import Place, load, read_text, yaml
from holdfast.errors import Conflict, NotFound, StorageFailed
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from typing import Any

    from holdfast.model.entry import Json


def with_mount(text: str, file: Path, mount: Mapping[str, Json]) -> str:
    """The text with one more mount. What is wrong with it is found when the text is read."""
    root, mounts = _mounts(text, file)
    mounts.append(dict(mount))
    return _written(root)


def without_mount(text: str, file: Path, name: str) -> str:
    root, mounts = _mounts(text, file)
    for number, each in enumerate(mounts):
        known = mapping(each, ("memory", "mounts", number))
        if known.get("name", str(known.get("source", "")).partition("/")[2]) == name:
            del mounts[number]
            if not mounts:
                del root["memory"]["mounts"]
            return _written(root)
    raise NotFound(
        "mount_not_found",
        f"{file} declares no mount {shown(name)}",
        hint="holdfast space show lists those that there are",
    )


def with_agent(text: str, file: Path, name: str, agent: Mapping[str, Json]) -> str:
    """The text with one more agent. One of that name that says something else is not replaced."""
    root, agents = _agents(text, file)
    if name in agents:
        raise Conflict(
            "agent_exists",
            f"{file} declares another agent {shown(name)}",
            hint=f"holdfast agent remove {name} takes it away first",
        )
    agents[name] = dict(agent)
    return _written(root)


def without_agent(text: str, file: Path, name: str) -> str:
    root, agents = _agents(text, file)
    if name not in agents:
        raise NotFound(
            "agent_unknown",
            f"{file} declares no agent {shown(name)}",
            hint="holdfast agent list lists those that there are",
        )
    del agents[name]
    if not agents:
        del root["agents"]
    return _written(root)


def _agents(text: str, file: Path) -> tuple[Any, Any]:
    """The whole file, and its agents by name, which are made where there are none."""
    root = _root(text, file)
    place = Place(file=file, root=root)
    if root.get("agents") is None:
        root["agents"] = {}
    try:
        mapping(root["agents"], ("agents",))
    except Misfit as exc:
        raise place.wrong(exc.path, exc.message, exc.cure) from None
    return root, root["agents"]


def _root(text: str, file: Path) -> Any:
    """The whole file, which is a mapping or empty."""
    from ruamel.yaml.comments import CommentedMap

    root = load(text, file)
    root = CommentedMap() if root is None else root
    try:
        mapping(root, ())
    except Misfit as exc:
        raise Place(file=file, root=root).wrong(exc.path, exc.message, exc.cure) from None
    return root


def _mounts(text: str, file: Path) -> tuple[Any, list[Any]]:
    """The whole file, and its list of mounts, which is made where there is none."""
    from ruamel.yaml.comments import CommentedMap

    root = _root(text, file)
    place = Place(file=file, root=root)
    try:
        if root.get("memory") is None:
            root["memory"] = CommentedMap()
        mapping(root["memory"], ("memory",))
    except Misfit as exc:
        raise place.wrong(exc.path, exc.message, exc.cure) from None
    if root["memory"].get("mounts") is None:
        root["memory"]["mounts"] = []
    mounts = root["memory"]["mounts"]
    if not isinstance(mounts, list):
        cure = "start each item with `- `"
        raise place.wrong(("memory", "mounts"), "this must be a list", cure)
    return root, mounts


def _written(root: Any) -> str:
    target = io.StringIO()
    yaml().dump(root, target)
    return target.getvalue()


class Change:
    """A file that is being changed, and the text that it had."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._bytes = file.read_bytes() if file.is_file() else b""
        self.text = read_text(file)

    def put(self, text: str) -> None:
        """Write the whole file, or leave it as it is."""
        data = text.encode()
        if b"\r\n" in self._bytes:
            data = data.replace(b"\n", b"\r\n")
        if self._file.read_bytes() != self._bytes:
            raise Conflict(
                "workspace_changed",
                f"{self._file} was changed meanwhile",
                hint="do it again",
            )
        beside = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        beside.write_bytes(data)
        beside.chmod(self._file.stat().st_mode & 0o777)
        beside.replace(self._file)


@contextmanager
def changing(file: Path) -> Generator[Change]:
    """The file, held against other programs that would change it too."""
    folder = None
    try:
        folder = os.open(file.parent, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Change(file)
    except OSError as exc:
        raise StorageFailed(
            "workspace_not_written",
            f"{file} could not be changed: {exc.strerror}",
            hint="see that this user may write there, then do it again",
        ) from exc
    finally:
        if folder is not None:
            os.close(folder)
