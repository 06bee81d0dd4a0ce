"""Contents that lie in the working folder, as a mapping from their names."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from holdfast.core.trees.digest import digest_of
from holdfast.engine.directories.folder import failing
from holdfast.engine.directories.places import Root
from holdfast.engine.directories.scan import changing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.engine.directories.scan import Scan


class LocalContents(Mapping[str, bytes]):
    """Read when they are asked for, and only if they are still what the scan saw."""

    def __init__(self, place: Path, found: Scan) -> None:
        self._place, self._found = place, found

    def __contains__(self, name: object) -> bool:
        return name in self._found.contents or name in self._found.paths

    def __getitem__(self, name: str) -> bytes:
        known = self._found.contents.get(name)
        if known is not None:
            return known
        path = self._found.paths[name]
        with failing(self._place), Root(self._place) as root:
            handle, last = root.split(path)
            try:
                data = os.fsencode(os.readlink(last, dir_fd=handle))
            except OSError as exc:
                if exc.errno != errno.EINVAL:  # it is no link
                    raise
                with os.fdopen(root.open(path), "rb") as file:
                    data = file.read()
        if digest_of(data) != name:
            raise changing(path)
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._found.paths)

    def __len__(self) -> int:
        return len(self._found.paths)
