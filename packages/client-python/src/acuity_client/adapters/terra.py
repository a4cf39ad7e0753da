"""
Terra: data models of its OpenAPI description, https://github.com/tryterra/openapi (schemas/core), 2026-11-22. Times
without an offset are local, unless `metadata.timestamp_localization` says UTC (0).
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._records import Series, SleepDetails, SleepRecord
from ._series import series

_UTC = 0
_LEVELS: dict[float, AnyStage] = {1: "awake", 2: "asleep", 3: "awake", 4: "light", 5: "deep", 6: "rem"}


def from_terra(
    sleep: object = None,
    *,
    daily: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Terra's data: `sleep` is a webhook event of type `sleep`, or the answer of `GET /sleep`; `daily` the
    same of type `daily`, for the heart rate of the day.
    """
    event = Field(sleep, "sleep", zone)
    days = [_heart_of(day) for day in _data_of(Field(daily, "daily", zone), "daily") or ()]
    records = _data_of(event, "sleep")
    sleeps = None if records is None else [_record_of(one, _source_of(event)) for one in records]
    return adapt(Options(at, person, zone, newest_night_within_hours), sleeps, days)


def _data_of(event: Field, kind: str) -> list[Field] | None:
    records = records_of(event, f"an event of type {kind}, or the answer of GET /{kind}, with data", many=["data"])
    given = event.get("type").text()
    if given is not None and given != kind:
        event.get("type").fail(f"expected an event of type {kind}")
    return records


def _source_of(event: Field) -> str | None:
    return None if event.get("user").is_absent else event.get("user", "provider").text()


def _localised(record: Field) -> Field:
    """The record with the zone of its times, where it says that they are in UTC."""
    return record.in_zone("Z") if record.get("metadata", "timestamp_localization").number() == _UTC else record


def _record_of(sent: Field, source: str | None) -> SleepRecord:
    field = _localised(sent)
    metadata = field.get("metadata")
    span = Span(metadata.get("start_time").moment(), metadata.get("end_time").moment())

    def read() -> SleepDetails:
        breaths = field.get("respiration_data", "breaths_data")
        return SleepDetails(
            *_stages_of(field.get("sleep_durations_data"), span),
            heart=_heart_of(field),
            breath=_samples_of(breaths.get("samples"), "breaths_per_min"),
            heart_average=field.get("heart_rate_data", "summary", "avg_hr_bpm"),
            breath_average=breaths.get("avg_breaths_per_min"),
        )

    return SleepRecord(
        field,
        span,
        read,
        east_ms=metadata.get("end_time").east_ms(),
        is_nap=metadata.get("is_nap").flag(),
        source=source,
    )


def _stages_of(field: Field, span: Span) -> Measured:
    asleep = field.get("asleep")
    given = {
        "deep": asleep.get("duration_deep_sleep_state_seconds").number(),
        "rem": asleep.get("duration_REM_sleep_state_seconds").number(),
        "light": asleep.get("duration_light_sleep_state_seconds").number(),
        "awake": field.get("awake", "duration_awake_state_seconds").number(),
        "asleep": asleep.get("duration_asleep_state_seconds").number(),
    }
    stages, asleep_s, left = durations(asleep, span, "seconds", given)
    if stages or asleep_s is not None:
        return stages, asleep_s, left
    samples = field.get("hypnogram_samples")
    points = [
        (_LEVELS.get(one.get("level").number() or 0), one.get("timestamp").moment()) for one in samples.items()
    ]
    ends = [at_ms for _, at_ms in points[1:]] + [span.to_ms]
    return stretches(samples, span, [Stretch(level, at_ms, end) for (level, at_ms), end in zip(points, ends)])


def _heart_of(record: Field) -> Series:
    return _samples_of(_localised(record).get("heart_rate_data", "detailed", "hr_samples"), "bpm")


def _samples_of(samples: Field, name: str) -> Series:
    return series(
        samples,
        samples.items(),
        lambda one: one.get("timestamp").moment(),
        lambda one: one.get(name).number(),
    )
