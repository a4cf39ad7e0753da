"""
Garmin Health API, unverified: its specification is for partners. The names are those of public samples and libraries,
2026-11-22. Times and durations are seconds; samples stand at seconds after the beginning of their summary.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._field import Field
from ._night import Adapted, Person, Sample, Series, SleepDetails, SleepRecord, adapt, durations


def from_garmin(
    sleep: object = None,
    *,
    daily: object = None,
    respiration: object = None,
    at: Moment | None = None,
    person: Person | None = None,
) -> Adapted:
    """
    The session of what Garmin sent: sleep summaries, daily summaries (they carry heart rate) and respiration
    summaries, each as the list or as a notification with `sleeps`, `dailies` or `allDayRespiration`.
    """
    sleeps = [_record_of(one) for one in _list_of(Field(sleep, "sleep"), "sleeps")]
    days = _list_of(Field(daily, "daily"), "dailies")
    breaths = _list_of(Field(respiration, "respiration"), "allDayRespiration")
    return adapt(
        at,
        person,
        None if sleep is None else sleeps,
        [_offset_series(day, "timeOffsetHeartRateSamples") for day in days],
        [_offset_series(one, "timeOffsetEpochToBreaths") for one in breaths],
    )


def _list_of(sent: Field, name: str) -> list[Field]:
    return (sent if isinstance(sent.value, list) else sent.get(name)).items()


def _record_of(field: Field) -> SleepRecord:
    from_ms = field.get("startTimeInSeconds").unix_seconds()
    stages = {
        "deep": field.get("deepSleepDurationInSeconds").number(),
        "rem": field.get("remSleepInSeconds").number(),
        "light": field.get("lightSleepDurationInSeconds").number(),
        "awake": field.get("awakeDurationInSeconds").number(),
    }
    # Whether the duration has the time awake in it is not known: the sleep ends where both fit.
    sum_s = sum(value or 0 for value in stages.values())
    duration_s = field.get("durationInSeconds").number() or 0
    span = Span(from_ms, from_ms + int(max(duration_s, sum_s) * 1000))

    def read() -> SleepDetails:
        return SleepDetails(
            *durations(field, span, "seconds", stages), breath=_offset_series(field, "timeOffsetSleepRespiration")
        )

    return SleepRecord(field, span, read)


def _offset_series(summary: Field, name: str) -> Series:
    """`{"0": 62, "15": 61}`: seconds after the beginning of the summary."""
    field = summary.get(name)
    if field.is_absent:
        return Series(field, [])
    from_ms = summary.get("startTimeInSeconds").unix_seconds()
    samples: list[Sample] = []
    for seconds, value in field.entries():
        if not seconds.isdecimal():
            value.fail("expected seconds after the beginning")
        number = value.number()
        if number is not None:
            samples.append((from_ms + int(seconds) * 1000, number))
    return Series(field, samples)
