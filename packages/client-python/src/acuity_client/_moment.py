"""Points in time."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta, timezone
from typing import Union

Moment = Union[datetime, str, float]
"""A `datetime` with a time zone, ISO 8601 with its offset ("2025-03-01T06:45:00Z"), or seconds since 1970."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*([Zz]|[+-]\d\d:?\d\d)?")
_MILLISECONDS_SUSPECTED_ABOVE = 1e11
"""As seconds, the year 5138: more is milliseconds."""


def moment_ms(moment: Moment, what: str) -> int:
    """
    Milliseconds since 1970; `what` names the moment in the message. Raises ValueError if it is malformed, in
    milliseconds, or a local time without an offset.
    """
    if isinstance(moment, datetime):
        return _of_datetime(moment, what)
    if isinstance(moment, str):
        return _of_text(moment.strip(), what)
    if isinstance(moment, bool) or not isinstance(moment, (int, float)) or not math.isfinite(moment):
        raise ValueError(f"{what} is not a point in time")
    if abs(moment) > _MILLISECONDS_SUSPECTED_ABOVE:
        raise ValueError(f"{what} looks like milliseconds since 1970; give seconds, or a datetime")
    return math.floor(moment * 1000 + 0.5)


def day_ms(day: Moment | date, what: str) -> int:
    """A day of birth needs no offset: it moves the age by less than a day."""
    if isinstance(day, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        try:
            day = date.fromisoformat(day)
        except ValueError:
            raise ValueError(f"{what} is not a day") from None
    if isinstance(day, date) and not isinstance(day, datetime):
        day = datetime(day.year, day.month, day.day, tzinfo=timezone.utc)
    return moment_ms(day, what)


def iso_of(ms: int) -> str:
    """ISO 8601 in UTC with three digits of the second, the form that sorts as text."""
    return (_EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def _of_datetime(moment: datetime, what: str) -> int:
    if moment != moment:  # what pandas has for no time
        raise ValueError(f"{what} is not a point in time")
    if moment.utcoffset() is None:
        raise ValueError(_without_offset(what))
    return int((moment - _EPOCH) // _MICROSECOND) // 1000


def _of_text(text: str, what: str) -> int:
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(f"{what} is not a point in time; give ISO 8601, as 2025-03-01T06:45:00Z")
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    if offset is None:
        raise ValueError(_without_offset(what))
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        zone = timezone.utc if offset in "Zz" else timezone(_offset_of(offset))
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), micros, zone)
    except ValueError:
        raise ValueError(f"{what} is not a point in time") from None
    return _of_datetime(moment, what)


def _offset_of(offset: str) -> timedelta:
    hours, minutes = int(offset[1:3]), int(offset[-2:])
    east = timedelta(hours=hours, minutes=minutes)
    return -east if offset[0] == "-" else east


def _without_offset(what: str) -> str:
    return f"{what}: a time without an offset is another moment on every machine; give it a time zone"
