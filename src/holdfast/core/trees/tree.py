"""Whole trees: made from their leaves, walked, and looked into, one folder object at a time.

`load` is the way to a folder object: given its digest it returns its bytes, verified, or raises.
A tree that somebody else made may name one folder many times over, so every walk is bounded by the
number of leaves that its caller is ready to see.
"""

from __future__ import annotations

from holdfast.errors import Damaged, InvalidInput, Refused
from holdfast.model.names import shown as quoted
from holdfast.model.tree import DIGEST_TAG, FOLDER, Node, check_depth, check_path
from holdfast.model.value import Value

from .folder import HEADER, decode_folder, encode_folder, folder_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Load = Callable[[str], bytes]
    Folders = dict[str, dict[str, Node]]

LEAVES_MAX = 1_000_000
EMPTY_BYTES = HEADER.encode()
# Its name as a constant: whoever only knows of trees does not load what makes digests.
EMPTY_NAME = f"{DIGEST_TAG}49483bcecc7cbc4aafafcbc6a57cf58f7a3cbb6d26bb74e3e175042d3add3fad"
EMPTY = Node(FOLDER, 0, 0, EMPTY_NAME)


class Tree(Value):
    """A tree that was made here: its root, and the bytes of each folder in it by digest."""

    root: Node
    folders: dict[str, bytes]


def build_tree(leaves: Iterable[tuple[str, Node]]) -> Tree:
    """The tree of these leaves, in whatever order they come. An empty folder is the leaf EMPTY."""
    contents: Folders = {"": {}}
    for path, node in leaves:
        check_path(path)
        if node.kind == FOLDER:
            _ensure_folder(contents, path)
        else:
            above, _, name = path.rpartition("/")
            _ensure_folder(contents, above)
            _place(contents[above], path, name, node)
    folders: dict[str, bytes] = {}
    root = EMPTY
    for path in sorted(contents, key=_depth, reverse=True):
        data = encode_folder(contents[path])
        root = folder_node(contents[path], data)
        folders[root.digest] = data
        if path:
            above, _, name = path.rpartition("/")
            _place(contents[above], path, name, root)
    return Tree(root=root, folders=folders)


def _ensure_folder(contents: Folders, path: str) -> None:
    while path not in contents:
        contents[path] = {}
        path = path.rpartition("/")[0]


def _place(nodes: dict[str, Node], path: str, name: str, node: Node) -> None:
    if name in nodes:
        message = f"{quoted(path)} stands for two things in one tree"
        raise InvalidInput("path_twice", message, hint="give each path once")
    nodes[name] = node


def _depth(path: str) -> int:
    return path.count("/") + 1 if path else 0


def open_folder(folder: Node, load: Load) -> dict[str, Node]:
    """The nodes of a folder, once they hold in all what its parent says that they hold."""
    if folder.digest == EMPTY.digest:
        nodes: dict[str, Node] = {}
    else:
        nodes = decode_folder(load(folder.digest))
    files = sum([node.files for node in nodes.values()])
    size = sum([node.size for node in nodes.values()])
    if (files, size) != (folder.files, folder.size):
        raise Damaged(
            "folder_damaged",
            f"folder {folder.digest} holds {files} files of {size} bytes, "
            f"and is said to hold {folder.files} of {folder.size}",
            hint="`holdfast verify` names what it belongs to",
        )
    return nodes


def walk(
    root: Node, load: Load, *, at: str = "", leaves_max: int = LEAVES_MAX
) -> Iterator[tuple[str, Node]]:
    """Each leaf below `root` with its path, in the order of the paths' parts.

    `at` is the path of `root` in its tree. An empty folder is a leaf, the root of a tree is none.
    """
    seen = 0
    stack: list[tuple[str, Node]] = [(at, root)]
    while stack:
        path, node = stack.pop()
        check_depth(path)
        if node.kind == FOLDER and (node.digest != EMPTY.digest or not path):
            nodes = open_folder(node, load)
            inside = path + "/" if path else ""
            stack += [(inside + name, nodes[name]) for name in reversed(nodes)]
            continue
        seen += 1
        if seen > leaves_max:
            raise too_many_leaves(leaves_max)
        yield path, node


def too_many_leaves(leaves_max: int) -> Refused:
    message = f"the tree has more than {leaves_max} files, links and empty folders"
    return Refused("tree_too_large", message, hint="split it, or raise the limit")


def find(root: Node, path: str, load: Load) -> Node | None:
    """The node at `path`, a folder's too; None where the tree has nothing."""
    node = root
    for part in path.split("/"):
        if node.kind != FOLDER:
            return None
        below = open_folder(node, load).get(part)
        if below is None:
            return None
        node = below
    return node
