"""The preferences of a vault: `preferences/memory.json` beside it, read again when it changes.

The file is a person's to edit, so it is validated whenever it is read: a mistake in it is an error
that names the field, for whoever needs a setting, and never a setting that is quietly something
else. A vault in RAM keeps the document in RAM. Writers take turns, and replace the file whole.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

from holdfast.core.preference_table import BY_NAME, TABLE
from holdfast.core.preferences import (
    LABEL_PRESET,
    LABEL_SPACES,
    Layer,
    check_preset,
    checked,
    layer_from,
    resolve,
)
from holdfast.errors import InvalidInput, StorageFailed
from holdfast.model.names import check_str

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from typing import Any

    from holdfast.core.preferences import Settings
    from holdfast.model.entry import Json

FILE_NAME = "memory.json"
VARIABLE = "HOLDFAST_PREFERENCES"
FILE_BYTES_MAX = 262_144
CALL = "call"


class Preferences:
    """Where the settings of one vault come from."""

    def __init__(self, file: Path | None = None, environment: str | None = None) -> None:
        self._file = file
        self._environment = environment
        self._document: dict[str, Any] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._resolved: dict[str, Settings] = {}

    @property
    def where(self) -> str:
        return "the vault in RAM" if self._file is None else str(self._file)

    def settings(self, space: str, call: Mapping[str, Json] | None = None) -> Settings:
        """What holds for a space, and for one call that says more."""
        self._refresh()
        if not call:
            known = self._resolved.get(space)
            if known is None:
                known = self._resolved[space] = resolve(TABLE, self._layers(space))
            return known
        values = {name: checked(name, value, BY_NAME, CALL) for name, value in call.items()}
        return resolve(TABLE, [*self._layers(space), Layer(source=CALL, values=values)])

    def change(
        self, values: Mapping[str, Json | None], *, preset: str | None = None, space: str | None
    ) -> None:
        """Set preferences for the vault, or for one space of it; None takes a setting back."""
        for name, value in values.items():
            if value is not None or name not in BY_NAME:
                checked(name, value, BY_NAME, CALL)
        if preset is not None:
            check_preset(preset, CALL)
        with self._turn():
            self._refresh()
            document = json.loads(json.dumps(self._document))
            spaces = document.setdefault(LABEL_SPACES, {})
            part = document if space is None else spaces.setdefault(space, {})
            if preset is not None:
                part[LABEL_PRESET] = preset
            for name, value in values.items():
                _set(part, name, value)
            if space is not None and not part:
                del spaces[space]
            if not spaces:
                del document[LABEL_SPACES]
            self._write(document)

    def _layers(self, space: str) -> list[Layer]:
        found = [layer_from(self._document, TABLE, self.where, more=(LABEL_SPACES,))]
        spaces = self._document.get(LABEL_SPACES, {})
        for name, part in spaces.items() if isinstance(spaces, dict) else ():
            layer = layer_from(part, TABLE, f"{self.where}: spaces.{name}")
            if name == space:
                found.append(layer)
        if not isinstance(spaces, dict):
            raise InvalidInput(
                "preference_invalid",
                f"{self.where}: {LABEL_SPACES}: this is no object",
                hint='write {"spaces": {"NAME": {"recall": {"limit": 8}}}}',
            )
        if self._environment:
            found.append(layer_from(_parsed(self._environment, VARIABLE), TABLE, VARIABLE))
        return found

    def _refresh(self) -> None:
        """Read the file again if it is another one than the one that was read."""
        if self._file is None:
            return
        try:
            found = self._file.stat()
        except FileNotFoundError:
            stamp = None
        except OSError as exc:
            raise _unreadable(self._file, exc) from exc
        else:
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp == self._stamp:
            return
        document = {} if stamp is None else _read(self._file)
        self._document, self._stamp, self._resolved = document, stamp, {}

    def _write(self, document: dict[str, Any]) -> None:
        if self._file is None:
            self._document, self._resolved = document, {}
            return
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            with new.open("w", encoding="utf-8") as out:
                out.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
                out.flush()
                os.fsync(out.fileno())
            new.replace(self._file)
            _sync_folder(self._file.parent)
        except OSError as exc:
            raise _unreadable(self._file, exc) from exc
        self._stamp = None
        self._refresh()

    @contextmanager
    def _turn(self) -> Generator[None]:
        if self._file is None:
            yield
            return
        import fcntl

        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._file.parent, os.O_RDONLY)
        except OSError as exc:
            raise _unreadable(self._file, exc) from exc
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _set(part: dict[str, Any], name: str, value: Json | None) -> None:
    group, _, word = name.partition(".")
    members = part.setdefault(group, {})
    if value is None:
        members.pop(word, None)
    else:
        members[word] = value
    if not members:
        del part[group]


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as source:
            data = source.read(FILE_BYTES_MAX + 1)
    except OSError as exc:
        raise _unreadable(file, exc) from exc
    if len(data) > FILE_BYTES_MAX:
        raise InvalidInput(
            "preference_invalid",
            f"{file} is larger than {FILE_BYTES_MAX:,} bytes",
            hint="shorten it, or remove it to have the defaults",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            "preference_invalid", f"{file} is not UTF-8", hint="save it as UTF-8"
        ) from None
    return _parsed(text, str(file))


def _parsed(text: str, where: str) -> dict[str, Any]:
    check_str(text, where)
    try:
        found = json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, where))
    except json.JSONDecodeError as exc:
        raise InvalidInput(
            "preference_invalid",
            f"{where}: line {exc.lineno}, column {exc.colno}: {exc.msg.lower()}",
            hint="check commas, quotes and braces",
        ) from None
    except RecursionError:
        raise InvalidInput(
            "preference_invalid", f"{where}: it nests too deeply", hint="keep it flat"
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput(
            "preference_invalid",
            f"{where}: this is no object",
            hint='write {"recall": {"limit": 8}}',
        )
    return found


def _once(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name, _ in pairs if [each for each, _ in pairs].count(name) > 1)
        raise InvalidInput(
            "preference_invalid", f"{where}: {twice[:40]!r} stands twice", hint="keep one"
        )
    return found


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _unreadable(file: Path, exc: OSError) -> StorageFailed:
    return StorageFailed(
        "preferences_unreadable",
        f"{file}: {exc.strerror or type(exc).__name__}",
        hint="check its permissions and the room on the disk",
    )
