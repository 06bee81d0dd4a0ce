"""The canonical bytes of one folder, and the digest that names it. docs/design/trees.md fixes both.

A folder's bytes are a header and one record for each name, in the order of the names' UTF-8 bytes,
each ended by NUL:

    f SIZE HEX NAME          a file
    x SIZE HEX NAME          a file that may be executed
    l SIZE HEX NAME          a link; SIZE and HEX are those of its target
    d FILES SIZE HEX NAME    a folder: what it holds in all, and the digest of its own bytes

There is one way to write a folder, so equal folders have equal digests wherever they were made; a
reader takes no other. A tree's id is the digest of its root folder.
"""

from __future__ import annotations

from holdfast.errors import Damaged
from holdfast.model.names import shown as quoted
from holdfast.model.tree import (
    DIGEST_TAG,
    FILE,
    FOLDER,
    HEX_DIGITS,
    LINK,
    PROGRAM,
    RESERVED_PARTS,
    Node,
    bad_path,
    part_problem,
)

from .digest import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = "holdfast folder 1\n"
LEAF_KINDS = frozenset({FILE, PROGRAM, LINK})
_TAG_LENGTH = len(DIGEST_TAG)
_SHORT_PART_CHARS = 63  # at four bytes each these are within PART_BYTES_MAX


def encode_folder(nodes: Mapping[str, Node]) -> bytes:
    """The canonical bytes. Refuses names that a tree cannot hold."""
    for name, problem in _part_problems(nodes).items():
        raise bad_path(name, f"it {problem}")
    return (HEADER + _write(nodes)).encode()


def decode_folder(data: bytes) -> dict[str, Node]:
    """What `encode_folder` was given, in canonical order. Anything else is damage."""
    return _decode(_records(data))


def decode_difference(one: bytes, other: bytes) -> tuple[dict[str, Node], dict[str, Node]]:
    """The nodes of two folders that do not stand in both alike, and only these are checked."""
    left, right = _records(one), _records(other)
    in_left, in_right = set(left), set(right)
    return (
        _decode([record for record in left if record not in in_right]),
        _decode([record for record in right if record not in in_left]),
    )


def folder_node(nodes: Mapping[str, Node], data: bytes) -> Node:
    """The node that stands for this folder in its parent, or for the whole tree."""
    files = size = 0
    for node in nodes.values():
        files += node.files
        size += node.size
    return Node(FOLDER, files, size, digest_of(data))


def _write(nodes: Mapping[str, Node]) -> str:
    records: list[str] = []
    for name in sorted(nodes):  # code points and their UTF-8 bytes have one order
        kind, files, size, digest = nodes[name]
        if kind == FOLDER:
            records.append(f"d {files} {size} {digest[_TAG_LENGTH:]} {name}\0")
        else:
            records.append(f"{kind} {size} {digest[_TAG_LENGTH:]} {name}\0")
    return "".join(records)


def _records(data: bytes) -> list[str]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise _damaged("it is not UTF-8") from None
    if not text.startswith(HEADER) or (len(text) > len(HEADER) and text[-1] != "\0"):
        raise _damaged("it has another beginning or end")
    return text[len(HEADER) : -1].split("\0") if len(text) > len(HEADER) else []


def _decode(records: list[str]) -> dict[str, Node]:
    try:
        nodes = _read(records)
    except ValueError:
        raise _damaged("its records cannot be read") from None
    if _write(nodes) != "".join([record + "\0" for record in records]):
        raise _damaged("its bytes are not in canonical form")
    for name, problem in _part_problems(nodes).items():
        raise _damaged(f"its name {quoted(name)} {problem}")
    return nodes


def _read(records: list[str]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    make = tuple.__new__  # a third of what Node(...) costs, and a tree may hold a million
    for record in records:
        kind, first, second, name = record.split(" ", 3)
        if kind in LEAF_KINDS:
            files, size, digest = 1, int(first), second
        elif kind == FOLDER:
            files, size, digest, name = int(first), int(second), name[:64], name[65:]
        else:
            raise ValueError("kind")
        if len(digest) != 64 or files < 0 or size < 0:
            raise ValueError("digest or number")
        nodes[name] = make(Node, (kind, files, size, DIGEST_TAG + digest))
    if "".join([node.digest[_TAG_LENGTH:] for node in nodes.values()]).strip(HEX_DIGITS):
        raise ValueError("digest")
    return nodes


def _part_problems(nodes: Mapping[str, Node]) -> dict[str, str]:
    """The names that do not fit. All at once first: a folder may hold a hundred thousand."""
    joined = "\n".join(nodes)
    if (
        RESERVED_PARTS.isdisjoint(nodes)
        and not any(character in joined for character in "/\\:\0")
        and max(map(len, nodes), default=0) <= _SHORT_PART_CHARS
        and _is_utf8(joined)
    ):
        return {}
    found = {name: part_problem(name) for name in nodes}
    return {name: problem for name, problem in found.items() if problem}


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _damaged(problem: str) -> Damaged:
    message = f"a folder object is damaged: {problem}"
    return Damaged("folder_damaged", message, hint="`holdfast verify` names what it belongs to")
