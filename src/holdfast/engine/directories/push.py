"""From a working folder to a new version.

The version that the folder was last brought to is the base. If the head is still that, the folder's
tree becomes the next version. If the head moved on, the folder's tree becomes a version of its own,
child of the base, and the merge of both the head: so nothing that either side made is out of reach,
whatever merging came to. The folder itself is left as it is; a pull brings the merge to it.
"""

from __future__ import annotations

from holdfast.core.merge.trees import merge_trees
from holdfast.core.trees.tree import EMPTY
from holdfast.engine.directories.desk import TRIES, Draft, Overtaken
from holdfast.engine.directories.folder import State
from holdfast.engine.directories.layout import finish
from holdfast.engine.directories.local import LocalContents
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.scan import scan, silent
from holdfast.engine.directories.store import Changed, store_merged, store_scan
from holdfast.errors import Conflict
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.core.merge.structured import Loaded
    from holdfast.core.merge.trees import Conflict as MergeConflict
    from holdfast.core.merge.trees import MergedTree
    from holdfast.engine.directories.desk import Desk, Seen
    from holdfast.engine.directories.folder import Working
    from holdfast.engine.directories.scan import Progress, Scan
    from holdfast.model.directory import Version
    from holdfast.model.tree import Node
    from holdfast.model.write import Write


class Pushed(Value):
    """`version` is the head now; `own` the folder's own tree, another one after a merge. `behind`
    says that the head has what the folder has not, which a pull brings."""

    outcome: Literal["pushed", "merged", "unchanged"]
    name: str
    type: str
    version: Version
    own: Version | None
    behind: bool
    conflicts: tuple[MergeConflict, ...] = ()
    left_out: tuple[str, ...] = ()
    stored_bytes: int = 0


class PushOptions(Value):
    message: str = ""
    force: bool = False
    overwrite: bool = False
    run: str | None = None
    progress: Progress = silent


def push(desk: Desk, working: Working, options: PushOptions, write: Write) -> Pushed:
    """Make a version of what the folder holds. The caller holds the folder."""
    finish(working)
    changed: Changed | None = None
    for _ in range(TRIES):
        found = scan(working, options.progress)
        try:
            return _push(desk, working, found, options, write)
        except Changed as exc:  # the stat cache may have been fooled: forget it
            if changed is not None and str(changed) == str(exc):
                raise exc.error from None
            changed = exc
            working.keep_cache({})
        except Overtaken:
            continue
    raise Conflict(
        "head_moving",
        f"others changed {working.config.name} {TRIES} times while this was pushed",
        hint="push again when it is quieter",
    )


def _push(desk: Desk, working: Working, found: Scan, options: PushOptions, write: Write) -> Pushed:
    name, ours = working.config.name, found.root
    seen = desk.see(name)
    if seen.directory is None and not options.force:
        desk.check_history(working)
    head, base = seen.head, base_of(working, seen, ours.digest)
    moved = head is not None and (base is None or base.v != head.v)
    if head is not None and not options.force:
        same = ours.digest == head.tree
        if same or (moved and base is not None and base.tree == ours.digest):
            if same:
                _keep(working, seen, head)
            return _pushed("unchanged", working, found, head, behind=not same)
    if not moved or options.overwrite:
        return _next(desk, working, found, seen, options, write)
    return _merge(desk, working, found, seen, base, options, write)


def base_of(working: Working, seen: Seen, tree: str) -> Version | None:
    """The version that the folder has in common with the vault: a later one where the folder is
    equal to it, as after a push that was killed before it could write that down."""
    state, directory = working.state(), seen.directory
    kept = state.v if state and directory and state.directory == directory.id else 0
    for version in seen.versions:
        if version.v > kept and version.tree == tree and version.kind == "ordinary":
            return version
    return seen.find(kept)


