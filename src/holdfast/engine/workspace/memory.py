"""`memory`: the stores of a space."""

from __future__ import annotations

from holdfast.core.forms import NAME_PATTERN, Form, Group, Items, Text, mapping
from holdfast.engine.spaces import default_stores
from holdfast.errors import InvalidInput, OptionInvalid
from holdfast.model.names import check_name, shown
from holdfast.model.space import STORE_TYPES, StoreSpec
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.engine.workspace.file import Place
    from holdfast.model.entry import Json
    from holdfast.model.space import StoreType

_NAME = Text(about="what it is called in this space", pattern=NAME_PATTERN)
_STRATEGY = Text(about="how it behaves", choices=tuple(sorted(STRATEGIES)), noun="strategy")
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
                self._variant(strategy, kind)
                for strategy in sorted(STRATEGIES)
                for kind in STORE_TYPES
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


FORM = Group(
    about="what is remembered here, and what is seen of other spaces",
    fields={
        "own": Items(of=StoreForm(), about="the stores of this space; else one of each strategy")
    },
)


def read(_value: Mapping[str, Json], _place: Place) -> Mapping[str, Json]:
    return {}


def places(_place: Place) -> Mapping[str, str]:
    return {}


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
    except InvalidInput as exc:
        raise place.wrong((*path, "name"), exc.message, exc.hint) from None
