"""Regular expressions that are compiled when they are first used: a start needs few of them."""

from __future__ import annotations

import re
from functools import cache, partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def lazily(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A function that gives the compiled pattern."""
    return cache(partial(re.compile, pattern, flags))
