"""From a working folder to its tree: what is there, without reading what has not changed.

Folders are opened one inside the other, and nothing is opened through a link. A file is read
between two looks at its status; one that changed meanwhile is read again, and in the end refused.
Limits hold before anything is read. What was read is kept as far as it is small, since a push will
want it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from stat import S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, S_ISDIR, S_ISLNK, S_ISREG, S_IXUSR

from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.folder import encode_folder, folder_node
from holdfast.core.trees.ignore import IGNORE_FILE, parse_rules, skipped_names
from holdfast.core.trees.statcache import (
    below_bytes,
    digests_in,
    is_unchanged,
    joined_digests,
    known_digests,
    mode_and_size,
    record_of,
    row_at,
    row_of,
    rows_in,
    rows_of,
)
from holdfast.core.trees.tree import EMPTY, open_folder
from holdfast.engine.directories.folder import failing
from holdfast.errors import Refused, StorageFailed
from holdfast.model.names import shown
from holdfast.model.tree import (
    DIGEST_TAG,
    FILE,
    FOLDER,
    LINK,
    PROGRAM,
    SKIPPED_NAMES,
    Node,
    bad_path,
    check_depth,
    check_link_target,
    part_problem,
)
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.core.trees.ignore import Rules
    from holdfast.core.trees.statcache import FolderRecord
    from holdfast.core.trees.tree import Load
    from holdfast.engine.directories.folder import Working

    Progress = Callable[[str, int, int], None]  # what is being done, files, bytes

READS_MAX = 4
KEPT_BYTES_MAX = 64 * 1024 * 1024
KEPT_EACH_MAX = 1024 * 1024
BLOCK = 1024 * 1024
IN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
IN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def silent(_what: str, _files: int, _bytes: int) -> None:
    """Progress that nobody watches."""


class Seen(Value):
    """A folder's own files and links in the order of their names, each with the row of the status
    that was seen, and their digests; `node` is what all of it came to."""

    names: Sequence[str]
    rows: bytes
    digests: bytes
    folders: Mapping[str, Node]
    node: Node

    def nodes(self) -> dict[str, Node]:
        found = dict(self.folders)
        for name, row, digest in zip(
            self.names, rows_in(self.rows), digests_in(self.digests), strict=True
        ):
            mode, size = mode_and_size(row)
            found[name] = Node(_kind(mode), 1, size, digest)
        return found


class Folders(Mapping[str, bytes]):
    """The bytes of the folders of a scan by name, made when they are asked for."""

    def __init__(self) -> None:
        self.made: dict[str, bytes] = {}
        self.known: dict[str, Seen] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.made:
            self.made[name] = encode_folder(self.known[name].nodes())
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


class Scan:
    """A folder as it was found. `left_out` is what no tree can hold: sockets, devices, pipes.
    `contents` are those that were read and are small."""

    def __init__(self) -> None:
        self.root = EMPTY
        self.folders = Folders()
        self.contents: dict[str, bytes] = {}
        self.left_out: list[str] = []
        self.seen: dict[str, Seen] = {}
        self.records: dict[str, FolderRecord] = {}
        self._places: dict[str, dict[str, int]] = {}

    @cached_property
    def paths(self) -> dict[str, str]:
        """Where each content lies."""
        return {
            digest: inside + name
            for inside, seen in self.seen.items()
            for name, digest in zip(seen.names, digests_in(seen.digests), strict=True)
        }

    def row(self, path: str) -> bytes:
        """The status of a file or link when it was seen; nothing where there was none."""
        above, _, name = path.rpartition("/")
        inside = f"{above}/" if above else ""
        seen = self.seen.get(inside)
        if seen is None:
            return b""
        if inside not in self._places:
            self._places[inside] = {known: place for place, known in enumerate(seen.names)}
        place = self._places[inside].get(name)
        return b"" if place is None else row_at(seen.rows, place)


def scan(working: Working, progress: Progress = silent) -> Scan:
    """What the folder holds now. Keeps the stat cache."""
    with failing(working.root):
        cache = working.cache()
        found = _scanned(working, cache, progress)
        kept = found.records
        if kept != cache:
            working.keep_cache(kept)
    return found


def remember(working: Working, tree: Node, load: Load) -> None:
    """Keep the stat cache of a folder in which this tree was just laid out and of which nobody else
    knows yet, so that the next scan has not to read what was written."""
    with failing(working.root):
        found = _Scanner(working, {}, silent, (tree, load)).run()
        working.keep_cache(found.records)


def _scanned(working: Working, cache: Mapping[str, FolderRecord], progress: Progress) -> Scan:
    """A scan in which nothing went away after it was listed."""
    gone = ""
    for _ in range(READS_MAX):
        try:
            return _Scanner(working, cache, progress).run()
        except FileNotFoundError as exc:
            if not working.root.is_dir():
                raise
            gone = str(exc.filename)
    raise changing(gone)


class _Scanner:
    def __init__(
        self,
        working: Working,
        cache: Mapping[str, FolderRecord],
        progress: Progress,
        laid_out: tuple[Node, Load] | None = None,
    ) -> None:
        self.laid_out = laid_out
        self.told: dict[str, Mapping[str, Node]] = {}
        self.root, self.cache, self.limits = working.root, cache, working.config.limits
        self.began_ns = working.clock_ns()
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
        if self.laid_out is not None:
            self._tell(inside, *self.laid_out)
        levels = self._levels(handle, inside, stats, levels)
        if levels or not SKIPPED_NAMES.isdisjoint(stats):
            are_folders = {name: S_ISDIR(status.st_mode) for name, status in stats.items()}
            for name in skipped_names(inside, are_folders, levels):
                del stats[name]
        names: list[str] = []
        folders: dict[str, Node] = {}
        for name in sorted(stats):
            form = S_IFMT(stats[name].st_mode)
            if form in (S_IFREG, S_IFLNK):
                names.append(name)
            elif form == S_IFDIR:
                folders[name] = EMPTY
            else:
                self.found.left_out.append(inside + name)
        own = [stats[name] for name in names]
        self._count(inside, names, own)
        for name in folders:
            folders[name] = self._below(handle, inside, name, levels)
        return self._node(handle, inside, names, own, folders)

    def _node(
        self,
        handle: int,
        inside: str,
        names: list[str],
        own: list[os.stat_result],
        folders: dict[str, Node],
    ) -> Node:
        rows = rows_of(own)
        record = self.cache.get(inside)
        if record is not None and is_unchanged(record, names, rows):
            digests = record.digests
            if record.below == below_bytes(folders):
                return self._keep(inside, names, rows, digests, folders, record)
        else:
            known = known_digests(record, names, rows) if record else {}
            known = known or self._written(inside, names, own)
            fresh = list(rows_in(rows))
            for place, name in enumerate(names):
                if name not in known:
                    node, fresh[place] = self._leaf(handle, inside, name, own[place])
                    known[name] = node.digest
            rows = b"".join(fresh)
            digests = joined_digests([known[name] for name in names])
        return self._keep(inside, names, rows, digests, folders, None)

    def _keep(
        self,
        inside: str,
        names: list[str],
        rows: bytes,
        digests: bytes,
        folders: dict[str, Node],
        record: FolderRecord | None,
    ) -> Node:
        found = self.found
        if record is None:
            seen = Seen(names=names, rows=rows, digests=digests, folders=folders, node=EMPTY)
            nodes = seen.nodes()
            data = encode_folder(nodes)
            seen = seen.replace(node=folder_node(nodes, data))
            found.folders.made[seen.node.digest] = data
            record = record_of(names, rows, digests, folders, seen.node, self.began_ns)
        else:
            seen = Seen(names=names, rows=rows, digests=digests, folders=folders, node=record.node)
        found.seen[inside] = found.folders.known[seen.node.digest] = seen
        found.records[inside] = record
        return seen.node

    def _tell(self, inside: str, tree: Node, load: Load) -> None:
        """What was written into this folder."""
        above, _, name = inside.rstrip("/").rpartition("/")
        node = self.told[f"{above}/" if above else ""].get(name) if inside else tree
        is_folder = node is not None and node.kind == FOLDER
        self.told[inside] = open_folder(node, load) if node is not None and is_folder else {}

    def _written(
        self, inside: str, names: Sequence[str], own: Sequence[os.stat_result]
    ) -> dict[str, str]:
        """The digests of what was written there and still is what it was by kind and size."""
        nodes = self.told.get(inside, {})
        return {
            name: node.digest
            for name, status in zip(names, own, strict=True)
            if (node := nodes.get(name)) is not None
            and (node.kind, node.size) == (_kind(status.st_mode), status.st_size)
        }

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

    def _count(self, inside: str, names: list[str], own: list[os.stat_result]) -> None:
        sizes = [status.st_size for status in own]
        self.files += len(names)
        self.size += sum(sizes)
        limits = self.limits
        if sizes and max(sizes) > limits.file_bytes:
            size, name = max(zip(sizes, names, strict=True))
            what = f"{shown(inside + name)} has {size:,} bytes"
            raise _too_large(what, "file_bytes", limits.file_bytes)
        if self.size > limits.tree_bytes:
            raise _too_large("the folder is larger", "tree_bytes", limits.tree_bytes)
        if self.files > limits.files:
            raise _too_large("the folder has more files", "files", limits.files)

    def _leaf(
        self, handle: int, inside: str, name: str, before: os.stat_result
    ) -> tuple[Node, bytes]:
        """Read a file or a link, and look at it once more afterwards."""
        path = inside + name
        _check_name(inside, name)
        for _ in range(READS_MAX):
            try:
                if S_ISLNK(before.st_mode):
                    node = self._link(handle, path, name)
                    after = os.stat(name, dir_fd=handle, follow_symlinks=False)
                else:
                    node, after = self._file(handle, path, name, before)
                row = row_of(after)
                if row == row_of(before) and node.size == after.st_size:
                    self.read_files += 1
                    return node, row
                before = os.stat(name, dir_fd=handle, follow_symlinks=False)
            except OSError as exc:
                if exc.errno in (errno.ELOOP, errno.EINVAL):  # a link where a file was, or back
                    raise changing(path) from None
                exc.filename = str(self.root / path)
                raise
            if S_IFMT(before.st_mode) not in (S_IFREG, S_IFLNK):
                break
        raise changing(path)

    def _link(self, handle: int, path: str, name: str) -> Node:
        target = os.readlink(name, dir_fd=handle)
        data = check_link_target(path, target).encode()
        self.found.contents[digest := digest_of(data)] = data
        return Node(LINK, 1, len(data), digest)

    def _file(
        self, handle: int, path: str, name: str, before: os.stat_result
    ) -> tuple[Node, os.stat_result]:
        """A file's content, and its status after it was read."""
        source = os.open(name, IN_FILE, dir_fd=handle)
        try:
            asked = min(before.st_size, BLOCK) + 1
            first = data = os.read(source, asked)
            whole, size = sha256(data), len(data)
            while len(data) == asked:  # less comes at a file's end only
                self.progress("read", self.read_files, self.read_bytes + size)
                asked = BLOCK
                data = os.read(source, asked)
                whole.update(data)
                size += len(data)
                if size > self.limits.file_bytes:
                    raise _too_large(shown(path), "file_bytes", self.limits.file_bytes)
            after = os.fstat(source)
        finally:
            os.close(source)
        self.read_bytes += size
        self.progress("read", self.read_files, self.read_bytes)
        digest = DIGEST_TAG + whole.hexdigest()
        if size == len(first) <= KEPT_EACH_MAX and self.kept + size <= KEPT_BYTES_MAX:
            self.found.contents[digest] = first
            self.kept += size
        return Node(_kind(after.st_mode), 1, size, digest), after


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
