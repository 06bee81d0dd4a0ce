"""What may stand beside an entry's text: a small JSON object, and where the text came from."""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.core.canonical import canonical
from holdfast.errors import InvalidInput
from holdfast.model.entry import METADATA_BYTES_MAX, METADATA_DEPTH_MAX, ORIGINS
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Json, Origin


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Json]:
    """The metadata as a dict of its own, if it is JSON and not too large."""
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("metadata_invalid", "the metadata is no mapping", hint="use a dict")
    try:
        data = canonical(dict(metadata))
        copy: dict[str, Json] = json.loads(data)
    except (TypeError, ValueError, RecursionError) as exc:  # UnicodeEncodeError is a ValueError
        raise InvalidInput(
            "metadata_invalid",
            f"the metadata is not JSON: {type(exc).__name__}",
            hint="use text, numbers, true, false, null, lists and objects with text keys",
        ) from None
    fault = _fault(metadata, METADATA_DEPTH_MAX)
    if fault:
        raise InvalidInput("metadata_invalid", f"the metadata {fault}", hint="keep it plain")
    if len(data) > METADATA_BYTES_MAX:
        raise InvalidInput(
            "metadata_too_large",
            f"the metadata has {len(data):,} bytes; the limit is {METADATA_BYTES_MAX:,}",
            hint="keep large things as files or artifacts",
        )
    return copy


def _fault(value: object, depth: int) -> str:
    """What would not come back as it is: other types than JSON has, or too deep a nest."""
    if depth < 0:
        return f"nests deeper than {METADATA_DEPTH_MAX} levels"
    if isinstance(value, Mapping):
        if not all(type(key) is str for key in value):
            return "has a key that is not text"
        return next(filter(None, (_fault(item, depth - 1) for item in value.values())), "")
    if type(value) is list:
        return next(filter(None, (_fault(item, depth - 1) for item in value)), "")
    plain = value is None or type(value) in (str, int, float, bool)
    return "" if plain else f"holds a {type(value).__name__}, which would not come back equal"


def check_origin(origin: str) -> Origin:
    if origin not in ORIGINS:
        raise InvalidInput(
            "origin_invalid",
            f"{shown(origin)} is not an origin",
            hint=f"one of {', '.join(ORIGINS)}",
        )
    return origin
