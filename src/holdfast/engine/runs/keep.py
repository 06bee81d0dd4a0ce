"""After an agent ended: what of its directories is kept, and as what.

A run that succeeded pushes each memory and artifact, merged with what others pushed meanwhile. What
any other run wrote becomes a recovery version, and no head moves. A folder that is not there any
more is kept as nothing, and its run has failed. No version gets a secret of its run: a text that
has one is masked, any other file is put aside, and both are named.
"""

from __future__ import annotations

import os
import shutil

from holdfast.core.masking import Masker, masked_text
from holdfast.core.merge.text import is_binary
from holdfast.core.trees.compare import compare
from holdfast.core.trees.tree import EMPTY
from holdfast.engine.directories.desk import Desk, Overtaken
from holdfast.engine.directories.folder import failing
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.pull import recovered
from holdfast.engine.directories.push import PushOptions, push
from holdfast.engine.directories.scan import scan, silent
from holdfast.engine.runs.folder import open_up, why_of
from holdfast.errors import HoldfastError, StorageFailed
from holdfast.model.tree import FOLDER, LINK, PROGRAM
from holdfast.model.value import Value
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.core.merge.trees import Conflict
    from holdfast.engine.directories.scan import Progress
    from holdfast.engine.runs.folder import RunDirectory, RunFolder
    from holdfast.engine.work import Core
    from holdfast.model.directory import Version
    from holdfast.model.run import Laid, Run
    from holdfast.model.tree import Change, Node
    from holdfast.model.write import Caller

GONE, FORGOTTEN = "mount_gone", "directory_forgotten"
HEAD_BYTES = 8_192
BLOCK_BYTES = 1_048_576
MESSAGE_CHARS_MAX = 200


class Keeping(Value):
    """What is kept for: the run, and whether it succeeded so far. `forms` are what its secrets
    look like, None where nobody knows them any more."""

    core: Core
    caller: Caller
    run: Run
    folder: RunFolder
    succeeded: bool
    forms: tuple[bytes, ...] | None
    gone: tuple[str, ...] = ()
    progress: Progress = silent


def keep(keeping: Keeping) -> tuple[tuple[Laid, ...], str]:
    """What became of each directory, and the code of what went wrong, if anything did."""
    mounts = keeping.run.mounts
    kept_ones = [laid for laid in mounts if laid.type != "volume"]
    gone = {
        laid.path
        for number, laid in enumerate(mounts)
        if laid in kept_ones
        and (laid.path in keeping.gone or not keeping.folder.directory(number, laid).is_there())
    }
    reason = GONE if gone else ""
    if gone:
        keeping = keeping.replace(succeeded=False)
    done: list[Laid] = []
    for number, laid in enumerate(mounts):
        if laid.type == "volume":
            done.append(laid)
        elif laid.path in gone:
            note = "its folder was gone when the agent ended"
            done.append(laid.replace(kept="not_kept", note=note))
        else:
            try:
                done.append(_kept(keeping, number, laid))
            except HoldfastError as exc:
                note = masked_text(why_of(exc), keeping.forms or ())
                done.append(laid.replace(kept="not_kept", note=note))
                reason = reason or exc.code
    return tuple(done), reason


def _kept(keeping: Keeping, number: int, laid: Laid) -> Laid:
    desk = Desk(
        core=keeping.core,
        space=keeping.run.space_name,
        type=laid.type,
        caller=keeping.caller,
    )
    seen = desk.see(laid.name)
    if seen.directory is None or seen.directory.id != laid.directory:
        note = f"the {laid.type} was forgotten while the agent ran"
        return laid.replace(kept="not_kept", note=f"{note} [{FORGOTTEN}]")
    working = keeping.folder.directory(number, laid)
    open_up(working.root)
    base = seen.find(laid.before)
    with working.held():
        laid = _without_secrets(keeping, working, laid, base)
        if keeping.succeeded:
            return _pushed(keeping, desk, working, laid)
        return desk.repeat(lambda: _recovered(keeping, desk, working, laid))


def _pushed(keeping: Keeping, desk: Desk, working: RunDirectory, laid: Laid) -> Laid:
    options = PushOptions(
        message=message_of(keeping.run), run=keeping.run.id, progress=keeping.progress
    )
    pushed = push(desk, working, options, Write(reason=f"run {keeping.run.id}"))
    if pushed.outcome == "unchanged":
        return laid.replace(kept="unchanged", left_out=(*laid.left_out, *pushed.left_out))
    conflicts = tuple([_unmerged(each) for each in pushed.conflicts])
    return laid.replace(
        kept=pushed.outcome,
        after=pushed.version.v,
        conflicts=conflicts,
        left_out=(*laid.left_out, *pushed.left_out),
    )


