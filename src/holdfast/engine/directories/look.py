"""Looking at versioned directories: a folder's status, the log, and what differs."""

from __future__ import annotations

from holdfast.core.merge.text import is_binary
from holdfast.core.trees.compare import compare
from holdfast.core.trees.tree import EMPTY
from holdfast.core.trees.unified import unified
from holdfast.engine.directories.desk import resolved
from holdfast.engine.directories.local import LocalContents
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.push import base_of
from holdfast.engine.directories.scan import scan
from holdfast.model.tree import FOLDER, LINK, printable
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import Literal

    from holdfast.engine.directories.desk import Desk
    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.scan import Progress
    from holdfast.model.directory import Directory, Version
    from holdfast.model.tree import Change, Node

    Relation = Literal["up to date", "ahead", "behind", "diverged"]

DIFF_BYTES_MAX = 32 * 1024 * 1024


class FolderStatus(Value):
    """A directory beside a folder. Without a folder, `relation` is None and nothing is local."""

    name: str
    type: str
    version: Version
    base: int | None
    relation: Relation | None
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Listed(Value):
    name: str
    type: str
    size: int
    files: int
    versions: int
    updated: datetime
    hidden: bool


class Entry(Value):
    """A version in the log, and how its tree differs from that of its first parent."""

    version: Version
    is_head: bool
    added: int
    modified: int
    deleted: int


class FileDiff(Value):
    """One path that differs; `lines` is a unified diff, empty where lines say nothing."""

    path: str
    kind: str
    lines: bytes


def status(desk: Desk, working: Working, progress: Progress) -> FolderStatus:
    directory, head, seen = desk.find_of(working)
    found = scan(working, progress)
    base = base_of(working, seen, found.root.digest)
    objects = Objects(desk.core.storage, found.folders)
    since = (base or head).root
    by_kind: dict[str, list[str]] = {"added": [], "deleted": [], "modified": []}
    for change in compare(since, found.root, objects.load):
        kind = change.kind if change.kind in by_kind else "modified"
        by_kind[kind].append(change.path)
    is_changed = found.root.digest != since.digest
    is_behind = base is None or (base.v != head.v and base.tree != head.tree)
    relation: Relation = "diverged" if is_behind else "ahead"
    if found.root.digest == head.tree:
        relation = "up to date"
    elif not is_changed:
        relation = "behind"
    return FolderStatus(
        name=directory.name,
        type=directory.type,
        version=head,
        base=None if base is None else base.v,
        relation=relation,
        added=tuple(by_kind["added"]),
        modified=tuple(by_kind["modified"]),
        deleted=tuple(by_kind["deleted"]),
        left_out=tuple(found.left_out),
    )


def listed(desk: Desk, *, hidden: bool) -> Sequence[Listed]:
    def unit_rows(directory: Directory, versions: Sequence[Version]) -> Iterator[Listed]:
        for head in versions:
            if head.v == directory.head:
                yield Listed(
                    name=directory.name,
                    type=directory.type,
                    size=head.size,
                    files=head.files,
                    versions=len(versions),
                    updated=head.at,
                    hidden=directory.hidden,
                )

    return desk.core.storage.read(
        lambda snapshot: [
            row
            for directory in snapshot.directories(desk.space, desk.type)
            if hidden or not directory.hidden
            for row in unit_rows(directory, snapshot.versions(directory))
        ]
    )


def log(desk: Desk, name: str, limit: int) -> Sequence[Entry]:
    directory, _, seen = desk.find(name)
    objects = Objects(desk.core.storage)
    entries: list[Entry] = []
    for version in seen.versions[:limit]:
        parent = seen.find(version.parents[0]) if version.parents else None
        before = EMPTY if parent is None else parent.root
        counts = {"added": 0, "deleted": 0, "modified": 0}
        for change in compare(before, version.root, objects.load):
            counts[change.kind if change.kind in counts else "modified"] += 1
        is_head = version.v == directory.head
        entries.append(Entry(version=version, is_head=is_head, **counts))
    return entries


def diff(
    desk: Desk,
    name: str,
    before: str,
    after: str | None,
    working: Working | None,
    progress: Progress,
) -> Iterator[FileDiff]:
    """What differs between two versions, or between one and the working folder."""
    _, head, seen = desk.find(name)
    if after is None and working is not None:
        found = scan(working, progress)
        base = base_of(working, seen, found.root.digest) or head
        old = base if before == "base" else resolved(before, seen)
        new, local = found.root, LocalContents(working.root, found)
        objects = Objects(desk.core.storage, found.folders, local)
    else:
        old = head if before == "base" else resolved(before, seen)
        new = (head if after is None else resolved(after, seen)).root
        objects = Objects(desk.core.storage)
    for change in compare(old.root, new, objects.load):
        yield FileDiff(path=change.path, kind=change.kind, lines=b"".join(_lines(change, objects)))


def _lines(change: Change, objects: Objects) -> Iterator[bytes]:
    nodes = [node for node in (change.before, change.after) if node is not None]
    if change.kind == "mode" or any(node.kind == FOLDER for node in nodes):
        return
    path = printable(change.path)
    old_name = "/dev/null" if change.before is None else f"a/{path}"
    new_name = "/dev/null" if change.after is None else f"b/{path}"
    if max(node.size for node in nodes) > DIFF_BYTES_MAX:
        yield f"Files {old_name} and {new_name} differ\n".encode()
        return
    old, new = _text(change.before, objects), _text(change.after, objects)
    if not is_binary(old) and not is_binary(new):
        yield from unified(old, new, old_name, new_name)
    else:
        yield f"Binary files {old_name} and {new_name} differ\n".encode()


def _text(node: Node | None, objects: Objects) -> bytes:
    if node is None:
        return b""
    content = objects.load(node.digest)
    return b"-> " + content + b"\n" if node.kind == LINK else content
