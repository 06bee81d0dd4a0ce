"""Times: timezone-aware UTC `datetime`s in values, whole microseconds since 1970 in rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from holdfast.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
DAY_US = 86_400_000_000
BEGINNING_US = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
END_US = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - EPOCH) // _MICROSECOND


def to_us(moment: datetime) -> int:
    return (moment - EPOCH) // _MICROSECOND


def given_us(moment: datetime) -> int:
    """The microseconds of a time that a caller gave; one without a zone could mean any moment."""
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            "time_invalid",
            f"a time is a datetime, not {type(moment).__name__}",
            hint="use an aware datetime, such as datetime.now(UTC)",
        )
    if moment.utcoffset() is None:
        raise InvalidInput(
            "time_without_zone",
            f"{moment.isoformat()} says no time zone",
            hint="use an aware datetime, such as datetime.now(UTC)",
        )
    us = to_us(moment)
    if not BEGINNING_US <= us <= END_US:
        raise InvalidInput(
            "time_out_of_range",
            f"{moment.isoformat()} lies outside the years 1 to 9999 in UTC",
            hint="leave the time out, or give the one that was meant",
        )
    return us


def time_in(text: datetime | str | None) -> datetime | None:
    """A time as an agent writes it: ISO 8601, in UTC unless it names a zone."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            "time_invalid",
            "a time is not of the form of ISO 8601",
            hint="write it as 2026-01-15 or 2026-01-15T12:00:00Z",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def from_us(us: int) -> datetime:
    return EPOCH + timedelta(microseconds=us)


def day_of(us: int) -> int:
    """The UTC day that a moment lies in, as days since 1970."""
    return us // DAY_US


def date_of(us: int) -> str:
    """The UTC day that a moment lies in, as `2026-11-18`."""
    return _date(us // DAY_US)


@lru_cache(1_024)
def _date(day: int) -> str:
    return f"{from_us(day * DAY_US):%Y-%m-%d}"


def stamp(moment: datetime) -> str:
    """`2026-11-18T09:30:00.000001Z`: the one way a time is written in text and JSON."""
    text = moment.astimezone(UTC).isoformat(
        timespec="microseconds" if moment.microsecond else "seconds"
    )
    return text.replace("+00:00", "Z")
