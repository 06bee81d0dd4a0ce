"""Names below one root, reached without ever going through a link."""

from __future__ import annotations

import errno
import os

from holdfast.errors import Refused
from holdfast.model.names import shown
from holdfast.model.tree import check_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Root:
    """A folder that is held open. The folder that was used last stays open too, because work goes
    folder by folder."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._root = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._at: tuple[str, int] = ("", self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()
        os.close(self._root)

    def leave(self) -> None:
        """Let go of the folder that was used last: it may be another one now."""
        if self._at[1] != self._root:
            os.close(self._at[1])
        self._at = ("", self._root)

    def folder(self, path: str, *, make: bool = False) -> int:
        """The open folder of that path."""
        if path == self._at[0]:
            return self._at[1]
        self.leave()
        if not path:
            return self._root
        check_path(path)
        handle = self._root
        for part in path.split("/"):
            below = self._step(handle, part, path, make=make)
            if handle != self._root:
                os.close(handle)
            handle = below
        self._at = (path, handle)
        return handle

    def _step(self, handle: int, part: str, path: str, *, make: bool) -> int:
        try:
            try:
                return os.open(part, _FOLDER, dir_fd=handle)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(part, dir_fd=handle)
                return os.open(part, _FOLDER, dir_fd=handle)
        except OSError as exc:
            if handle != self._root:
                os.close(handle)
            if exc.errno in (errno.ELOOP, errno.ENOTDIR):
                raise in_the_way(path) from None
            exc.filename = path
            raise

    def split(self, path: str, *, make: bool = False) -> tuple[int, str]:
        above, _, name = path.rpartition("/")
        check_path(path)
        return self.folder(above, make=make), name

    def open(self, path: str) -> int:
        handle, name = self.split(path)
        return os.open(name, _FILE, dir_fd=handle)

    def create(self, path: str, mode: int) -> int:
        handle, name = self.split(path, make=True)
        return os.open(name, _NEW, mode, dir_fd=handle)

    def status(self, path: str) -> os.stat_result | None:
        """What stands there itself, None if nothing does."""
        try:
            handle, name = self.split(path)
            return os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            return None


def in_the_way(path: str) -> Refused:
    return Refused(
        "path_blocked",
        f"{shown(path)}: a link or a file stands where a folder belongs, and is not gone through",
        hint="move it away, then do it again",
    )
