"""From a version to a folder.

A folder in use is merged with the version: what was not pushed stays, and what does not merge lies
beside. With force the folder becomes the version, and what it held is kept as a recovery version.
A new folder is made beside its place, and is there when all of it is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from holdfast.core.trees.tree import EMPTY
from holdfast.engine.directories.desk import Draft, resolved
from holdfast.engine.directories.folder import State, failing, write_config
from holdfast.engine.directories.layout import finish, lay_out_new, stage
from holdfast.engine.directories.local import LocalContents
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.push import base_of, merged_with
from holdfast.engine.directories.scan import remember, scan, silent
from holdfast.engine.directories.store import Changed, store_scan
from holdfast.errors import Refused
from holdfast.model.names import shown
from holdfast.model.value import Value
from holdfast.model.write import hold_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.core.merge.trees import Conflict as MergeConflict
    from holdfast.engine.directories.desk import Desk, Seen
    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.layout import Kept
    from holdfast.engine.directories.scan import Progress, Scan
    from holdfast.model.directory import Version
    from holdfast.model.write import Write

PART = ".holdfast-part-"


class Pulled(Value):
    """`changed` while it was pulled: what stayed because somebody was writing it."""

    outcome: Literal["pulled", "merged", "unchanged", "cloned"]
    name: str
    type: str
    version: Version
    where: str
    conflicts: tuple[MergeConflict, ...] = ()
    changed: tuple[Kept, ...] = ()
    recovery: Version | None = None


class PullOptions(Value):
    version: str = "latest"
    force: bool = False
    progress: Progress = silent


def pull(desk: Desk, working: Working, options: PullOptions, write: Write) -> Pulled:
    """Bring a folder to a version. The caller holds the folder."""
    changed = finish(working)
    return desk.repeat(lambda: _pull(desk, working, options, write, changed))


def _pull(
    desk: Desk,
    working: Working,
    options: PullOptions,
    write: Write,
    changed: tuple[Kept, ...],
) -> Pulled:
    directory, head, seen = desk.find_of(working)
    hold_to(write, directory.revision, directory.name)
    target = head if options.version == "latest" else resolved(options.version, seen)
    found = scan(working, options.progress)
    base = base_of(working, seen, found.root.digest)
    goal, nearer, recovery = target.root, [found.folders], None
    conflicts: tuple[MergeConflict, ...] = ()
    is_ours = found.root.digest not in (target.tree, EMPTY.digest if base is None else base.tree)
    if is_ours and options.force:
        recovery = recovered(
            *(desk, working, found, seen, base, write),
            message="what a folder held before a forced pull",
            progress=options.progress,
        )
    elif is_ours:
        merged = merged_with(desk, working, found, EMPTY if base is None else base.root, target)
        goal, conflicts = merged.root, merged.conflicts
        nearer += [merged.folders, merged.contents]
    objects = Objects(desk.core.storage, *nearer, LocalContents(working.root, found))
    state = State(directory=directory.id, v=target.v)
    if goal.digest != found.root.digest:
        stage(working, found, goal, state, objects, options.progress)
        changed += finish(working, staged=True)
    elif working.state() != state:
        working.keep_state(state)
    same = goal.digest == found.root.digest
    return Pulled(
        outcome="unchanged" if same else "merged" if goal.digest != target.tree else "pulled",
        name=directory.name,
        type=directory.type,
        version=target,
        where=str(working.root),
        conflicts=conflicts,
        changed=changed,
        recovery=recovery,
    )


def recovered(
    desk: Desk,
    working: Working,
    found: Scan,
    seen: Seen,
    base: Version | None,
    write: Write,
    *,
    message: str,
    progress: Progress = silent,
    run: str | None = None,
) -> Version:
    """What the folder holds, as a version that is not the head."""
    for version in seen.versions:
        if version.tree == found.root.digest:
            return version
    rests_on = EMPTY if base is None else base.root
    try:
        storing = store_scan(desk, working, found, rests_on, progress)
    except Changed as exc:
        raise exc.error from None
    draft = Draft(root=found.root, parents=() if base is None else (base.v,), kind="recovery")
    made = desk.make(
        working.config.name,
        seen,
        [draft],
        storing.rest,
        write,
        op="recover",
        message=message,
        run=run,
        moves=False,
    )
    return made[0]


def clone(desk: Desk, name: str, place: Path, options: PullOptions) -> Pulled:
    """Make a folder of a version. The place must be empty or not be there."""
    directory, head, seen = desk.find(name)
    target = head if options.version == "latest" else resolved(options.version, seen)
    place = Path(os.path.abspath(place))  # noqa: PTH100 - links in it stay as they are
    check_empty(place)
    with failing(place.parent):
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        part = place.with_name(f".{place.name[:100]}{PART}{os.getpid()}")
        part.mkdir()
    try:
        objects = Objects(desk.core.storage)
        lay_out_new(part, target.root, objects, options.progress)
        working = write_config(part, directory.name, directory.type)
        working.keep_state(State(directory=directory.id, v=target.v))
        remember(working, target.root, objects.load)
        check_empty(place)
        with failing(place):
            part.replace(place)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return Pulled(
        outcome="cloned",
        name=directory.name,
        type=directory.type,
        version=target,
        where=str(place),
    )


def check_empty(place: Path) -> None:
    with failing(place):
        if not os.path.lexists(place):
            return
        if place.is_symlink() or not place.is_dir() or any(place.iterdir()):
            raise Refused(
                "destination_not_empty",
                f"{shown(place, 200)} is there and not empty",
                hint="name an empty or a new folder, or use `pull` in the directory's own folder",
            )


def _sweep(place: Path) -> None:
    """Remove what a killed command left beside the place."""
    start = f".{place.name[:100]}{PART}"
    for left in place.parent.glob(f"{_plain(start)}*"):
        pid = left.name[len(start) :]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _plain(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
