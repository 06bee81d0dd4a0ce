"""Stored contents in SQLite. They are rows like all others, so that a version and what it rests on
are committed, encrypted and backed up together. Contents lie in packs: whoever asks for many is
given them pack by pack, each of which is undone once."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.trees.cut import RAW, RECIPE, decode_recipe
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.folder import decode_folder
from holdfast.core.trees.tree import EMPTY
from holdfast.errors import HoldfastError
from holdfast.model.problem import Problem
from holdfast.model.tree import DIGEST_TAG, FOLDER
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    import apsw

    from holdfast.model.directory import Pack
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("objects.sql"))
TAG = b"\x12\x20"
TAG_HEX = TAG.hex()
STRETCH = 64
RESTORE = "push a folder that has the same content, or restore a backup"
_TAG_LENGTH = len(DIGEST_TAG)


def to_blob(name: str) -> bytes:
    return TAG + bytes.fromhex(name[_TAG_LENGTH:])


def from_blob(blob: bytes) -> str:
    return DIGEST_TAG + blob.hex()[len(TAG_HEX) :]


def _listed(names: Iterable[str]) -> str:
    return json.dumps([TAG_HEX + name[_TAG_LENGTH:] for name in names])


class ObjectReads:
    """What `ports.trees.TreeReads` says of objects, on a connection."""

    _conn: apsw.Connection
    _last_pack: tuple[int, bytes | None] = (0, None)  # the pack that was undone last

    def _objects(self, name: str, bindings: Any = ()) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def objects(self, names: Collection[str]) -> Iterator[tuple[str, str, int, bytes | None]]:
        for blob, is_recipe, size, pack, at, length in self._objects("objects", (_listed(names),)):
            content = self._unpacked(pack)
            data = None if content is None else content[at : at + length]
            if data is not None and len(data) != length:
                data = None
            yield from_blob(blob), RECIPE if is_recipe else RAW, size, data

    def _unpacked(self, number: int) -> bytes | None:
        """The bytes of a pack; None where it is missing or damaged."""
        from holdfast.storage.objects import unpack

        if self._last_pack[0] != number:
            row = next(self._objects("pack", (number,)), None)
            self._last_pack = number, None if row is None else unpack(*row)
        return self._last_pack[1]

    def known_objects(self, names: Collection[str]) -> set[str]:
        return {from_blob(row[0]) for row in self._objects("knows_objects", (_listed(names),))}

    def recipes(self) -> Iterator[str]:
        return (from_blob(row[0]) for row in self._objects("recipes"))

    def objects_before(self, stored_us: int) -> Iterator[str]:
        return (from_blob(row[0]) for row in self._objects("objects_before", (stored_us,)))

    def objects_with_lengths(self) -> Iterator[tuple[str, int]]:
        return ((from_blob(row[0]), row[1]) for row in self._objects("objects_with_lengths"))

    def collections(self) -> int:
        return next(self._objects("collections"))[0]


class ObjectWrites(ObjectReads):
    """What `ports.trees.TreeWrites` says of objects, on a connection in a transaction."""

    def put_packs(self, packs: Iterable[Pack], at_us: int) -> None:
        rows: list[Row] = []
        for pack in packs:
            number = next(self._objects("put_pack", (pack.form, pack.size, pack.data)))[0]
            rows += [
                (to_blob(name), int(is_recipe), size, number, at, length, at_us)
                for name, is_recipe, size, at, length in pack.items
            ]
        rows.sort()  # the order of the table
        self._conn.executemany(STATEMENTS["put_object"], rows)

    def drop_objects(self, names: Iterable[str], stored_us: int) -> int:
        self._conn.execute(STATEMENTS["collected"])
        return sum(
            1 for name in names for _ in self._objects("drop_object", (to_blob(name), stored_us))
        )

    def shrink_packs(self, after: int, limit: int) -> tuple[int, int]:
        freed = last = 0
        for last, used in list(self._objects("loose_packs", (after, limit))):
            freed += self._dropped(last) if used is None else self._shrunk(last)
        self._last_pack = 0, None
        return last, freed

    def _dropped(self, number: int) -> int:
        size = len(next(self._objects("pack", (number,)))[2])
        self._conn.execute(STATEMENTS["drop_pack"], (number,))
        return size

    def _shrunk(self, number: int) -> int:
        """Write a pack again without what nobody refers to. A damaged one stays for `verify`."""
        from holdfast.storage.objects import pack

        content = self._unpacked(number)
        if content is None:
            return 0
        start, kept = 0, list[bytes]()
        for name, at, length in list(self._objects("packed_in", (number,))):
            kept.append(content[at : at + length])
            self._conn.execute(STATEMENTS["move_object"], (start, name))
            start += len(kept[-1])
        before = len(next(self._objects("pack", (number,)))[2])
        form, data = pack(b"".join(kept))
        self._conn.execute(STATEMENTS["put_pack_again"], (form, start, data, number))
        return before - len(data)


# What `verify` looks at


def object_problems(rows: Callable[..., list[Row]], unreadable: Any) -> Iterator[Problem]:
    """Objects that are not what their names say, and those that a version, an entry or an artifact
    lacks."""
    return _Checking(rows, unreadable).problems()


class _Checking:
    def __init__(self, rows: Callable[..., list[Row]], unreadable: Any) -> None:
        self.rows, self.unreadable = rows, unreadable
        self.recipes: dict[str, list[str]] = {}
        self.places: dict[str, tuple[int, int, int]] = {}  # of those that are sound
        self.bad: set[str] = set()
        self.last: tuple[int, bytes | None] = (0, None)

    def problems(self) -> Iterator[Problem]:
        try:
            newest = self.rows(STATEMENTS["newest_pack"])[0][0]
        except self.unreadable as exc:
            yield _problem("the table object", f"it cannot be read: {exc}")
            return
        for low in range(0, newest, STRETCH):
            try:
                found = self.rows(STATEMENTS["objects_between"], (low, low + STRETCH))
            except self.unreadable as exc:
                what = f"objects in packs {low + 1} to {low + STRETCH}"
                yield _problem(what, f"unreadable: {exc}")
                continue
            for blob, is_recipe, size, pack, at, length in found:
                name = from_blob(blob)
                if self._is_sound(name, is_recipe, size, (pack, at, length)):
                    self.places[name] = pack, at, length
                else:
                    self.bad.add(name)
                    yield _problem(f"object {name}", "it is not what was written")
        yield from self._lacking()

    def _is_sound(self, name: str, is_recipe: int, size: int, place: tuple[int, int, int]) -> bool:
        data = self._bytes(place)
        if data is None:
            return False
        if is_recipe:
            try:
                self.recipes[name] = [part.digest for part in decode_recipe(data, size)]
            except HoldfastError:
                return False
            return True
        return len(data) == size and digest_of(data) == name

    def _bytes(self, place: tuple[int, int, int]) -> bytes | None:
        from holdfast.storage.objects import unpack

        number, at, length = place
        if self.last[0] != number:
            self.last = number, None
            try:
                for row in self.rows(STATEMENTS["pack"], (number,)):
                    self.last = number, unpack(*row)
            except self.unreadable:
                return None
        content = self.last[1]
        data = None if content is None else content[at : at + length]
        return data if data is not None and len(data) == length else None

    def _lacking(self) -> Iterator[Problem]:
        """Every tree of a kept version must be whole, and so must every artifact's content. What is
        damaged was named already."""
        from holdfast.storage.sqlite.contents import STATEMENTS as CONTENTS
        from holdfast.storage.sqlite.directories import STATEMENTS as TREES
        from holdfast.storage.sqlite.holdings import HOLDINGS

        try:
            roots = [(tree, True, owner) for tree, owner in self.rows(TREES["version_trees"])]
            held = self.rows(HOLDINGS["held_by"])
            kept = self.rows(CONTENTS["artifact_contents"])
        except self.unreadable:
            return
        roots += [(from_blob(name), False, owner) for name, owner in held]
        roots += [(name, False, owner) for name, owner in kept]
        seen: set[tuple[str, bool]] = set()
        for root, is_tree, owner in roots:
            waiting = [(root, is_tree)]
            while waiting:
                name, is_folder = waiting.pop()
                if (name, is_folder) in seen or name == EMPTY.digest:
                    continue
                seen.add((name, is_folder))
                if name not in self.places:
                    if name not in self.bad:
                        yield _problem(f"object {name}", f"it is missing; {owner} needs it")
                    continue
                parts = self.recipes.get(name, [])
                waiting += [(part, False) for part in parts]
                if is_folder and all(part in self.places for part in parts):
                    try:
                        nodes = decode_folder(self._content(name)).values()
                    except HoldfastError:
                        yield _problem(f"object {name}", f"it is no folder; {owner} needs one")
                        continue
                    waiting += [(node.digest, node.kind == FOLDER) for node in nodes]

    def _content(self, name: str) -> bytes:
        if name in self.recipes:
            return b"".join([self._content(part) for part in self.recipes[name]])
        return self._bytes(self.places[name]) or b""


def _problem(what: str, message: str) -> Problem:
    return Problem(code="object_damaged", what=what, message=message, cure=RESTORE)
