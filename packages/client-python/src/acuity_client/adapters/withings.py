"""
Withings: Sleep v2, https://developer.withings.com/api-reference (sleepv2-get, sleepv2-getsummary), 2026-11-22. Times are
seconds since 1970, durations seconds. An error comes with HTTP 200 and a `status` other than 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._records import Series, SleepDetails, SleepRecord
from ._zone import offset_at

_STATES: dict[float, AnyStage] = {0: "awake", 1: "light", 2: "deep", 3: "rem", 4: "asleep"}


def from_withings(
    summary: object = None,
    *,
    sleep: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of what Withings sent: `summary` is the answer of `getsummary`, with the data fields of the stages,
    `hr_average` and `rr_average`; `sleep` that of `get`, with the data fields `hr` and `rr`.
    """
    parts = _series_of(Field(sleep, "sleep"), "get") or []
    records = _series_of(Field(summary, "summary"), "getsummary")
    heart, breath = ([_samples_of(part.get(name)) for part in parts] for name in ("hr", "rr"))
    sleeps = None if records is None else [_record_of(record, parts) for record in records]
    return adapt(Options(at, person, zone, newest_night_within_hours), sleeps, heart, breath)


def _series_of(answer: Field, action: str) -> list[Field] | None:
    if isinstance(answer.value, dict) and answer.get("status").number() not in (None, 0):
        answer.get("status").fail("the answer is an error")
    return records_of(answer, f"the answer of {action}, with body.series", many=["body", "series"])


def _record_of(field: Field, parts: Sequence[Field]) -> SleepRecord:
    span = Span(field.get("startdate").unix_seconds(), field.get("enddate").unix_seconds())
    data = field.get("data")

    def read() -> SleepDetails:
        return SleepDetails(
            *_stages_of(data, span, parts), heart_average=data.get("hr_average"), breath_average=data.get("rr_average")
        )

    zone = field.get("timezone").text()
    return SleepRecord(field, span, read, east_ms=None if zone is None else offset_at(span.to_ms, zone))


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
        at_ms = Field(int(seconds) if seconds.isdecimal() else 0, value.path).unix_seconds()
        number = value.number()
        if number is not None:
            samples.append((at_ms, number))
    return Series(field, samples)
