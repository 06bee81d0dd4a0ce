"""The kinds of value that an argument or option takes: what each is called, reads, and accepts.

A reader is a pure function of the text and of the moment that "now" means (microseconds since
1970); it raises `ValueError` for everything that is not of its form and nothing else. `form` ends
the sentence "it takes …"; `note` is shown under the options of each command that uses the kind.
Times without a zone are UTC. `datetime` and `json` are imported by the readers that need them, so
that a command which takes neither does not pay for them.
"""

from __future__ import annotations

from holdfast.model.duration import SECONDS, number_in, seconds_in
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

_BYTES = {"": 1, "b": 1} | {
    f"{letter}{ending}": base**power
    for power, letter in enumerate("kmgt", 1)
    for ending, base in (("", 1024), ("ib", 1024), ("b", 1000))
}


class FormError(ValueError):
    """A value is not of its form, and the text says where."""


class Kind(Value):
    metavar: str
    read: Callable[[str, int], object]
    form: str
    note: str = ""
    choices: tuple[str, ...] = ()
    files: str = ""  # what a shell completes by itself: "files" or "folders"


def _text(text: str, _now_us: int) -> str:
    return text


def _filled(text: str, _now_us: int) -> str:
    if not text:
        raise ValueError
    return text


def integer(low: int | None = None, high: int | None = None, *, metavar: str = "N") -> Kind:
    form = "a whole number"
    if low is not None:
        form += f" from {low} to {high}" if high is not None else f", {low} or more"

    def read(text: str, _now_us: int) -> int:
        number = -number_in(text[1:]) if text[:1] == "-" else number_in(text)
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError
        return number

    return Kind(metavar=metavar, read=read, form=form)


def choice(*words: str, metavar: str = "") -> Kind:
    def read(text: str, _now_us: int) -> str:
        if text not in words:
            raise ValueError
        return text

    return Kind(
        metavar=metavar or "|".join(words),
        read=read,
        form=f"one of {', '.join(words)}",
        choices=words,
    )


def _duration(text: str, _now_us: int) -> timedelta:
    from datetime import timedelta

    try:
        return timedelta(seconds=seconds_in(text))
    except OverflowError:
        raise FormError("it is longer than time itself") from None


def _size(text: str, _now_us: int) -> int:
    digits = text.rstrip("KMGTBkmgtbi")
    unit = text[len(digits) :].lower()
    if unit not in _BYTES:
        raise ValueError
    return number_in(digits) * _BYTES[unit]


def _moment(text: str, now_us: int, *, end: bool = False) -> datetime:
    """The moment that the text means; of a whole day its start, or its `end`."""
    from datetime import UTC, datetime, timedelta

    now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=now_us)
    word = text.strip().lower()
    age = word.removeprefix("now-").removesuffix(" ago")
    try:
        if word == "now":
            return now
        if age[-1:] in SECONDS:
            return now - _duration(age, 0)
        if word in ("today", "yesterday"):
            given = now.replace(hour=0, minute=0, second=0, microsecond=0)
            given, is_day = given - timedelta(days=word == "yesterday"), True
        else:
            given = datetime.fromisoformat(text)
            is_day = len(text) <= len("2025-03-01") and "T" not in text.upper()
        moment = given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
        return moment + timedelta(days=1, microseconds=-1) if end and is_day else moment
    except OverflowError:
        raise FormError("it lies outside the years 1 to 9999") from None


def _seq_or_time(text: str, now_us: int) -> int | datetime:
    return number_in(text) if text.isascii() and text.isdigit() else _moment(text, now_us)


def _end(text: str, now_us: int) -> datetime:
    return _moment(text, now_us, end=True)


def _pair(text: str, _now_us: int) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError
    return key, value


def named_value(metavar: str) -> Kind:
    """A name with its value, or alone."""

    def read(text: str, _now_us: int) -> tuple[str, str | None]:
        name, equals, value = text.partition("=")
        if not name:
            raise ValueError
        return name, value if equals else None

    return Kind(metavar=metavar, read=read, form=f"{metavar}")


def _json(text: str, _now_us: int) -> object:
    import json

    def refuse(number: str) -> float:
        raise FormError(f"{number[:20]} is not a JSON number")

    def real(digits: str) -> float:
        number = float(digits)
        return number if number - number == 0 else refuse(digits)  # 1e999 would become infinity

    try:
        return json.loads(text, parse_constant=refuse, parse_float=real)
    except json.JSONDecodeError as exc:
        raise FormError(f"{exc.msg.lower()} at character {exc.pos + 1}") from None
    except RecursionError:
        raise FormError("it is nested too deeply") from None


FLAG = Kind(metavar="", read=_text, form="nothing")
TEXT = Kind(metavar="TEXT", read=_text, form="text")
NAME = Kind(metavar="NAME", read=_filled, form="a name")
PATH = Kind(metavar="PATH", read=_filled, form="a path", files="files")
FOLDER = Kind(metavar="FOLDER", read=_filled, form="a folder", files="folders")
COUNT = integer(0)
DURATION = Kind(
    metavar="DURATION", read=_duration, form="a length of time such as 90s, 15m, 1h30m or 7d"
)
SIZE = Kind(
    metavar="SIZE",
    read=_size,
    form="a size such as 512, 64K, 10MiB or 1GB",
    note="SIZE is in bytes; K, M, G and KiB, MiB, GiB go by 1024, kB, MB, GB by 1000.",
)
TIME = Kind(
    metavar="TIME",
    read=_moment,
    form="a date or time such as 2025-03-01, 2025-03-01T14:30Z, yesterday or 2h",
    note="TIME is a date or a time, in UTC unless it names a zone (2025-03-01, 2025-03-01T14:30, "
    "2025-03-01T14:30+02:00), or `today`, `yesterday`, `now`, or an age such as 2h or 7d. A date "
    "means the start of that day; after `--until`, its end.",
)
UNTIL = TIME.replace(read=_end)
MOMENT = TIME.replace(
    metavar="MOMENT",
    read=_seq_or_time,
    form="the seq of a change, or a date or time such as 2025-03-01, yesterday or 2h",
    note="MOMENT is the seq of a change, as `holdfast log` shows it, or a TIME: a date or a time, "
    "in UTC unless it names a zone, or `today`, `yesterday`, `now`, or an age such as 2h or 7d.",
)
PAIR = Kind(metavar="KEY=VALUE", read=_pair, form="KEY=VALUE")
JSON = Kind(metavar="JSON", read=_json, form='JSON such as 3, "text" or {"a": 1}')
