"""What a batch of operations comes to: the one rule for every backend.

Pure: from the operations and what is there now to what shall be there, or to a refusal. A backend
calls `data_of` before it takes its lock, reads those keys, calls `plan`, and writes what it says.
"""

from __future__ import annotations

from holdfast.core.jsonvalue import LIMITS, check_key, encode
from holdfast.errors import Conflict, InvalidInput, Refused
from holdfast.model.keyvalue import MISSING, Delete, Increment, Set
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.core.jsonvalue import Limits
    from holdfast.model.keyvalue import Operation, Stored

TTL_S_MAX = 100 * 365 * 86_400


class Planned(Value):
    """A key as it shall be: a value with its JSON, or gone (`data` is None)."""

    key: str
    value: Any
    data: bytes | None
    existed: bool
    expires_at: datetime | None = None
    number: int | float | None = None


def data_of(operations: Sequence[Operation], limits: Limits = LIMITS) -> dict[str, bytes | None]:
    """The keys, checked, each with the JSON of what it is to be set to.

    Each may stand once, so that the order of operations never matters. What the caller does to a
    value afterwards changes nothing any more.
    """
    found: dict[str, bytes | None] = {}
    for operation in operations:
        if not isinstance(operation, (Set, Delete, Increment)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                "arguments_invalid",
                f"{type(operation).__name__} is no operation on a value",
                hint="use Set, Delete and Increment of holdfast.kernel",
            )
        check_key(operation.key, limits)
        if operation.key in found:
            raise InvalidInput(
                "batch_key_twice",
                f"{shown(operation.key)} stands twice in one batch",
                hint="say once what shall be there at the end",
            )
        found[operation.key] = None
        if isinstance(operation, Set):
            _check_time(operation.expires_at)
            found[operation.key] = encode(operation.value, limits)
    return found


def plan(
    operations: Sequence[Operation],
    before: Mapping[str, Stored | None],
    data: Mapping[str, bytes | None],
    limits: Limits = LIMITS,
    *,
    ends_at: datetime | None = None,
) -> list[Planned]:
    """What each operation comes to, or the Conflict or InvalidInput that stops all of them.

    Of what was there before, the value matters to an increment only. With `ends_at`, what would
    stay for ever stays until then.
    """
    planned = [
        _planned(operation, before[operation.key], data[operation.key], limits)
        for operation in operations
    ]
    if ends_at is None:
        return planned
    return [each if each.expires_at else each.replace(expires_at=ends_at) for each in planned]


def _planned(
    operation: Operation, held: Stored | None, data: bytes | None, limits: Limits
) -> Planned:
    existed = held is not None
    match operation:
        case Set(key=key, value=value, expires_at=until):
            _check_expected(operation, held)
            return Planned(key=key, value=value, data=data, existed=existed, expires_at=until)
        case Delete(key=key):
            _check_expected(operation, held)
            return Planned(key=key, value=None, data=None, existed=existed)
        case Increment(key=key, by=by):
            number = _sum(key, held, by)
            return Planned(
                key=key,
                value=number,
                data=encode(number, limits),
                existed=existed,
                expires_at=held.expires_at if held else None,
                number=number,
            )


def _check_expected(operation: Set | Delete, held: Stored | None) -> None:
    expected = operation.expected
    if expected is None or expected == (MISSING if held is None else held.revision):
        return
    name = shown(operation.key)
    if held is None:
        found = f"{name} has no value, so it is not at revision {shown(expected)}"
    elif expected is MISSING:
        found = f"{name} has a value already, at revision {shown(held.revision)}"
    else:
        found = f"{name} is at revision {shown(held.revision)}, not {shown(expected)}"
    raise Conflict(
        "value_changed",
        f"{found}; nothing was written",
        hint="read it again and decide on what is there now",
    )


def _check_time(until: datetime | None) -> None:
    if until is not None and until.tzinfo is None:
        raise InvalidInput(
            "time_invalid",
            "expires_at has no time zone",
            hint="use datetime.now(UTC) + timedelta(...)",
        )


def _sum(key: str, held: Stored | None, by: float) -> int | float:
    number = 0 if held is None else held.value
    if type(number) not in (int, float) or type(by) not in (int, float):
        raise InvalidInput(
            "value_not_number",
            f"{shown(key)} cannot be incremented: it or the step is no number",
            hint="keep counters under keys of their own",
        )
    try:
        return number + by
    except OverflowError as exc:
        raise InvalidInput(
            "value_not_number",
            f"{shown(key)} cannot be incremented: a float cannot hold the sum",
            hint="add whole numbers to a large whole number",
        ) from exc


def expiry_us(at_us: int, ttl_s: float) -> int:
    """The moment so many seconds after another."""
    if type(ttl_s) not in (int, float) or not 0 < ttl_s <= TTL_S_MAX:
        raise InvalidInput(
            "ttl_invalid",
            "ttl_s is not a number of seconds between 0 and 100 years",
            hint="leave it out for a value that stays",
        )
    return at_us + round(ttl_s * 1_000_000)


def size_of(key: str, data: bytes) -> int:
    """What a value counts for in a quota."""
    return len(key.encode()) + len(data)


def check_quota(namespace: str, used: int, would_use: int, bytes_max: int | None) -> None:
    """Refuse growth beyond the limit. What makes a namespace smaller is always possible."""
    if bytes_max is not None and would_use > bytes_max and would_use > used:
        raise Refused(
            "quota",
            f"{shown(namespace)} would hold {would_use:,} bytes; its limit is {bytes_max:,}",
            hint="delete what is no longer needed, or raise namespace_bytes_max",
        )
