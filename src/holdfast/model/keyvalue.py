"""Values by key: what a backend keeps, what may be asked of it in one step, what came of that."""

from __future__ import annotations

from enum import Enum

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Final, Literal


class Missing(Enum):
    """The answer of a backend for a key that is not there. `None` is a value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> Literal[False]:
        return False


MISSING: Final = Missing.MISSING


class Stored(Value):
    """A value with what a backend knows of it. Equal revisions mean an equal value."""

    key: str
    value: Any
    revision: str
    expires_at: datetime | None = None


class Set(Value):
    """Keep a value. Without `expires_at` it stays, whatever was said of the one before.

    `expected` is the revision that must be there, or MISSING where nothing may be.
    """

    key: str
    value: Any
    expires_at: datetime | None = None
    expected: str | Missing | None = None


class Delete(Value):
    """Remove a key, if its revision is the expected one where one is given."""

    key: str
    expected: str | None = None


class Increment(Value):
    """Add to a number, which starts at 0 and keeps its expiry."""

    key: str
    by: float = 1


class Outcome(Value):
    """What an operation came to: what was there, what is there now."""

    existed: bool
    revision: str | None
    number: int | float | None = None


class ValueChange(Value):
    """A key was set or deleted. It says no more: read the key to know what is there now."""

    namespace: str
    key: str
    deleted: bool = False


if TYPE_CHECKING:
    Operation = Set | Delete | Increment
