"""The kinds of records, each in a layer of memory: what is so, how it is done, what happened.

What is so (semantic) and how it is done (procedural) is durable. What happened (episodic) closes
when nobody uses it. A kind is `single` where a subject has one of it that is true: another one that
says something else contradicts it. A store may register kinds of its own.
"""

from __future__ import annotations

from holdfast.core.forms import Misfit, mapping
from holdfast.core.forms import Named as NamedForm
from holdfast.errors import InvalidInput
from holdfast.model.names import check_str, shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from holdfast.core.forms import Path
    from holdfast.model.entry import Json

    Layer = Literal["semantic", "procedural", "episodic"]

LAYERS = ("semantic", "procedural", "episodic")
KIND = "project_fact"
KIND_CHARS_MAX = 40
_MEMBERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


class RecordKind(Value):
    name: str
    layer: Layer
    single: bool


_SEMANTIC = ("project_fact", "constraint", "decision", "preference")
BUILT_IN: Mapping[str, RecordKind] = {
    **{name: RecordKind(name=name, layer="semantic", single=True) for name in _SEMANTIC},
    "fix": RecordKind(name="fix", layer="procedural", single=False),
    "command_result": RecordKind(name="command_result", layer="procedural", single=True),
    "task_state": RecordKind(name="task_state", layer="episodic", single=True),
    "failure": RecordKind(name="failure", layer="episodic", single=False),
}


class KindsForm(NamedForm):
    """Kinds of a store's own: each name with its layer."""

    def read(self, value: Any, path: Path) -> Json:
        for name in mapping(value, path):
            if not 0 < len(name) <= KIND_CHARS_MAX or not _MEMBERS.issuperset(name):
                what = f"{shown(name)} cannot be a kind of records"
                raise Misfit((*path, name), what, "use a-z, 0-9 and _, such as runbook")
            if name in BUILT_IN:
                what = f"the kind {name} is built in"
                raise Misfit((*path, name), what, "leave it out, or choose another name")
        return super().read(value, path)


def kinds_of(options: Mapping[str, Json]) -> Mapping[str, RecordKind]:
    """The kinds of a store: those that are built in, and those that it registers."""
    own = options.get("kinds")
    if not isinstance(own, dict):
        return BUILT_IN
    layers: dict[str, Any] = {**own}
    return {
        **BUILT_IN,
        **{
            name: RecordKind(name=name, layer=layer, single=layer == "semantic")
            for name, layer in layers.items()
        },
    }


def kind_named(kinds: Mapping[str, RecordKind], name: str) -> RecordKind:
    check_str(name, "the kind")
    found = kinds.get(name)
    if found is None:
        raise InvalidInput(
            "kind_unknown",
            f"there is no kind of records {shown(name)}",
            hint=f"one of {', '.join(kinds)}; workspace.yml may register more",
        )
    return found


def layer_of(kinds: Mapping[str, RecordKind], name: str) -> Layer:
    """The layer of a record's kind; one that is no longer registered is durable."""
    found = kinds.get(name)
    return "semantic" if found is None else found.layer


def in_layer(kinds: Mapping[str, RecordKind], layer: str) -> tuple[str, ...]:
    if layer not in LAYERS:
        raise InvalidInput(
            "layer_unknown", f"there is no layer {shown(layer)}", hint=f"one of {', '.join(LAYERS)}"
        )
    return tuple(each.name for each in kinds.values() if each.layer == layer)


def check_kinds(kinds: Mapping[str, RecordKind], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(kind_named(kinds, name).name for name in names)
