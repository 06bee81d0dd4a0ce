"""Versioned directories in SQLite: the directories and their versions."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.model.directory import Directory, Version
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.objects import ObjectReads, ObjectWrites
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("directories.sql"))


class TreeReads(ObjectReads):
    """`ports.trees.TreeReads` on a connection."""

    _conn: apsw.Connection

    def _trees(self, name: str, bindings: Any = ()) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def directory_named(self, space: str, kind: str, name: str) -> Directory | None:
        row = next(self._trees("directory_named", (space, kind, name)), None)
        return None if row is None else _directory_from(row)

    def knows_directory(self, directory: str) -> bool:
        return any(self._trees("knows_directory", (directory,)))

    def directories_ever(self, space: str, kind: str, name: str) -> Sequence[Directory]:
        found = self._trees("directories_ever", (space, kind, name))
        return [_directory_from(row) for row in found]

    def trees_but(self, directories: Sequence[Directory]) -> Iterator[str]:
        numbers = json.dumps([each.number for each in directories])
        return (row[0] for row in self._trees("trees_but", (numbers,)))

    def directories(self, space: str, kind: str) -> Sequence[Directory]:
        return [_directory_from(row) for row in self._trees("directories", (space, kind))]

    def versions(self, directory: Directory) -> Sequence[Version]:
        return [_version_from(row) for row in self._trees("versions", (directory.number,))]

    def newest_version(self, directory: Directory) -> int:
        return next(self._trees("newest_version", (directory.number,)))[0]

    def version(self, directory: Directory, v: int) -> Version | None:
        row = next(self._trees("version", (directory.number, v)), None)
        return None if row is None else _version_from(row)

    def kept_trees(self, after: int) -> Iterator[str]:
        return (row[0] for row in self._trees("kept_trees", (after,)))


class TreeWrites(ObjectWrites, TreeReads):
    """`ports.trees.TreeWrites` on a connection that is in a transaction."""

    def put_directory(self, directory: Directory) -> None:
        self._conn.execute(STATEMENTS["put_directory"], _directory_row(directory))

    def drop_versions(self, directory: Directory) -> int:
        return sum(1 for _ in self._trees("drop_versions", (directory.number,)))

    def put_version(self, version: Version) -> None:
        self._conn.execute(STATEMENTS["put_version"], _version_row(version))


def _directory_row(directory: Directory) -> Row:
    columns = (
        *(directory.number, directory.id, directory.space_number, directory.name, directory.type),
        *(directory.state, int(directory.hidden), directory.head, to_us(directory.created)),
        directory.revision,
    )
    return sealed("directory", columns)


def _directory_from(row: Row) -> Directory:
    number, directory_id, space, name, kind, state, hidden, head, created_us, revision = row[:10]
    return Directory(
        id=directory_id,
        number=number,
        space_number=space,
        space_name=row[10],
        name=name,
        type=kind,
        state=state,
        hidden=bool(hidden),
        head=head,
        created=from_us(created_us),
        revision=revision,
    )


def _version_row(version: Version) -> Row:
    columns = (
        *(version.number, version.id, version.directory, version.v, version.tree, version.files),
        *(version.size, canonical_text(list(version.parents)), version.kind, version.author),
        *(version.run, version.session, version.message, to_us(version.at)),
    )
    return sealed("version", columns)


def _version_from(row: Row) -> Version:
    number, version_id, directory, v, tree, files, size, parents, kind = row[:9]
    author, run, session, message, at_us = row[9:]
    return Version(
        id=version_id,
        number=number,
        directory=directory,
        v=v,
        tree=tree,
        files=files,
        size=size,
        parents=tuple(json.loads(parents)),
        kind=kind,
        author=author,
        run=run,
        session=session,
        message=message,
        at=from_us(at_us),
    )
