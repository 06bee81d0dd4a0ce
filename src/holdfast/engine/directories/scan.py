"""From a working folder to its tree: what is there, without reading what has not changed.

Folders are opened one inside the other, and nothing is opened through a link. A file is read
between two looks at its status; one that changed meanwhile is read again, and in the end refused.
Limits hold before anything is read. What was read is kept as far as it is small, since a push will
want it.
"""

from __future__ import annotations

import os
from hashlib import sha256
from stat import S_ISDIR, S_ISLNK, S_ISREG, S_IXUSR

from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.folder import encode_folder, folder_node
from holdfast.core.trees.ignore import IGNORE_FILE, parse_rules, skipped_names
from holdfast.core.trees.statcache import known_digests, record_of, row_of
from holdfast.core.trees.tree import EMPTY
from holdfast.errors import Refused, StorageFailed
from holdfast.model.names import shown
from holdfast.model.tree import (
    DIGEST_TAG,
    FILE,
    LINK,
    PROGRAM,
    Node,
    bad_path,
    check_depth,
    check_link_target,
    part_problem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from holdfast.core.trees.ignore import Rules
    from holdfast.core.trees.statcache import FolderRecord
    from holdfast.engine.directories.folder import Working
    from holdfast.model.directory import Limits

    Progress = Callable[[str, int, int], None]  # what is being done, files, bytes

READS_MAX = 4
KEPT_BYTES_MAX = 64 * 1024 * 1024
KEPT_EACH_MAX = 1024 * 1024
BLOCK = 1024 * 1024
IN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
IN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def silent(_what: str, _files: int, _bytes: int) -> None:
    """Progress that nobody watches."""


class Scan:
    """A folder as it was found. `paths` says where each content lies, `left_out` what no tree can
    hold: sockets, devices, pipes."""

    def __init__(self) -> None:
        self.root = EMPTY
        self.folders: dict[str, bytes] = {}
        self.paths: dict[str, str] = {}
        self.contents: dict[str, bytes] = {}
        self.rows: dict[str, bytes] = {}
        self.left_out: list[str] = []
        self.records: dict[str, FolderRecord] = {}


def scan(working: Working, progress: Progress = silent) -> Scan:
    """What the folder holds now. Keeps the stat cache."""
    from holdfast.engine.directories.folder import failing

    with failing(working.root):
        cache = working.cache()
        scanner = _Scanner(working.root, cache, working.config.limits, working.clock_ns(), progress)
        found = scanner.run()
        if found.records != cache:
            working.keep_cache(found.records)
    return found


class _Scanner:
    def __init__(
        self,
        root: Path,
        cache: Mapping[str, FolderRecord],
        limits: Limits,
        began_ns: int,
        progress: Progress,
    ) -> None:
        self.root, self.cache, self.limits, self.began_ns = root, cache, limits, began_ns
        self.progress = progress
        self.found = Scan()
        self.files = self.size = self.kept = 0
        self.read_files = self.read_bytes = 0

    def run(self) -> Scan:
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.found.root = self._folder(handle, "", ())
        finally:
            os.close(handle)
        return self.found

    def _folder(self, handle: int, inside: str, levels: tuple[Rules, ...]) -> Node:
        with os.scandir(handle) as listed:
            stats = {entry.name: entry.stat(follow_symlinks=False) for entry in listed}
        levels = self._levels(handle, inside, stats, levels)
        are_folders = {name: S_ISDIR(status.st_mode) for name, status in stats.items()}
        for name in skipped_names(inside, are_folders, levels):
            del stats[name]
        folders: dict[str, Node] = {}
        rows: dict[str, bytes] = {}
        for name in sorted(stats):
            if are_folders[name]:
                folders[name] = self._below(handle, inside, name, levels)
            elif S_ISREG(stats[name].st_mode) or S_ISLNK(stats[name].st_mode):
                rows[name] = row_of(stats[name])
                self._count(inside + name, stats[name])
            else:
                self.found.left_out.append(inside + name)
        return self._node(handle, inside, stats, rows, folders)

    def _node(
        self,
        handle: int,
        inside: str,
        stats: Mapping[str, os.stat_result],
        rows: dict[str, bytes],
        folders: dict[str, Node],
    ) -> Node:
        record = self.cache.get(inside)
        known = known_digests(record, rows) if record else {}
        nodes: dict[str, Node] = dict(folders)
        for name, row in list(rows.items()):
            digest = known.get(name)
            if digest is None:
                node, fresh = self._leaf(handle, inside, name)
            else:
                node, fresh = Node(_kind(stats[name].st_mode), 1, stats[name].st_size, digest), row
            nodes[name], rows[name] = node, fresh
            self.found.paths[node.digest] = inside + name
            self.found.rows[inside + name] = fresh
        data = encode_folder(nodes)
        node = folder_node(nodes, data)
        self.found.folders[node.digest] = data
        files = [(name, rows[name], nodes[name].digest) for name in rows]
        self.found.records[inside] = record_of(files, folders, node, self.began_ns)
        return node

    def _levels(
        self,
        handle: int,
        inside: str,
        stats: Mapping[str, os.stat_result],
        levels: tuple[Rules, ...],
    ) -> tuple[Rules, ...]:
        status = stats.get(IGNORE_FILE)
        if status is None or not S_ISREG(status.st_mode):
            return levels
        source = os.open(IGNORE_FILE, IN_FILE, dir_fd=handle)
        with os.fdopen(source, "rb") as file:
            return (*levels, parse_rules(inside, file.read()))

    def _below(self, handle: int, inside: str, name: str, levels: tuple[Rules, ...]) -> Node:
        _check_name(inside, name)
        check_depth(inside + name)
        try:
            below = os.open(name, IN_FOLDER, dir_fd=handle)
        except OSError as exc:
            exc.filename = str(self.root / inside / name)
            raise
        try:
            return self._folder(below, f"{inside}{name}/", levels)
        finally:
            os.close(below)

    def _count(self, path: str, status: os.stat_result) -> None:
        self.files += 1
        self.size += status.st_size
        limits, size = self.limits, status.st_size
        if size > limits.file_bytes:
            raise _too_large(f"{shown(path)} has {size:,} bytes", "file_bytes", limits.file_bytes)
        if self.size > limits.tree_bytes:
            raise _too_large("the folder is larger", "tree_bytes", limits.tree_bytes)
        if self.files > limits.files:
            raise _too_large("the folder has more files", "files", limits.files)

    def _leaf(self, handle: int, inside: str, name: str) -> tuple[Node, bytes]:
        """Read a file or a link, and look at it once more afterwards."""
        path = inside + name
        _check_name(inside, name)
        for _ in range(READS_MAX):
            try:
                before = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if S_ISLNK(before.st_mode):
                    node = self._link(handle, path, name)
                else:
                    node = self._file(handle, path, name, before.st_mode)
                after = os.stat(name, dir_fd=handle, follow_symlinks=False)
            except OSError as exc:
                exc.filename = str(self.root / path)
                raise
            row = row_of(after)
            if row == row_of(before) and node.size == after.st_size:
                self.read_files += 1
                return node, row
        raise changing(path)

    def _link(self, handle: int, path: str, name: str) -> Node:
        target = os.readlink(name, dir_fd=handle)
        data = check_link_target(path, target).encode()
        self.found.contents[digest := digest_of(data)] = data
        return Node(LINK, 1, len(data), digest)

    def _file(self, handle: int, path: str, name: str, mode: int) -> Node:
        whole, size = sha256(), 0
        last = b""
        with os.fdopen(os.open(name, IN_FILE, dir_fd=handle), "rb", 0) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise changing(path)
            while data := file.read(BLOCK):
                whole.update(data)
                size += len(data)
                last = data
                self.read_bytes += len(data)
                self.progress("read", self.read_files, self.read_bytes)
                if size > self.limits.file_bytes:
                    raise _too_large(shown(path), "file_bytes", self.limits.file_bytes)
        digest = DIGEST_TAG + whole.hexdigest()
        in_one = len(last) == size <= KEPT_EACH_MAX
        if in_one and self.kept + size <= KEPT_BYTES_MAX:
            self.found.contents[digest] = last
            self.kept += size
        return Node(_kind(mode), 1, size, digest)


def _kind(mode: int) -> str:
    if S_ISLNK(mode):
        return LINK
    return PROGRAM if mode & S_IXUSR else FILE


def _check_name(inside: str, name: str) -> None:
    if problem := part_problem(name):
        raise bad_path(inside + name, f"its name {problem}")


def _too_large(what: str, limit: str, most: int) -> Refused:
    return Refused(
        "tree_too_large",
        f"{what}; the limit is {most:,}",
        hint=f"name what is not needed in {IGNORE_FILE}, or raise `limits: {{{limit}: …}}` in "
        ".holdfast/storage.yaml",
    )


def changing(path: str) -> StorageFailed:
    return StorageFailed(
        "file_changing",
        f"{shown(path)} changes while it is read",
        hint="push again when its writer has finished, or name it in .holdfastignore",
    )
