"""Dates of nights: the dates on which the person woke."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any

from ._moment import Moment, iso_of, moment_ms
from ._types import Measurement

_OFFSET = re.compile(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})\Z", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_night(night: str | None) -> None:
    """Raises ValueError if it is no date or in the future."""
    if night is None:
        return
    if _date_of(night) is None:
        raise ValueError("the night is a date, as 2026-11-21: that of waking")
    _refuse_ahead(night, _NIGHT)


def check_measured(measurements: Sequence[Measurement]) -> None:
    """Raises ValueError if a measurement's day is no date or in the future."""
    for measurement in measurements:
        on = measurement.get("on")
        if on is None:
            continue
        if _date_of(on) is None:
            raise ValueError("the day of a measurement (on) is a date, as 2026-11-10")
        _refuse_ahead(on, _MEASUREMENT)


def check_night_of(request: Mapping[str, Any]) -> None:
    """Raises ValueError where it would put the newest night of a history, or a measurement, into the future."""
    if not isinstance(request.get("history"), str):
        return
    _refuse_ahead(request.get("night"), _NIGHT)
    measurements = request.get("measurements")
    for measurement in measurements if isinstance(measurements, (list, tuple)) else ():
        if isinstance(measurement, Mapping):
            _refuse_ahead(measurement.get("on"), _MEASUREMENT)


_NIGHT = ("the night", "the date of waking")
_MEASUREMENT = ("a measurement", "the day on which it was taken")


def _refuse_ahead(date_text: object, words: tuple[str, str]) -> None:
    """More than one day ahead: it may already be tomorrow somewhere."""
    day = _date_of(date_text)
    if day is not None and day > datetime.now(timezone.utc).date() + timedelta(days=1):
        what, remedy = words
        raise ValueError(f"{what} lies ahead of this machine's clock: give {remedy}, or set the clock")


def _date_of(night: object) -> date | None:
    if not isinstance(night, str) or not _DATE.fullmatch(night):
        return None
    try:
        return date.fromisoformat(night)
    except ValueError:
        return None


def waking_date(woke: Moment, at: Moment, zone: str | None) -> str:
    """
    The date of waking at a moment: in `zone`, else at the offset of the first of the moments that has one, else in UTC.
    Raises AdapterError if the zone is unknown.
    """
    from .adapters._zone import offset_at  # here, since adapters build sessions

    woke_ms = moment_ms(woke, "the end of the night")
    east_ms = _east_ms(woke) or _east_ms(at) if zone is None else offset_at(woke_ms, zone)
    return iso_of(woke_ms + east_ms)[:10]


def _east_ms(moment: Moment) -> int:
    from .adapters._zone import offset_ms

    if isinstance(moment, datetime):
        return (moment.utcoffset() or timedelta()) // timedelta(milliseconds=1)
    written = _OFFSET.search(moment.strip()) if isinstance(moment, str) else None
    return (written and offset_ms(written[0])) or 0
