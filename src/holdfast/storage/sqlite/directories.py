"""Versioned directories in SQLite. Objects are rows like all others, so that a version and what it
rests on are committed, encrypted and backed up together."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.core.trees.cut import RECIPE, decode_recipe
from holdfast.core.trees.folder import decode_folder
from holdfast.core.trees.tree import EMPTY
from holdfast.errors import HoldfastError
from holdfast.model.directory import Directory, Version
from holdfast.model.problem import Problem
from holdfast.model.times import from_us, to_us
from holdfast.model.tree import DIGEST_TAG, FOLDER
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.directory import StoredObject
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("directories.sql"))
TAG = b"\x12\x20"
STRETCH = 256
RESTORE = "push a folder that has the same content, or `holdfast backup restore`"


def to_blob(name: str) -> bytes:
    return TAG + bytes.fromhex(name[len(DIGEST_TAG) :])


def from_blob(blob: bytes) -> str:
    return DIGEST_TAG + blob[len(TAG) :].hex()


class TreeReads:
    """`ports.trees.TreeReads` on a connection."""

    _conn: apsw.Connection

    def _trees(self, name: str, bindings: Any = ()) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def directory_named(self, space: str, kind: str, name: str) -> Directory | None:
        row = next(self._trees("directory_named", (space, kind, name)), None)
        return None if row is None else _directory_from(row)

    def directories(self, space: str, kind: str) -> Sequence[Directory]:
        return [_directory_from(row) for row in self._trees("directories", (space, kind))]

    def versions(self, directory: Directory) -> Sequence[Version]:
        return [_version_from(row) for row in self._trees("versions", (directory.number,))]

    def newest_version(self, directory: Directory) -> int:
        return next(self._trees("newest_version", (directory.number,)))[0]

    def version(self, directory: Directory, v: int) -> Version | None:
        row = next(self._trees("version", (directory.number, v)), None)
        return None if row is None else _version_from(row)

    def object(self, name: str) -> tuple[str, int, bytes] | None:
        row = next(self._trees("object", (to_blob(name),)), None)
        if row is None:
            return None
        from holdfast.storage.objects import unpack

        form, size, data = row
        return form, size, unpack(name, form, size, data)

    def known_objects(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if any(self._trees("knows_object", (to_blob(name),)))}

    def recipes(self) -> Iterator[str]:
        return (from_blob(row[0]) for row in self._trees("recipes"))

    def objects_before(self, stored_us: int) -> Iterator[str]:
        return (from_blob(row[0]) for row in self._trees("objects_before", (stored_us,)))

    def kept_trees(self, after: int) -> Iterator[str]:
        return (row[0] for row in self._trees("kept_trees", (after,)))

    def collections(self) -> int:
        return next(self._trees("collections"))[0]


class TreeWrites(TreeReads):
    """`ports.trees.TreeWrites` on a connection that is in a transaction."""

    def put_directory(self, directory: Directory) -> None:
        self._conn.execute(STATEMENTS["put_directory"], _directory_row(directory))

    def put_version(self, version: Version) -> None:
        self._conn.execute(STATEMENTS["put_version"], _version_row(version))

    def put_objects(self, objects: Iterable[StoredObject], at_us: int) -> None:
        rows = ((to_blob(o.name), o.form, o.size, at_us, o.data) for o in objects)
        self._conn.executemany(STATEMENTS["put_object"], rows)

    def drop_objects(self, names: Iterable[str], stored_us: int) -> tuple[int, int]:
        self._conn.execute(STATEMENTS["collected"])
        gone = [
            row[0]
            for name in names
            for row in self._trees("drop_object", (to_blob(name), stored_us))
        ]
        return len(gone), sum(gone)


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


# What `verify` looks at


def object_problems(rows: Callable[..., list[Row]], unreadable: Any) -> Iterator[Problem]:
    """Objects that are not what their names say, and those that a version lacks."""
    recipes: dict[str, list[str]] = {}
    sound: set[str] = set()
    try:
        newest = rows(STATEMENTS["newest_object"])[0][0]
    except unreadable as exc:
        yield _problem("the table object", f"it cannot be read: {exc}")
        return
    for low in range(0, newest, STRETCH):
        try:
            found = rows(STATEMENTS["objects_between"], (low, low + STRETCH))
        except unreadable as exc:
            yield _problem(f"objects numbered {low + 1} to {low + STRETCH}", f"unreadable: {exc}")
            continue
        for blob, form, size, data in found:
            name = from_blob(blob)
            if _is_sound(name, form, size, data, recipes):
                sound.add(name)
            else:
                yield _problem(f"object {name}", "it is not what was written")
    yield from _lacking(rows, unreadable, sound, recipes)


def _is_sound(name: str, form: str, size: int, data: bytes, recipes: dict[str, list[str]]) -> bool:
    from holdfast.storage.objects import unpack

    try:
        content = unpack(name, form, size, data)
        if form == RECIPE:
            recipes[name] = [part.digest for part in decode_recipe(content, size)]
            return True
    except HoldfastError:
        return False
    return DIGEST_TAG + sha256(content).hexdigest() == name


def _lacking(
    rows: Callable[..., list[Row]],
    unreadable: Any,
    sound: set[str],
    recipes: dict[str, list[str]],
) -> Iterator[Problem]:
    """Every tree of a kept version must be whole. What is damaged was named already."""
    try:
        trees = rows(STATEMENTS["version_trees"])
    except unreadable:
        return
    seen: set[tuple[str, bool]] = set()
    for tree, owner in trees:
        waiting = [(tree, True)]
        while waiting:
            name, is_folder = waiting.pop()
            if (name, is_folder) in seen or name == EMPTY.digest:
                continue
            seen.add((name, is_folder))
            if name not in sound:
                if not rows(STATEMENTS["knows_object"], (to_blob(name),)):
                    yield _problem(f"object {name}", f"it is missing; {owner} needs it")
                continue
            waiting += [(part, False) for part in recipes.get(name, [])]
            if is_folder and sound.issuperset(recipes.get(name, ())):
                nodes = decode_folder(_content(rows, name, recipes)).values()
                waiting += [(node.digest, node.kind == FOLDER) for node in nodes]


def _content(rows: Callable[..., list[Row]], name: str, recipes: dict[str, list[str]]) -> bytes:
    if name in recipes:
        return b"".join([_content(rows, part, recipes) for part in recipes[name]])
    from holdfast.storage.objects import unpack

    form, size, data = rows(STATEMENTS["object"], (to_blob(name),))[0]
    return unpack(name, form, size, data)


def _problem(what: str, message: str) -> Problem:
    return Problem(code="object_damaged", what=what, message=message, cure=RESTORE)
