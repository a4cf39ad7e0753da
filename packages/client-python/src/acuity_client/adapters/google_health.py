"""
Google Health API v4, the successor of the Fitbit Web API: https://developers.google.com/health/reference/rest/v4,
2026-11-22. Durations are minutes, whole numbers are in quotes. Breathing is one average for each sleep.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._records import Series, SleepDetails, SleepRecord
from ._series import series

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
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of the Google Health API's answers: those of `GET /v4/users/me/dataTypes/{dataType}/dataPoints`, or
    `…/dataPoints:reconcile`, for `sleep`, `heart-rate` and `respiratory-rate-sleep-summary`.
    """
    breaths = _points_of(Field(respiratory_rate, "respiratoryRate", zone), "respiratoryRateSleepSummary") or []
    records = _points_of(Field(sleep, "sleep", zone), "sleep")
    hearts = Field(heart_rate, "heartRate", zone)
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if records is None else [_record_of(point, breaths) for point in records],
        _by_source(hearts.get("dataPoints") if hearts.has("dataPoints") else hearts, _points_of(hearts, "heartRate") or []),
    )


class _Point(NamedTuple):
    """The content of a point for its type, and its source."""

    field: Field
    source: str | None


def _points_of(sent: Field, kind: str) -> list[_Point] | None:
    """Points of other types, as of an answer of another data type, are an error where there are no others."""
    what = f"the answer of …/dataPoints, with dataPoints of {kind}"
    points = records_of(sent, what, many=["dataPoints"], omits_empty=True)
    if points is None:
        return None
    found = [_Point(point.get(kind), _source_of(point.get("dataSource"))) for point in points]
    found = [point for point in found if not point.field.is_absent]
    return sent.expected(what) if points and not found else found


def _source_of(field: Field) -> str | None:
    """The app that wrote a point, else its platform. What `reconcile` answers is of one stream and names none."""
    app = field.get("application", "packageName").text()
    return field.get("platform").text() if app is None else app


def _by_source(field: Field, points: Sequence[_Point]) -> list[Series]:
    """`list` answers with the points of every device and app."""
    groups: dict[str | None, list[Field]] = {}
    for point in points:
        groups.setdefault(point.source, []).append(point.field)
    return [
        series(field, own, _sample_ms, lambda one: one.get("beatsPerMinute").quoted_number())._replace(source=source)
        for source, own in groups.items()
    ]


def _sample_ms(point: Field) -> int:
    return point.get("sampleTime", "physicalTime").moment()


def _record_of(point: _Point, breaths: Sequence[_Point]) -> SleepRecord:
    field = point.field
    interval = field.get("interval")
    span = Span(interval.get("startTime").moment(), interval.get("endTime").moment())

    def read() -> SleepDetails:
        fields = [one.field for one in breaths]
        near = [one for one in fields if span.from_ms <= _sample_ms(one) <= span.to_ms + _SUMMARY_LATE_MAX_MS]
        breath = min(near, key=lambda one: abs(_sample_ms(one) - span.to_ms), default=None)
        average = None if breath is None else breath.get("fullSleepStats", "breathsPerMinute")
        return SleepDetails(*_stages_of(field, span), breath_average=average)

    east_ms = _duration_ms(interval.get("endUtcOffset"))
    metadata = field.get("metadata")
    is_nap, is_main = metadata.get("nap").flag(), metadata.get("mainSleep").flag()
    return SleepRecord(field, span, read, east_ms=east_ms, is_nap=is_nap, is_main=is_main, source=point.source)


def _duration_ms(field: Field) -> int | None:
    """As protocol buffers write a duration: "3600s"."""
    found = re.fullmatch(r"(-?[0-9]+)s", field.text() or "")
    return None if found is None else Field(int(found[1]), field.path).east_seconds()


def _stages_of(field: Field, span: Span) -> Measured:
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
    # The stretches may be those of a part of the sleep: what the summary says of all of it goes before their sums.
    asleep, awake = minutes["asleep"], summary.get("minutesAwake").quoted_number()
    return stretches(
        field.get("stages") if intervals else summary,
        span,
        intervals,
        asleep=None if asleep is None else asleep * 60,
        awake=None if awake is None else awake * 60,
    )
