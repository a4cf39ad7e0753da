"""
Withings: Sleep v2, https://developer.withings.com/api-reference (sleepv2-get, sleepv2-getsummary), 2026-11-22. Times are
seconds since 1970, durations seconds. An error comes with HTTP 200 and a `status` other than 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._moment import Moment
from .._sleep import Durations, Span
from ._field import Field
from ._night import Adapted, AnyStage, Person, Series, SleepDetails, SleepRecord, Stretch, adapt, durations, stretches

_STATES: dict[float, AnyStage] = {0: "awake", 1: "light", 2: "deep", 3: "rem", 4: "asleep"}


def from_withings(
    summary: object = None,
    *,
    sleep: object = None,
    at: Moment | None = None,
    person: Person | None = None,
) -> Adapted:
    """
    The session of what Withings sent: `summary` is the answer of `getsummary`, with the data fields of the stages,
    `hr_average` and `rr_average`; `sleep` that of `get`, with the data fields `hr` and `rr`.
    """
    parts = _series_of(Field(sleep, "sleep"))
    records = [_record_of(record, parts) for record in _series_of(Field(summary, "summary"))]
    heart, breath = ([_samples_of(part.get(name)) for part in parts] for name in ("hr", "rr"))
    return adapt(at, person, None if summary is None else records, heart, breath)


def _series_of(answer: Field) -> list[Field]:
    if answer.get("status").number() not in (None, 0):
        answer.get("status").fail("the answer is an error")
    return answer.get("body", "series").items()


def _record_of(field: Field, parts: Sequence[Field]) -> SleepRecord:
    span = Span(field.get("startdate").unix_seconds(), field.get("enddate").unix_seconds())
    data = field.get("data")

    def read() -> SleepDetails:
        return SleepDetails(
            *_stages_of(data, span, parts), heart_average=data.get("hr_average"), breath_average=data.get("rr_average")
        )

    return SleepRecord(field, span, read)


def _stages_of(data: Field, span: Span, parts: Sequence[Field]) -> tuple[Durations, float | None]:
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
