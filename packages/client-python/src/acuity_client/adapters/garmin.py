"""
Garmin Health API, unverified: its specification is for partners. The names are those of public samples and libraries,
2026-11-22. Times and durations are seconds; samples are dated in seconds after the beginning of their summary.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import durations
from ._field import Field, records_of
from ._records import Sample, Series, SleepDetails, SleepRecord

_STANDINGS = {"AUTO_TENTATIVE": 0, "ENHANCED_TENTATIVE": 0, "ENHANCED_FINAL": 2}
"""Tentative summaries come first, final ones some time later."""


def from_garmin(
    sleep: object = None,
    *,
    daily: object = None,
    respiration: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Garmin's data: sleep summaries, daily summaries (with heart rate) and respiration summaries, each as
    the list or as a notification with `sleeps`, `dailies` or `allDayRespiration`.
    """
    sleeps = _summaries_of(Field(sleep, "sleep", zone), "sleeps")
    days = _summaries_of(Field(daily, "daily", zone), "dailies")
    breaths = _summaries_of(Field(respiration, "respiration", zone), "allDayRespiration")
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if sleeps is None else [_record_of(one) for one in sleeps],
        [_offset_series(day, "timeOffsetHeartRateSamples") for day in days or ()],
        [_offset_series(one, "timeOffsetEpochToBreaths") for one in breaths or ()],
    )


def _summaries_of(sent: Field, name: str) -> list[Field] | None:
    return records_of(sent, f"the list of summaries, or a notification with {name}", many=[name], is_list=True)


def _record_of(field: Field) -> SleepRecord:
    from_ms = field.get("startTimeInSeconds").unix_seconds()
    stages = {
        "deep": field.get("deepSleepDurationInSeconds").number(),
        "rem": field.get("remSleepInSeconds").number(),
        "light": field.get("lightSleepDurationInSeconds").number(),
        "awake": field.get("awakeDurationInSeconds").number(),
    }
    sleep_s = (stages["deep"] or 0) + (stages["rem"] or 0) + (stages["light"] or 0)
    # In most samples the duration is that of sleep, in some it has the time awake in it: the sleep ends where both fit.
    duration_s = field.get("durationInSeconds").number() or 0
    staged_s = sleep_s + (stages["awake"] or 0) + (field.get("unmeasurableSleepInSeconds").number() or 0)
    span = Span(from_ms, from_ms + int(max(duration_s, staged_s) * 1000))

    def read() -> SleepDetails:
        return SleepDetails(
            *durations(field, span, "seconds", stages if sleep_s > 0 else {"asleep": duration_s}),
            breath=_offset_series(field, "timeOffsetSleepRespiration"),
        )

    validation = field.get("validation").text()
    return SleepRecord(
        field,
        span,
        read,
        east_ms=field.get("startTimeOffsetInSeconds").east_seconds(),
        unusable="the watch was off the wrist" if validation == "OFF_WRIST" else None,
        standing=_STANDINGS.get(validation or "", 1),
    )


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
