"""
Apple Health export: `export.xml` of the Health app; types and values as in
https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22. The format of the file is
not documented beyond the DTD at its beginning. The file holds the records of every app from all years and can't be
edited by its owner, so only records near the night are kept and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

from .._moment import Moment
from .._sleep import Span
from .._units import reading
from ._adapt import Adapted, Options, Person, adapt, given_moment, within_hours
from ._apple_export import Exported, ExportRecord, elements_of
from ._durations import AnyStage, Stretch, stretches
from ._error import AdapterError
from ._field import Field
from ._pieces import Piece, by_source, groups_of, pieces_within
from ._recent import Days, Recent
from ._records import Left, Series, SleepDetails, SleepRecord

_SLEEP = "HKCategoryTypeIdentifierSleepAnalysis"
_HEART = "HKQuantityTypeIdentifierHeartRate"
_BREATH = "HKQuantityTypeIdentifierRespiratoryRate"
_KINDS = frozenset((_SLEEP, _HEART, _BREATH))
_VALUES: dict[str, AnyStage] = {
    "AsleepDeep": "deep",
    "AsleepREM": "rem",
    "AsleepCore": "light",
    "Awake": "awake",
    "Asleep": "asleep",
    "AsleepUnspecified": "asleep",
}
"""After `HKCategoryValueSleepAnalysis`. "InBed" is no sleep, and lies over the others."""
_PER_MINUTE = {"count/min": 1, "count/s": 60}
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_SLEEP_DAYS = 4
_SAMPLE_DAYS = 14
"""
Without a moment to score: the types come one after the other, and the newest heartbeat may be later than the newest
sleep.
"""
_OLD = "samples go on for weeks after the newest sleep: give its morning as the moment to score"


_Value = TypeVar("_Value")


class _Reading(NamedTuple):
    at_ms: int
    value: float
    """Per minute; a sentinel where the unit is not known."""
    path: str | None = None
    """What to name then."""


def from_apple_health(
    export: str | Iterable[str],
    *,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of an export of the Health app: `export` is the text of `export.xml`, in one piece or in several (an
    open file gives lines); read large ones in pieces.
    """
    kept = _Kept(given_moment(at, zone), within_hours(newest_night_within_hours), zone)
    for element in elements_of([export] if isinstance(export, str) else export, _KINDS):
        if isinstance(element, Exported):
            kept.exported(element.at)
        else:
            kept.add(element)
    heart, breath = kept.readings(kept.heart), kept.readings(kept.breath)
    sleeps = _sleeps_of(kept, [*heart, *breath])
    unread = kept.unread_near()
    options = Options(at, person, zone, newest_night_within_hours)
    try:
        adapted = adapt(options, sleeps, [_series_of(_HEART, heart)], [_series_of(_BREATH, breath)])
    except AdapterError as error:
        # Where nothing else can be scored, what could not be read is why.
        if not unread or error.field != "sleep":
            raise
        raise AdapterError(*unread[0]) from None
    return replace(adapted, left=adapted.left + unread)


