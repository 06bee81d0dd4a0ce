"""What a space sees: its own stores, and those of other spaces that it mounts.

A mount is declared in the space that mounts; the source may narrow who mounts what. Both may change
at any time, so a mount is resolved each time that it is used: one that leads nowhere says why, and
never gives what it no longer may. A mount leads to a store that its source owns, never to another
mount, so there are no circles and nobody passes on what was lent. Nothing here reaches beyond the
vault: a source is a space of the same one.
"""

from __future__ import annotations

from holdfast.core.images import space_from_image
from holdfast.core.lens import is_whole
from holdfast.engine.history import image_at
from holdfast.engine.spaces import is_everywhere, space_named, stores_of, undeclared
from holdfast.errors import HoldfastError, InvalidInput, NotFound, Refused
from holdfast.model.entry import Advice
from holdfast.model.mount import Lens, Mount, Share
from holdfast.model.names import shown
from holdfast.model.space import DEFAULT_SPACE, Store
from holdfast.model.value import Value
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.model.space import SpaceInfo, SpaceSpec
    from holdfast.ports import Snapshot


class Mounted(Value):
    """A mount and the store that it leads to; without a store, `problem` says why there is none."""

    mount: Mount
    store: Store | None
    problem: str = ""


# From what is kept


def mounts_of(space: SpaceInfo) -> tuple[Mount, ...]:
    kept: Any = space.settings.get("memory", {})
    return tuple(_mount(space.name, each) for each in kept.get("mounts", ()))


def _mount(space: str, kept: Mapping[str, Any]) -> Mount:
    source_space, _, source_store = kept["source"].partition("/")
    wanted: Mapping[str, Any] = kept.get("filter", {})
    lens = Lens(
        scope=kept["scope"],
        kinds=tuple(wanted.get("kind", ())),
        tags=tuple(wanted.get("tag", ())),
        importance=wanted.get("importance", 0),
        days=wanted.get("age"),
        metadata=wanted.get("metadata", {}),
    )
    return Mount(
        space=space,
        name=kept.get("name", source_store),
        source_space=source_space,
        source_store=source_store,
        mode=kept["mode"],
        lenses=(lens,),
    )


def shares_of(space: SpaceInfo | None) -> tuple[Share, ...] | None:
    """What the space lets others mount; None where it does not narrow it."""
    kept: Any = {} if space is None else space.settings.get("memory", {})
    if "share" not in kept:
        return None
    return tuple(
        Share(store=each["store"], spaces=tuple(each.get("with", ())), mode=each["mode"])
        for each in kept["share"]
    )


# What a space sees


def mounted(snapshot: Snapshot, space_name: str, seq: int | None = None) -> Sequence[Mounted]:
    """The mounts of a space in their order, now or after the change `seq`."""
    return _mounted(snapshot, space_named(snapshot, space_name), seq)


def own_and_mounted(
    snapshot: Snapshot, space_name: str, seq: int | None = None
) -> tuple[Sequence[Store], Sequence[Mounted]]:
    """The stores that the space declares and its mounts, by one look at the space."""
    space = space_named(snapshot, space_name)
    found = _mounted(snapshot, space, seq)
    return stores_of(snapshot, space, seq), found


def _mounted(snapshot: Snapshot, space: SpaceInfo | None, seq: int | None) -> Sequence[Mounted]:
    then = _as_it_was(snapshot, space, seq)
    return [] if then is None else [_resolved(snapshot, each, seq) for each in mounts_of(then)]


def _as_it_was(snapshot: Snapshot, space: SpaceInfo | None, seq: int | None) -> SpaceInfo | None:
    if seq is None or space is None or space.revision <= seq:
        return space
    change = image_at(snapshot, space.revision, seq)
    if change is None or change.after is None:
        return None
    return space_from_image(change.after, change.seq)


