"""Local times."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"(?:\s*([Zz]|[+-][0-9]{2}:?[0-9]{2}))?"
)
_EPOCH = datetime(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)


def clock_of(text: str) -> tuple[datetime | None, str | None]:
    """
    The local time, and the offset where it has one; Apple Health writes spaces between them.

    A time that can't be has an offset of "" and no clock; what is no time at all has neither.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None, None
    *numbers, fraction, offset = found.groups()
    try:
        clock = datetime(*(int(number or 0) for number in numbers))  # type: ignore[arg-type]
    except ValueError:
        return None, offset or ""
    return clock + timedelta(microseconds=int((fraction or "0").ljust(6, "0")[:6])), offset


def local_ms(clock: datetime, zone: str) -> int:
    """
    Milliseconds since 1970 of a local time in `zone`: an offset ("+01:00", "Z") or a name ("Europe/Berlin").

    Of an hour that the clocks run through twice, the first; of one that they skip, as if they had not.
    """
    offset = clock.replace(tzinfo=_zone_of(zone)).utcoffset()
    assert offset is not None
    return (clock - offset - _EPOCH) // _MILLISECOND


def _zone_of(zone: str) -> tzinfo:
    if zone in ("Z", "z"):
        return timezone.utc
    found = re.fullmatch(r"([+-])([0-9]{2}):?([0-9]{2})", zone)
    if found is not None:
        east = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(-east if found[1] == "-" else east)
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("there is no such time zone") from None
