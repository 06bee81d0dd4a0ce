"""`Directories`: the versioned directories of one type in a space.

notes = vault.space().directories("memory")
notes.init("my-notes")
notes.push("my-notes", message="first")
notes.clone("my-notes", "elsewhere")
"""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.engine.directories import look
from holdfast.engine.directories.desk import Desk, Draft, resolved
from holdfast.engine.directories.folder import (
    check_type,
    find_config,
    open_folder,
    write_config,
)
from holdfast.engine.directories.layout import finish
from holdfast.engine.directories.pull import Pulled, PullOptions, clone, pull
from holdfast.engine.directories.push import Pushed, PushOptions, push
from holdfast.engine.directories.scan import silent
from holdfast.engine.work import mutate
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.names import shown
from holdfast.model.tree import DIRECTORY_NAME_RULE, check_directory_name
from holdfast.model.value import Value
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal, Unpack

    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.look import Entry, FileDiff, FolderStatus, Listed
    from holdfast.engine.directories.scan import Progress
    from holdfast.engine.work import Work
    from holdfast.model.directory import Directory, Version
    from holdfast.model.erasure import Erasure, Reach
    from holdfast.model.write import WriteOptions

    Place = str | os.PathLike[str]


class Initialised(Value):
    name: str
    type: str
    where: str
    created: bool


