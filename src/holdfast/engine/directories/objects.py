"""Objects of a vault: read and verified, and stored so that a kill leaves none half written.

A content is taken for what its name says only after its bytes were hashed. What a push stores is
cut and compressed outside of transactions; all but the last few megabytes are committed before the
transaction that makes the version, and are nothing until then.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256

from holdfast.core.trees.cut import (
    FILE_CUT,
    FOLDER_CUT,
    KIB,
    RECIPE,
    Part,
    decode_recipe,
    encode_recipe,
)
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.packs import groups, pack_of
from holdfast.core.trees.tree import (
    EMPTY,
    EMPTY_BYTES,
    LEAVES_MAX,
    find,
    open_folder,
    too_many_leaves,
)
from holdfast.engine.directories.beside import beside
from holdfast.errors import Damaged
from holdfast.model.tree import DIGEST_TAG, FILE, FOLDER, PROGRAM, check_depth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any, BinaryIO

    from holdfast.core.trees.cut import Cut
    from holdfast.model.directory import Pack, Version
    from holdfast.model.tree import Node
    from holdfast.ports import Snapshot, Storage

ASKED_AT_ONCE = 4096
HELD_BYTES_MAX = 8 * 1024 * KIB


class Objects:
    """The vault's objects, with those of a scan or a merge before them."""

    def __init__(self, storage: Storage, *nearer: Mapping[str, bytes]) -> None:
        self._storage = storage
        self._nearer = nearer

    def load(self, name: str) -> bytes:
        """A whole content or folder, verified."""
        if name == EMPTY.digest:
            return EMPTY_BYTES
        for known in self._nearer:
            if name in known:
                return known[name]
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """A content piece by piece. Only when the last one was asked for is the whole verified."""
        for known in self._nearer:
            if name in known:
                yield known[name]
                return
        form, size, data = self._storage.read(lambda snapshot: stored(snapshot, name))
        if form != RECIPE:
            yield verified(name, data)
            return
        whole = sha256()
        for part in decode_recipe(data, size):
            piece = self._part(part)
            whole.update(piece)
            yield piece
        if DIGEST_TAG + whole.hexdigest() != name:
            raise damaged(name)

    def many(self, names: Collection[str]) -> dict[str, bytes]:
        """Contents by name, verified, in one look; those that are cut are left out."""
        near = {name: known[name] for known in self._nearer for name in names if name in known}
        wanted = [name for name in names if name not in near]

        def unit(snapshot: Snapshot) -> dict[str, bytes]:
            missing, found = set(wanted), dict[str, bytes]()
            for name, form, _, data in snapshot.objects(wanted):
                missing.discard(name)
                if data is None:
                    raise damaged(name)
                if form != RECIPE:
                    found[name] = data
            for name in missing:
                raise lacking(name)
            return found

        found = self._storage.read(unit) if wanted else {}
        for name, data in found.items():
            verified(name, data)
        return near | found

    def leaves(self, root: Node) -> Iterator[tuple[str, Node]]:
        """Each leaf below a root with its path, level by level: a level's folders are read in one
        look, and each folder once."""
        count = 0
        level = [("", root)]
        while level:
            whole = self.many({node.digest for _, node in level if node.digest != EMPTY.digest})
            below: list[tuple[str, Node]] = []
            for inside, folder in level:
                data = whole.get(folder.digest) or self.load(folder.digest)
                nodes = open_folder(folder, lambda _, data=data: data)
                for name, node in nodes.items():
                    path = inside + name
                    if node.kind == FOLDER and node.digest != EMPTY.digest:
                        check_depth(path)
                        below.append((path + "/", node))
                        continue
                    yield path, node
                count += len(nodes)
                if count > LEAVES_MAX:
                    raise too_many_leaves(LEAVES_MAX)
            level = below

    def _part(self, part: Part) -> bytes:
        form, size, data = self._storage.read(lambda snapshot: stored(snapshot, part.digest))
        if form == RECIPE or size != part.size:
            raise damaged(part.digest)
        return verified(part.digest, data)


def content(snapshot: Snapshot, name: str) -> bytes:
    """A whole content, verified."""
    return b"".join(pieces_of(snapshot, name))


def beginning(snapshot: Snapshot, version: Version, path: str, bytes_max: int) -> bytes | None:
    """The first bytes of a file of a version. Of a large one only its first parts are read."""
    node = find(version.root, path, partial(content, snapshot))
    if node is None or node.kind not in (FILE, PROGRAM):
        return None
    return stretch(snapshot, node.digest, 0, bytes_max)


def pieces_of(snapshot: Snapshot, name: str) -> Iterator[bytes]:
    """A content piece by piece, each one verified, in one look at the vault."""
    form, size, data = stored(snapshot, name)
    if form != RECIPE:
        yield verified(name, data)
        return
    for part in decode_recipe(data, size):
        yield verified(part.digest, stored(snapshot, part.digest)[2])


def stretch(snapshot: Snapshot, name: str, start: int, stop: int) -> bytes:
    """The bytes of a content between two places. Of a large one only those parts are read."""
    form, size, data = stored(snapshot, name)
    if form != RECIPE:
        return verified(name, data)[start:stop]
    at, found = 0, list[bytes]()
    for part in decode_recipe(data, size):
        if at < stop and at + part.size > start:
            piece = verified(part.digest, stored(snapshot, part.digest)[2])
            found.append(piece[max(start - at, 0) : stop - at])
        at += part.size
    return b"".join(found)


def stored(snapshot: Snapshot, name: str) -> tuple[str, int, bytes]:
    for _, form, size, data in snapshot.objects([name]):
        if data is None:
            raise damaged(name)
        return form, size, data
    raise lacking(name)


