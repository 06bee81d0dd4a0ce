"""What may stand beside an entry's text: a small JSON object, and where the text came from."""

from __future__ import annotations

from holdfast.core.canonical import canonical
from holdfast.errors import InvalidInput
from holdfast.model.entry import METADATA_BYTES_MAX, ORIGINS
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.model.entry import Json, Origin


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Json]:
    """The metadata as a dict of its own, if it is JSON and not too large."""
    copy = dict(metadata)
    try:
        size = len(canonical(copy))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            "metadata_invalid",
            f"the metadata is not JSON: {type(exc).__name__}",
            hint="use text, numbers, true, false, null, lists and objects with text keys",
        ) from None
    if not _has_text_keys(copy):
        raise InvalidInput(
            "metadata_invalid", "a key in the metadata is not text", hint="use text keys"
        )
    if size > METADATA_BYTES_MAX:
        raise InvalidInput(
            "metadata_too_large",
            f"the metadata has {size:,} bytes; the limit is {METADATA_BYTES_MAX:,}",
            hint="keep large things as files or artifacts",
        )
    return copy


def _has_text_keys(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(item) for key, item in value.items())
    return all(map(_has_text_keys, value)) if isinstance(value, list | tuple) else True


def check_origin(origin: str) -> Origin:
    if origin not in ORIGINS:
        raise InvalidInput(
            "origin_invalid",
            f"{shown(origin)} is not an origin",
            hint=f"one of {', '.join(ORIGINS)}",
        )
    return origin
