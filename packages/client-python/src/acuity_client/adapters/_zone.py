"""Local times."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from ._error import AdapterError

_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?(?:\.([0-9]+))?"
    r"(?:\s*([Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]))?"
)
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):?([0-5][0-9])")
_EPOCH = datetime(1970, 1, 1)
_LAST = datetime(2150, 1, 1)
"""Years outside are no years of a watch."""
_MILLISECOND = timedelta(milliseconds=1)


class Written(NamedTuple):
    """A time as it was written, with its offset if it has one."""

    clock: datetime | None
    """The local time; None where there is no such time, as on 30 February."""
    offset: str | None
    """"Z", "+01:00"; None where there is none."""


def written_time(text: str) -> Written | None:
    """None where the text is no time at all; Apple Health writes spaces between the parts."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    *numbers, fraction, offset = found.groups()
    try:
        clock = datetime(*(int(number or 0) for number in numbers))  # type: ignore[arg-type]
    except ValueError:
        return Written(None, offset)
    if not _EPOCH <= clock < _LAST:
        return Written(None, offset)
    return Written(clock + timedelta(microseconds=int((fraction or "0").ljust(6, "0")[:6])), offset)


def local_ms(clock: datetime, zone: str) -> int:
    """
    Milliseconds since 1970 of a local time in `zone`: an offset ("+01:00", "Z") or a name ("Europe/Berlin"). In an hour
    that the clocks repeat, the first; in one that they skip, as if they had not. Raises AdapterError if the zone is
    unknown.
    """
    offset = clock.replace(tzinfo=_zone_of(zone)).utcoffset()
    assert offset is not None
    return (clock - offset - _EPOCH) // _MILLISECOND


def offset_ms(zone: str) -> int | None:
    """East of UTC, in milliseconds; None where it is no offset."""
    if zone in ("Z", "z"):
        return 0
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return None
    east = (int(found[2]) * 60 + int(found[3])) * 60_000
    return -east if found[1] == "-" else east


def offset_at(ms: int, zone: str) -> int:
    """How far `zone` is east of UTC at a moment, in milliseconds. Raises AdapterError as above."""
    there = (_EPOCH + ms * _MILLISECOND).replace(tzinfo=timezone.utc).astimezone(_zone_of(zone))
    offset = there.utcoffset()
    assert offset is not None
    return offset // _MILLISECOND


def _zone_of(zone: str) -> tzinfo:
    if isinstance(zone, str):
        east = offset_ms(zone)
        if east is not None:
            return timezone(east * _MILLISECOND)
        name = _names().get(zone.lower())
        if name is not None:
            return ZoneInfo(name)
    raise AdapterError("zone", "there is no such time zone; give an offset, as +01:00, or a name, as Europe/Berlin")


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Names count however they are written, as in the other languages."""
    return {name.lower(): name for name in available_timezones()}