def _resolved(snapshot: Snapshot, mount: Mount, seq: int | None) -> Mounted:
    problem, store = "", None
    try:
        now = space_named(snapshot, mount.source_space)
        space = _as_it_was(snapshot, now, seq)
        for each in stores_of(snapshot, now, seq):
            if each.name == mount.source_store:
                store = each
        problem = _forbidden(mount, shares_of(space))
        if store is None:
            problem = f"{mount.source_space} declares no store {shown(mount.source_store)}"
    except NotFound as exc:
        problem = exc.message
    if store is None or problem:
        return Mounted(mount=mount, store=None, problem=problem)
    return Mounted(mount=mount, store=store.replace(mount=mount))


def _forbidden(mount: Mount, shares: Sequence[Share] | None) -> str:
    """Why the source does not let it be mounted so; nothing where it does."""
    if shares is None:
        return ""
    offered = [
        share
        for share in shares
        if share.store == mount.source_store and (not share.spaces or mount.space in share.spaces)
    ]
    if not offered:
        return f"{mount.source_space} does not share {mount.source_store} with {mount.space}"
    if mount.mode == "rw" and all(share.mode == "ro" for share in offered):
        return f"{mount.source_space} shares {mount.source_store} to be read only"
    return ""


def seen_stores(snapshot: Snapshot, space_name: str, seq: int | None = None) -> Sequence[Store]:
    """The space's own stores in their order, then those that it mounts."""
    if seq is None:
        return snapshot.once(("seen", space_name), lambda: _seen(snapshot, space_name, None))
    return _seen(snapshot, space_name, seq)


def _seen(snapshot: Snapshot, space_name: str, seq: int | None) -> tuple[Store, ...]:
    own, found = own_and_mounted(snapshot, space_name, seq)
    return (*own, *(each.store for each in found if each.store is not None))


def searched_stores(snapshot: Snapshot, space_name: str, seq: int | None = None) -> Sequence[Store]:
    """What a search of the whole space looks through: each store that it sees, once."""
    if seq is None:
        return snapshot.once(
            ("searched", space_name), lambda: (*distinct(seen_stores(snapshot, space_name)),)
        )
    return distinct(_seen(snapshot, space_name, seq))


def distinct(stores: Sequence[Store]) -> Sequence[Store]:
    """Each store once: an own one as it is, one that several mounts reach with all their lenses."""
    found: dict[str, Store] = {}
    for store in stores:
        first = found.get(store.label)
        if first is None:
            found[store.label] = store
        elif first.mount is not None and store.mount is not None:
            lenses = first.mount.lenses + store.mount.lenses
            found[store.label] = first.replace(mount=first.mount.replace(lenses=lenses))
    return list(found.values())


def store_named(
    snapshot: Snapshot,
    space_name: str,
    name: str | None,
    strategy: str,
    seq: int | None = None,
) -> Store:
    """The store that a space calls so; without a name, its only one of the strategy."""
    stores = [s for s in seen_stores(snapshot, space_name, seq) if s.strategy == strategy]
    wanted = strategy if name is None else name
    for store in stores:
        if store.called == wanted:
            return store
    if not stores and is_everywhere(strategy) and wanted.rstrip("-") == strategy:
        return undeclared(snapshot, space_name, strategy)
    if name is None:
        own = [store for store in stores if store.mount is None] or stores
        if len(own) == 1:
            return own[0]
        raise _unnamed(space_name, strategy, stores)
    for each in mounted(snapshot, space_name, seq):
        if each.mount.name == name and each.problem:
            raise broken(each)
    raise not_declared(space_name, f"{strategy} store", name, stores)


def _unnamed(space_name: str, strategy: str, stores: Sequence[Store]) -> NotFound:
    if not stores:
        what = f"space {space_name} declares no store of the strategy {strategy}"
        return NotFound("store_unnamed", what, hint="add one to memory.own in workspace.yml")
    what = f"space {space_name} has several stores of the strategy {strategy}: {_names(stores)}"
    return NotFound("store_unnamed", what, hint="say which one, with --store")


def not_declared(space_name: str, what: str, name: str, stores: Sequence[Store]) -> NotFound:
    return NotFound(
        "store_not_declared",
        f"space {space_name} declares no {what} {shown(name)}; declared: {_names(stores)}",
        hint="use one of these, or declare it under memory.own in workspace.yml",
    )


def _names(stores: Sequence[Store]) -> str:
    return ", ".join(store.called for store in stores) or "none"


