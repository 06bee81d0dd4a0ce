"""A process of its own for what a command leaves to be done: no command waits for a review.

It is `holdfast worker --once` on the same vault, with the same environment, in a session of its own
and without a terminal. Where it cannot be started, or is killed, nothing is lost: what is due stays
in the vault's queue for the next program.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from holdfast.engine.workers import Background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Detached(Background):
    """What would be the work of a thread is that of another process, at most one a command."""

    detaches = True

    def __init__(self, where: Path, key_file: str | None) -> None:
        super().__init__()
        self._where, self._key_file = where, key_file
        self._started = False

    def start(self, work: Callable[[], object]) -> None:  # noqa: ARG002 - another process does it
        if not self._started and not self.stopped:
            self._started = True
            spawn(self.command())

    def command(self) -> list[str]:
        words = [sys.executable, "-P", "-m", "holdfast", "worker", "--once", "--quiet"]
        words += ["--vault", place_of(self._where)]
        if self._key_file is not None:
            words += ["--key-file", str(Path(self._key_file).absolute())]
        return words


def place_of(file: Path) -> str:
    """A vault's file so that it is found from any folder."""
    from urllib.parse import quote

    return f"sqlite:///{quote(str(file.absolute()))}"


def spawn(command: list[str]) -> None:
    """Start a program and leave it alone."""
    if not command[0]:
        return
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    env = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    try:
        try:
            os.posix_spawn(command[0], command, env, file_actions=silent, setsid=True)
        except NotImplementedError:
            os.posix_spawn(command[0], command, env, file_actions=silent, setpgroup=0)
    except OSError:
        return


# What belongs to the command that ends here.
_NOT_HANDED_ON = frozenset(("HOLDFAST_SESSION", "HOLDFAST_SPACE", "HOLDFAST_AGENT"))
