"""`memory`: the stores of a space, those of others that it mounts, and what others may mount."""

from __future__ import annotations

from holdfast.core.forms import (
    NAME_PATTERN,
    Days,
    Form,
    Group,
    Items,
    Misfit,
    Named,
    Scalar,
    Text,
    Whole,
    mapping,
)
from holdfast.engine.spaces import default_stores
from holdfast.errors import InvalidInput, OptionInvalid, Unsupported
from holdfast.model.entry import IMPORTANCE_MAX
from holdfast.model.mount import MODES, MOUNT_SCOPES
from holdfast.model.names import check_name, shown
from holdfast.model.space import DEFAULT_SPACE, STORE_TYPES, StoreSpec
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.engine.workspace.file import Place
    from holdfast.model.entry import Json
    from holdfast.model.space import StoreType

_NAME = Text(about="what it is called in this space", pattern=NAME_PATTERN)
_BUILT_IN = tuple(sorted(STRATEGIES))


class StrategyName(Text):
    """A strategy that is built in, or that an installed package offers."""

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        offered = isinstance(value, str) and value not in _BUILT_IN and value in STRATEGIES
        return value if offered else super().read(value, path)


_STRATEGY = StrategyName(about="how it behaves", choices=_BUILT_IN, noun="strategy")
_TYPE = Text(
    about="long_term keeps; short_term lets go of the oldest",
    choices=STORE_TYPES,
    noun="type",
    default="long_term",
)


class StoreForm(Form):
    """A store: its name, strategy and type, and the options that the two allow."""

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        found = mapping(value, path)
        head = Group(
            fields={"name": _NAME, "strategy": _STRATEGY, "type": _TYPE},
            needs=("name", "strategy"),
        ).read(
            {key: item for key, item in found.items() if key in ("name", "strategy", "type")}, path
        )
        options = {key: item for key, item in found.items() if key not in head}
        return {**head, "options": options}

    def _schema(self) -> dict[str, Any]:
        return {
            "anyOf": [
                self._variant(strategy, kind) for strategy in _BUILT_IN for kind in STORE_TYPES
            ]
        }

    def _variant(self, strategy: str, kind: StoreType) -> dict[str, Any]:
        fields: dict[str, Form] = {
            "name": _NAME,
            "strategy": _STRATEGY.replace(choices=(strategy,)),
            "type": _TYPE.replace(choices=(kind,)),
            **STRATEGIES[strategy].OPTIONS[kind],
        }
        needs = ("name", "strategy") if kind == _TYPE.default else ("name", "strategy", "type")
        return Group(about=f"{strategy}, {kind}", fields=fields, needs=needs).schema()


class Source(Text):
    """A store of another space: space/store."""

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        text = str(super().read(value, path))
        space, slash, store = text.partition("/")
        if not slash:
            raise Misfit(path, f"{shown(text)} is not space/store", "write it as reviews/decisions")
        if space != DEFAULT_SPACE:
            _named(space, "space", path)
        _named(store, "store", path)
        return text


class OwnName(Text):
    """What a mount is called here."""

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        return _named(str(super().read(value, path)), "mount", path)


def _named(text: str, what: str, path: tuple[str | int, ...]) -> str:
    try:
        return check_name(text, what)
    except InvalidInput as exc:
        raise Misfit(path, exc.message, exc.hint) from None


_MODE = Text(choices=MODES, noun="mode")
_SOURCE = "^[a-z0-9][a-z0-9_-]{0,63}/[a-z0-9][a-z0-9_-]{0,63}$"

FILTER = Group(
    about="which entries are seen; all of them without it",
    fields={
        "kind": Items(about="of one of these kinds", of=Text(), alone=True),
        "tag": Items(about="with one of these tags", of=Text(), alone=True),
        "age": Days(about="no older than so many UTC days, as 30d"),
        "importance": Whole(about="at least so important", low=0, high=IMPORTANCE_MAX),
        "metadata": Named(about="with these members in their metadata", of=Scalar()),
    },
)

MOUNT = Group(
    about="a store of another space, seen in this one",
    fields={
        "name": OwnName(about="what it is called here; else as there", pattern=NAME_PATTERN),
        "source": Source(about="the space and its store: space/store", pattern=_SOURCE),
        "mode": _MODE.replace(about="ro: read only; rw: read and write", default="ro"),
        "scope": Text(
            about="space: all; agent, session: what the same agent or session wrote",
            choices=MOUNT_SCOPES,
            noun="scope",
            default="space",
        ),
        "filter": FILTER,
    },
    needs=("source",),
)

SHARE = Group(
    about="a store that other spaces may mount",
    fields={
        "store": Text(about="a store of this space", pattern=NAME_PATTERN),
        "with": Items(about="the spaces that may; else all of the vault", of=Text(), alone=True),
        "mode": _MODE.replace(about="the most that they may", default="rw"),
    },
    needs=("store",),
)

FORM = Group(
    about="what is remembered here, and what is seen of other spaces",
    fields={
        "own": Items(of=StoreForm(), about="the stores of this space; else one of each strategy"),
        "mounts": Items(of=MOUNT, about="stores of other spaces of this vault"),
        "share": Items(of=SHARE, about="what others may mount; else everything; [] nothing"),
    },
)


def read(value: Mapping[str, Json], place: Place) -> Mapping[str, Json]:  # noqa: ARG001
    """All but the stores, which are kept by themselves."""
    return {key: item for key, item in value.items() if key != "own"}


def places(place: Place) -> Mapping[str, str]:
    return place.places("memory", "mounts") | place.places("memory", "share")


def stores(value: Mapping[str, Any], place: Place) -> tuple[StoreSpec, ...]:
    """The declared stores; those of `default` where the file says nothing of its own."""
    own = value.get("own")
    if own is None:
        return default_stores()
    specs: list[StoreSpec] = []
    for number, item in enumerate(own):
        path = ("memory", "own", number)
        spec = _store(item, path, place)
        if any(spec.name == other.name for other in specs):
            what = f"the name {shown(spec.name)} stands twice"
            raise place.wrong((*path, "name"), what, "rename one")
        specs.append(spec)
    return tuple(specs)


def _store(item: Mapping[str, Any], path: tuple[str | int, ...], place: Place) -> StoreSpec:
    spec = StoreSpec(**item)
    try:
        check_name(spec.name, "store")
        return STRATEGIES[spec.strategy].check(spec)
    except OptionInvalid as exc:
        raise place.wrong((*path, exc.field), exc.message, exc.hint) from None
    except Unsupported as exc:
        raise place.wrong((*path, "strategy"), exc.message, exc.hint) from exc
    except InvalidInput as exc:
        raise place.wrong((*path, "name"), exc.message, exc.hint) from None
