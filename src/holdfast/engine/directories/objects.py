"""Objects of a vault: read and verified, and stored so that a kill leaves none half written.

A content is taken for what its name says only after its bytes were hashed. What a push stores is
cut and compressed outside of transactions; all but the last few megabytes are committed before the
transaction that makes the version, and are nothing until then.
"""

from __future__ import annotations

from hashlib import sha256

from holdfast.core.trees.cut import (
    FILE_CUT,
    FOLDER_CUT,
    PACK_BYTES_MAX,
    PACK_OBJECTS_MAX,
    RECIPE,
    Part,
    decode_recipe,
    encode_recipe,
)
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.tree import EMPTY, EMPTY_BYTES, find
from holdfast.errors import Damaged
from holdfast.model.directory import StoredObject
from holdfast.model.tree import DIGEST_TAG, FILE, PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any, BinaryIO

    from holdfast.core.trees.cut import Cut
    from holdfast.model.directory import Version
    from holdfast.ports import Snapshot, Storage


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
        near = {name: known[name] for name in names for known in self._nearer if name in known}

        def unit(snapshot: Snapshot) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for name in names:
                if name in near:
                    continue
                form, _, data = stored(snapshot, name)
                if form != RECIPE:
                    found[name] = data
            return found

        found = self._storage.read(unit)
        for name, data in found.items():
            verified(name, data)
        return near | found

    def _part(self, part: Part) -> bytes:
        form, size, data = self._storage.read(lambda snapshot: stored(snapshot, part.digest))
        if form == RECIPE or size != part.size:
            raise damaged(part.digest)
        return verified(part.digest, data)


def beginning(snapshot: Snapshot, version: Version, path: str, bytes_max: int) -> bytes | None:
    """The first bytes of a file of a version. Of a large one only its first parts are read."""

    def load(name: str) -> bytes:
        return b"".join(_pieces(snapshot, name))

    node = find(version.root, path, load)
    if node is None or node.kind not in (FILE, PROGRAM):
        return None
    data = b""
    for piece in _pieces(snapshot, node.digest):
        data += piece
        if len(data) >= bytes_max:
            break
    return data[:bytes_max]


def _pieces(snapshot: Snapshot, name: str) -> Iterator[bytes]:
    """A content piece by piece, each one verified, in one look at the vault."""
    form, size, data = stored(snapshot, name)
    if form != RECIPE:
        yield verified(name, data)
        return
    for part in decode_recipe(data, size):
        yield verified(part.digest, stored(snapshot, part.digest)[2])


def stored(snapshot: Snapshot, name: str) -> tuple[str, int, bytes]:
    found = snapshot.object(name)
    if found is None:
        raise Damaged(
            "object_missing",
            f"object {name} is missing from the vault",
            hint="`holdfast verify` says what it belongs to; push a folder that has it",
        )
    return found


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

    def __init__(self, storage: Storage, at_us: int, changed: Callable[[str], Exception]) -> None:
        self._storage, self._at_us, self._changed = storage, at_us, changed
        self._seen: set[str] = set()
        self.rest: list[StoredObject] = []
        self._bytes = 0
        self.stored_bytes = 0

    def add(self, contents: Iterable[Content]) -> None:
        """Store those that the vault has not, or has damaged."""
        batch: list[Content] = []
        for content in contents:
            batch.append(content)
            if len(batch) >= PACK_OBJECTS_MAX:
                self._add(batch)
                batch = []
        self._add(batch)

    def _add(self, batch: list[Content]) -> None:
        names = [content.name for content in batch]
        known = self._storage.read(lambda snapshot: _sound(snapshot, names))
        for content in batch:
            if content.name not in known and content.name not in self._seen:
                self._store(content)

    def _store(self, content: Content) -> None:
        source = content.opened()
        if isinstance(source, bytes) and content.size <= content.cut.whole_max:
            self._put(content.name, source)
            return
        if not isinstance(source, bytes) and content.size <= content.cut.whole_max:
            with source:
                data = source.read(content.size + 1)
            if digest_of(data) != content.name:
                raise self._changed(content.name)
            self._put(content.name, data)
            return
        self._store_parts(content, source)

    def _store_parts(self, content: Content, source: BinaryIO | bytes) -> None:
        parts: list[Part] = []
        whole = sha256()
        for piece in _cut(source, content.cut):
            whole.update(piece)
            parts.append(Part(digest=digest_of(piece), size=len(piece)))
            if parts[-1].digest not in self._seen:
                name = parts[-1].digest
                if not self._storage.read(lambda snapshot, name=name: _sound(snapshot, [name])):
                    self._put(name, piece)
        if DIGEST_TAG + whole.hexdigest() != content.name:
            raise self._changed(content.name)
        recipe = encode_recipe(parts)
        self._keep(StoredObject(name=content.name, form=RECIPE, size=content.size, data=recipe))

    def _put(self, name: str, data: bytes) -> None:
        form, kept = self._storage.packed(data)
        self._keep(StoredObject(name=name, form=form, size=len(data), data=kept))

    def _keep(self, item: StoredObject) -> None:
        if self.rest and (
            self._bytes + len(item.data) > PACK_BYTES_MAX or len(self.rest) >= 4 * PACK_OBJECTS_MAX
        ):
            ready, self.rest, self._bytes = self.rest, [], 0
            self._storage.write(lambda tx: tx.put_objects(ready, self._at_us))
        self.rest.append(item)
        self._seen.add(item.name)
        self._bytes += len(item.data)
        self.stored_bytes += len(item.data)


def _sound(snapshot: Snapshot, names: Iterable[str]) -> set[str]:
    """The names whose objects are there and are what they were: a version may rest on these."""
    sound: set[str] = set()
    for name in snapshot.known_objects(names):
        try:
            form, size, data = stored(snapshot, name)
            if form == RECIPE:
                whole = sha256()
                for part in decode_recipe(data, size):
                    whole.update(stored(snapshot, part.digest)[2])
                intact = DIGEST_TAG + whole.hexdigest() == name
            else:
                intact = digest_of(data) == name
        except Damaged:
            continue
        if intact:
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
