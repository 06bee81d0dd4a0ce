"""Whether a folder is a place where a vault can keep its promises.

SQLite's log needs shared memory and locks that every process sees, which a network file system does
not give. On Linux the kernel's table of mounts names the type of the file system that holds the
folder; the folder is resolved first, so that a link or a bind mount does not hide it. Other
platforms have no such table, and nothing is checked there: keep the vault on a local disk.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from holdfast.errors import InvalidInput, Unsupported
from holdfast.model.names import shown
from holdfast.model.value import Value

PATH_BYTES_MAX = 500  # SQLite adds suffixes and stops at 512
NAME_BYTES_MAX = 240  # room for what stands beside the file
MOUNTS = Path("/proc/self/mountinfo")

_REMOTE = """
    9p acfs afs beegfs ceph cifs coda davfs gfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2
    orangefs panfs pvfs2 smb3 smbfs vboxsf vmhgfs
"""
_REMOTE_FUSE = """
    beegfs ceph curlftpfs davfs2 gcsfuse glusterfs goofys hdfs juicefs lustre mfs nfs rclone s3fs
    s3ql seaweedfs smbnetfs sshfs vmhgfs-fuse
"""
REMOTE = frozenset(_REMOTE.split())
REMOTE_FUSE = frozenset(_REMOTE_FUSE.split())


class Mount(Value):
    point: str
    kind: str
    source: str


def mounts(text: str) -> list[Mount]:
    """The mounts that a `mountinfo` text lists, in its order; lines of another form are not."""
    found: list[Mount] = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if dash and len(fields) >= 6 and len(rest) >= 2:
            found.append(Mount(point=_plain(fields[4]), kind=rest[0], source=_plain(rest[1])))
    return found


def mount_of(folder: str, table: list[Mount]) -> Mount | None:
    """The mount that holds an absolute, resolved path: the longest point, of two the later one."""
    best: Mount | None = None
    for mount in table:
        inside = folder == mount.point or folder.startswith(mount.point.rstrip("/") + "/")
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def is_remote(kind: str) -> bool:
    family, _, member = kind.partition(".")
    return kind in REMOTE or (family == "fuse" and member in REMOTE_FUSE)


def check_place(folder: Path, *, table: Path = MOUNTS) -> None:
    """Refuse a folder on a network file system. The folder itself need not exist yet."""
    if not sys.platform.startswith("linux"):
        return
    real = os.path.realpath(folder)
    try:
        text = table.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return
    mount = mount_of(real, mounts(text))
    if mount is not None and is_remote(mount.kind):
        raise Unsupported(
            "place_remote",
            f"{folder} is on a network file system ({mount.kind}, mounted at {mount.point}),"
            " where neither locks nor the log can be trusted",
            hint="put the vault on a local disk",
        )


def make_folder(folder: Path) -> None:
    """Create a folder, for this user only, and make the entries that name it durable."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        sync_folder(each.parent)


def resolved(file: Path) -> Path:
    """The real path of a file, which SQLite must be able to name."""
    try:
        real = os.path.realpath(file)
        fits = len(real.encode()) <= PATH_BYTES_MAX
    except ValueError:  # a NUL, or bytes that are no UTF-8
        fits, real = False, ""
    if not fits or any(len(part.encode()) > NAME_BYTES_MAX for part in real.split("/")):
        raise InvalidInput(
            "where_invalid",
            f"{shown(os.fspath(file))} is no path that a vault can have: it is too long,"
            " or not text in UTF-8",
            hint=f"use a path of at most {PATH_BYTES_MAX} bytes, in names of {NAME_BYTES_MAX}",
        )
    return Path(real)


def make_file(file: Path) -> None:
    """Create an empty file for this user only, where there is none."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _plain(field: str) -> str:
    """Undo the kernel's octal escapes of space, tab, newline and backslash."""
    if "\\" not in field:
        return field
    head, *tail = field.split("\\")
    parts = [head]
    for piece in tail:
        code = piece[:3]
        if len(code) == 3 and all(digit in "01234567" for digit in code):
            parts.append(chr(int(code, 8)) + piece[3:])
        else:
            parts.append("\\" + piece)
    return "".join(parts)
