"""What a working folder looked like when it was last read, so that unchanged files are not read.

One record stands for one folder: the names of its files and links, a row of what the file system
said of each, the digests of their contents, and what the folder came to. A folder whose names and
rows are the bytes that were kept has not changed, which takes two comparisons however many files
it has; else its rows are compared one by one.

A file may change without a trace while its times stand still, within one tick of the file system's
clock. So a row counts only if both its times are before `scan_began`, the time that the file system
itself gave just before the scan (by what a newly written file there shows). Others are kept as a
row that nothing equals, and their files are read again: this is git's rule for racily clean
entries, with the scan's beginning, not its end, as the border.

The cache is derived: one that is missing, old, torn or altered is no cache.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class by a small name

from holdfast.model.tree import DIGEST_TAG, FOLDER, Node
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import stat_result

HEADER = b"holdfast stat cache 1\n"
_ROW = Struct("<IQQqq")
_HEAD = Struct("<IIIIQQ32s")
_DIGEST_SIZE = 32
UNTRUSTED = bytes(_ROW.size)
_NEVER_NS = 2**63 - 1


class FolderRecord(Value):
    """One folder as it was. `names` are those of its files and links, in order, joined by NUL;
    `rows` and `digests` follow them; `below` has its own folders (`below_bytes`); `node` is what
    all of it came to."""

    names: bytes
    rows: bytes
    digests: bytes
    below: bytes
    node: Node


def row_of(status: stat_result) -> bytes:
    """What is kept of a status. Times beyond the format are after any scan, and never trusted."""
    mode, inode, size = status.st_mode, status.st_ino, status.st_size
    try:
        return _ROW.pack(mode, inode, size, status.st_mtime_ns, status.st_ctime_ns)
    except StructError:
        return _ROW.pack(mode, inode, size, _NEVER_NS, _NEVER_NS)


def join_names(names: Iterable[str]) -> bytes:
    """In bytes whatever they are. Names that no tree can hold are refused later, by name."""
    return "\0".join(names).encode(errors="surrogateescape")


def below_bytes(folders: Mapping[str, Node]) -> bytes:
    """The folders of a folder, in one piece that equals another exactly if all of them do."""
    return join_names([text for name in sorted(folders) for text in (name, folders[name].digest)])


def rows_of(statuses: Iterable[stat_result]) -> bytes:
    """The rows of many, joined."""
    pack = _ROW.pack
    statuses = list(statuses)
    try:
        return b"".join(
            [pack(s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in statuses]
        )
    except StructError:
        return b"".join(map(row_of, statuses))


def rows_in(rows: bytes) -> Iterator[bytes]:
    return (rows[at : at + _ROW.size] for at in range(0, len(rows), _ROW.size))


def row_at(rows: bytes, place: int) -> bytes:
    return rows[place * _ROW.size : (place + 1) * _ROW.size]


def mode_and_size(row: bytes) -> tuple[int, int]:
    mode, _, size, _, _ = _ROW.unpack(row)
    return mode, size


def joined_digests(digests: Iterable[str]) -> bytes:
    return bytes.fromhex("".join([digest[len(DIGEST_TAG) :] for digest in digests]))


def digests_in(digests: bytes) -> Iterator[str]:
    text = digests.hex()
    size = 2 * _DIGEST_SIZE
    return (DIGEST_TAG + text[at : at + size] for at in range(0, len(text), size))


def record_of(
    names: Iterable[str],
    rows: bytes,
    digests: bytes,
    folders: Mapping[str, Node],
    node: Node,
    scan_began_ns: int,
) -> FolderRecord:
    """What to keep of a folder: names, rows and digests of its files and links, in their order."""
    return FolderRecord(
        names=join_names(names),
        rows=b"".join([_settled(row, scan_began_ns) for row in rows_in(rows)]),
        digests=digests,
        below=below_bytes(folders),
        node=node,
    )


def _settled(row: bytes, scan_began_ns: int) -> bytes:
    _, _, _, changed_ns, status_changed_ns = _ROW.unpack(row)
    settled = changed_ns < scan_began_ns and status_changed_ns < scan_began_ns
    return row if settled else UNTRUSTED


def is_unchanged(record: FolderRecord, names: Iterable[str], rows: bytes) -> bool:
    """Whether all of a folder's own files and links are as they were."""
    return record.rows == rows and record.names == join_names(names)


def known_digests(record: FolderRecord, names: Iterable[str], rows: bytes) -> dict[str, str]:
    """The digests that still hold for these names and fresh rows; the others must be read."""
    if not record.names:
        return {}
    fresh = dict(zip(names, rows_in(rows), strict=True))
    known = record.names.decode(errors="surrogateescape").split("\0")
    kept = zip(known, rows_in(record.rows), digests_in(record.digests), strict=False)
    return {name: digest for name, row, digest in kept if fresh.get(name) == row}


def encode_cache(records: Mapping[str, FolderRecord]) -> bytes:
    """The records by the paths of their folders, sealed with a digest."""
    pieces: list[bytes] = []
    for path, record in records.items():
        where, node = path.encode(errors="surrogateescape"), record.node
        digest = bytes.fromhex(node.digest[len(DIGEST_TAG) :])
        sizes = len(where), len(record.names), len(record.digests), len(record.below)
        pieces += [_HEAD.pack(*sizes, node.files, node.size, digest), where]
        pieces += [record.names, record.rows, record.digests, record.below]
    body = b"".join(pieces)
    return HEADER + sha256(body).digest() + body


def decode_cache(data: bytes) -> dict[str, FolderRecord]:
    """The records, or none at all if a single byte is not as it was written."""
    start = len(HEADER) + _DIGEST_SIZE
    body = memoryview(data)[start:]
    if data[:start] != HEADER + sha256(body).digest():
        return {}
    records: dict[str, FolderRecord] = {}
    at = start
    try:
        while at < len(data):
            path, record, at = _read_record(data, at)
            records[path] = record
    except StructError:
        return {}
    return records if at == len(data) else {}


def _read_record(data: bytes, at: int) -> tuple[str, FolderRecord, int]:
    where, names, digests, below, files, size, digest = _HEAD.unpack_from(data, at)
    at_names = at + _HEAD.size + where
    at_rows = at_names + names
    at_digests = at_rows + digests // _DIGEST_SIZE * _ROW.size
    at_below = at_digests + digests
    record = FolderRecord(
        names=data[at_names:at_rows],
        rows=data[at_rows:at_digests],
        digests=data[at_digests:at_below],
        below=data[at_below : at_below + below],
        node=Node(FOLDER, files, size, DIGEST_TAG + digest.hex()),
    )
    path = data[at + _HEAD.size : at_names].decode(errors="surrogateescape")
    return path, record, at_below + below
