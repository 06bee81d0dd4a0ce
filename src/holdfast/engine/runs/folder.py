"""The folder of a run: what its agent is given, and what this side must know about it.

RUN/files/…           the directories, each at its path: all that an agent needs to know of
RUN/own/0, 1, …       of each directory: the version that it began as, and what was read of it
RUN/context.md        and conversation.jsonl, prompt.txt, mcp.json
RUN/outcome.json      how the agent ended: whoever finds it may finish what was begun
RUN/secrets           the values that must not be kept, sealed, in case that somebody else finishes
RUN/aside/…           files with secrets in them that could not be masked

An agent may do with its directories whatever it likes. What was read of them before stands beside,
out of its way, so that a folder that is missing is known from one that is empty.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from stat import S_IRWXU, S_ISDIR, S_ISREG

from holdfast.engine.directories.folder import Config, State, Working, failing, replace_file
from holdfast.engine.directories.layout import lay_out_new
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.scan import silent
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.engine.directories.scan import Progress
    from holdfast.errors import HoldfastError
    from holdfast.model.directory import Version
    from holdfast.model.run import Laid
    from holdfast.ports import Storage

FILES, OWN, OUTCOME, SECRETS, ASIDE = "files", "own", "outcome.json", "secrets", "aside"
CONTEXT, CONVERSATION, PROMPT = "context.md", "conversation.jsonl", "prompt.txt"
ENDPOINT = "mcp.json"
NONCE_BYTES = 12


class Outcome(Value):
    """How an agent ended, as it stands in the run's folder."""

    exit: int
    why: str
    words: str
    output_bytes: int = 0
    lost_bytes: int = 0
    gone: tuple[str, ...] = ()


class RunDirectory(Working):
    """A directory in a run. What it began as stands outside of it."""

    def __init__(self, root: Path, laid: Laid, own: Path) -> None:
        super().__init__(root, Config(name=laid.name, type=laid.type))
        self.own = own

    def is_there(self) -> bool:
        return self.root.is_dir() and not self.root.is_symlink()


class RunFolder:
    def __init__(self, place: Path) -> None:
        self.place = place
        self._held: dict[str, int] = {}

    def make(self) -> None:
        with failing(self.place):
            self.place.parent.mkdir(parents=True, exist_ok=True)
            self.place.mkdir(mode=0o700)
            (self.place / FILES).mkdir()
            (self.place / OWN).mkdir()

    def path(self, laid: Laid) -> Path:
        return self.place / FILES / laid.path

    def directory(self, number: int, laid: Laid) -> RunDirectory:
        return RunDirectory(self.path(laid), laid, self.place / OWN / str(number))

    def lay_out(
        self,
        mounts: Sequence[tuple[Laid, Version]],
        bases: Sequence[int],
        storage: Storage,
        progress: Progress = silent,
    ) -> None:
        """Each directory as its version has it, on the base from which changes are merged."""
        for number, (laid, version) in enumerate(mounts):
            working = self.directory(number, laid)
            with failing(working.root):
                working.root.mkdir(parents=True)
                working.own.mkdir()
            lay_out_new(working.root, version.root, Objects(storage), progress)
            with failing(working.root):
                working.keep_state(State(directory=laid.directory, v=bases[number]))
                self._held[laid.path] = os.open(working.root, os.O_RDONLY | os.O_DIRECTORY)

    def gone(self) -> tuple[str, ...]:
        """The paths where what was laid out is no more: nothing is there, or a link, or another
        folder that is empty. What was laid out is held open until now, so that no other folder
        could have become it."""
        found: list[str] = []
        for path, handle in self._held.items():
            root = self.place / FILES / path
            is_there = root.is_dir() and not root.is_symlink()
            if is_there and not os.path.samestat(os.fstat(handle), root.stat()):
                open_up(root)
                is_there = any(root.iterdir())
            if not is_there:
                found.append(path)
        return tuple(found)

    def let_go(self) -> None:
        for handle in self._held.values():
            os.close(handle)
        self._held = {}

    def write(self, name: str, text: str) -> Path:
        place = self.place / name
        with failing(place):
            place.write_text(text, encoding="utf-8", errors="surrogateescape")
        return place

    # How it ended

    def keep_outcome(self, outcome: Outcome) -> None:
        said = {name: getattr(outcome, name) for name in outcome.fields_}
        with failing(self.place):
            replace_file(self.place / OUTCOME, json.dumps(said).encode())

    def outcome(self) -> Outcome | None:
        """None where the agent did not end while somebody was watching."""
        try:
            said: dict[str, Any] = json.loads((self.place / OUTCOME).read_bytes())
            said["gone"] = tuple(said["gone"])
            return Outcome(**said)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    # Secrets

    def seal_secrets(self, secrets: Iterable[str], key: bytes, nonce: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        data = json.dumps(list(secrets)).encode()
        sealed = nonce + AESGCM(key).encrypt(nonce, data, None)
        with failing(self.place):
            replace_file(self.place / SECRETS, sealed)

    def secrets(self, key: bytes) -> list[str] | None:
        """The values; None where they cannot be read."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            sealed = (self.place / SECRETS).read_bytes()
            opened = AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)
            return [str(value) for value in json.loads(opened)]
        except (OSError, ValueError, InvalidTag):
            return None

    # Its end

    def aside(self, laid: Laid, path: str) -> Path:
        place = self.place / ASIDE / laid.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def has_aside(self) -> bool:
        return (self.place / ASIDE).exists()

    def discard(self, *, but: tuple[str, ...] = ()) -> None:
        """Remove it, but for some of its parts, where they are there. What cannot be removed is
        left to whoever comes next."""
        kept = [name for name in but if (self.place / name).exists()]
        if not kept:
            _removed(self.place)
            return
        for each in list(self.place.iterdir()):
            if each.name not in kept:
                _removed(each)


def _removed(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        open_up(place)
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def open_up(root: Path) -> None:
    """Let this user read and change what its agent left: of permissions only the executable bit
    is kept, so nothing is lost by it."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.lstat()
            if status.st_mode & S_IRWXU != S_IRWXU:
                folder.chmod(status.st_mode & 0o7777 | S_IRWXU)
            entries = list(os.scandir(folder))
        except OSError:
            continue  # what reads the folder next says why it cannot
        for entry in entries:
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
                if S_ISDIR(mode):
                    waiting.append(Path(entry.path))
                elif S_ISREG(mode) and mode & 0o600 != 0o600:
                    Path(entry.path).chmod(mode & 0o7777 | 0o600)
            except OSError:
                continue


def why_of(error: HoldfastError) -> str:
    return f"{error.message} [{error.code}]"
