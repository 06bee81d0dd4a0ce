"""Three-way merge of trees: from the base and two sides to one tree and a list of conflicts.

Folders that one side left alone are taken from the other without being opened. A leaf that both
sides changed is merged by its content (`contents`). Nothing that a side wrote is dropped: of two
versions that do not merge, ours keeps the name and theirs lies beside it, under a name made of its
content, so that the same merge always gives the same tree. A leaf that one side deleted and the
other changed stays, changed. Where a file and a folder want one name the folder has it. Each of
these is a conflict. Without conflicts the result is the same whichever side is called ours.
"""

from __future__ import annotations

from itertools import chain, count

from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.folder import encode_folder, folder_node
from holdfast.core.trees.tree import EMPTY, LEAVES_MAX, open_folder, too_many_leaves
from holdfast.model.tree import (
    DIGEST_TAG,
    FILE,
    FOLDER,
    LINK,
    PART_BYTES_MAX,
    SHORT_HEX,
    Node,
    check_depth,
)
from holdfast.model.value import Value

from .contents import TEXT_BYTES_MAX, merge_contents
from .text import Clash
from .threeway import pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.core.trees.tree import Load

    from .structured import LoadYaml

    Read = Callable[[str], bytes]
    Three = tuple[Node | None, Node | None, Node | None]


class Conflict(Value):
    """What could not be merged at `path`, and where the second version lies, if there is one.

    `kind` is `content` (with the `reason` of the clash), `deleted_changed`, `file_folder`, or
    `type`: links, or a file and a link.
    """

    path: str
    kind: str
    beside: str = ""
    reason: str = ""
    where: str = ""


class MergedTree(Value):
    """The root of the result; folders and contents, by digest, that no side had there; conflicts.

    What is in `folders` and `contents` may be known to a store from elsewhere.
    """

    root: Node
    folders: dict[str, bytes]
    contents: dict[str, bytes]
    conflicts: tuple[Conflict, ...]


def merge_trees(
    base: Node,
    ours: Node,
    theirs: Node,
    *,
    load: Load,
    read: Read,
    load_yaml: LoadYaml | None = None,
) -> MergedTree:
    """Merge three roots. `load` gives folders, `read` whole contents, by digest, both verified."""
    merger = _Merger(load, read, load_yaml)
    root = merger.merge_folders("", base, ours, theirs)
    return MergedTree(
        root=root,
        folders=merger.folders,
        contents=merger.contents,
        conflicts=tuple(merger.conflicts),
    )


