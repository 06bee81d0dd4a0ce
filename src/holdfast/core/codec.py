"""Values to JSON and back.

`plain` is for people and programs outside: field names as keys, times as ISO 8601. `pack` and
`unpack` are for answers that are stored to be given again: every value names its class, so that
what comes back is equal to what went in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from holdfast.model.times import from_us, stamp, to_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Json


def plain(value: Any) -> Json:
    match value:
        case Value():
            return {name: plain(getattr(value, name)) for name in value.fields_}
        case datetime():
            return stamp(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case tuple() | list():
            return [plain(item) for item in value]
        case bytes():
            return value.hex()
        case _:
            return value


def pack(value: Any) -> Json:
    match value:
        case Value():
            fields = {name: pack(getattr(value, name)) for name in value.fields_}
            return {"value": type(value).__name__, "fields": fields}
        case datetime():
            return {"us": to_us(value)}
        case tuple():
            return {"tuple": [pack(item) for item in value]}
        case Mapping() | list():
            return {"json": plain(value)}
        case _:
            return value


def unpack(packed: Any) -> Any:
    match packed:
        case {"value": name, "fields": fields}:
            return _class_named(name)(**{key: unpack(item) for key, item in fields.items()})
        case {"us": us}:
            return from_us(us)
        case {"tuple": items}:
            return tuple(unpack(item) for item in items)
        case {"json": value}:
            return value
        case _:
            return packed


def _class_named(name: str) -> type[Value]:
    waiting = list(Value.__subclasses__())
    for kind in waiting:
        if kind.__name__ == name:
            return kind
        waiting.extend(kind.__subclasses__())
    raise LookupError(name)