def _unmerged(conflict: Conflict) -> str:
    beside = f"; the other side's lies in {conflict.beside}" if conflict.beside else ""
    return f"{conflict.path} did not merge ({conflict.reason or conflict.kind}){beside}"


def _recovered(keeping: Keeping, desk: Desk, working: RunDirectory, laid: Laid) -> Laid:
    seen = desk.see(laid.name)
    if seen.directory is None or seen.directory.id != laid.directory:
        raise Overtaken
    base, found = seen.find(laid.before), scan(working, keeping.progress)
    if found.root.digest in (EMPTY.digest, None if base is None else base.tree):
        return laid.replace(kept="nothing")
    version = recovered(
        *(desk, working, found, seen, base, Write(reason=f"run {keeping.run.id}")),
        message=f"what a run left that did not succeed: {message_of(keeping.run)}",
        progress=keeping.progress,
        run=keeping.run.id,
    )
    return laid.replace(kept="recovered", after=version.v)


def message_of(run: Run) -> str:
    """The prompt as the message of a version."""
    line = " ".join(run.prompt.split())
    return line if len(line) <= MESSAGE_CHARS_MAX else f"{line[: MESSAGE_CHARS_MAX - 1]}…"


# Secrets


def _without_secrets(
    keeping: Keeping, working: RunDirectory, laid: Laid, base: Version | None
) -> Laid:
    """Take the secrets out of what the agent wrote, before any of it is stored."""
    if keeping.forms is None:
        raise StorageFailed(
            "secrets_unknown",
            f"run {keeping.run.id} had secrets that nobody can look for any more",
            hint="look through its folder by hand, and push what has none",
        )
    if not keeping.forms:
        return laid
    found = scan(working)
    before = EMPTY if base is None else base.root
    objects = Objects(keeping.core.storage, found.folders)
    masked: list[str] = []
    aside: list[str] = []
    for change in list(compare(before, found.root, objects.load)):
        if change.after is None or change.after.kind == FOLDER:
            continue
        hit = _cleaned(keeping, working, laid, change, objects)
        if hit == "masked":
            masked.append(change.path)
        elif hit:
            aside.append(masked_text(change.path, keeping.forms))
    return laid.replace(masked=tuple(masked), left_out=tuple(aside))


def _cleaned(
    keeping: Keeping, working: RunDirectory, laid: Laid, change: Change, objects: Objects
) -> str:
    """`masked`, `aside`, or nothing where the file has no secret in it."""
    forms, place = keeping.forms or (), working.root / change.path
    with failing(working.root):
        is_link = change.after is not None and change.after.kind == LINK
        named = _has(change.path.encode(), forms)
        if is_link and not named:
            named = _has(os.fsencode(os.readlink(place)), forms)  # noqa: PTH115 - all of it
        if not named and (is_link or not _file_has(place, forms)):
            return ""
        if not named and _is_text(place):
            _mask(place, forms)
            return "masked"
        number = len(list(keeping.folder.aside(laid, "x").parent.iterdir()))
        shutil.move(place, keeping.folder.aside(laid, str(number)))
        _put_back(place, change.before, objects)
    return "aside"


def _has(data: bytes, forms: tuple[bytes, ...]) -> bool:
    return any(form in data for form in forms)


def _file_has(place: Path, forms: tuple[bytes, ...]) -> bool:
    overlap = len(forms[0]) - 1
    with place.open("rb") as file:
        before = b""
        while data := file.read(BLOCK_BYTES):
            if _has(before + data, forms):
                return True
            before = (before + data)[-overlap:]
    return False


def _is_text(place: Path) -> bool:
    with place.open("rb") as file:
        return not is_binary(file.read(HEAD_BYTES))


def _mask(place: Path, forms: tuple[bytes, ...]) -> None:
    beside = place.with_name(f".{place.name[:40]}.masked")
    masker = Masker(forms)
    try:
        with place.open("rb") as source, beside.open("xb") as target:
            while data := source.read(BLOCK_BYTES):
                target.write(masker.feed(data))
            target.write(masker.end())
        beside.chmod(place.stat().st_mode & 0o777)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _put_back(place: Path, before: Node | None, objects: Objects) -> None:
    """What stood there before the run, if anything did."""
    if before is None or before.kind == FOLDER:
        return
    if before.kind == LINK:
        place.symlink_to(objects.load(before.digest).decode(errors="surrogateescape"))
        return
    with place.open("xb") as target:
        for piece in objects.pieces(before.digest):
            target.write(piece)
    place.chmod(0o755 if before.kind == PROGRAM else 0o644)
