"""
Oura API v2: https://cloud.ouraring.com/v2/docs (multiple sleep documents, heart rate), 2026-11-22. There is no series
of breathing: `average_breath` is the one sample, in breaths per minute; older documents say otherwise.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import Measured, durations
from ._field import Field, records_of
from ._records import Sample, Series, SleepDetails, SleepRecord
from ._series import series

_PHASES = {"1": "deep", "2": "light", "3": "rem", "4": "awake"}


def from_oura(
    sleep: object = None,
    *,
    heart_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Oura's answers: `sleep` is the answer of `GET /v2/usercollection/sleep`, or one of its documents;
    `heart_rate` the answer of `GET /v2/usercollection/heartrate`.
    """
    what = "the answer of /v2/usercollection/sleep, with data"
    records = records_of(Field(sleep, "sleep", zone), what, many=["data"], one="bedtime_start")
    sent = Field(heart_rate, "heartRate", zone)
    samples = records_of(sent, "the answer of /v2/usercollection/heartrate, with data", many=["data"])
    heart = series(
        sent.get("data"),
        samples or [],
        lambda one: one.get("timestamp").moment(),
        lambda one: one.get("bpm").number(),
    )
    sleeps = None if records is None else [_record_of(one) for one in records]
    return adapt(Options(at, person, zone, newest_night_within_hours), sleeps, [heart])


def _record_of(field: Field) -> SleepRecord:
    kind = field.get("type").text()
    span = Span(field.get("bedtime_start").moment(), field.get("bedtime_end").moment())

    def read() -> SleepDetails:
        return SleepDetails(
            *_stages_of(field, span),
            heart=_series_of(field.get("heart_rate")),
            heart_average=field.get("average_heart_rate"),
            breath_average=field.get("average_breath"),
        )

    return SleepRecord(
        field,
        span,
        read,
        east_ms=field.get("bedtime_end").east_ms(),
        is_nap=kind in ("late_nap", "rest"),
        is_main=kind == "long_sleep",
        unusable="deleted" if kind == "deleted" else None,
    )


def _stages_of(field: Field, span: Span) -> Measured:
    given = {
        "deep": field.get("deep_sleep_duration").number(),
        "rem": field.get("rem_sleep_duration").number(),
        "light": field.get("light_sleep_duration").number(),
        "awake": field.get("awake_time").number(),
        "asleep": field.get("total_sleep_duration").number(),
    }
    if given["deep"] is None and given["light"] is None:
        given.update(_phases_of(field))
    return durations(field, span, "seconds", given)


def _phases_of(field: Field) -> dict[str, float | None]:
    """A digit for each 30 seconds, or for each 5 minutes."""
    phases, step_s = field.get("sleep_phase_30_sec"), 30
    if phases.is_absent:
        phases, step_s = field.get("sleep_phase_5_min"), 300
    digits = phases.text()
    if digits is None:
        return {}
    seconds: dict[str, float | None] = dict.fromkeys(("deep", "rem", "light", "awake"), 0)
    for digit, stage in _PHASES.items():
        seconds[stage] = digits.count(digit) * step_s
    if not set(digits) <= _PHASES.keys():
        phases.fail("expected digits from 1 to 4")
    return seconds


def _series_of(field: Field) -> Series:
    """Evenly spaced; gaps are None."""
    items = field.get("items").items()
    if not items:
        return Series(field, [])
    from_ms = field.get("timestamp").moment()
    step_s = field.get("interval").required(field.get("interval").number())
    samples: list[Sample] = []
    for index, item in enumerate(items):
        value = item.number()
        if value is not None:
            samples.append((int(from_ms + index * step_s * 1000), value))
    return Series(field.get("items"), samples)