class _Kept:
    """What lies near the moment to score, or else is newest."""

    def __init__(self, at_ms: int | None, hours: float, zone: str | None) -> None:
        self._zone = zone
        around = None
        if at_ms is not None:
            around = Days(_day_of(at_ms - hours * _HOUR_MS - 2 * _DAY_MS), _day_of(at_ms + _DAY_MS))
        self.sleep: Recent[Piece] = Recent(around, _SLEEP_DAYS)
        self.heart: Recent[ExportRecord] = Recent(around, _SAMPLE_DAYS)
        self.breath: Recent[ExportRecord] = Recent(around, _SAMPLE_DAYS)
        self._unread: Recent[tuple[int, Left]] = Recent(around, _SLEEP_DAYS)
        self._last_day: int | None = None

    def exported(self, at: str) -> None:
        """A clock that went wrong once writes days to come."""
        day = _day_at(at)
        if day is not None:
            self._last_day = day + 1

    def add(self, record: ExportRecord) -> None:
        day = _day_at(record.attribute("startDate"))
        if day is None or (self._last_day is not None and day > self._last_day):
            return
        if record.kind == _SLEEP:
            self._guarded(record, lambda: self._add_sleep(day, record))
        else:
            (self.heart if record.kind == _HEART else self.breath).add(day, record)

    def readings(self, records: Recent[ExportRecord]) -> list[_Reading]:
        """Read once all is there: most records go before that."""
        read = (self._guarded(record, partial(_reading_of, record, self._zone)) for record in records.items())
        return [one for one in read if one is not None]

    def _guarded(self, record: ExportRecord, work: Callable[[], _Value]) -> _Value | None:
        try:
            return work()
        except AdapterError as error:
            day = _day_at(record.attribute("startDate"))
            self._leave(0 if day is None else day, error.field, str(error)[len(error.field) + 2 :])
            return None

    def _add_sleep(self, day: int, record: ExportRecord) -> None:
        stage = _VALUES.get((record.attribute("value") or "").replace("HKCategoryValueSleepAnalysis", ""))
        if stage is None:
            return
        until = _field_of(record, "endDate", self._zone)
        from_ms, to_ms = _field_of(record, "startDate", self._zone).moment(), until.moment()
        if to_ms <= from_ms:
            self._leave(day, record.path, "ends before it begins")
        elif to_ms - from_ms > _DAY_MS:
            self._leave(day, record.path, "is longer than a day")
        else:
            source = record.attribute("sourceName") or ""
            self.sleep.add(day, Piece(Stretch(stage, from_ms, to_ms), record.path, until.east_ms(), source))

    def _leave(self, day: int, what: str, why: str) -> None:
        self._unread.add(day, (day, Left(what, why)))

    def unread_near(self) -> list[Left]:
        """What could not be read of the days of the sleeps that are kept."""
        return [left for day, left in self._unread.items() if self.sleep.holds(day)]


def _field_of(record: ExportRecord, name: str, zone: str | None) -> Field:
    return Field(record.attribute(name), f"{record.path}.{name}", zone)


def _day_of(ms: float) -> int:
    """Days since 1970."""
    return int(ms // _DAY_MS)


@lru_cache(maxsize=64)
def _day_named(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


_EPOCH = date(1970, 1, 1).toordinal()


def _day_at(text: str | None) -> int | None:
    """That of the date that a time begins with."""
    return _day_named((text or "")[:10])


def _reading_of(record: ExportRecord, zone: str | None) -> _Reading:
    at_ms = _field_of(record, "startDate", zone).moment()
    factor = _PER_MINUTE.get(record.attribute("unit") or "")
    if factor is None:
        return _Reading(at_ms, 0, record.path)
    return _Reading(at_ms, (reading(_number(record.attribute("value"))) or 0) * factor)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _sleeps_of(kept: _Kept, readings: Sequence[_Reading]) -> list[SleepRecord]:
    """Devices overlap: of each its own stretches are put together."""
    return [
        _sleep_of(kept, readings, pieces, group)
        for pieces in by_source(kept.sleep.items())
        for group in groups_of(pieces)
    ]


def _sleep_of(
    kept: _Kept, readings: Sequence[_Reading], pieces: Sequence[Piece], group: Sequence[Stretch]
) -> SleepRecord:
    span = Span(group[0].from_ms, group[-1].to_ms)
    first, last = pieces_within(pieces, span)
    field = Field(None, first.path)

    def read() -> SleepDetails:
        _check_units(readings, span)
        details = SleepDetails(*stretches(field, span, group))
        day = _day_of(span.from_ms)
        if kept.heart.lacks(day) or kept.breath.lacks(day):
            details.left = [*details.left, Left("export", _OLD)]
        return details

    return SleepRecord(field, span, read, east_ms=last.east_ms, source=last.source)


def _check_units(readings: Sequence[_Reading], span: Span) -> None:
    """Raises AdapterError where a sample of the night has a unit that is not known."""
    for one in readings:
        if one.path is not None and span.from_ms <= one.at_ms <= span.to_ms:
            raise AdapterError(f"{one.path}.unit", "expected count/min")


def _series_of(kind: str, readings: Sequence[_Reading]) -> Series:
    return Series(Field(None, f"export.{kind}"), [(one.at_ms, one.value) for one in readings])
