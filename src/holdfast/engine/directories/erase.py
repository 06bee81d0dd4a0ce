"""Erasing a versioned directory: its name, its versions, and every content that only it has."""

from __future__ import annotations

from holdfast.core.trees.tree import EMPTY, walk
from holdfast.engine import erasing
from holdfast.engine.directories.collect import held_by_others, marked
from holdfast.engine.directories.objects import Objects
from holdfast.engine.work import mutate
from holdfast.errors import NotFound
from holdfast.model.erasure import Reach
from holdfast.model.names import shown
from holdfast.model.tree import FOLDER, check_directory_name
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.core.trees.reach import Reach as Reached
    from holdfast.engine.directories.desk import Desk
    from holdfast.engine.work import Work
    from holdfast.model.directory import Directory, Version
    from holdfast.model.erasure import Erasure
    from holdfast.model.write import Write
    from holdfast.ports import Snapshot

WORDS_MAX = 64
WORD_BYTES_MIN, WORD_BYTES_MAX = 12, 400
NAME_BYTES_MIN = 8  # shorter ones are words of many things
FILES_LOOKED_AT_MAX = 1_000


class _Doomed(Value):
    """What is to go, as it is before; `words` are pieces of it that would be known again."""

    reach: Reach
    words: AbstractSet[bytes]


def reach(desk: Desk, name: str) -> Reach:
    """What erasing would take. Nothing is changed."""
    return _doomed(desk, name).reach


def erase(desk: Desk, name: str, write: Write) -> Erasure:
    """Take away every directory that ever bore the name here, and all that only they had."""
    doomed = _doomed(desk, name)

    def unit(work: Work) -> Erasure:
        found = _ever(work.tx, desk, name)
        kept = [each for each in found if each.state == "kept"]
        work.expect(kept[-1].revision if kept else found[-1].revision, name)
        space = work.tx.space_named(desk.space)
        assert space is not None
        targets = [each.id for each in found]
        targets += [version.id for each in found for version in work.tx.versions(each)]
        erasure = work.erase(
            desk.type,
            space,
            targets,
            {
                "directories": len(found),
                "versions": sum(work.tx.drop_versions(each) for each in found),
                "contexts": work.tx.erase_contexts(name),
            },
        )
        for each in found:
            nothing = each.replace(name="", state="forgotten", head=0)
            work.put_directory(nothing, each, "erase")
        return erasure

    meant = {"space": desk.space, "type": desk.type, "name": name, "level": "erase"}
    pending = mutate(desk.core, desk.caller, write, "directory delete", meant, unit)
    return erasing.finish(desk.core, desk.caller, pending, doomed.words)


def _ever(snapshot: Snapshot, desk: Desk, name: str) -> Sequence[Directory]:
    found = snapshot.directories_ever(desk.space, desk.type, check_directory_name(name))
    if not found:
        raise NotFound(
            "directory_not_found",
            f"there is no {desk.type} {shown(name)} in {desk.space}, and none was forgotten",
            hint=f"`holdfast {desk.type} list --all` shows what is there",
        )
    return found


def _doomed(desk: Desk, name: str) -> _Doomed:
    def look(snapshot: Snapshot) -> tuple[Reach, Sequence[Version], Reached]:
        found = _ever(snapshot, desk, name)
        versions = [version for each in found for version in snapshot.versions(each)]
        others = marked(snapshot, snapshot.trees_but(found), held_by_others(snapshot, 0))
        own = marked(snapshot, [version.tree for version in versions])
        alone = shared = size = 0
        for digest, length in snapshot.objects_with_lengths():
            if digest in own and digest in others:
                shared += 1
            elif digest in own:
                alone, size = alone + 1, size + length
        targets = [each.id for each in (*found, *versions)]
        counted = Reach(
            what=desk.type,
            versions=len(versions),
            changes=snapshot.bodies_of(targets),
            objects=alone,
            bytes=size,
            shared=shared,
            copies=desk.core.storage.copies(),
        )
        return counted, versions, others

    counted, versions, others = desk.core.storage.read(look)
    told = {name.encode()} if len(name) >= NAME_BYTES_MIN else set[bytes]()
    return _Doomed(reach=counted, words=told | _words(desk, versions, others))


def _words(desk: Desk, versions: Sequence[Version], others: Reached) -> AbstractSet[bytes]:
    """The longest line of each of some files that only these versions have, and their messages."""
    found = {
        data
        for version in versions
        if WORD_BYTES_MIN <= len(data := version.message.encode()) <= WORD_BYTES_MAX
    }
    objects = Objects(desk.core.storage)
    for looked_at, content in enumerate(_contents(objects, versions, others)):
        if len(found) >= WORDS_MAX or looked_at >= FILES_LOOKED_AT_MAX:
            break
        lines = [line.strip()[:WORD_BYTES_MAX] for line in content.splitlines()]
        word = max(lines, key=len, default=b"")
        if len(word) >= WORD_BYTES_MIN and len(set(word)) > 1:
            found.add(word)
    return frozenset(list(found)[:WORDS_MAX])


def _contents(objects: Objects, versions: Sequence[Version], others: Reached) -> Iterator[bytes]:
    seen: set[str] = set()
    for version in versions:
        if version.tree in seen or version.tree == EMPTY.digest:
            continue
        seen.add(version.tree)
        for _, node in walk(version.root, objects.load):
            if node.kind != FOLDER and node.digest not in others and node.digest not in seen:
                seen.add(node.digest)
                yield next(objects.pieces(node.digest))