class _Merger:
    def __init__(self, load: Load, read: Read, load_yaml: LoadYaml | None) -> None:
        self.load = load
        self.read = read
        self.load_yaml = load_yaml
        self.folders: dict[str, bytes] = {}
        self.contents: dict[str, bytes] = {}
        self.conflicts: list[Conflict] = []
        self.opened = 0

    def merge_folders(self, path: str, base: Node, ours: Node, theirs: Node) -> Node:
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        check_depth(path)
        self.opened += 1
        if self.opened > LEAVES_MAX:  # a tree may name one folder many times over
            raise too_many_leaves(LEAVES_MAX)
        folder = _Folder(path)
        b, o, t = (open_folder(version, self.load) for version in (base, ours, theirs))
        for name in sorted({*b, *o, *t}):
            self._merge_name(folder, name, (b.get(name), o.get(name), t.get(name)))
        self.conflicts += folder.put_asides()
        data = encode_folder(folder.nodes)
        node = folder_node(folder.nodes, data)
        if node not in (base, ours, theirs, EMPTY):
            self.folders[node.digest] = data
        return node

    def _merge_name(self, folder: _Folder, name: str, versions: Three) -> None:
        base, ours, theirs = versions
        if ours == theirs or base in (ours, theirs):
            folder.put(name, pick(base, ours, theirs))
            return
        below = self._merge_below(folder.inside + name, versions)
        leaf = self._merge_leaf(folder, name, *(_leaf(version) for version in versions))
        folder.put(name, below or leaf)
        if below and leaf:
            folder.put_aside(name, leaf, "file_folder")
        elif leaf and _leaf(base) and not (_leaf(ours) and _leaf(theirs)):
            self.conflicts.append(Conflict(path=folder.inside + name, kind="deleted_changed"))

    def _merge_below(self, path: str, versions: Three) -> Node | None:
        """The folder at `path`, if there is to be one. A side without one has deleted all of it."""
        folders = [node if node and node.kind == FOLDER else None for node in versions]
        if not folders[1] and not folders[2]:
            return None
        base, ours, theirs = (folder or EMPTY for folder in folders)
        merged = self.merge_folders(path, base, ours, theirs)
        there = pick(*(folder is not None for folder in folders))
        return merged if there or merged != EMPTY else None

    def _merge_leaf(
        self,
        folder: _Folder,
        name: str,
        base: Node | None,
        ours: Node | None,
        theirs: Node | None,
    ) -> Node | None:
        if ours == theirs or base in (ours, theirs):
            return pick(base, ours, theirs)
        if ours is None or theirs is None:
            return ours or theirs
        if LINK in (ours.kind, theirs.kind):
            folder.put_aside(name, theirs, "type")
            return ours
        if base and base.kind == LINK:
            base = None
        kind = pick(base.kind if base else FILE, ours.kind, theirs.kind)
        merged = self._merge_files(name, base, ours, theirs)
        if isinstance(merged, Clash):
            folder.put_aside(name, theirs, "content", merged)
            return ours
        return merged._replace(kind=kind)

    def _merge_files(self, name: str, base: Node | None, ours: Node, theirs: Node) -> Node | Clash:
        known = {node.digest: node for node in (ours, theirs)}
        if ours.digest == theirs.digest:
            return ours
        if base and base.digest in known:
            return theirs if ours.digest == base.digest else ours
        if max(node.size for node in (base or ours, ours, theirs)) > TEXT_BYTES_MAX:
            return Clash(reason="too_large")
        content = merge_contents(
            name,
            self.read(base.digest) if base else None,
            self.read(ours.digest),
            self.read(theirs.digest),
            self.load_yaml,
        )
        if isinstance(content, Clash):
            return content
        node = Node(FILE, 1, len(content), digest_of(content))
        if node.digest not in known:
            self.contents[node.digest] = content
        return node


def _leaf(node: Node | None) -> Node | None:
    return node if node and node.kind != FOLDER else None


class _Folder:
    """A folder while it is merged."""

    def __init__(self, path: str) -> None:
        self.inside = path + "/" if path else ""
        self.nodes: dict[str, Node] = {}
        self.asides: list[tuple[str, Node, Conflict]] = []

    def put(self, name: str, node: Node | None) -> None:
        if node:
            self.nodes[name] = node

    def put_aside(self, name: str, node: Node, kind: str, clash: Clash | None = None) -> None:
        reason, where = (clash.reason, clash.where) if clash else ("", "")
        conflict = Conflict(path=self.inside + name, kind=kind, reason=reason, where=where)
        self.asides.append((name, node, conflict))

    def put_asides(self) -> Iterator[Conflict]:
        """Lay each second version beside the first, once it is known which names are taken."""
        for name, node, conflict in self.asides:
            for beside in beside_names(name, node.digest):
                if self.nodes.setdefault(beside, node) == node:
                    yield conflict.replace(beside=self.inside + beside)
                    break


def beside_names(name: str, digest: str) -> Iterator[str]:
    """Names for a second version of `name`: `notes.conflict-1a2b3c4d.md`, then longer ones."""
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > 20:
        stem, dot, ending = name, "", ""
    digits = digest.removeprefix(DIGEST_TAG)
    marks = chain((digits[:SHORT_HEX], digits), (f"{digits}-{number}" for number in count(2)))
    for mark in marks:
        end = f".conflict-{mark}{dot}{ending}"
        yield stem.encode()[: PART_BYTES_MAX - len(end.encode())].decode(errors="ignore") + end
