"""Lengths of time as people write them: 90s, 15m, 1h30m, 7d. Whole seconds, the largest unit first.

It imports nothing, because the command line reads its table of commands with it.
"""

from __future__ import annotations

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def number_in(text: str) -> int:
    """Plain digits alone: int() would take " 5", "1_000" and "٣"."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError
    return int(text)


def seconds_in(text: str) -> int:
    """The seconds that the text means; ValueError where it means none."""
    seconds, digits, units = 0, "", list(SECONDS)
    for letter in text.lower():
        if letter not in units:
            digits += letter
            continue
        seconds += number_in(digits) * SECONDS[letter]
        digits, units = "", units[: units.index(letter)]  # 1h30m, never 30m1h or 1h1h
    if digits or not text:
        raise ValueError
    return seconds
