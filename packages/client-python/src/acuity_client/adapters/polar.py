"""
Polar AccessLink v3: https://www.polar.com/accesslink-api (sleep, nightly recharge, continuous heart rate), 2026-11-22.
Within a night the times are clock times without a date: they are dated from the sleep's beginning, in its offset.
Answers of v4 are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._polar_v4 import begin_of, heart_days_of, heart_of_v4, night_sleeps_of, nightly_recharges_of, record_of_v4
from ._records import Sample, Series, SleepDetails, SleepRecord

_DAY_MS = 86_400_000
_LEVELS: dict[float, AnyStage] = {0: "awake", 1: "rem", 2: "light", 3: "light", 4: "deep"}
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")


def from_polar(
    sleep: object = None,
    *,
    recharge: object = None,
    heart_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Polar's answers: `sleep` is the answer of `GET /v3/users/sleep`, or one night of it; `recharge` the
    answer of `GET /v3/users/nightly-recharge`, or one night of it, for breathing; `heart_rate` the answer of `GET
    /v3/users/continuous-heart-rate/{date}`, with times in the offset of the sleep or `zone`. Or the answers of
    `/v4/data/sleeps`, `/v4/data/nightly-recharge-results` and `/v4/data/continuous-samples`.
    """
    nights, recharges = Field(sleep, "sleep", zone), Field(recharge, "recharge", zone)
    newer = night_sleeps_of(nights)
    older = _nights_of(nights) if newer is None else None
    of_v4 = nightly_recharges_of(recharges)
    of_v3 = _recharges_of(recharges) if of_v4 is None else None
    begin = older[0].get("sleep_start_time") if older else begin_of(newer[0]) if newer else None
    days = Field(heart_rate, "heartRate", zone or _offset_of(begin))
    records = None if older is None else [_record_of(night, of_v3 or []) for night in older]
    if newer is not None:
        records = [record_of_v4(night, of_v4 or []) for night in newer]
    heart_days = heart_days_of(days)
    if heart_days is None:
        heart = [_heart_of(day) for day in _days_of(days) or ()]
    else:
        heart = [heart_of_v4(day) for day in heart_days]
    return adapt(Options(at, person, zone, newest_night_within_hours), records, heart)


def _nights_of(sent: Field) -> list[Field] | None:
    what = "the answer of /v3/users/sleep, with nights, or of /v4/data/sleeps, with nightSleeps"
    return records_of(sent, what, many=["nights"], one="sleep_start_time")


def _recharges_of(sent: Field) -> list[Field] | None:
    what = "the answer of /v3/users/nightly-recharge, with recharges, or that of v4"
    return records_of(sent, what, many=["recharges"], one="date")


def _days_of(sent: Field) -> list[Field] | None:
    what = "the answer of /v3/users/continuous-heart-rate, of a day or with heart_rates, or that of v4"
    return records_of(sent, what, many=["heart_rates"], one="date")


def _offset_of(begin: Field | None) -> str | None:
    """The offset with which the sleep's start time is written."""
    found = None if begin is None else re.search(r"(Z|[+-][0-9]{2}:?[0-9]{2})$", begin.text() or "")
    return None if found is None else found[1]


def _record_of(field: Field, recharges: Sequence[Field]) -> SleepRecord:
    span = Span(field.get("sleep_start_time").moment(), field.get("sleep_end_time").moment())

    def read() -> SleepDetails:
        day = field.get("date").text()
        recharge = next((one for one in recharges if one.get("date").text() == day), None)
        begin = field.get("sleep_start_time").text() or ""
        details = SleepDetails(
            *_stages_of(field, span, begin),
            heart=_clock_series(field.get("heart_rate_samples"), span.from_ms, begin),
        )
        if recharge is not None:
            details.heart_average = recharge.get("heart_rate_avg")
            details.breath = _clock_series(recharge.get("breathing_samples"), span.from_ms, begin)
            details.breath_average = recharge.get("breathing_rate_avg")
        return details

    return SleepRecord(field, span, read, east_ms=field.get("sleep_end_time").east_ms())


def _stages_of(field: Field, span: Span, begin: str) -> Measured:
    given = {
        "deep": field.get("deep_sleep").number(),
        "rem": field.get("rem_sleep").number(),
        "light": field.get("light_sleep").number(),
        "awake": field.get("total_interruption_duration").number(),
    }
    if given["deep"] is not None or given["light"] is not None:
        return durations(field, span, "seconds", given)
    points = _clock_points(field.get("hypnogram"), span.from_ms, begin)
    ends = [at_ms for at_ms, _ in points[1:]] + [span.to_ms]
    intervals = [
        Stretch(None if level is None else _LEVELS.get(level), at_ms, end) for (at_ms, level), end in zip(points, ends)
    ]
    return stretches(field.get("hypnogram"), span, intervals)


def _clock_points(field: Field, from_ms: int, begin: str) -> list[tuple[int, float | None]]:
    """`{"23:39": 58, "00:04": 56}`: the first time at or after the beginning that has this clock time."""
    found = re.search(r"T([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?", begin)
    hour, minute, second = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    midnight_ms = from_ms - ((hour * 60 + minute) * 60 + second) * 1000
    points: list[tuple[int, float | None]] = []
    for clock, value in field.entries():
        ms = midnight_ms + _clock_ms(clock, value)
        # Samples carry whole minutes: one of the minute that the sleep began in is of the same day.
        points.append((ms + _DAY_MS if ms < from_ms - 60_000 else max(ms, from_ms), value.number()))
    return sorted(points, key=lambda point: point[0])


def _clock_series(field: Field, from_ms: int, begin: str) -> Series:
    points = _clock_points(field, from_ms, begin)
    return Series(field, [(at_ms, number) for at_ms, number in points if number is not None])


def _clock_ms(clock: str, field: Field) -> int:
    found = _CLOCK.fullmatch(clock)
    if found is None:
        field.fail("expected a time of the clock, as 23:39")
    return ((int(found[1]) * 60 + int(found[2])) * 60 + int(found[3] or 0)) * 1000


def _heart_of(day: Field) -> Series:
    date = day.get("date").required(day.get("date").text())
    samples: list[Sample] = []
    for one in day.get("heart_rate_samples").items():
        clock = one.get("sample_time")
        at_ms = Field(f"{date}T{clock.text()}", clock.path, day.zone).moment()
        number = one.get("heart_rate").number()
        if number is not None:
            samples.append((at_ms, number))
    return Series(day.get("heart_rate_samples"), samples)
