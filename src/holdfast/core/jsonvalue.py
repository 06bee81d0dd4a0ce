"""What a value is: JSON that comes back equal, or is refused.

A value is `None`, a bool, an int, a finite float, a str, a list of values, or a dict from str to
values: of exactly these types, since what JSON would turn into something else (a tuple into a
list, the key 1 into "1", an enum into its number) does not come back equal. Numbers are exact:
ints to 640 digits, the length that every Python can read back whatever its settings, and every
finite float to its last bit, the sign of zero included. Text is what UTF-8 can hold, so no half
characters. Lists and dicts nest to 128 levels; a value that holds itself is deeper than that.

`encode` checks and gives the bytes that backends store, with the members of a dict in their own
order; `decode` gives a fresh value, equal to the one encoded. Nothing here keeps a reference to
what it was given.
"""

from __future__ import annotations

import json
from math import isfinite

from holdfast.core.canonical import encoder
from holdfast.errors import Damaged, InvalidInput
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

DEPTH_MAX = 128
DIGITS_MAX = 640
_INT_BOUND = 10**DIGITS_MAX
_type: Callable[[object], type[object]] = type


class Limits(Value):
    """How long a key and how large a value may be, both in bytes of UTF-8."""

    key_bytes_max: int = 1024
    value_bytes_max: int = 64 * 1024 * 1024


LIMITS = Limits()


def _no_constant(name: str) -> object:
    raise ValueError(name)


_to_text = encoder(sort_keys=False)
_decoder: Any = json.JSONDecoder(parse_constant=_no_constant)
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def encode(value: object, limits: Limits = LIMITS) -> bytes:
    """The value as JSON in UTF-8, or InvalidInput: `value_not_json`, `value_too_large`."""
    if type(value) is str and len(value) > limits.value_bytes_max:
        raise _too_large(len(value), limits)
    room = [limits.value_bytes_max]
    if not _fits(value, DEPTH_MAX, room):
        raise _too_large(limits.value_bytes_max + 1, limits) if room[0] < 0 else _refusal(value)
    try:
        data = _to_text(value).encode()
    except ValueError:  # a float that is no number, or half a character
        raise _refusal(value) from None
    if len(data) > limits.value_bytes_max:
        raise _too_large(len(data), limits)
    return data


def decode(data: bytes) -> Any:
    """The value that these bytes hold, made anew at each call."""
    try:
        text = data.decode()
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError) as exc:
        raise _unreadable(len(data)) from exc
    if end != len(text):
        raise _unreadable(len(data))
    return value


def check_key(key: object, limits: Limits = LIMITS) -> None:
    """A key is 1 to 1,024 bytes of text without NUL. Every other character means itself."""
    bytes_max = limits.key_bytes_max
    if type(key) is str and key.isascii() and 0 < len(key) <= bytes_max and "\0" not in key:
        return
    _check_address(key, "key", bytes_max)


def check_namespace(namespace: object) -> None:
    """A namespace has the form of a key."""
    _check_address(namespace, "namespace", LIMITS.key_bytes_max)


def check_prefix(prefix: object) -> None:
    """A prefix is any text, the empty one too; one that no key can have matches none."""
    if type(prefix) is not str:
        raise InvalidInput(
            "prefix_invalid", "a prefix must be a str", hint="leave it out to list all"
        )


def _check_address(text: object, what: str, bytes_max: int) -> None:
    if type(text) is not str:
        raise InvalidInput(
            f"{what}_invalid",
            f"the {what} is {_kind(text)}, and must be a str",
            hint="write numbers and enums as text: str(7), Colour.RED.value",
        )
    fault = "is empty" if not text else "holds the character NUL" if "\0" in text else _half(text)
    if fault:
        raise InvalidInput(
            f"{what}_invalid", f"the {what} {fault}", hint=f"a {what} is UTF-8 text without NUL"
        )
    size = len(text.encode())
    if size > bytes_max:
        raise InvalidInput(
            f"{what}_too_long",
            f"the {what} has {size:,} bytes; the limit is {bytes_max:,}",
            hint="put long text into the value, and a short name or a digest here",
        )


