"""Both files in a folder: written there as clean Markdown, and read back when somebody edited them.

What a file was when it was written stands beside it in `.holdfast/profile.json`: the ids of its
entries with digests of their texts, so that the files themselves carry no marks, and a copy of the
folder takes its past along. A file is replaced whole, and what it was is noted after that: whoever
is stopped in between finds an older note, which makes less of a file look new and none look gone.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from holdfast.core.canonical import digest
from holdfast.core.profile.merging import Was
from holdfast.errors import Conflict, Refused, StorageFailed
from holdfast.model.profile import FILES
from holdfast.model.value import Value
from holdfast.strategies.profile.hand import FILE_BYTES_MAX, was

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from holdfast.model.profile import File, ProfileFile

NOTES = Path(".holdfast") / "profile.json"
FORMAT = 1


class Written(Value):
    """What a file was when it was written: of which store, for whom, and what stood in it."""

    store: str
    user: str
    digest: str
    entries: tuple[Was, ...]


class Folder:
    """Where the files of one profile are kept for one user."""

    def __init__(self, path: Path, store: str, user: str) -> None:
        self.path = path
        self._store, self._user = store, user

    def file(self, file: File) -> Path:
        return self.path / f"{file}.md"

    def data(self, file: File) -> bytes | None:
        """The bytes of the file; None where there is none. What cannot be read is never empty."""
        where = self.file(file)
        try:
            with where.open("rb") as source:
                return source.read(FILE_BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise _failed("read", where, exc) from exc

    def base(self, file: File) -> tuple[Was, ...]:
        """What stood in the file when it was written; nothing where another store wrote it."""
        note = self._note(file)
        return () if note is None else note.entries

    def _note(self, file: File) -> Written | None:
        note = self._notes().get(file)
        if note is not None and note.user != self._user:
            raise Refused(
                "profile_file_of_another",
                f"{self.file(file)} was written for the user {note.user}",
                hint=f"say --user {note.user}, or use another folder",
            )
        return note if note is not None and note.store == self._store else None

    def is_edited(self, file: File, data: bytes) -> bool:
        """Whether the file is not what was written last."""
        note = self._note(file)
        return note is None or note.digest != _digest(data)

    def write(self, made: ProfileFile, seen: bytes | None) -> bool:
        """Put the file there, unless somebody changed it since it was seen."""
        data = made.text.encode()
        if self.data(made.file) != seen:
            raise Conflict(
                "profile_file_moved",
                f"{self.file(made.file)} was changed while it was read",
                hint="what was read is kept; sync again for the rest",
            )
        if data != seen:
            _replace(self.file(made.file), data)
        note = Written(
            store=self._store, user=self._user, digest=_digest(data), entries=was(made.entries)
        )
        notes = self._notes()
        if notes.get(made.file) != note:
            self._put_notes({**notes, made.file: note})
        return data != seen

    def check(self, file: File) -> bytes | None:
        """The bytes that an export replaces, unless they hold edits that nobody has read."""
        data = self.data(file)
        if data is not None and self.is_edited(file, data):
            raise Refused(
                "profile_file_edited",
                f"{self.file(file)} holds edits that were not read in, or is of something else",
                hint="holdfast profile sync takes them in; or choose another folder",
            )
        return data

    def _notes(self) -> dict[File, Written]:
        try:
            known: Any = json.loads((self.path / NOTES).read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as exc:
            raise _failed("read", self.path / NOTES, exc) from exc
        except ValueError:
            return {}  # without it, nothing that the files lack is taken for removed
        return dict(_notes_from(known))

    def _put_notes(self, notes: Mapping[File, Written]) -> None:
        files = {
            name: {
                "store": note.store,
                "user": note.user,
                "digest": note.digest,
                "entries": [[each.id, each.digest] for each in note.entries],
            }
            for name, note in notes.items()
        }
        text = json.dumps({"format": FORMAT, "files": files}, indent=1)
        _replace(self.path / NOTES, f"{text}\n".encode())


def _notes_from(known: Any) -> Iterator[tuple[File, Written]]:
    """What can be made out of the notes; a file whose note is not whole has none."""
    files: Any = known.get("files") if isinstance(known, dict) else ()
    for name in FILES:
        try:
            note = files[name]
            entries = tuple(Was(id=str(one), digest=str(other)) for one, other in note["entries"])
            fields = {key: str(note[key]) for key in ("store", "user", "digest")}
        except (TypeError, KeyError, ValueError):
            continue
        yield name, Written(entries=entries, **fields)


def _digest(data: bytes) -> str:
    return digest("profile/file", data).hex()


def _replace(where: Path, data: bytes) -> None:
    """All of the new bytes, or what was there before; never a part."""
    beside = where.with_name(f".{where.name}.{os.getpid()}.new")
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(where)
    except OSError as exc:
        beside.unlink(missing_ok=True)
        raise _failed("written", where, exc) from exc


def _failed(done: str, where: Path, exc: OSError) -> StorageFailed:
    return StorageFailed(
        "profile_file_failed",
        f"{where} cannot be {done}: {exc.strerror}",
        hint="nothing was taken for removed; see to the file and try again",
    )
