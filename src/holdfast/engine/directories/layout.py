"""Trees laid out in folders.

A new folder is made beside its place under a name of its own and gets its name when it is complete,
so there is nothing or all of it. A folder in use is changed in two steps: everything that is to
come is staged in `.holdfast/` with a journal of what is to be done, then it is done, one rename at
a time. A command that finds a journal first does what is left of it, so a kill between two renames
leaves the new state to whoever comes next. A file is replaced or removed only if it is what the
scan saw; else it stays, and what was to come lies beside it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from hashlib import file_digest
from unicodedata import normalize

from holdfast.core.merge.trees import beside_names
from holdfast.core.trees.compare import compare
from holdfast.core.trees.cut import FILE_CUT
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.layout import FileSystem, layout_problems
from holdfast.core.trees.statcache import row_of
from holdfast.core.trees.tree import open_folder
from holdfast.engine.directories.folder import JOURNAL, OWN, STAGED, State, failing, replace_file
from holdfast.engine.directories.places import Root
from holdfast.errors import Refused
from holdfast.model.tree import DIGEST_TAG, FILE, FOLDER, LINK, PROGRAM
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from holdfast.core.trees.tree import Load
    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.objects import Objects
    from holdfast.engine.directories.scan import Progress, Scan
    from holdfast.model.tree import Change, Node

    Leaves = Iterable[tuple[str, Node]]
    Op = dict[str, Any]

FETCHED_BYTES, FETCHED_FILES = 8 * 1024 * 1024, 2048
_IN_THE_WAY = (errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR, errno.ENOTDIR)


class Kept(Value):
    """A path that changed while it was to be replaced; `beside` is where the other version lies,
    empty where there is none because it was to be removed."""

    path: str
    beside: str = ""


def lay_out_new(place: Path, tree: Node, objects: Objects, progress: Progress) -> None:
    """Fill a folder that nobody else knows of."""
    check_layout(place, tree, objects.load)
    with failing(place), Root(place) as root:
        for path, node, content in _contents(objects.leaves(tree), objects, progress):
            if node.kind == FOLDER:
                root.folder(path, make=True)
            elif node.kind == LINK:
                handle, name = root.split(path, make=True)
                os.symlink(b"".join(content), name.encode(), dir_fd=handle)
            else:
                _write(root.create(path, _mode(node)), content)


def _mode(node: Node) -> int:
    return 0o777 if node.kind == PROGRAM else 0o666


def _write(handle: int, content: Iterable[bytes]) -> None:
    try:
        for piece in content:
            left = memoryview(piece)
            while left:
                left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


def _contents(
    leaves: Leaves, objects: Objects, progress: Progress
) -> Iterator[tuple[str, Node, Iterable[bytes]]]:
    """Each leaf with its content: small ones are fetched together, large ones piece by piece."""
    batch: list[tuple[str, Node]] = []
    files = size = held = 0
    for path, node in leaves:
        if node.kind == FOLDER:
            yield path, node, ()
            continue
        files += 1
        progress("write", files, size)
        if node.size > FILE_CUT.whole_max:
            yield path, node, _told(objects.pieces(node.digest), files, size, progress)
            size += node.size
            continue
        size += node.size
        batch.append((path, node))
        held += node.size
        if held > FETCHED_BYTES or len(batch) >= FETCHED_FILES:
            yield from _fetched(batch, objects)
            batch, held = [], 0
    yield from _fetched(batch, objects)


def _told(pieces: Iterable[bytes], files: int, before: int, progress: Progress) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        before += len(piece)
        progress("write", files, before)


def _fetched(
    batch: Sequence[tuple[str, Node]], objects: Objects
) -> Iterator[tuple[str, Node, Iterable[bytes]]]:
    found = objects.many({node.digest for _, node in batch})
    for path, node in batch:
        content = found.get(node.digest)
        yield path, node, objects.pieces(node.digest) if content is None else (content,)


def check_layout(place: Path, tree: Node, load: Load) -> None:
    """Refuse before anything is written what this file system cannot hold side by side."""
    system = _file_system(place)
    if system == FileSystem():
        return
    stack = [tree]
    while stack:
        nodes = open_folder(stack.pop(), load)
        problems = layout_problems(nodes, system)
        if problems:
            raise Refused(
                "layout_impossible",
                "; ".join(problems[:5]),
                hint="rename one of them where it came from, or use another file system",
            )
        stack += [node for node in nodes.values() if node.kind == FOLDER]


def _file_system(place: Path) -> FileSystem:
    """What the file system of a folder holds apart, found out by trying."""
    probe = f"probe-é-{os.getpid()}"
    here = place / OWN if (place / OWN).is_dir() else place
    with failing(place):
        try:
            (here / probe).write_bytes(b"")
            folds_case = os.path.lexists(here / probe.upper())
            folds_forms = os.path.lexists(here / normalize("NFD", probe))
        finally:
            (here / probe).unlink(missing_ok=True)
    return FileSystem(folds_case=folds_case, folds_forms=folds_forms)


# A folder in use


def stage(
    working: Working,
    found: Scan,
    goal: Node,
    state: State,
    objects: Objects,
    progress: Progress,
) -> None:
    """Put all that is to come into `.holdfast/`, and write down what is to be done."""
    check_layout(working.root, goal, objects.load)
    changes = list(compare(found.root, goal, objects.load))
    ops = [_removal(change, found) for change in changes if _goes(change)]
    staged = working.own / STAGED
    with failing(working.root):
        _discard(working)
        staged.mkdir()
        ops += _staged(
            staged, [c for c in changes if c.after is not None], found, objects, progress
        )
        said = {"ops": ops, "directory": state.directory, "v": state.v}
        replace_file(working.own / JOURNAL, json.dumps(said).encode(), durable=False)


def _goes(change: Change) -> bool:
    """Whether what was there has to go before something else can come."""
    return change.before is not None and (
        change.after is None or FOLDER in (change.before.kind, change.after.kind)
    )


def _removal(change: Change, found: Scan) -> Op:
    assert change.before is not None
    what = "rmdir" if change.before.kind == FOLDER else "rm"
    return {"op": what, "path": change.path, "was": _was(found, change.path)}


def _was(found: Scan, path: str) -> str:
    return found.row(path).hex()


def _staged(
    staged: Path,
    changes: Sequence[Change],
    found: Scan,
    objects: Objects,
    progress: Progress,
) -> Iterator[Op]:
    before = {change.path: change.before for change in changes}
    leaves = [(change.path, change.after) for change in changes if change.after is not None]
    files: list[tuple[str, Node]] = []
    for path, node in leaves:
        old = before[path]
        if node.kind == FOLDER:
            yield {"op": "mkdir", "path": path}
        elif (
            old is not None
            and {old.kind, node.kind} == {FILE, PROGRAM}
            and (old.digest == node.digest)
        ):
            yield {"op": "mode", "path": path, "kind": node.kind, "was": _was(found, path)}
        else:
            files.append((path, node))
    for number, (path, node, content) in enumerate(_contents(files, objects, progress)):
        was = "" if _left(before[path], node) else _was(found, path)
        op = {"op": "put", "path": path, "was": was, "staged": str(number), "digest": node.digest}
        if node.kind == LINK:
            (staged / str(number)).symlink_to(os.fsdecode(b"".join(content)))
        else:
            new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            _write(os.open(staged / str(number), new, _mode(node)), content)
        yield op


def _left(old: Node | None, new: Node) -> bool:
    return old is None or FOLDER in (old.kind, new.kind)


def finish(working: Working, *, staged: bool = False) -> tuple[Kept, ...]:
    """Do what a journal says and nobody has done yet, and let its state hold.

    Unless this process has just `staged` it, what it says to put is looked at first: neither is
    flushed to the disk, so after a power cut there may be a journal and nothing that it speaks of.
    Then the folder stays as it is, which the next pull takes for changes of its own.
    """
    with failing(working.root):
        try:
            said = json.loads((working.own / JOURNAL).read_bytes())
        except (FileNotFoundError, ValueError):
            _discard(working)
            return ()
        kept: tuple[Kept, ...] = ()
        if staged or _is_whole(working.own / STAGED, said["ops"]):
            with Root(working.root) as root:
                kept = _carry_out(root, working.own / STAGED, said["ops"])
            working.keep_state(State(directory=said["directory"], v=said["v"]))
        (working.own / JOURNAL).unlink()
        _discard(working)
    return kept


def _is_whole(staged: Path, ops: Sequence[Op]) -> bool:
    """Whether each file that is still to be put is what the journal says."""
    for op in ops:
        if op["op"] != "put":
            continue
        place = staged / op["staged"]
        if place.is_symlink():
            target = os.readlink(place)  # noqa: PTH115 - a Path would drop a slash at its end
            found = digest_of(os.fsencode(target))
        elif place.exists():
            with place.open("rb") as source:
                found = DIGEST_TAG + file_digest(source, "sha256").hexdigest()
        else:  # it is in its place already
            continue
        if found != op["digest"]:
            return False
    return True


def _discard(working: Working) -> None:
    try:
        shutil.rmtree(working.own / STAGED)
    except FileNotFoundError:
        return


def _carry_out(root: Root, staged: Path, ops: Sequence[Op]) -> tuple[Kept, ...]:
    kept: list[Kept] = []
    emptied: set[str] = set()
    removals = [op for op in ops if op["op"] in ("rm", "rmdir")]
    for op in removals:
        if op["op"] == "rm" and (left := _remove(root, op)):
            kept.append(left)
        path = op["path"] if op["op"] == "rmdir" else op["path"].rpartition("/")[0]
        while path and path not in emptied:
            emptied.add(path)
            path = path.rpartition("/")[0]
    root.leave()
    for path in sorted(emptied, key=lambda path: -path.count("/")):
        _remove_folder(root, path)
    root.leave()
    for op in ops:
        if op["op"] == "mkdir":
            root.folder(op["path"], make=True)
        elif op["op"] == "mode":
            _set_mode(root, op)
        elif op["op"] == "put" and (left := _put(root, staged, op)):
            kept.append(left)
    return tuple(kept)


def _is_as_was(root: Root, op: Op) -> bool:
    status = root.status(op["path"])
    return (b"" if status is None else row_of(status)).hex() == op["was"]


def _remove(root: Root, op: Op) -> Kept | None:
    if root.status(op["path"]) is None:
        return None
    if not _is_as_was(root, op):
        return Kept(path=op["path"])
    handle, name = root.split(op["path"])
    os.unlink(name, dir_fd=handle)
    return None


def _remove_folder(root: Root, path: str) -> None:
    """If it is empty: what is ignored, or was made meanwhile, keeps its folder."""
    try:
        handle, name = root.split(path)
        os.rmdir(name, dir_fd=handle)
    except FileNotFoundError:
        return
    except OSError as exc:
        if exc.errno not in _IN_THE_WAY:
            raise


def _set_mode(root: Root, op: Op) -> None:
    if not _is_as_was(root, op):
        return
    handle = root.open(op["path"])
    try:
        mode = os.fstat(handle).st_mode & 0o7777
        readers = mode & 0o444
        os.fchmod(handle, mode | readers >> 2 if op["kind"] == PROGRAM else mode & ~0o111)
    finally:
        os.close(handle)


def _put(root: Root, staged: Path, op: Op) -> Kept | None:
    source = staged / op["staged"]
    if not os.path.lexists(source):  # done already
        return None
    handle, name = root.split(op["path"], make=True)
    if _is_as_was(root, op):
        os.replace(source, name, dst_dir_fd=handle)
        return None
    above = op["path"].removesuffix(name)
    for beside in beside_names(name, op["digest"]):
        if root.status(above + beside) is None:
            os.replace(source, beside, dst_dir_fd=handle)
            return Kept(path=op["path"], beside=above + beside)
    raise AssertionError(name)
