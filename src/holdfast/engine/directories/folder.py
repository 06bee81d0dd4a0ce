"""A working folder: what its `.holdfast/` says, and holding it for one command at a time.

`storage.yaml` says which directory the folder is of, and is the only file there that people write.
`state.json` says which version the folder had last in common with the vault: the base of a merge.
The stat cache, the staged files of a pull and its journal lie beside it. All but `storage.yaml` may
be lost; a folder without a state merges with an empty base, which drops nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager

from holdfast.core.trees.statcache import decode_cache, encode_cache
from holdfast.errors import Conflict, InvalidInput, NotFound, StorageFailed
from holdfast.model.directory import DIRECTORY_TYPES, Limits
from holdfast.model.names import shown
from holdfast.model.tree import check_directory_name
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from typing import Any

    from holdfast.core.trees.statcache import FolderRecord

OWN = ".holdfast"
CONFIG = "storage.yaml"
STATE, CACHE, JOURNAL, STAGED, LOCK = "state.json", "statcache", "pull.json", "incoming", "lock"
CONFIG_BYTES_MAX = 65_536
_LIMITS = Limits.fields_


class Config(Value):
    """What `storage.yaml` says."""

    name: str
    type: str
    limits: Limits = Limits()


class State(Value):
    """The version that the folder had last in common with the vault, by its directory's id."""

    directory: str
    v: int


class Working:
    """A folder that is initialised."""

    def __init__(self, root: Path, config: Config) -> None:
        self.root = root
        self.config = config
        self.own = root / OWN

    def keep_config(self) -> None:
        given, usual = self.config.limits, Limits.defaults_
        limits = {name: getattr(given, name) for name in _LIMITS}
        limits = {name: value for name, value in limits.items() if value != usual[name]}
        text = f"name: {self.config.name}\ntype: {self.config.type}\n"
        text += f"limits: {json.dumps(limits)}\n" if limits else ""
        replace_file(self.own / CONFIG, text.encode())

    def state(self) -> State | None:
        try:
            said = json.loads((self.own / STATE).read_bytes())
            return State(directory=str(said["directory"]), v=int(said["v"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return None

    def keep_state(self, state: State) -> None:
        text = json.dumps({"directory": state.directory, "v": state.v})
        replace_file(self.own / STATE, text.encode(), durable=False)

    def cache(self) -> dict[str, FolderRecord]:
        try:
            return decode_cache((self.own / CACHE).read_bytes())
        except FileNotFoundError:
            return {}

    def keep_cache(self, records: Mapping[str, FolderRecord]) -> None:
        replace_file(self.own / CACHE, encode_cache(records), durable=False)

    def clock_ns(self) -> int:
        """The time as the file system itself has it, by what a file written just now shows."""
        place = self.own / "clock"
        place.write_bytes(b"")
        os.utime(place)
        return place.stat().st_mtime_ns

    @contextmanager
    def held(self) -> Generator[None]:
        """One command at a time works in a folder; another one waits for it."""
        with failing(self.root):
            self.own.mkdir(exist_ok=True)
            if not (self.own / CONFIG).exists():  # another place says it, which a pull may change
                self.keep_config()
            handle = os.open(self.own / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


@contextmanager
def failing(where: Path) -> Generator[None]:
    """What the file system refuses, as our error."""
    try:
        yield
    except OSError as exc:
        name = exc.filename if isinstance(exc.filename, str) else ""
        place = where if name in ("", str(where)) else where / name
        raise StorageFailed(
            "folder_failed",
            f"{shown(place, 200)}: {exc.strerror}",
            hint="see that there is room and that this user may read and write there; "
            "then do it again",
        ) from exc


def open_folder(root: Path) -> Working:
    """The folder, if it is initialised."""
    found = find_config(root)
    if found is None:
        above = next((place for place in root.parents if (place / OWN / CONFIG).is_file()), None)
        raise NotFound(
            "folder_not_initialised",
            f"{shown(root, 200)} is not a versioned directory",
            hint="`init` makes it one, or `clone NAME` brings one here"
            if above is None
            else f"go to {shown(above, 200)}, which is one",
        )
    return Working(root, found)


def find_config(root: Path) -> Config | None:
    for place in (root / OWN / CONFIG, root / ".vm0" / CONFIG):
        try:
            with place.open("rb") as source:
                data = source.read(CONFIG_BYTES_MAX)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as exc:
            raise StorageFailed(
                "config_unreadable", f"{place}: {exc.strerror}", hint="check its permissions"
            ) from exc
        return _config(data, place)
    return None


def write_config(root: Path, name: str, kind: str) -> Working:
    working = Working(root, Config(name=name, type=kind))
    with failing(root):
        working.own.mkdir(parents=True, exist_ok=True)
        working.keep_config()
    return working


def _config(data: bytes, place: Path) -> Config:
    said = _fields(data, place)
    kind, name = said.get("type", "volume"), said.get("name")
    if kind not in DIRECTORY_TYPES:
        raise _bad(place, f"type {shown(kind)} is none", f"one of {', '.join(DIRECTORY_TYPES)}")
    limits = said.get("limits", {})
    if not isinstance(limits, dict) or not all(
        key in _LIMITS and isinstance(value, int) and not isinstance(value, bool) and value > 0
        for key, value in limits.items()
    ):
        raise _bad(place, "its limits are not read", f"whole numbers for {', '.join(_LIMITS)}")
    name = check_directory_name(name if isinstance(name, str) else "")
    return Config(name=name, type=str(kind), limits=Limits(**limits))


def _fields(data: bytes, place: Path) -> dict[str, Any]:
    """Lines of `key: word` are read here; any other YAML by a reader that takes longer to load."""
    found: dict[str, Any] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        key, _, word = line.partition(": ")
        if not (key.isalpha() and word.replace("-", "").isalnum() and not word.isdigit()):
            break
        found[key] = word
    else:
        return found
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        said: Any = YAML(typ="safe", pure=True).load(data)
    except (YAMLError, ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _bad(place, "it cannot be read", "two lines, `name: my-notes` and `type: memory`")
    return said


def _bad(place: Path, problem: str, cure: str) -> InvalidInput:
    return InvalidInput("config_invalid", f"{place}: {problem}", hint=f"write {cure}")


def check_type(found: Config, kind: str, root: Path) -> None:
    if found.type != kind:
        raise Conflict(
            "folder_other_type",
            f"{shown(root, 200)} is the {found.type} {found.name}, no {kind}",
            hint=f"use `holdfast {found.type}`, or another folder",
        )


def replace_file(place: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file so that its name stands for the old bytes or the new ones, never for a part."""
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as target:
            target.write(data)
            target.flush()
            if durable:
                os.fsync(target.fileno())
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
