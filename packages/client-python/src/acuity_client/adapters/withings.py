"""
Withings: https://developer.withings.com/api-reference (sleepv2-get, sleepv2-getsummary, measurev2-getintradayactivity),
2026-11-22. Times are seconds since 1970, durations seconds. An error comes with HTTP 200 and a `status` other than 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._records import Sample, Series, SleepDetails, SleepRecord
from ._zone import offset_at

_STATES: dict[float, AnyStage] = {0: "awake", 1: "light", 2: "deep", 3: "rem", 4: "asleep"}


def from_withings(
    summary: object = None,
    *,
    sleep: object = None,
    activity: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Withings' answers: `summary` is the answer of `getsummary`, with the data fields of the stages,
    `hr_average` and `rr_average`; `sleep` the answer of `get`, with the data fields `hr` and `rr`; `activity` the
    answer of `getintradayactivity`, with the data fields `heart_rate` and `rr`, which a watch measured by day.
    """
    parts = _series_of(Field(sleep, "sleep"), "get") or []
    records = _series_of(Field(summary, "summary"), "getsummary")
    moments = _moments_of(Field(activity, "activity"))
    heart, breath = (
        [_samples_of(part.get(name)) for part in parts] + _by_device(moments, by_day)
        for name, by_day in (("hr", "heart_rate"), ("rr", "rr"))
    )
    sleeps = None if records is None else [_record_of(record, parts) for record in records]
    return adapt(Options(at, person, zone, newest_night_within_hours), sleeps, heart, breath)


def _check_status(answer: Field) -> None:
    if isinstance(answer.value, dict) and answer.get("status").number() not in (None, 0):
        answer.get("status").fail("the answer is an error")


def _moments_of(answer: Field) -> list[tuple[str, Field]]:
    """`{"1772431200": {"heart_rate": 61, …}}`; an empty array where there is nothing."""
    if answer.is_absent:
        return []
    _check_status(answer)
    body = answer.get("body") if answer.has("body") else answer
    moments = body.get("series") if body is not answer and body.has("series") else None
    if moments is None or (isinstance(moments.value, list) and moments.value):
        answer.expected("the answer of getintradayactivity, with body.series of moments")
    return [] if isinstance(moments.value, list) else moments.entries()


def _by_device(moments: Sequence[tuple[str, Field]], name: str) -> list[Series]:
    """
    A watch beside a mat is another device: its samples count for the night only if the sleep's own device has none.
    """
    groups: dict[str, list[Sample]] = {}
    for seconds, values in moments:
        group = groups.setdefault(_device_of(values) or "", [])
        number = values.get(name).number()
        at_ms = _seconds_ms(seconds, values)
        if number is not None:
            group.append((at_ms, number))
    return [Series(Field(None, f"activity.body.series.{name}"), group, source) for source, group in groups.items()]


def _device_of(field: Field) -> str | None:
    device = field.get("hash_deviceid").text()
    return field.get("deviceid").text() if device is None else device


def _series_of(answer: Field, action: str) -> list[Field] | None:
    _check_status(answer)
    return records_of(answer, f"the answer of {action}, with body.series", many=["body", "series"])


def _record_of(field: Field, parts: Sequence[Field]) -> SleepRecord:
    span = Span(field.get("startdate").unix_seconds(), field.get("enddate").unix_seconds())
    data = field.get("data")

    def read() -> SleepDetails:
        return SleepDetails(
            *_stages_of(data, span, parts), heart_average=data.get("hr_average"), breath_average=data.get("rr_average")
        )

    zone = field.get("timezone").text()
    east_ms = None if zone is None else offset_at(span.to_ms, zone)
    return SleepRecord(field, span, read, east_ms=east_ms, source=_device_of(field))


def _stages_of(data: Field, span: Span, parts: Sequence[Field]) -> Measured:
    given = {
        "deep": data.get("deepsleepduration").number(),
        "rem": data.get("remsleepduration").number(),
        "light": data.get("lightsleepduration").number(),
        "awake": data.get("wakeupduration").number(),
        "asleep": data.get("total_sleep_time").number(),
    }
    if any(value is not None for value in given.values()):
        return durations(data, span, "seconds", given)
    intervals = [
        Stretch(_STATES.get(_state_of(part)), part.get("startdate").unix_seconds(), part.get("enddate").unix_seconds())
        for part in parts
    ]
    within = [one for one in intervals if one.from_ms >= span.from_ms and one.to_ms <= span.to_ms]
    return stretches(data, span, within)


def _state_of(part: Field) -> float:
    state = part.get("state").number()
    return -1 if state is None else state


def _samples_of(field: Field) -> Series:
    """An object of seconds since 1970 and values."""
    samples = []
    for seconds, value in field.entries():
        at_ms = _seconds_ms(seconds, value)
        number = value.number()
        if number is not None:
            samples.append((at_ms, number))
    return Series(field, samples)


def _seconds_ms(seconds: str, field: Field) -> int:
    return Field(int(seconds) if seconds.isdecimal() else 0, field.path).unix_seconds()
