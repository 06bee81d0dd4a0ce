"""The database file and its log as they lie on disk, and what it takes to connect to them.

Every connection syncs its log at each commit, leaves the log alone when it closes, and never
checkpoints by itself. The log keeps its size: it is filled with zeros when it is made, so that a
commit overwrites blocks that the file already has and its sync needs no change to the file system's
own books. SQLite takes a log of zeros for an empty one.

A statement keeps the plan that it was prepared with. SQLite would else prepare a join anew at each
use, to look at the values bound to it: 5 µs of the 7 that the reading of one value takes.

The database file is only ever opened through SQLite. Any other handle on it that this process
closes would drop the locks that SQLite's connections hold on it.
"""

from __future__ import annotations

import errno
import os

import apsw

from holdfast.errors import Damaged, KeyProblem, NotFound, Unsupported
from holdfast.model.value import Value
from holdfast.storage.sqlite.keys import SALT_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

    from holdfast.storage.sqlite.keys import Key, RawKey

LOG_BYTES = 1200 * (4096 + 24) + 32
FOREIGN_WAIT_MS = 10_000
STATEMENTS_KEPT = 200
READER_CACHE_KIB = 16_384  # at the most; a reader of a small vault has no more than that vault
_PIECE_BYTES = 4096

_PLAIN = b"SQLite format 3\0"
_HEADER_BYTES = 100
_EVERY_HEADER = b"\x40\x20\x20"
_KEEPS_LOG = b"\2"


class Recipe(Value):
    """What it takes to make a connection. `salt` only where the file is to be made anew."""

    file: Path | None
    key: RawKey | None = None
    salt: bytes = b""
    attach: Callable[[apsw.Connection], None] | None = None

    def connect(self, *, reader: bool = False) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if self.salt else 0)
        conn = apsw.Connection(
            ":memory:" if self.file is None else str(self.file),
            flags=flags | apsw.SQLITE_OPEN_NOMUTEX,
            statementcachesize=STATEMENTS_KEPT,
        )
        try:
            self._unlock(conn)
            self._settle(conn, reader=reader)
        except BaseException:
            conn.close(True)
            raise
        return conn

    def _unlock(self, conn: apsw.Connection) -> None:
        """Give the key, and read one page to see that it fits."""
        if self.key is not None:
            self.key.hand_over(conn, self.salt)
        try:
            conn.pragma("schema_version")
        except apsw.NotADBError as exc:
            if self.key is None:
                raise
            raise KeyProblem(
                "key_wrong",
                f"{self.file}: the key does not fit this vault, or its first page is damaged",
                hint="give the key that the vault was made with",
            ) from exc

    def _settle(self, conn: apsw.Connection, *, reader: bool) -> None:
        conn.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        if self.file is not None:
            conn.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            conn.set_busy_timeout(FOREIGN_WAIT_MS)
            conn.wal_autocheckpoint(0)
            conn.pragma("synchronous", "FULL")
            conn.pragma("journal_size_limit", LOG_BYTES)
        if self.attach is not None:
            self.attach(conn)
        if reader:
            conn.pragma("query_only", 1)
            conn.pragma("cache_size", -READER_CACHE_KIB)


