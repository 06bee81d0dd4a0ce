"""What a scan has that the vault has not, put into the vault."""

from __future__ import annotations

import errno
import os
from functools import partial

from holdfast.core.trees.compare import compare
from holdfast.core.trees.folder import decode_difference
from holdfast.core.trees.tree import EMPTY, EMPTY_BYTES
from holdfast.engine.directories.desk import Overtaken
from holdfast.engine.directories.folder import failing
from holdfast.engine.directories.objects import Objects, Storing, file_content, folder_content
from holdfast.engine.directories.places import Root
from holdfast.engine.directories.scan import changing
from holdfast.errors import Refused
from holdfast.model.tree import FOLDER, LINK, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from holdfast.core.merge.trees import MergedTree
    from holdfast.core.trees.tree import Load
    from holdfast.engine.directories.desk import Desk
    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.objects import Content
    from holdfast.engine.directories.scan import Progress, Scan
    from holdfast.errors import StorageFailed


class Changed(Overtaken):
    """A file is no longer what the scan read, which the stat cache may not have seen."""

    def __init__(self, error: StorageFailed) -> None:
        super().__init__(str(error))
        self.error = error


def store_scan(
    desk: Desk, working: Working, found: Scan, rests_on: Node, progress: Progress
) -> Storing:
    """Store all that the scanned tree has and `rests_on`, the tree of a kept version, has not."""

    def changed(name: str) -> Changed:
        return Changed(changing(found.paths.get(name, name)))

    told = _Told(progress)
    storing = Storing(desk.core.storage, desk.core.clock(), changed, told.more)
    objects = Objects(desk.core.storage, found.folders)
    with failing(working.root), Root(working.root) as root:
        storing.add(_contents(found, rests_on, objects.load, root, told))
    storing.add(
        folder_content(name, found.folders[name])
        for name in _folders(rests_on, found.root, objects.load)
    )
    return storing


class _Told:
    """How far storing is: files that were begun, and the bytes of those before with what was cut of
    the one that is large."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._files = self._before = self._size = self._cut = 0

    def next(self, size: int) -> None:
        self._files, self._before = self._files + 1, self._before + self._size
        self._size, self._cut = size, 0
        self._progress("store", self._files, self._before)

    def more(self, size: int) -> None:
        self._cut += size
        self._progress("store", self._files, self._before + self._cut)


def store_merged(storing: Storing, merged: MergedTree) -> None:
    storing.add(folder_content(name, data) for name, data in merged.folders.items())
    storing.add(
        file_content(name, len(data), lambda data=data: data)
        for name, data in merged.contents.items()
    )


def _contents(
    found: Scan, rests_on: Node, load: Load, root: Root, told: _Told
) -> Iterator[Content]:
    for change in compare(rests_on, found.root, load):
        node = change.after
        if node is None or node.kind == FOLDER:
            continue
        if change.before is not None and change.before.digest == node.digest:
            continue
        told.next(node.size)
        opened = partial(_opened, found, root, change.path, node)
        yield file_content(node.digest, node.size, opened)


def _opened(found: Scan, root: Root, path: str, node: Node) -> BinaryIO | bytes:
    known = found.contents.get(node.digest)
    if known is not None:
        return known
    try:
        if node.kind == LINK:
            handle, name = root.split(path)
            return os.fsencode(os.readlink(name, dir_fd=handle))
        return os.fdopen(root.open(path), "rb")
    except (FileNotFoundError, Refused):
        raise Changed(changing(path)) from None
    except OSError as exc:
        if exc.errno in (errno.ELOOP, errno.EINVAL):  # a link where a file was, or back
            raise Changed(changing(path)) from None
        raise


def _folders(before: Node, after: Node, load: Load) -> Iterator[str]:
    """The folders of a tree that another one has not at the same place."""
    stack: list[tuple[Node | None, Node]] = [(before, after)]
    while stack:
        old, new = stack.pop()
        if old == new or new.digest == EMPTY.digest:
            continue
        yield new.digest
        known, fresh = decode_difference(
            EMPTY_BYTES if old is None else load(old.digest), load(new.digest)
        )
        for name, node in fresh.items():
            if node.kind == FOLDER:
                other = known.get(name)
                stack.append((other if other and other.kind == FOLDER else None, node))
