"""What the disk and SQLite report becomes one of our errors here, once.

Only failures of the world are translated: a full, read-only or failing disk, a lock that did not
come free, bytes that are not what was written. A statement that SQLite refuses (syntax, constraint,
misuse) is a mistake in our own program and stays what it is, so that it is seen as one. No message
carries a statement or a value.
"""

from __future__ import annotations

import errno
import sys
import threading

import apsw

from holdfast.errors import Damaged, HoldfastError, StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_JSON = "malformed JSON"

_KINDS: dict[int, tuple[type[HoldfastError], str, str, str]] = {
    apsw.SQLITE_FULL: (
        StorageFailed,
        "storage_full",
        "the disk is full",
        "free some space, then do it again; what was acknowledged before is safe",
    ),
    apsw.SQLITE_READONLY: (
        StorageFailed,
        "storage_readonly",
        "the disk, the folder or the file cannot be written",
        "mount it writable or give this user the right to write there",
    ),
    apsw.SQLITE_IOERR: (
        StorageFailed,
        "storage_io",
        "reading or writing the disk failed",
        "look at the system's log for errors of this disk, then run `holdfast verify`",
    ),
    apsw.SQLITE_BUSY: (
        StorageFailed,
        "storage_busy",
        "another program holds the database",
        "close the program that has a transaction open on this file",
    ),
    apsw.SQLITE_CANTOPEN: (
        StorageFailed,
        "storage_cannot_open",
        "the file cannot be opened",
        "see that it is a file, not a folder, and that this user may read and write it",
    ),
    apsw.SQLITE_PERM: (
        StorageFailed,
        "storage_permission",
        "this user may not open the file",
        "give this user the right to read and write it",
    ),
    apsw.SQLITE_CORRUPT: (
        Damaged,
        "vault_damaged",
        "stored bytes are not what was written",
        "run `holdfast verify`, then restore a backup",
    ),
}
_KINDS[apsw.SQLITE_NOTADB] = _KINDS[apsw.SQLITE_CORRUPT]
_KINDS[apsw.SQLITE_LOCKED] = _KINDS[apsw.SQLITE_PROTOCOL] = _KINDS[apsw.SQLITE_BUSY]

_CODES = {
    errno.ENOSPC: apsw.SQLITE_FULL,
    errno.EDQUOT: apsw.SQLITE_FULL,
    errno.EFBIG: apsw.SQLITE_FULL,
    errno.EROFS: apsw.SQLITE_READONLY,
    errno.EACCES: apsw.SQLITE_PERM,
    errno.EPERM: apsw.SQLITE_PERM,
    errno.ENOENT: apsw.SQLITE_CANTOPEN,
    errno.EISDIR: apsw.SQLITE_CANTOPEN,
    errno.ENOTDIR: apsw.SQLITE_CANTOPEN,
    errno.EEXIST: apsw.SQLITE_CANTOPEN,
    errno.ELOOP: apsw.SQLITE_CANTOPEN,
}


def failure(exc: BaseException | None, file: Path | None) -> HoldfastError | None:
    """Our error for what the disk did, its cause set; None when it was not the disk."""
    if isinstance(exc, OSError) and not isinstance(exc, apsw.Error):
        code = _CODES.get(exc.errno or 0, apsw.SQLITE_IOERR)
        detail = exc.strerror or type(exc).__name__
    elif isinstance(exc, apsw.SQLError) and str(exc) == NO_JSON:
        code, detail = apsw.SQLITE_CORRUPT, NO_JSON  # of a row: what we ask with is JSON always
    elif isinstance(exc, apsw.Error):
        code = getattr(exc, "result", 0)
        detail = _name(getattr(exc, "extendedresult", 0))
    else:
        return None
    if code not in _KINDS:
        return None
    kind, stable, what, hint = _KINDS[code]
    seen = kind(stable, f"{file or 'the vault in memory'}: {what} ({detail})", hint=hint)
    seen.__cause__ = exc
    return seen


def seen_by_one(exc: BaseException | None, file: Path | None) -> HoldfastError:
    """A failure that many share, as one of them is to raise it: an object of its own for each."""
    if isinstance(exc, HoldfastError):
        seen = type(exc)(exc.code, exc.message, hint=exc.hint)
    else:
        seen = failure(exc, file) or rolled_back("the transaction failed")
    seen.__cause__ = exc
    return seen


def rolled_back(what: str) -> StorageFailed:
    return StorageFailed("storage_rolled_back", f"{what}; nothing was written", hint="do it again")


def spoils(exc: BaseException) -> bool:
    """Whether a connection that met this is not to be used again: the disk failed under it."""
    return getattr(exc, "result", 0) in (
        apsw.SQLITE_IOERR,
        apsw.SQLITE_CORRUPT,
        apsw.SQLITE_NOTADB,
        apsw.SQLITE_CANTOPEN,
    )


def _name(code: int) -> str:
    names = apsw.mapping_extended_result_codes
    return str(names.get(code) or apsw.mapping_result_codes.get(code & 0xFF, code))


def report(call: Callable[..., None], *args: object) -> None:
    """Call what must not raise. When it does, the thread's hook for lost exceptions hears of it."""
    try:
        call(*args)
    except BaseException:  # noqa: BLE001
        kind, value, trace = sys.exc_info()
        assert kind is not None
        threading.excepthook(
            threading.ExceptHookArgs((kind, value, trace, threading.current_thread()))
        )
