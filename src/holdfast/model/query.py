"""What is asked of a store's entries, and the page that answers."""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.names import shown, told
from holdfast.model.times import BEGINNING_US, END_US
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from holdfast.model.entry import Entry, Json

    Order = Literal["newest", "oldest"]

ORDERS = ("newest", "oldest")
LIMIT_MAX = 1_000
CURSOR_CHARS_MAX = 31
_HEX = frozenset("0123456789abcdef")


class Cursor(Value):
    """The place between two entries: the one that was shown last."""

    when_us: int
    number: int

    def __str__(self) -> str:
        return f"{self.when_us - BEGINNING_US:x}-{self.number:x}"


def cursor_from(text: str) -> Cursor:
    when, _, number = text.partition("-")
    if when and number and _HEX.issuperset(when + number) and len(text) <= CURSOR_CHARS_MAX:
        at = int(when, 16) + BEGINNING_US, int(number, 16)
        if at[0] <= END_US and at[1] < 2**63:
            return Cursor(when_us=at[0], number=at[1])
    raise InvalidInput(
        "cursor_invalid",
        f"{shown(text)} is not a cursor",
        hint="use the cursor that the page before gave",
    )


class EntryQuery(Value):
    """`since_us` is included, `until_us` is not. `match` is text to find, in the query language."""

    since_us: int | None = None
    until_us: int | None = None
    match: str | None = None
    metadata: Mapping[str, Json] = {}
    order: Order = "newest"
    cursor: Cursor | None = None
    limit: int = 20


class Page(Value):
    """`cursor` leads to the next page; None when this one is the last."""

    entries: tuple[Entry, ...]
    cursor: str | None


def check_limit(limit: int, limit_max: int = LIMIT_MAX) -> int:
    if type(limit) is not int or not 1 <= limit <= limit_max:
        raise InvalidInput(
            "limit_invalid",
            f"the limit {told(limit)} is not 1 to {limit_max:,}",
            hint="ask for fewer",
        )
    return limit