def broken(found: Mounted) -> NotFound:
    mount = found.mount
    return NotFound(
        "mount_broken",
        f"the mount {mount.name} of {mount.space} leads nowhere: {found.problem}",
        hint="mount another source, take the mount away, or ask who keeps the source",
    )


def check_writable(store: Store) -> Store:
    """The one place where a mount's mode is kept."""
    if store.mount is not None and store.mount.mode == "ro":
        raise Refused(
            "mount_read_only",
            f"{store.mount.space} mounts {store.label} as {store.called} to be read only",
            hint="write to a store of its own, or mount it with `mode: rw`",
        )
    return store


# Declaring


def check(snapshot: Snapshot, spec: SpaceSpec, space: SpaceInfo) -> None:
    """Every mount must lead to a store of another space, under a name that nothing else has."""
    names = {store.name for store in spec.stores}
    for number, mount in enumerate(mounts_of(space)):
        field = f"memory.mounts[{number}]"
        if mount.name in names:
            what = f"the name {shown(mount.name)} stands twice"
            raise _wrong(
                spec, (f"{field}.name", field), what, "give the mount another `name:` (--name)"
            )
        names.add(mount.name)
        problem = _misled(snapshot, mount) or _resolved(snapshot, mount, None).problem
        if problem:
            cure = "mount a store that its space owns and shares"
            raise _wrong(spec, (f"{field}.source", field), problem, cure)
        if holding := _unfiltered(snapshot, mount):
            what = f"{mount.source} holds {holding}, which a filter or scope cannot choose among"
            raise _wrong(spec, (f"{field}.filter", field), what, "mount it whole")
    for number, share in enumerate(shares_of(space) or ()):
        if share.store not in {store.name for store in spec.stores}:
            field = f"memory.share[{number}]"
            what = f"the space owns no store {shown(share.store)}"
            raise _wrong(spec, (f"{field}.store", field), what, "name a store of memory.own")


def _misled(snapshot: Snapshot, mount: Mount) -> str:
    """What is wrong with a source that is this space itself, or a mount of its space."""
    if mount.source_space == mount.space:
        return f"{mount.source} is in this space itself, which sees it without a mount"
    way, at = [f"{mount.space}/{mount.name}", mount.source], mount
    while (found := _mount_at(snapshot, at)) is not None:
        way.append(found.source)
        if found.source_space == mount.space or found.source in way[:-1]:
            return f"it goes round in a circle: {' → '.join(way)}"
        at = found
    if len(way) > 2:
        return f"{way[1]} is a mount itself, of {way[-1]}: mount that"
    return ""


def _mount_at(snapshot: Snapshot, mount: Mount) -> Mount | None:
    """The mount that a mount leads to, where it leads to none of the source's own stores."""
    if mount.source_space == DEFAULT_SPACE:
        return None
    space = snapshot.space_named(mount.source_space)
    if space is None or any(
        store.position is not None and store.name == mount.source_store
        for store in snapshot.stores(space)
    ):
        return None
    return next((each for each in mounts_of(space) if each.name == mount.source_store), None)


def _unfiltered(snapshot: Snapshot, mount: Mount) -> str:
    store = _resolved(snapshot, mount, None).store
    if store is None or is_whole(mount.lenses):
        return ""
    holding = STRATEGIES[store.strategy].HOLDS
    return "" if holding == "entries" else holding


def _wrong(spec: SpaceSpec, fields: tuple[str, ...], message: str, cure: str) -> HoldfastError:
    place = next((f"{spec.places[each]}: " for each in fields if each in spec.places), "")
    return InvalidInput("workspace_invalid", f"{place}{fields[0]}: {message}", hint=cure)


def left_without(snapshot: Snapshot, source: SpaceInfo) -> tuple[Advice, ...]:
    """What others mount of a space and can no longer reach."""
    return tuple(
        Advice(
            code="mount_lost",
            message=f"{space.name} mounts {mount.source} as {mount.name}: {found.problem}",
        )
        for space in snapshot.spaces()
        for mount in mounts_of(space)
        if mount.source_space == source.name
        if (found := _resolved(snapshot, mount, None)).problem
    )
