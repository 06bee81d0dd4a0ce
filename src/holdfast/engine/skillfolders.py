"""Skills as folders: reading one, writing one, and finding those below a place.

A skill's folder has a `SKILL.md` and files beside it. Nothing is read or written through a link
inside it. What git, we ourselves and a desktop leave in folders is not part of a skill, and stays.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISLNK, S_ISREG, S_IXUSR

from holdfast.core.canonical import canonical, digest
from holdfast.core.skillfiles import (
    FILE_BYTES_MAX,
    FILES_MAX,
    SKILL_FILE,
    check_file_path,
    check_side_by_side,
    check_sizes,
)
from holdfast.core.trees.digest import digest_of
from holdfast.engine.directories.folder import failing
from holdfast.engine.directories.places import Root
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.names import shown
from holdfast.model.tree import SKIPPED_NAMES
from holdfast.model.value import Value
from holdfast.strategies.skills.face import Given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holdfast.model.entry import Json

LEFT_OUT = SKIPPED_NAMES | {".DS_Store", "Thumbs.db", "__pycache__"}
DEPTH_MAX = 4


class SkillFolder(Value):
    """What a skill's folder holds: the bytes of its SKILL.md, and its files by path."""

    document: bytes
    files: Mapping[str, Given]

    @property
    def digest(self) -> str:
        """Equal for folders that hold the same bytes and executable bits."""
        rows: list[Json] = [
            [path, file.program, digest_of(file.data)] for path, file in sorted(self.files.items())
        ]
        return digest("skill", self.document, canonical(rows)).hex()


def check_once(name: str, place: Path, known: Mapping[str, Path]) -> None:
    """Of the folders below one, each is a skill of its own."""
    if name in known:
        raise Conflict(
            "skill_twice",
            f"{place / SKILL_FILE}: {name} is the skill of {known[name]} too",
            hint="rename one of them",
        )


def skill_folders(place: Path) -> list[Path]:
    """The folders of skills at a place or below it, by path; a skill has no skills inside."""
    with failing(place):
        if place.name == SKILL_FILE and place.is_file():
            return [place.parent]
        if not place.is_dir():
            raise NotFound(
                "skill_folder_not_found",
                f"{shown(place, 200)} is no folder of skills",
                hint=f"name a folder with a {SKILL_FILE}, or one of such folders",
            )
        return list(_below(place, DEPTH_MAX))


def _below(place: Path, depth: int) -> Iterator[Path]:
    if os.path.lexists(place / SKILL_FILE):
        yield place
        return
    for each in sorted(place.iterdir()):
        if depth and each.name not in LEFT_OUT and each.is_dir() and not each.is_symlink():
            yield from _below(each, depth - 1)


def read_folder(place: Path) -> SkillFolder:
    """A skill's folder as it is now. Limits hold before anything large is read."""
    with failing(place), Root(place) as root:
        sizes = dict(_listed(root, place, ""))
        if SKILL_FILE not in sizes:
            raise InvalidInput(
                "skill_document_invalid",
                f"{place / SKILL_FILE}: there is none, and a skill's folder has one",
                hint=f"call it {SKILL_FILE}, in capital letters",
            )
        document = _read(root, place, SKILL_FILE)
        beside = {path: size for path, (size, _) in sizes.items() if path != SKILL_FILE}
        check_side_by_side(beside, str(place))
        check_sizes(beside, str(place))
        files = {
            path: Given(data=_read(root, place, path), program=program)
            for path, (_, program) in sizes.items()
            if path != SKILL_FILE
        }
    return SkillFolder(document=document, files=files)