def recipe_for(
    file: Path,
    key: Key | None,
    *,
    create: bool,
    attach: Callable[[apsw.Connection], None] | None,
    noted: bool = False,
) -> Recipe:
    """How to connect to a file as it is now: new, plain or encrypted.

    `noted`: there is a witness of what its log held.
    """
    header, size = _header(file)
    if size == 0:
        if noted:
            raise Damaged(
                "log_lost",
                f"{file}: the file is missing or empty, and what stands beside it tells of a vault",
                hint="restore a backup; to begin anew, move the whole folder away",
            )
        if not create:
            raise not_found(file)
        salt = os.urandom(SALT_BYTES)
        return Recipe(file=file, key=key and key.raw(salt), salt=salt, attach=attach)
    keeps_log = header[18:19] == _KEEPS_LOG and header[21:24] == _EVERY_HEADER and size >= 512
    if keeps_log and not noted and not log_of(file).exists():
        raise Damaged(
            "log_missing",
            f"{file}: its log (the -wal file), which may hold acknowledged writes, is not with it",
            hint=f"bring the whole folder; or, to take this file as all there is, `touch"
            f" {log_of(file)}`",
        )
    if header.startswith(_PLAIN) and size >= _HEADER_BYTES:
        if key is not None:
            raise KeyProblem(
                "key_not_needed",
                f"{file}: a key was given, and this vault is not encrypted",
                hint="open it without a key; a vault is encrypted when it is made",
            )
        return Recipe(file=file, attach=attach)
    if header[21:24] != _EVERY_HEADER or size < 512:  # what every database has there, ciphered too
        raise Damaged(
            "vault_damaged",
            f"{file}: this is not a vault, or its beginning is lost ({size} bytes)",
            hint="name another file, or restore a backup",
        )
    if key is None:
        raise KeyProblem(
            "key_missing",
            f"{file}: this vault is encrypted, and no key was given",
            hint="set HOLDFAST_KEY, or name a key file or an entry of the keyring",
        )
    return Recipe(file=file, key=key.raw(header[:SALT_BYTES]), attach=attach)


def not_found(file: Path) -> NotFound:
    return NotFound(
        "vault_not_found",
        f"{file}: there is no vault here",
        hint="name another with --vault, or make this one with `holdfast init`",
    )


def _header(file: Path) -> tuple[bytes, int]:
    size = file.stat().st_size if file.exists() else 0
    if size == 0:
        return b"", 0
    if not file.is_file():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle = _through_sqlite(file)
    try:
        return handle.xRead(min(size, _HEADER_BYTES), 0), size
    finally:
        handle.xClose()


def copy_file(file: Path, target: Path) -> None:
    """Copy a database file byte by byte, ciphered as it is. The caller keeps writers away."""
    handle = _through_sqlite(file)
    try:
        size = handle.xFileSize()
        with target.open("wb") as copy:
            for start in range(0, size, 1 << 20):
                copy.write(handle.xRead(min(1 << 20, size - start), start))
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        handle.xClose()


def end_without_log(copy: Path) -> None:
    """Let a copy that nobody has open say of itself that it is whole without a log."""
    with copy.open("r+b", buffering=0) as handle:
        handle.seek(18)
        handle.write(b"\1\1")
        os.fsync(handle.fileno())


def _through_sqlite(file: Path) -> apsw.VFSFile:
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
    return apsw.VFSFile("unix", str(file), [flags, 0])


def log_of(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


def log_files(file: Path) -> list[str]:
    """A file's log, and the index of the log that all processes share."""
    return [str(log_of(file)), f"{file}-shm"]


def fill_log(conn: apsw.Connection, file: Path) -> None:
    """Give the log its full size, in zeros behind what is there, while no other may write to it.

    Where there is no room for it, the log grows with each commit instead, as it can.
    """
    log = log_of(file)
    if log.exists() and log.stat().st_size >= LOG_BYTES:
        return
    conn.execute("BEGIN IMMEDIATE")
    try:
        with log.open("r+b", buffering=0) as handle:
            size = handle.seek(0, os.SEEK_END)
            if not _grown(handle, max(LOG_BYTES - size, 0)):
                handle.truncate(size)
    finally:
        conn.execute("ROLLBACK")


def _grown(handle: FileIO, missing: int) -> bool:
    """Whether so many zeros found room at the end of the file, and are on disk.

    They go page by page: the kernel remembers what was written at once in large pieces, and each
    sync of a commit into such a piece takes 9 µs more.
    """
    piece = bytes(_PIECE_BYTES)
    try:
        while missing > 0:
            missing -= handle.write(piece[:missing])
        os.fsync(handle.fileno())
    except OSError:
        return False
    return True


def keep_log(conn: apsw.Connection, file: Path) -> None:
    if conn.pragma("journal_mode") != "wal" and conn.pragma("journal_mode", "wal") != "wal":
        raise Unsupported(
            "place_no_log",
            f"{file}: this file system does not let SQLite keep its log",
            hint="put the vault on a local disk",
        )
