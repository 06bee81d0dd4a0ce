"""Spaces and stores: finding them, and applying what a `workspace.yml` declares.

The space `default` is there in every vault, with one store of each strategy under the strategy's
name; its rows are made by the first write. Every other space belongs to one folder: the same name
from another folder is refused until somebody adopts it, so that two folders never share a memory.
"""

from __future__ import annotations

from functools import cache

from holdfast.core.canonical import canonical
from holdfast.core.images import store_from_image
from holdfast.engine.history import image_at
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.ids import SpaceId, StoreId
from holdfast.model.names import check_name, check_str, is_unicode, shown
from holdfast.model.space import DEFAULT_SPACE, SpaceInfo, Store, StoreSpec
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.work import Work
    from holdfast.model.space import SpaceSpec
    from holdfast.ports import Snapshot
    from holdfast.strategies.plugins import Plugin


@cache
def default_stores() -> tuple[StoreSpec, ...]:
    """One store of each strategy, for a space that declares none."""
    return tuple(
        STRATEGIES[name].check(StoreSpec(name=name, strategy=name)) for name in sorted(STRATEGIES)
    )


def space_named(snapshot: Snapshot, name: str) -> SpaceInfo | None:
    """The space, None where it is `default` and nothing was written yet."""
    check_str(name, "the space")
    space = snapshot.space_named(name) if is_unicode(name) else None
    if space is None and name != DEFAULT_SPACE:
        known = ", ".join(sorted({DEFAULT_SPACE, *(item.name for item in snapshot.spaces())}))
        raise NotFound(
            "space_not_found",
            f"there is no space {shown(name)}; there is {known}",
            hint="holdfast space init makes one of this folder",
        )
    return space


def declared_stores(snapshot: Snapshot, space_name: str, seq: int | None = None) -> Sequence[Store]:
    """The stores that the space declares, in their order; or declared after the change `seq`."""
    return stores_of(snapshot, space_named(snapshot, space_name), seq)


def stores_of(snapshot: Snapshot, space: SpaceInfo | None, seq: int | None) -> Sequence[Store]:
    """As `declared_stores`, of a space that was looked up: None is `default`, not written yet."""
    found = () if space is None else snapshot.stores(space)
    if seq is not None and space is not None:
        found = _as_they_were(snapshot, found, space, seq)
    stores = [store for store in found if store.position is not None]
    if space is not None and space.name != DEFAULT_SPACE:
        return stores
    known = {store.name: store for store in stores}
    return [
        known.get(spec.name) or _unwritten(spec, space, position)
        for position, spec in enumerate(default_stores())
    ]


def _as_they_were(
    snapshot: Snapshot, stores: Sequence[Store], space: SpaceInfo, seq: int
) -> Sequence[Store]:
    then: list[Store] = []
    for store in stores:
        change = image_at(snapshot, store.revision, seq)
        if change is not None and change.after is not None:
            then.append(store_from_image(change.after, space, change.seq))
    return sorted(then, key=lambda store: (store.position is None, store.position))


def _unwritten(spec: StoreSpec, space: SpaceInfo | None, position: int | None) -> Store:
    """A store that no write has needed yet; its number 0 has no entries."""
    return Store(
        id=StoreId(""),
        number=0,
        space=SpaceId("") if space is None else space.id,
        space_number=0 if space is None else space.number,
        space_name=DEFAULT_SPACE if space is None else space.name,
        name=spec.name,
        type=spec.type,
        strategy=spec.strategy,
        options=spec.options,
        position=position,
        revision=0,
    )


def is_everywhere(strategy: str) -> bool:
    """What is said anywhere is kept, whether the space declares a store for it or not."""
    return STRATEGIES[strategy].HOLDS == "messages"


def undeclared(snapshot: Snapshot, space_name: str, strategy: str) -> Store:
    """The store that a space has without declaring it; a row of its name may be another's."""
    space = space_named(snapshot, space_name)
    for store in () if space is None else snapshot.stores(space):
        if store.strategy == strategy:
            return store
    spec = STRATEGIES[strategy].check(StoreSpec(name=strategy, strategy=strategy))
    return _unwritten(spec, space, None)


def written_store(work: Work, store: Store) -> Store:
    """The store with its row: one that no file declares is made by the first write that needs it.

    Where a space calls another store so, its row has the name with a hyphen behind it.
    """
    if store.number:
        return store
    space = written_space(work, store.space_name)
    taken = {known.name for known in work.tx.stores(space)}
    while store.name in taken:
        store = store.replace(name=f"{store.name}-")
    made = work.put_store(
        _new_store(work, space, store, store.position), None, "create", by_itself=True
    )
    return made.replace(mount=store.mount)


