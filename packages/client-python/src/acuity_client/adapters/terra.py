"""
Terra: data models of its OpenAPI description, https://github.com/tryterra/openapi (schemas/core), 2026-11-22. Times
without an offset are local, unless `metadata.timestamp_localization` says UTC (0).
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Durations, Span
from ._field import Field
from ._night import (
    Adapted,
    AnyStage,
    Person,
    Series,
    SleepDetails,
    SleepRecord,
    Stretch,
    adapt,
    durations,
    series,
    stretches,
)

_UTC = 0
_LEVELS: dict[float, AnyStage] = {1: "awake", 2: "asleep", 3: "awake", 4: "light", 5: "deep", 6: "rem"}


def from_terra(
    sleep: object = None,
    *,
    daily: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
) -> Adapted:
    """
    The session of what Terra sent: `sleep` is a webhook event of type `sleep`, or the answer of `GET /sleep`; `daily`
    the same of type `daily`, for the heart rate of the day.
    """
    days = [_heart_of(day, zone) for day in _data_of(Field(daily, "daily"), "daily")]
    sleeps = [_record_of(one, zone) for one in _data_of(Field(sleep, "sleep"), "sleep")]
    return adapt(at, person, None if sleep is None else sleeps, days)


def _data_of(event: Field, kind: str) -> list[Field]:
    given = event.get("type").text()
    if given is not None and given != kind:
        event.get("type").fail(f"expected an event of type {kind}")
    return event.get("data").items()


def _zone_of(record: Field, zone: str | None) -> str | None:
    return "Z" if record.get("metadata", "timestamp_localization").number() == _UTC else zone


def _record_of(field: Field, given: str | None) -> SleepRecord:
    zone = _zone_of(field, given)
    metadata = field.get("metadata")
    span = Span(metadata.get("start_time").moment(zone), metadata.get("end_time").moment(zone))

    def read() -> SleepDetails:
        breaths = field.get("respiration_data", "breaths_data")
        return SleepDetails(
            *_stages_of(field.get("sleep_durations_data"), span, zone),
            heart=_heart_of(field, given),
            breath=_samples_of(breaths.get("samples"), "breaths_per_min", zone),
            heart_average=field.get("heart_rate_data", "summary", "avg_hr_bpm"),
            breath_average=breaths.get("avg_breaths_per_min"),
        )

    return SleepRecord(field, span, read, is_nap=metadata.get("is_nap").flag())


def _stages_of(field: Field, span: Span, zone: str | None) -> tuple[Durations, float | None]:
    asleep = field.get("asleep")
    given = {
        "deep": asleep.get("duration_deep_sleep_state_seconds").number(),
        "rem": asleep.get("duration_REM_sleep_state_seconds").number(),
        "light": asleep.get("duration_light_sleep_state_seconds").number(),
        "awake": field.get("awake", "duration_awake_state_seconds").number(),
        "asleep": asleep.get("duration_asleep_state_seconds").number(),
    }
    stages, asleep_s = durations(asleep, span, "seconds", given)
    if stages or asleep_s is not None:
        return stages, asleep_s
    samples = field.get("hypnogram_samples")
    points = [
        (_LEVELS.get(one.get("level").number() or 0), one.get("timestamp").moment(zone)) for one in samples.items()
    ]
    ends = [at_ms for _, at_ms in points[1:]] + [span.to_ms]
    return stretches(samples, span, [Stretch(level, at_ms, end) for (level, at_ms), end in zip(points, ends)])


def _heart_of(record: Field, zone: str | None) -> Series:
    return _samples_of(record.get("heart_rate_data", "detailed", "hr_samples"), "bpm", _zone_of(record, zone))


def _samples_of(samples: Field, name: str, zone: str | None) -> Series:
    return series(
        samples,
        samples.items(),
        lambda one: one.get("timestamp").moment(zone),
        lambda one: one.get(name).number(),
    )