def lacking(name: str) -> Damaged:
    return Damaged(
        "object_missing",
        f"object {name} is missing from the vault",
        hint="`holdfast verify` says what it belongs to; push a folder that has it",
    )


def verified(name: str, content: bytes) -> bytes:
    if digest_of(content) != name:
        raise damaged(name)
    return content


def damaged(name: str) -> Damaged:
    return Damaged(
        "object_damaged",
        f"object {name} is not what was written",
        hint="`holdfast verify` says what it belongs to; push a folder that has it, or restore a "
        "backup",
    )


class Content:
    """Something to store: bytes that are at hand, or a file that is opened when its turn comes."""

    def __init__(
        self, name: str, size: int, opened: Callable[[], BinaryIO | bytes], cut: Cut
    ) -> None:
        self.name, self.size, self.opened, self.cut = name, size, opened, cut


def folder_content(name: str, data: bytes) -> Content:
    return Content(name, len(data), lambda: data, FOLDER_CUT)


def file_content(name: str, size: int, opened: Callable[[], BinaryIO | bytes]) -> Content:
    return Content(name, size, opened, FILE_CUT)


class Storing:
    """Puts contents into the vault. `rest` is what the version's own transaction has to store."""

    def __init__(
        self,
        storage: Storage,
        at_us: int,
        changed: Callable[[str], Exception],
        cut: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._storage, self._at_us, self._changed = storage, at_us, changed
        self._cut = cut  # hears of so many more bytes of a large content
        self._seen: set[str] = set()
        self.rest: list[Pack] = []
        self._bytes = 0
        self.stored_bytes = 0

    def add(self, contents: Iterable[Content]) -> None:
        """Store those that the vault has not, or has damaged."""
        packed = self._storage.packed
        for pack in beside(groups(self._missing(contents)), lambda some: pack_of(some, packed)):
            self._keep(pack)

    def _missing(self, contents: Iterable[Content]) -> Iterator[tuple[str, bool, int, bytes]]:
        batch: dict[str, Content] = {}
        for content in contents:
            if content.name not in self._seen:
                batch[content.name] = content
            if len(batch) >= ASKED_AT_ONCE:
                yield from self._unknown(batch)
                batch = {}
        yield from self._unknown(batch)

    def _unknown(self, batch: dict[str, Content]) -> Iterator[tuple[str, bool, int, bytes]]:
        known = self._storage.read(lambda snapshot: _sound(snapshot, batch))
        self._seen.update(batch)
        for name, content in batch.items():
            if name not in known:
                yield from self._objects_of(content)

    def _objects_of(self, content: Content) -> Iterator[tuple[str, bool, int, bytes]]:
        """A content as it is stored: whole, or as parts and their recipe."""
        source = content.opened()
        if content.size > content.cut.whole_max:
            yield from self._parts(content, source)
            return
        if not isinstance(source, bytes):
            with source:
                source = source.read(content.size + 1)
            if digest_of(source) != content.name:
                raise self._changed(content.name)
        yield content.name, False, len(source), source

    def _parts(
        self, content: Content, source: BinaryIO | bytes
    ) -> Iterator[tuple[str, bool, int, bytes]]:
        parts: list[Part] = []
        whole = sha256()

        def named(piece: bytes) -> tuple[str, bytes]:
            whole.update(piece)
            return digest_of(piece), piece

        for name, piece in beside(_cut(source, content.cut), named):
            parts.append(Part(digest=name, size=len(piece)))
            self._cut(len(piece))
            if name not in self._seen:
                self._seen.add(name)
                if not self._storage.read(partial(_holds, name=name, content=piece)):
                    yield name, False, len(piece), piece
        if DIGEST_TAG + whole.hexdigest() != content.name:
            raise self._changed(content.name)
        yield content.name, True, content.size, encode_recipe(parts)

    def _keep(self, pack: Pack) -> None:
        """Hold it for the version's transaction, or let what is held go before it."""
        size = len(pack.data)
        if self.rest and self._bytes + size > HELD_BYTES_MAX:
            ready, self.rest, self._bytes = self.rest, [], 0
            self._storage.write(lambda tx: tx.put_packs(ready, self._at_us))
        self.rest.append(pack)
        self._bytes += size
        self.stored_bytes += size


def _holds(snapshot: Snapshot, name: str, content: bytes) -> bool:
    """Whether an object is there and is what it should be."""
    return any(form != RECIPE and data == content for _, form, _, data in snapshot.objects([name]))


def _sound(snapshot: Snapshot, names: Collection[str]) -> set[str]:
    """The names whose objects are there and are what they were: a version may rest on these."""
    sound: set[str] = set()
    recipes: dict[str, tuple[int, bytes]] = {}
    known = snapshot.known_objects(names)
    for name, form, size, data in snapshot.objects(known) if known else ():
        if data is not None and form == RECIPE:
            recipes[name] = size, data
        elif data is not None and digest_of(data) == name:
            sound.add(name)
    for name, (size, data) in recipes.items():
        whole = sha256()
        try:
            for part in decode_recipe(data, size):
                whole.update(stored(snapshot, part.digest)[2])
        except Damaged:
            continue
        if DIGEST_TAG + whole.hexdigest() == name:
            sound.add(name)
    return sound


def _cut(source: Any, sizes: Cut) -> Iterator[bytes]:
    from pyfastcdc import FastCDC

    cutter = FastCDC(avg_size=sizes.part_average, min_size=sizes.part_min, max_size=sizes.part_max)
    if isinstance(source, bytes):
        for chunk in cutter.cut_buf(source):
            yield bytes(chunk.data)
        return
    with source:
        for chunk in cutter.cut_stream(source):
            yield bytes(chunk.data)
