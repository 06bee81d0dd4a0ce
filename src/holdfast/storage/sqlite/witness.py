"""A witness of how far the log went, so that a harmed log is never taken for a shorter one.

SQLite ends the log where a frame's salts or checksum do not fit: it cannot tell a commit that was
cut off from one that was acknowledged and harmed since. So after each commit, while the turn is
held, 28 bytes go into the lock file `-turn`: the number of the log's last frame and that frame's
header, in which stand the log's salts and a checksum over all before it. They are not synced. The
log was synced before they are written, so after a power cut they may be older than the log, which
is harmless, but not newer.

At open the log must still reach that frame. Where it does not, it may have gone into the file as a
whole and been begun anew, or removed, by any SQLite. The file itself tells: SQLite counts in the
first page how often that page was written. After each checkpoint of ours that page is written once
more, so the log is always ahead of the file by that count, and the witness holds the count too. A
file that has reached it took over the log; a file that has not lacks acknowledged writes. All of it
stands in the clear parts of the log, or is read through SQLite, so it holds for encrypted files.

Beyond the last sound frame, two commits that fit each other show a harmed frame, whatever the
witness knows: the first of them was synced before the second was written. Frame headers of an
encrypted log are in the clear, but what their checksums are over is not; there the witness alone
decides.
"""

from __future__ import annotations

import os
import struct

import apsw

from holdfast.errors import Damaged
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NOTE = struct.Struct(">II24s")
_LAST = struct.Struct(">I24s")
_AT_LAST = 4
_WAL_HEADER, _FRAME_HEADER = 32, 24
_LITTLE, _BIG = 0x377F0682, 0x377F0683
_COUNT = slice(24, 28)
_MASK = 0xFFFFFFFF
CURE = (
    "bring back the -wal file that belongs to it, or restore a backup; to go on with what is left,"
    " end all programs that use it, move the -turn file away and `touch` the -wal file"
)


class Note(Value):
    """`count`: what the first page's count is at least, in the log or in the file."""

    count: int
    frame: int
    header: bytes


class Witness:
    """The note in a lock file that this process has open. To be used while holding the turn."""

    def __init__(self, file: Path, handle: int) -> None:
        self._file = file
        self._handle = handle

    def noted(self) -> Note | None:
        content = os.pread(self._handle, _NOTE.size, 0)
        if len(content) < _NOTE.size or not any(content):
            return None
        count, frame, header = _NOTE.unpack(content)
        return Note(count=count, frame=frame, header=header)

    def note(self, conn: apsw.Connection, frame: int, page_bytes: int) -> None:
        """The log goes as far as this frame now, and is on disk."""
        header = conn.read("main", 1, _offset(frame, page_bytes), _FRAME_HEADER)[1]
        os.pwrite(self._handle, _LAST.pack(frame, header), _AT_LAST)

    def due(self, conn: apsw.Connection, page_bytes: int) -> bool:
        """Whether the log would not be missed: the file is not behind it by the count."""
        note = self.noted()
        return note is None or count_in(conn, page_bytes) >= note.count

    def note_count(self, count: int) -> None:
        os.pwrite(self._handle, count.to_bytes(4, "big"), 0)

    def clear(self) -> None:
        """Know nothing: another file is about to take this one's place."""
        os.pwrite(self._handle, bytes(_NOTE.size), 0)

    def check(self, conn: apsw.Connection, *, plain: bool, thorough: bool = False) -> None:
        """Raise when the database, file and log together, is behind what was acknowledged.

        `thorough`: look at each frame, as SQLite does only when nobody else has the file open.
        """
        page_bytes = conn.pragma("page_size")
        frames = max(conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0], 0)
        log = self._file.with_name(self._file.name + "-wal")
        note = self.noted()
        if note is not None and not (
            (note.frame <= frames and _header_at(log, note.frame, page_bytes) == note.header)
            or count_in(conn, page_bytes) >= note.count
        ):
            raise Damaged(
                "log_lost",
                f"{self._file}: its log (the -wal file) is missing, damaged or another's,"
                " and acknowledged writes are missing with it",
                hint=CURE,
            )
        harmed = frames + 1 if plain and _goes_on(log, frames, page_bytes) else None
        if plain and thorough and frames and harmed is None:
            harmed = _first_harm(log, frames, page_bytes)
        if harmed is not None:
            raise Damaged(
                "log_lost",
                f"{self._file}: frame {harmed} of its log (the -wal file) is damaged,"
                " and acknowledged writes stand behind it",
                hint=CURE,
            )


