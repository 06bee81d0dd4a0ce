"""Programs that keep versions of a folder, each doing the same steps in a place of its own.

git commits and pushes to a bare repository beside it; restic and borg back up into a repository of
theirs. Each is run as a person runs it. restic always encrypts; borg does not here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import apsw

import holdfast
from bench.measure import Missing
from bench.setting import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.engine.vault import Vault

PROGRAM = "import sys; from holdfast.cli import program; sys.exit(program())"


class Peer:
    """`place` is emptied before each round; `work` holds the files, `other` is a second folder."""

    program = ""

    def __init__(self, place: Path) -> None:
        self.place, self.work, self.other = place, place / "work", place / "other"
        self.store = place / "store"
        home = str(place / "home")
        self.env = {**os.environ, "HOME": home, "PYTHONPATH": str(ROOT / "src")}
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.program and shutil.which(self.program) is None:
            raise Missing("not installed")

    def begin(self, source: Path) -> None:
        (self.place / "home").mkdir()
        shutil.copytree(source, self.work)
        self.set_up()

    def call(self, *argv: str, cwd: Path | None = None) -> None:
        done = subprocess.run(
            argv,
            cwd=cwd or self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(argv)}: {done.stderr.decode()}")

    def bytes_stored(self) -> int:
        return sum(
            os.path.getsize(os.path.join(root, name))  # noqa: PTH118, PTH202 - the quick way
            for root, _, names in os.walk(self.store)
            for name in names
        )

    def set_up(self) -> None: ...
    def push(self) -> None:
        raise NotImplementedError

    def unchanged(self) -> None:
        self.push()

    def pull(self) -> None:
        """Bring `other`, which has the version before, to the newest."""
        raise NotImplementedError

    def clone(self, place: Path) -> None:
        raise NotImplementedError

    def close(self) -> None: ...


class Git(Peer):
    program = "git"

    def set_up(self) -> None:
        (self.place / "home/.gitconfig").write_text(
            "[user]\nname = a\nemail = a@example.com\n[gc]\nauto = 0\n"
        )
        self.call("git", "init", "-q", "--bare", str(self.store))
        self.call("git", "init", "-q", "-b", "main")
        self.call("git", "remote", "add", "origin", str(self.store))

    def push(self) -> None:
        self.call("git", "add", "-A")
        self.call("git", "commit", "-q", "-m", "x")
        self.call("git", "push", "-q", "origin", "main")

    def unchanged(self) -> None:
        self.call("git", "status", "--porcelain")

    def pull(self) -> None:
        self.call("git", "pull", "-q", cwd=self.other)

    def clone(self, place: Path) -> None:
        self.call("git", "clone", "-q", "-b", "main", str(self.store), str(place))


class Restic(Peer):
    program = "restic"

    def set_up(self) -> None:
        self.env |= {"RESTIC_PASSWORD": "x", "RESTIC_REPOSITORY": str(self.store)}
        self.call("restic", "init", "-q")

    def push(self) -> None:
        self.call("restic", "backup", "-q", ".")

    def pull(self) -> None:
        self.clone(self.other)

    def clone(self, place: Path) -> None:
        self.call("restic", "restore", "-q", "latest", "--target", str(place))


class Borg(Peer):
    program = "borg"
    _made = 0

    def set_up(self) -> None:
        self.env |= {
            "BORG_REPO": str(self.store),
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        }
        self.call("borg", "init", "-e", "none")

    def push(self) -> None:
        self._made += 1
        self.call("borg", "create", f"::v{self._made}", ".")

    def pull(self) -> None:
        self.clone(self.other)

    def clone(self, place: Path) -> None:
        place.mkdir(exist_ok=True)
        self.call("borg", "extract", f"::v{self._made}", cwd=place)


class Holdfast(Peer):
    def bytes_stored(self) -> int:
        """All pages of the vault, those among them that stand in its log still."""
        conn = apsw.Connection(str(self.store / "vault.db"), apsw.SQLITE_OPEN_READONLY)
        size = conn.pragma("page_count") * conn.pragma("page_size")
        conn.close()
        return size


class Command(Holdfast):
    """A process for each step."""

    def holdfast(self, *words: str, cwd: Path | None = None) -> None:
        self.call(sys.executable, "-c", PROGRAM, "memory", *words, cwd=cwd)

    def set_up(self) -> None:
        self.env["HOLDFAST_VAULT"] = str(self.store)
        self.holdfast("init", "--name", "work")

    def push(self) -> None:
        self.holdfast("push")

    def pull(self) -> None:
        self.holdfast("pull", cwd=self.other)

    def clone(self, place: Path) -> None:
        self.holdfast("clone", "work", str(place))


class Library(Holdfast):
    """In this process."""

    _vault: Vault

    def set_up(self) -> None:
        self._vault = holdfast.open(self.store)
        self._here = self._vault.space().directories("memory")
        self._here.init(self.work, "work")

    def push(self) -> None:
        self._here.push(self.work)

    def pull(self) -> None:
        self._here.pull(self.other)

    def clone(self, place: Path) -> None:
        self._here.clone("work", place)

    def close(self) -> None:
        self._vault.close()