def _fits(value: Any, depth: int, room: list[int]) -> bool:
    """Whether the value has the types, the depth, the whole numbers and about the size it may have.

    Half characters and floats that are no numbers are left to the encoder, which finds them at
    less cost. The room counts items, so that a small object that repeats its parts level by level
    is refused before it has grown to its full length.
    """
    kind = _type(value)
    if kind is str or kind is bool or kind is float or value is None:
        return True
    if kind is int:
        return -_INT_BOUND < value < _INT_BOUND
    if depth == 0 or (kind is not dict and kind is not list):
        return False
    room[0] -= len(value) + 1
    if room[0] < 0:
        return False
    items = value
    if kind is dict:
        for name in value:
            if type(name) is not str:
                return False
        items = value.values()
    for item in items:  # noqa: SIM110 (all() with a generator takes twice as long)
        if type(item) is not str and not _fits(item, depth - 1, room):
            return False
    return True


def _refusal(value: object) -> InvalidInput:
    """What is wrong and where: by position, since an error carries no text of a value."""
    fault, cure, place = _fault(value, DEPTH_MAX, "") or ("it changed while it was read", "", "")
    return InvalidInput("value_not_json", f"the value cannot be kept: {place}{fault}", hint=cure)


def _fault(value: Any, depth: int, place: str) -> tuple[str, str, str] | None:
    """The first fault, its cure and its place."""
    kind = _type(value)
    if kind is not dict and kind is not list:
        return _own_fault(value, place)
    if depth == 0:
        return f"it nests deeper than {DEPTH_MAX} levels, or holds itself", "keep less of it", ""
    word = "member" if kind is dict else "item"
    pairs: Iterable[tuple[Any, Any]] = (
        value.items() if kind is dict else (("", item) for item in value)
    )
    for number, (name, item) in enumerate(pairs, 1):
        here = f"{place}{word} {number} > "
        if type(name) is not str:
            return f"its key is {_kind(name)}", "JSON has text as keys only: use str(key)", here
        found = _own_fault(name, here) or _fault(item, depth - 1, here)
        if found:
            return found
    return None


def _own_fault(value: Any, place: str) -> tuple[str, str, str] | None:
    kind = _type(value)
    if kind is str and (fault := _half(value)):
        return f"text that {fault}", "decode the bytes that it came from as UTF-8", place
    if kind is int and not -_INT_BOUND < value < _INT_BOUND:
        return f"an int of more than {DIGITS_MAX} digits", "keep it as text", place
    if kind is float and not isfinite(value):
        return "a float that is NaN or infinite", "JSON has neither: use None", place
    if value is None or kind in (str, int, bool, float):
        return None
    return f"it is {_kind(value)}", _CURES.get(kind.__name__, _CURE), place


def _half(text: str) -> str:
    """Says where a character is half, or nothing."""
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        return f"holds half of a character (a lone surrogate) at position {exc.start}"
    return ""


_CURE = "use dict, list, str, int, float, bool and None, of exactly these types"
_CURES = {
    "tuple": "use a list: a tuple would come back as one",
    "set": "use a sorted list",
    "frozenset": "use a sorted list",
    "bytes": "use base64 or hexadecimal text",
    "datetime": "use datetime.isoformat()",
    "Decimal": "use str(number), which keeps every digit",
}


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}" if value is not None else "None"


def _too_large(size: int, limits: Limits) -> InvalidInput:
    return InvalidInput(
        "value_too_large",
        f"the value has {size:,} bytes or more as JSON; the limit is {limits.value_bytes_max:,}",
        hint="save it as an artifact or a file and keep its id",
    )


def _unreadable(size: int) -> Damaged:
    return Damaged(
        "value_unreadable",
        f"a stored value of {size:,} bytes is not JSON",
        hint="it was damaged, or written past Holdfast; restore a backup or delete the key",
    )