def written_space(work: Work, name: str) -> SpaceInfo:
    """The space with its row: that of `default` is made by the first write that needs it."""
    space = space_named(work.tx, name)
    if space is None:
        space = work.put_space(_new_space(work, name, None), None, "create", by_itself=True)
    return space


def checked(spec: SpaceSpec) -> SpaceSpec:
    """The declaration with names and options checked, and what was left out filled in."""
    check_name(spec.name, "space")
    for store in spec.stores:
        check_name(store.name, "store")
        check_strategy(store.strategy)
    return spec.replace(stores=tuple(STRATEGIES[s.strategy].check(s) for s in spec.stores))


def is_applied(snapshot: Snapshot, spec: SpaceSpec) -> bool:
    """Whether the space is what the declaration says already."""
    space = snapshot.space_named(spec.name)
    if space is None or _said(space) != _said_by(spec):
        return False
    stores = [
        StoreSpec(name=s.name, type=s.type, strategy=s.strategy, options=s.options)
        for s in snapshot.stores(space)
        if s.position is not None
    ]
    return tuple(stores) == spec.stores


def _said(space: SpaceInfo) -> tuple[object, ...]:
    return space.path, space.declared, canonical(dict(space.settings))


def _said_by(spec: SpaceSpec) -> tuple[object, ...]:
    return spec.path, spec.text, canonical(dict(spec.settings))


def apply(work: Work, spec: SpaceSpec, *, adopt: bool) -> SpaceInfo:
    """Make the space what its file says. What is so already leaves no change."""
    space = work.tx.space_named(spec.name)
    work.expect(0 if space is None else space.revision, f"the space {spec.name}")
    if space is None:
        space = work.put_space(_new_space(work, spec.name, spec), None, "create")
    elif space.path != spec.path:
        if not adopt:
            raise elsewhere(space, spec)
        space = work.put_space(_declared(space, spec), space, "adopt")
    elif _said(space) != _said_by(spec):
        space = work.put_space(_declared(space, spec), space, "declare")
    _apply_stores(work, space, spec)
    return space


def _declared(space: SpaceInfo, spec: SpaceSpec) -> SpaceInfo:
    return space.replace(path=spec.path, declared=spec.text, settings=dict(spec.settings))


def elsewhere(space: SpaceInfo, spec: SpaceSpec) -> Refused:
    return Refused(
        "space_elsewhere",
        f"the space {space.name} belongs to {space.path}, not to {spec.path}",
        hint="give this one another `name:` in workspace.yml, or move the memory here with "
        "`holdfast space adopt`",
    )


def _apply_stores(work: Work, space: SpaceInfo, spec: SpaceSpec) -> None:
    known = {store.name: store for store in work.tx.stores(space)}
    for position, wanted in enumerate(spec.stores):
        store = known.pop(wanted.name, None)
        if store is None:
            work.put_store(_new_store(work, space, wanted, position), None, "create")
            continue
        if store.strategy != wanted.strategy:
            raise Conflict(
                "store_strategy",
                f"{store.label} holds {store.strategy} and cannot become {wanted.strategy}",
                hint="declare the new store under another name",
            )
        after = store.replace(type=wanted.type, options=dict(wanted.options), position=position)
        if after != store:
            work.put_store(after, store, "declare")
    for store in known.values():
        if store.position is not None:
            work.put_store(store.replace(position=None), store, "withdraw")


def _new_space(work: Work, name: str, spec: SpaceSpec | None) -> SpaceInfo:
    return SpaceInfo(
        id=SpaceId(work.new_id()),
        number=work.seq + 1,
        name=name,
        path=None if spec is None else spec.path,
        declared=None if spec is None else spec.text,
        settings={} if spec is None else dict(spec.settings),
        created=work.at,
        revision=work.seq + 1,
    )


def _new_store(
    work: Work, space: SpaceInfo, spec: StoreSpec | Store, position: int | None
) -> Store:
    return Store(
        id=StoreId(work.new_id()),
        number=work.seq + 1,
        space=space.id,
        space_number=space.number,
        space_name=space.name,
        name=spec.name,
        type=spec.type,
        strategy=spec.strategy,
        options=dict(spec.options),
        position=position,
        revision=work.seq + 1,
    )


def offered() -> list[Plugin]:
    """The strategies that other packages offer, each with what is wrong with it."""
    from holdfast.strategies.plugins import plugins

    return list(plugins(list(STRATEGIES)))


def check_strategy(name: str) -> str:
    if name not in STRATEGIES:
        raise InvalidInput(
            "strategy_unknown",
            f"there is no strategy {shown(name)}",
            hint=f"one of {', '.join(sorted(STRATEGIES))}",
        )
    return name