def count_in(conn: apsw.Connection, page_bytes: int) -> int:
    """How often the first page was written, by the file alone, without its log."""
    complete, page = conn.read("main", 0, 0, page_bytes)
    return int.from_bytes(page[_COUNT], "big") if complete else 0


def _first_harm(log: Path, frames: int, page_bytes: int) -> int | None:
    """The first of so many frames of a plain log that is not what was written."""
    with log.open("rb", buffering=0) as handle:
        header = handle.read(_WAL_HEADER)
        order, salts = _order(header), header[16:24]
        if frames and (order is None or _sum(header[:24], (0, 0), order) != _kept(header[24:32])):
            return 1
        before = _kept(header[24:32]) if frames else (0, 0)
        for number in range(1, frames + 1):
            frame = handle.read(_FRAME_HEADER + page_bytes)
            if frame[8:16] != salts or order is None or not _fits(frame, before, order, page_bytes):
                return number
            before = _kept(frame[16:24])
    return None


def _goes_on(log: Path, frames: int, page_bytes: int) -> bool:
    """Whether behind the frame that ended the log stand two commits of it that fit each other."""
    commits = 0
    for fits, commit in _leftover(log, frames, page_bytes):
        commits = commits + commit if fits else 0
        if commits == 2:
            return True
    return False


def _leftover(log: Path, frames: int, page_bytes: int) -> Iterator[tuple[bool, bool]]:
    """The frames of this log behind its end: does each fit the one before, does it commit?"""
    try:
        handle = log.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with handle:
        header = handle.read(_WAL_HEADER)
        order, salts = _order(header), header[16:24]
        handle.seek(_offset(frames + 1, page_bytes))
        last = handle.read(_FRAME_HEADER + page_bytes)
        while order is not None and len(last) == _FRAME_HEADER + page_bytes:
            frame = handle.read(_FRAME_HEADER + page_bytes)
            if frame[8:16] != salts or len(frame) < len(last):
                return
            yield _fits(frame, _kept(last[16:24]), order, page_bytes), any(frame[4:8])
            last = frame


def _fits(frame: bytes, before: tuple[int, int], order: str, page_bytes: int) -> bool:
    if len(frame) < _FRAME_HEADER + page_bytes:
        return False
    return _sum(frame[_FRAME_HEADER:], _sum(frame[:8], before, order), order) == _kept(frame[16:24])


def _sum(data: bytes, before: tuple[int, int], order: str) -> tuple[int, int]:
    """The checksum of SQLite's log, over pairs of words."""
    one, two = before
    for left, right in struct.iter_unpack(f"{order}II", data):
        one = (one + left + two) & _MASK
        two = (two + right + one) & _MASK
    return one, two


def _order(header: bytes) -> str | None:
    return {_LITTLE: "<", _BIG: ">"}.get(int.from_bytes(header[:4], "big"))


def _kept(eight: bytes) -> tuple[int, int]:
    return int.from_bytes(eight[:4], "big"), int.from_bytes(eight[4:], "big")


def _header_at(log: Path, frame: int, page_bytes: int) -> bytes:
    try:
        with log.open("rb", buffering=0) as handle:
            handle.seek(_offset(frame, page_bytes))
            return handle.read(_FRAME_HEADER)
    except FileNotFoundError:
        return b""


def _offset(frame: int, page_bytes: int) -> int:
    return _WAL_HEADER + (frame - 1) * (_FRAME_HEADER + page_bytes)
