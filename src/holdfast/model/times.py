"""Times: timezone-aware UTC `datetime`s in values, whole microseconds since 1970 in rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from holdfast.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
DAY_US = 86_400_000_000


def to_us(moment: datetime) -> int:
    return (moment - EPOCH) // _MICROSECOND


def given_us(moment: datetime) -> int:
    """The microseconds of a time that a caller gave; one without a zone could mean any moment."""
    if moment.tzinfo is None:
        raise InvalidInput(
            "time_without_zone",
            f"{moment.isoformat()} says no time zone",
            hint="use an aware datetime, such as datetime.now(UTC)",
        )
    return to_us(moment)


def from_us(us: int) -> datetime:
    return EPOCH + timedelta(microseconds=us)


def day_of(us: int) -> int:
    """The UTC day that a moment lies in, as days since 1970."""
    return us // DAY_US


def stamp(moment: datetime) -> str:
    """`2026-11-18T09:30:00.000001Z`: the one way a time is written in text and JSON."""
    text = moment.astimezone(UTC).isoformat(
        timespec="microseconds" if moment.microsecond else "seconds"
    )
    return text.replace("+00:00", "Z")
