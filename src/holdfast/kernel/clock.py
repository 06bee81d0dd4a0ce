"""The clock and the dice that a kernel uses unless it is given others."""

from __future__ import annotations

import os
import time


def now_us() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def random_bytes(count: int, /) -> bytes:
    return os.urandom(count)