class Directories:
    """What `holdfast memory`, `artifact` and `volume` do. A folder is where the work happens; a
    name is that of a directory in the vault."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def type(self) -> str:
        return self._desk.type

    def init(self, folder: Place, name: str | None = None) -> Initialised:
        """Make a folder a versioned directory. Nothing is stored yet."""
        root = Path(os.path.abspath(folder))  # noqa: PTH100 - links in it stay as they are
        found = find_config(root)
        if found is not None:
            check_type(found, self.type, root)
            if name not in (None, found.name):
                raise InvalidInput(
                    "folder_other_name",
                    f"{shown(root, 200)} is the {found.type} {found.name}",
                    hint="leave the name out, or use another folder",
                )
            return Initialised(name=found.name, type=self.type, where=str(root), created=False)
        if name is None:
            try:
                name = check_directory_name(root.name)
            except InvalidInput as exc:
                raise InvalidInput(
                    exc.code,
                    f"the folder's name: {exc.message}",
                    hint=f"give one with --name: {DIRECTORY_NAME_RULE}",
                ) from None
        write_config(root, check_directory_name(name), self.type)
        return Initialised(name=name, type=self.type, where=str(root), created=True)

    def name_of(self, folder: Place) -> str:
        """The name of the directory that the folder is of."""
        return self._folder(folder).config.name

    def push(
        self,
        folder: Place,
        *,
        message: str = "",
        force: bool = False,
        overwrite: bool = False,
        run: str | None = None,
        progress: Progress = silent,
        **write: Unpack[WriteOptions],
    ) -> Pushed:
        """Make what the folder holds the next version, merged with what others pushed meanwhile."""
        working = self._folder(folder)
        options = PushOptions(
            message=message, force=force, overwrite=overwrite, run=run, progress=progress
        )
        with working.held():
            return push(self._desk, working, options, Write(**write))

    def pull(
        self,
        folder: Place,
        *,
        version: str = "latest",
        force: bool = False,
        progress: Progress = silent,
        **write: Unpack[WriteOptions],
    ) -> Pulled:
        """Bring a folder to a version. What was not pushed is merged, with `force` put aside."""
        working = self._folder(folder)
        options = PullOptions(version=version, force=force, progress=progress)
        with working.held():
            return pull(self._desk, working, options, Write(**write))

    def pull_named(
        self,
        name: str,
        folder: Place,
        *,
        version: str = "latest",
        force: bool = False,
        progress: Progress = silent,
        **write: Unpack[WriteOptions],
    ) -> Pulled:
        """The same for a directory by its name, into its own folder or a new one."""
        root = Path(folder)
        found = find_config(root)
        if found is None:
            return self.clone(name, folder, version=version, progress=progress)
        if found.name != name:
            raise InvalidInput(
                "folder_other_name",
                f"{shown(root, 200)} is the {found.type} {found.name}, not {name}",
                hint="name another folder to pull into",
            )
        return self.pull(folder, version=version, force=force, progress=progress, **write)

    def clone(
        self,
        name: str,
        folder: Place,
        *,
        version: str = "latest",
        progress: Progress = silent,
    ) -> Pulled:
        """Make a folder of a version; there is all of it afterwards, or nothing."""
        options = PullOptions(version=version, progress=progress)
        return self._desk.repeat(
            lambda: clone(self._desk, check_directory_name(name), Path(folder), options)
        )

    def status(self, folder: Place, *, progress: Progress = silent) -> FolderStatus:
        working = self._folder(folder)
        self._desk.find_of(working)
        with working.held():
            finish(working)
            return look.status(self._desk, working, progress)

    def list(self, *, hidden: bool = False) -> Sequence[Listed]:
        """Each directory by name, with what its head holds."""
        return look.listed(self._desk, hidden=hidden)

    def find(self, name: str) -> Directory:
        return self._desk.find(name)[0]

    def version(self, name: str, version: str = "latest") -> Version:
        _, head, seen = self._desk.find(name)
        return head if version == "latest" else resolved(version, seen)

    def log(self, name: str, *, limit: int = 20) -> Sequence[Entry]:
        """The newest versions first."""
        return look.log(self._desk, name, limit)

    def diff(
        self,
        name: str,
        before: str = "base",
        after: str | None = None,
        *,
        folder: Place | None = None,
        progress: Progress = silent,
    ) -> Iterator[FileDiff]:
        """What differs between two versions, or between one and a folder. `base` is the version
        that the folder was last brought to, without a folder the head."""
        if folder is None or after is not None:
            return look.diff(self._desk, name, before, after, None, progress)
        working = self._folder(folder)
        with working.held():
            finish(working)
            return iter(list(look.diff(self._desk, name, before, after, working, progress)))

    def rollback(
        self,
        name: str,
        version: str = "latest~1",
        *,
        message: str = "",
        **write: Unpack[WriteOptions],
    ) -> tuple[Version, bool]:
        """A new version with the tree of an old one, and whether that changed anything."""

        def attempt() -> tuple[Version, bool]:
            _, head, seen = self._desk.find(name)
            old = resolved(version, seen)
            if old.tree == head.tree:
                return head, False
            draft = Draft(root=old.root, parents=(head.v,))
            words = message or f"rollback to v{old.v}"
            made = self._desk.make(
                name, seen, [draft], (), Write(**write), op="rollback", message=words
            )
            return made[-1], True

        return self._desk.repeat(attempt)

    def delete(
        self,
        name: str,
        *,
        level: Literal["hide", "forget"] = "forget",
        **write: Unpack[WriteOptions],
    ) -> Directory:
        """Leave it out of lists until its next push, or forget it with all of its versions."""
        self._desk.find(name)

        def unit(work: Work) -> Directory:
            found = work.tx.directory_named(self._desk.space, self.type, name)
            if found is None:
                raise NotFound(
                    "directory_not_found", f"the {self.type} {name} is gone", hint="nothing to do"
                )
            work.expect(found.revision, name)
            if level == "hide":
                return found if found.hidden else _put(work, found.replace(hidden=True), found)
            return _put(work, found.replace(state="forgotten"), found)

        def _put(work: Work, after: Directory, before: Directory) -> Directory:
            return work.put_directory(after, before, level)

        meant = {"space": self._desk.space, "type": self.type, "name": name, "level": level}
        core, caller = self._desk.core, self._desk.caller
        return mutate(core, caller, Write(**write), "directory delete", meant, unit)

    def erase(self, name: str, **write: Unpack[WriteOptions]) -> Erasure:
        """Take it out of everything that the vault's bytes hold, forgotten ones of the name too.
        What comes back is the receipt, or says that it is pending: a reader holds old pages."""
        from holdfast.engine.directories.erase import erase

        return erase(self._desk, name, Write(**write))

    def reach(self, name: str) -> Reach:
        """What erasing it would take. Nothing is changed."""
        from holdfast.engine.directories.erase import reach

        return reach(self._desk, name)

    def _folder(self, folder: Place) -> Working:
        root = Path(os.path.abspath(folder))  # noqa: PTH100 - links in it stay as they are
        working = open_folder(root)
        check_type(working.config, self.type, root)
        return working