def _next(
    desk: Desk,
    working: Working,
    found: Scan,
    seen: Seen,
    options: PushOptions,
    write: Write,
) -> Pushed:
    head = seen.head
    rests_on = EMPTY if head is None or options.force else head.root
    storing = store_scan(desk, working, found, rests_on, options.progress)
    parents = () if head is None else (head.v,)
    drafts = [Draft(root=found.root, parents=parents)]
    base = base_of(working, seen, found.root.digest)
    if head is not None and options.overwrite and (base is None or base.v != head.v):
        drafts.insert(0, Draft(root=head.root, parents=parents, kind="recovery"))
    made = desk.make(
        working.config.name,
        seen,
        drafts,
        storing.rest,
        write,
        op="push",
        message=options.message,
        run=options.run,
    )
    _keep(working, desk.see(working.config.name), made[-1])
    return _pushed("pushed", working, found, made[-1], own=made[-1], stored=storing.stored_bytes)


def _merge(
    desk: Desk,
    working: Working,
    found: Scan,
    seen: Seen,
    base: Version | None,
    options: PushOptions,
    write: Write,
) -> Pushed:
    head = seen.head
    assert head is not None
    base_root = EMPTY if base is None else base.root
    rests_on = EMPTY if options.force else base_root
    storing = store_scan(desk, working, found, rests_on, options.progress)
    merged = merged_with(desk, working, found, base_root, head)
    if merged.root.digest == head.tree and not merged.conflicts and not options.force:
        return _pushed("unchanged", working, found, head, behind=True)
    store_merged(storing, merged)
    drafts = [
        Draft(root=found.root, parents=() if base is None else (base.v,)),
        Draft(root=merged.root, parents=(head.v, -1)),
    ]
    own, made = desk.make(
        working.config.name,
        seen,
        drafts,
        storing.rest,
        write,
        op="push",
        message=options.message,
        run=options.run,
    )
    _keep(working, desk.see(working.config.name), own)
    return _pushed(
        "merged",
        working,
        found,
        made,
        own=own,
        behind=made.tree != own.tree,
        conflicts=merged.conflicts,
        stored=storing.stored_bytes,
    )


def merged_with(
    desk: Desk, working: Working, found: Scan, base: Node, theirs: Version
) -> MergedTree:
    """The folder's tree merged with a version's, from their base."""
    objects = Objects(desk.core.storage, found.folders, LocalContents(working.root, found))
    return merge_trees(
        base,
        found.root,
        theirs.root,
        load=objects.load,
        read=objects.load,
        load_yaml=load_yaml,
    )


def load_yaml(data: bytes) -> Loaded:
    """Plain data, or ValueError for what has no plain meaning."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if b"&" in data or b"!" in data:  # anchors and tags, or what may be taken for one
        raise ValueError("anchors or tags")
    try:
        documents = list(YAML(typ="safe", pure=True).load_all(data))
    except (YAMLError, RecursionError, UnicodeDecodeError) as exc:
        raise ValueError(str(exc)) from exc
    if len(documents) > 1:
        raise ValueError("several documents")
    return documents[0] if documents else None


def _keep(working: Working, seen: Seen, version: Version) -> None:
    if seen.directory is None:
        raise Conflict(
            "directory_deleted",
            f"{working.config.name} was deleted while this was pushed",
            hint="push again to make it anew",
        )
    state = State(directory=seen.directory.id, v=version.v)
    if working.state() != state:
        working.keep_state(state)


def _pushed(
    outcome: Literal["pushed", "merged", "unchanged"],
    working: Working,
    found: Scan,
    version: Version,
    *,
    own: Version | None = None,
    behind: bool = False,
    conflicts: tuple[MergeConflict, ...] = (),
    stored: int = 0,
) -> Pushed:
    return Pushed(
        outcome=outcome,
        name=working.config.name,
        type=working.config.type,
        version=version,
        own=own,
        behind=behind,
        conflicts=conflicts,
        left_out=tuple(found.left_out),
        stored_bytes=stored,
    )
