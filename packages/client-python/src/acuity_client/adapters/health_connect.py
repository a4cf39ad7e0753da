"""
Health Connect (Android): the records by the names of their fields in
https://developer.android.com/reference/kotlin/androidx/health/connect/client/records, 2026-11-22, times as ISO 8601. An
app has to send them; Health Connect itself has no JSON.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._field import Field
from ._night import Adapted, AnyStage, Person, SleepDetails, SleepRecord, Stretch, adapt, series, stretches

_STAGES: dict[float, AnyStage] = {1: "awake", 2: "asleep", 3: "awake", 4: "light", 5: "deep", 6: "rem", 7: "awake"}
"""0 is unknown."""


def from_health_connect(
    sleep: object = None,
    *,
    heart_rate: object = None,
    respiratory_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
) -> Adapted:
    """
    The session of what an app read of Health Connect: records of `SleepSessionRecord`, `HeartRateRecord` and
    `RespiratoryRateRecord`.
    """
    sleeps = [_record_of(record) for record in Field(sleep, "sleep").items()]
    hearts = Field(heart_rate, "heartRate")
    samples = [sample for record in hearts.items() for sample in record.get("samples").items()]
    breaths = Field(respiratory_rate, "respiratoryRate")
    return adapt(
        at,
        person,
        None if sleep is None else sleeps,
        [series(hearts, samples, _at_ms, lambda one: one.get("beatsPerMinute").number())],
        [series(breaths, breaths.items(), _at_ms, lambda one: one.get("rate").number())],
    )


def _at_ms(sample: Field) -> int:
    return sample.get("time").moment()


def _record_of(field: Field) -> SleepRecord:
    """A session without stages says when somebody lay in bed, not how long they slept."""
    span = Span(field.get("startTime").moment(), field.get("endTime").moment())
    stages = field.get("stages")

    def read() -> SleepDetails:
        intervals = [
            Stretch(
                _STAGES.get(one.get("stage").number() or 0),
                one.get("startTime").moment(),
                one.get("endTime").moment(),
            )
            for one in stages.items()
        ]
        return SleepDetails(*stretches(stages, span, intervals))

    return SleepRecord(field, span, read)
