"""Dates and times in a sentence, resolved against the day on which it was said.

"Friday" and "this Friday" are the next one to come, "next Friday" is that of the week after this
one (weeks begin on Monday), "the 10th" the next one to come, "June 5" that of this year, or of the
next where it passed more than two months ago. `12/15/2026` is read only where one of the two
numbers cannot be a month. What repeats ("every day at 9:30") has no date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "a couple of": 2,
}
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_COUNT = r"(?:\d{1,3}|a couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_CLOCK = (
    r"(?:,?\s+(?:at|by|from|@|around)?\s*(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d\d))?\s*(?P<h"
    r"alf>[ap]\.?m\b\.?)?"
    r"(?P<oclock>\s+o'?clock)?(?![\d%]|\s*(?:st|nd|rd|th|years?|days?|people|euros?|dollars?)\b))?"
)
_PATTERN = re.compile(
    r"\b(?:(?:on|by|until|till|before|from|for|due|this coming)\s+)?(?:the\s+)?(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)"
    r"|(?P<slash>\d{1,2}/\d{1,2}/\d{4})"
    rf"|(?P<dom>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month1>{_MONTH})(?:,?\s+(?P<year1"
    rf">\d{{4}}))?"
    rf"|(?P<month2>{_MONTH})\s+(?:the\s+)?(?P<dom2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|"
    rf":)(?:,?\s+(?P<year2>\d{{4}}))?"
    rf"|(?:(?P<which>this|next|last|coming)\s+)?(?P<day>{_DAY})(?!s)"
    r"|(?P<rel>day after tomorrow|tomorrow|tonight|today|yesterday)"
    rf"|in\s+(?P<n>{_COUNT})\s+(?P<unit>days?|weeks?|months?)(?:'? time)?"
    rf"|(?P<n2>{_COUNT})\s+(?P<unit2>days?|weeks?)\s+from\s+(?:today|now)"
    r"|(?P<eom>end of (?:the |this )?month)"
    r"|(?P<nth>\d{1,2})(?:st|nd|rd|th)(?!\s*(?:of each|of every|floor|time|try|grade|place|"
    r"century|edition|\w))"
    r")\b" + _CLOCK,
    re.IGNORECASE,
)
_REPEATS = re.compile(
    r"\b(?:every|each)\s+(?:second\s+|other\s+)?(?:day|week|month|morning|evening|night|"
    r"weekday|year|"
    rf"{_DAY})s?\b(?:\s+at\s+(?P<hour>\d{{1,2}})(?::(?P<minute>\d\d))?\s*(?P<half>[ap]m)?)?",
    re.IGNORECASE,
)


class When(Value):
    """A moment that a sentence names: where it stands in it, the day, the time as `HH:MM`."""

    start: int
    end: int
    day: date | None
    time: str = ""
    past: bool = False

    @property
    def text(self) -> str:
        day = self.day.isoformat() if self.day else ""
        return f"{day} {self.time}".strip()


def moments(text: str, said: date) -> Iterator[When]:
    """The days that a text names, in its order. What no calendar has is left out."""
    for found in _PATTERN.finditer(text):
        day = _day(found, said)
        if day is not None:
            yield When(
                start=found.start(),
                end=found.end(),
                day=day,
                time=_time(found),
                past=day < said,
            )


def repeated(text: str) -> When | None:
    """What repeats, with its time: it has no day."""
    found = _REPEATS.search(text)
    if found is None:
        return None
    return When(start=found.start(), end=found.end(), day=None, time=_time(found))


def _day(found: re.Match[str], said: date) -> date | None:
    part = found.groupdict()
    if part["iso"]:
        return _made(*map(int, part["iso"].split("-")))
    if part["slash"]:
        return _slashed(*map(int, part["slash"].split("/")))
    if part["month1"]:
        return _in_year(part["dom"], part["month1"], part["year1"], said)
    if part["month2"]:
        return _in_year(part["dom2"], part["month2"], part["year2"], said)
    if part["day"]:
        return _weekday(part["day"].lower(), (part["which"] or "").lower(), said)
    if part["rel"]:
        steps = {"yesterday": -1, "tomorrow": 1, "day after tomorrow": 2}
        return said + timedelta(days=steps.get(part["rel"].lower(), 0))
    if part["eom"]:
        return said.replace(day=monthrange(said.year, said.month)[1])
    if part["nth"]:
        return _nth(int(part["nth"]), said)
    count, unit = part["n"] or part["n2"], part["unit"] or part["unit2"]
    return _after(said, _number(count), unit[0].lower())


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _after(said: date, count: int, unit: str) -> date | None:
    if unit == "m":
        months = said.month - 1 + count
        return _made(said.year + months // 12, months % 12 + 1, min(said.day, 28))
    return said + timedelta(days=count * (7 if unit == "w" else 1))


def _made(year: int, month: int, day: int) -> date | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def _slashed(one: int, two: int, year: int) -> date | None:
    if one > 12:
        return _made(year, two, one)
    return _made(year, one, two) if two > 12 or one == two else None


def _month(word: str) -> int:
    return next(
        n for n, name in enumerate(_MONTHS, 1) if name.startswith(word.lower().rstrip(".")[:3])
    )


def _in_year(day: str, month: str, year: str | None, said: date) -> date | None:
    if year:
        return _made(int(year), _month(month), int(day))
    this = _made(said.year, _month(month), int(day))
    if this is not None and said - this > timedelta(days=60):
        return _made(said.year + 1, _month(month), int(day))
    return this


def _weekday(name: str, which: str, said: date) -> date:
    wanted = _DAYS.index(name)
    if which == "next":
        return said + timedelta(days=7 - said.weekday() + wanted)
    if which == "last":
        return said - timedelta(days=(said.weekday() - wanted - 1) % 7 + 1)
    return said + timedelta(days=(wanted - said.weekday() - 1) % 7 + 1)


def _nth(day: int, said: date) -> date | None:
    this = _made(said.year, said.month, day)
    if this is not None and this >= said:
        return this
    year, month = (said.year, said.month + 1) if said.month < 12 else (said.year + 1, 1)
    return _made(year, month, day)


def _time(found: re.Match[str]) -> str:
    part = found.groupdict()
    if not part["hour"]:
        return ""
    hour, half = int(part["hour"]), (part["half"] or "").lower()
    if not (
        part["minute"] or half or part.get("oclock") or re.search(r"\bat\s+\d{1,2}$", found[0])
    ):
        return ""
    minute = int(part["minute"] or 0)
    if half.startswith("p") and hour < 12:
        hour += 12
    if half.startswith("a") and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""
