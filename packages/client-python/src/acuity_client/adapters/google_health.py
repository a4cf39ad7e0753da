"""
Google Health API v4, in the place of the Fitbit Web API: https://developers.google.com/health/reference/rest/v4,
2026-11-22. Durations are minutes, whole numbers stand in quotes. Breathing is one average for each sleep.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._moment import Moment
from .._sleep import Durations, Span
from ._field import Field
from ._night import Adapted, AnyStage, Person, SleepDetails, SleepRecord, Stretch, adapt, durations, series, stretches

_STAGES: dict[str, AnyStage] = {
    "DEEP": "deep",
    "REM": "rem",
    "LIGHT": "light",
    "AWAKE": "awake",
    "ASLEEP": "asleep",
    "RESTLESS": "awake",
}
_SUMMARY_LATE_MAX_MS = 12 * 3_600_000
"""The summary of a sleep is of its time, or soon after."""


def from_google_health(
    sleep: object = None,
    *,
    heart_rate: object = None,
    respiratory_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
) -> Adapted:
    """
    The session of what the Google Health API sent: the answers of
    `GET /v4/users/me/dataTypes/{dataType}/dataPoints` for `sleep`, `heart-rate` and `respiratory-rate-sleep-summary`.
    """
    breaths = _points_of(respiratory_rate, "respiratoryRate", "respiratoryRateSleepSummary")
    records = [_record_of(point, breaths) for point in _points_of(sleep, "sleep", "sleep")]
    hearts = _points_of(heart_rate, "heartRate", "heartRate")
    field = Field(heart_rate, "heartRate").get("dataPoints")
    heart = series(field, hearts, _sample_ms, lambda one: one.get("beatsPerMinute").quoted_number())
    return adapt(at, person, None if sleep is None else records, [heart])


def _points_of(sent: object, name: str, kind: str) -> list[Field]:
    points = [point.get(kind) for point in Field(sent, name).get("dataPoints").items()]
    return [point for point in points if not point.is_absent]


def _sample_ms(point: Field) -> int:
    return point.get("sampleTime", "physicalTime").moment()


def _record_of(field: Field, breaths: Sequence[Field]) -> SleepRecord:
    interval = field.get("interval")
    span = Span(interval.get("startTime").moment(), interval.get("endTime").moment())

    def read() -> SleepDetails:
        near = [one for one in breaths if span.from_ms <= _sample_ms(one) <= span.to_ms + _SUMMARY_LATE_MAX_MS]
        breath = min(near, key=lambda one: abs(_sample_ms(one) - span.to_ms), default=None)
        average = None if breath is None else breath.get("fullSleepStats", "breathsPerMinute")
        return SleepDetails(*_stages_of(field, span), breath_average=average)

    return SleepRecord(field, span, read, is_nap=field.get("metadata", "nap").flag())


def _stages_of(field: Field, span: Span) -> tuple[Durations, float | None]:
    summary = field.get("summary")
    minutes = {"asleep": summary.get("minutesAsleep").quoted_number()}
    if field.get("type").text() == "CLASSIC":
        # Asleep or not is all that it knows; restless counts as awake, as in minutesAsleep.
        minutes["awake"] = summary.get("minutesAwake").quoted_number()
        return durations(summary, span, "minutes", minutes)
    for one in summary.get("stagesSummary").items():
        stage = _STAGES.get(one.get("type").text() or "")
        if stage is not None and stage != "asleep":
            minutes[stage] = one.get("minutes").quoted_number()
    if len(minutes) > 1:
        return durations(summary, span, "minutes", minutes)
    intervals = [
        Stretch(_STAGES.get(one.get("type").text() or ""), one.get("startTime").moment(), one.get("endTime").moment())
        for one in field.get("stages").items()
    ]
    return stretches(field.get("stages"), span, intervals)