def _listed(root: Root, place: Path, inside: str) -> Iterator[tuple[str, tuple[int, bool]]]:
    """Each file below with its size and whether it may be executed."""
    handle = root.folder(inside)
    with os.scandir(handle) as found:
        entries = sorted((each.name, each.stat(follow_symlinks=False)) for each in found)
    folders: list[str] = []
    for count, (name, status) in enumerate(entries):
        if name in LEFT_OUT:
            continue
        path = f"{inside}/{name}" if inside else name
        check_file_path(path, str(place))
        if count > FILES_MAX:
            check_sizes(dict.fromkeys(map(str, range(count)), 0), str(place))
        if S_ISDIR(status.st_mode):
            folders.append(path)
        elif S_ISREG(status.st_mode):
            yield path, (status.st_size, bool(status.st_mode & S_IXUSR))
        else:
            what = "a link" if S_ISLNK(status.st_mode) else "no plain file"
            raise InvalidInput(
                "skill_path_invalid",
                f"{place}: {shown(path)} cannot be in a skill: it is {what}",
                hint="put the file itself there",
            )
    for path in folders:
        yield from _listed(root, place, path)


def _read(root: Root, place: Path, path: str) -> bytes:
    with os.fdopen(root.open(path), "rb") as source:
        if not S_ISREG(os.fstat(source.fileno()).st_mode):
            raise Refused(
                "path_blocked",
                f"{place / path} became something else while it was read",
                hint="do it again",
            )
        data = source.read(FILE_BYTES_MAX + 1)
    check_sizes({path: len(data)}, str(place))
    return data


def write_folder(place: Path, folder: SkillFolder) -> None:
    """Make a folder hold this skill and no other files of one. A new folder gets its name when it
    is complete; in one that is there each file is replaced whole, the SKILL.md last."""
    with failing(place):
        if place.exists():
            _write(place, folder)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            part.mkdir()
            _write(part, folder)
            part.rename(place)
        except BaseException:
            _clear(part)
            raise


def _write(place: Path, folder: SkillFolder) -> None:
    with Root(place) as root:
        there = [path for path, _ in _listed(root, place, "")]
        goes = [path for path in there if path != SKILL_FILE and path not in folder.files]
        for path in goes:
            _unlink(root, path)
        for path, file in sorted(folder.files.items()):
            _put(root, path, file)
        _put(root, SKILL_FILE, Given(data=folder.document))
        _drop_empty(root, goes)


def _put(root: Root, path: str, file: Given) -> None:
    handle, name = root.split(path, make=True)
    part = f".{name[:200]}.{os.getpid()}.part"
    mode = 0o777 if file.program else 0o666
    target = os.open(
        part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=handle
    )
    try:
        with os.fdopen(target, "wb") as out:
            out.write(file.data)
        os.replace(part, name, src_dir_fd=handle, dst_dir_fd=handle)
    except BaseException:
        os.unlink(part, dir_fd=handle)
        raise


def _unlink(root: Root, path: str) -> None:
    handle, name = root.split(path)
    os.unlink(name, dir_fd=handle)


def _drop_empty(root: Root, paths: list[str]) -> None:
    """The folders that nothing is left in."""
    folders = {path.rpartition("/")[0] for path in paths}
    for folder in list(folders):
        while folder := folder.rpartition("/")[0]:
            folders.add(folder)
    root.leave()
    for folder in sorted(folders - {""}, key=lambda path: -path.count("/")):
        handle, name = root.split(folder)
        try:
            os.rmdir(name, dir_fd=handle)
        except OSError:
            continue  # something of somebody else's lies there


def remove_folder(place: Path) -> None:
    """Take a skill's files out of its folder, and the folder where nothing else is in it."""
    with failing(place):
        with Root(place) as root:
            paths = [path for path, _ in _listed(root, place, "")]
            for path in paths:
                _unlink(root, path)
            _drop_empty(root, paths)
        try:
            place.rmdir()
        except OSError:
            return  # something of somebody else's lies there


def _clear(part: Path) -> None:
    from shutil import rmtree

    rmtree(part, ignore_errors=True)


def read_given(file: Path) -> Given:
    """A file as somebody names it, with its executable bit."""
    with failing(file), file.open("rb") as source:
        status = os.fstat(source.fileno())
        check_sizes({file.name: status.st_size})
        data = source.read(FILE_BYTES_MAX + 1)
    check_sizes({file.name: len(data)})
    return Given(data=data, program=bool(status.st_mode & S_IXUSR))
