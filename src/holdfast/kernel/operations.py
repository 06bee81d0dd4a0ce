"""What a batch of operations comes to: the one rule for every backend.

Pure: from the operations and what is there now to what shall be there, or to a refusal. A backend
calls `keys_of` before it takes its lock, reads those keys, calls `plan`, and writes what it says.
"""

from __future__ import annotations

from holdfast.core.jsonvalue import LIMITS, check_key, encode
from holdfast.errors import Conflict, InvalidInput, Refused
from holdfast.kernel.backend import MISSING, Delete, Increment, Set
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.core.jsonvalue import Limits
    from holdfast.kernel.backend import Operation, Stored


class Planned(Value):
    """A key as it shall be: a value with its JSON, or gone (`data` is None)."""

    key: str
    value: Any
    data: bytes | None
    existed: bool
    expires_at: datetime | None = None
    number: int | float | None = None


def keys_of(operations: Sequence[Operation], limits: Limits = LIMITS) -> list[str]:
    """The keys, checked. Each may stand once, so that the order of operations never matters."""
    keys: dict[str, None] = {}
    for operation in operations:
        check_key(operation.key, limits)
        if operation.key in keys:
            raise InvalidInput(
                "batch_key_twice",
                f"{shown(operation.key)} stands twice in one batch",
                hint="say once what shall be there at the end",
            )
        keys[operation.key] = None
    return list(keys)


def plan(
    operations: Sequence[Operation], before: Mapping[str, Stored | None], limits: Limits = LIMITS
) -> list[Planned]:
    """What each operation comes to, or the Conflict or InvalidInput that stops all of them."""
    return [_planned(operation, before[operation.key], limits) for operation in operations]


def _planned(operation: Operation, held: Stored | None, limits: Limits) -> Planned:
    existed = held is not None
    match operation:
        case Set(key=key, value=value, expires_at=until):
            _check_expected(operation, held)
            _check_time(until)
            data = encode(value, limits)
            return Planned(key=key, value=value, data=data, existed=existed, expires_at=until)
        case Delete(key=key):
            _check_expected(operation, held)
            return Planned(key=key, value=None, data=None, existed=existed)
        case Increment(key=key, by=by):
            number = _sum(key, held, by)
            until = held.expires_at if held else None
            return Planned(
                key=key,
                value=number,
                data=encode(number, limits),
                existed=existed,
                expires_at=until,
                number=number,
            )


def _check_expected(operation: Set | Delete, held: Stored | None) -> None:
    expected = operation.expected
    if expected is None or expected == (MISSING if held is None else held.revision):
        return
    found = "gone" if held is None else "already there" if expected is MISSING else "another now"
    raise Conflict(
        "value_changed",
        f"the value of {shown(operation.key)} is {found}; nothing was written",
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
