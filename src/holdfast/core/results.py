"""What a tool gave, as JSON for an agent, and the JSON Schema of that.

An agent pays for every word, so a result says only what it has to say: fields that hold what they
hold anyway are left out, and the schema says what there may be. A result is an object; what is none
stands under `result`. What is `Readable` is read as its text.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import UnionType
from typing import Union, get_args, get_origin

from holdfast.core.codec import plain
from holdfast.model.value import Readable, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Json

RESULT = "result"

_PLAIN_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "float": "number"}
_GENERIC_TYPES = {"tuple": "array", "list": "array", "Mapping": "object", "dict": "object"}
_OBJECT = {"type": "object"}


def brief(value: Any) -> Json:
    """The JSON of a value without the fields that hold their defaults."""
    match value:
        case Value():
            defaults = value.defaults_
            return {
                name: brief(getattr(value, name))
                for name in value.fields_
                if name not in defaults or getattr(value, name) != defaults[name]
            }
        case Mapping():
            return {str(key): brief(item) for key, item in value.items()}
        case tuple() | list():
            return [brief(item) for item in value]
        case _:
            return plain(value)


def result_of(value: Any) -> dict[str, Json]:
    found = brief(value)
    return found if isinstance(found, dict) else {RESULT: found}


def text_of(value: Any, found: dict[str, Json]) -> str:
    """How an agent reads a result: as it is to be read, else as its JSON."""
    if isinstance(value, Readable) and value.text:
        return value.text
    from json import dumps

    return dumps(found, ensure_ascii=False, separators=(",", ":"))


def result_schema(annotation: Any) -> dict[str, Any]:
    """The schema of what `result_of` makes of a value of this type, one level deep, as far as it
    says anything: agents pay for its words too."""
    members = _members(annotation)
    known = _fields_of(members[0]) if len(members) == 1 else {}
    properties = {name: form for name, form in known.items() if form}
    return {"type": "object", **({"properties": properties} if properties else {})}


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _fields_of(kind: Any) -> dict[str, dict[str, Any]]:
    if not _is_value(kind):
        form = _form(getattr(get_origin(kind) or kind, "__name__", ""))
        return {} if form == _OBJECT else {RESULT: form}
    annotations = {
        name: str(text)
        for each in reversed(kind.__mro__)
        for name, text in inspect.get_annotations(each).items()
    }
    return {name: _form(annotations[name]) for name in kind.fields_}


def _is_value(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Value)


def _form(annotation: str) -> dict[str, Any]:
    """The schema of a field whose type is written so; anything where that does not say."""
    name = annotation.partition("[")[0]
    found = _PLAIN_TYPES.get(annotation) or _GENERIC_TYPES.get(name)
    return {"type": found} if found else {}
