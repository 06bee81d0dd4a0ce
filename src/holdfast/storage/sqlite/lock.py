"""Whose turn it is to write, among processes, and who has the vault open.

Three small files stand beside the database. A writer locks `-queue`, then `-turn`, then lets
`-queue` go: while it works, the next one waits for `-turn` and holds `-queue`, so a process that
has just finished cannot overtake one that waits. `-open` is held shared while a vault is open, and
alone by whoever changes what every other process relies on (the key). The kernel lets go of all of
them when a process dies, however it dies. `give` may be called at any time, twice and without a
`take`: so a signal between any two steps leaves nothing locked.
"""

from __future__ import annotations

import fcntl
import os
from io import FileIO

from holdfast.errors import StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    class Gate(Protocol):
        def take(self) -> None: ...
        def take_now(self) -> bool: ...
        def give(self) -> None: ...


class NoGate:
    """For a database in RAM, which no other process sees."""

    def take(self) -> None: ...

    def take_now(self) -> bool:
        return True

    def give(self) -> None: ...


class ProcessLock:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._closed = False
        self._waits = False  # in the queue, or so it may be after a signal
        self._files = [_lock_file(f"{file}-{name}") for name in ("queue", "turn", "open")]
        self._queue, self._turn, self._open = (held.fileno() for held in self._files)

    def take(self) -> None:
        self._waits = True
        fcntl.flock(self._queue, fcntl.LOCK_EX)
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        fcntl.flock(self._queue, fcntl.LOCK_UN)
        self._waits = False

    def take_now(self) -> bool:
        """Take the turn if nobody has it or waits for it."""
        self._waits = True
        try:
            fcntl.flock(self._queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.give()
            return False
        fcntl.flock(self._queue, fcntl.LOCK_UN)
        self._waits = False
        return True

    def give(self) -> None:
        if self._closed:
            return
        try:
            fcntl.flock(self._turn, fcntl.LOCK_UN)
        finally:
            if self._waits:
                fcntl.flock(self._queue, fcntl.LOCK_UN)
                self._waits = False

    def join(self) -> None:
        """Be one of those who have the vault open. Wait while one has it alone."""
        fcntl.flock(self._open, fcntl.LOCK_SH)

    def turn_file(self) -> int:
        """The open `-turn`, in which whoever has the turn may note something."""
        return self._turn

    def alone(self) -> None:
        """Be the only one who has it open, until `join`. To be called while holding the turn."""
        try:
            fcntl.flock(self._open, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            self.join()  # an upgrade that fails has let go of the shared lock
            raise StorageFailed(
                "storage_busy",
                f"{self._file}: another process has it open",
                hint="end every other program that uses this vault, then do it again",
            ) from exc

    def close(self) -> None:
        """Let go of everything. In a forked child this leaves the parent's locks as they are."""
        self._closed = True
        for held in self._files:
            held.close()


def _lock_file(path: str) -> FileIO:
    return FileIO(path, "r+b", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
