"""
Junction (earlier Vital): models of its API, https://docs.junction.com and https://github.com/tryVital/vital-python
(src/vital/types), 2026-11-22. Times are UTC. "bpm" as the unit of respiratory rate means breaths.
"""

from __future__ import annotations

import re

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import durations
from ._field import Field, records_of
from ._records import Series, SleepDetails, SleepRecord
from ._series import series


def from_junction(
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
    The session of Junction's data: `sleep` is a webhook event `daily.data.sleep.*`, or the answer of `GET
    /v2/summary/sleep/{user_id}`; the others are the answers of `GET /v2/timeseries/{user_id}/heartrate/grouped` and
    `…/respiratory_rate/grouped`.
    """
    records = _sleeps_of(Field(sleep, "sleep", zone))
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if records is None else [_record_of(one) for one in records],
        _series_of(Field(heart_rate, "heartRate", zone)),
        _series_of(Field(respiratory_rate, "respiratoryRate", zone)),
    )


def _sleeps_of(sent: Field) -> list[Field] | None:
    what = "an event daily.data.sleep.*, or the answer of /v2/summary/sleep, with sleep"
    records = records_of(sent, what, many=["sleep"], one="event_type")
    if not records or records[0] is not sent:
        return records
    if not re.fullmatch(r"daily\.data\.sleep\.(created|updated)", sent.get("event_type").text() or ""):
        sent.get("event_type").fail("expected daily.data.sleep.created or .updated")
    return [sent.get("data")]


def _record_of(field: Field) -> SleepRecord:
    kind = field.get("type").text()
    start, stop = field.get("bedtime_start"), field.get("bedtime_stop")
    if start.is_absent and stop.is_absent:
        # A day without sleep may have its record, with every field None.
        return SleepRecord(field, Span(0, 0), SleepDetails, unusable="has no times")
    span = Span(start.moment(), stop.moment())

    def read() -> SleepDetails:
        if kind == "unknown":
            field.get("type").fail("the recording is still going on")
        stream = field.get("sleep_stream")
        given = {stage: field.get(stage).number() for stage in ("deep", "rem", "light", "awake")}
        return SleepDetails(
            *durations(field, span, "seconds", {**given, "asleep": field.get("total").number()}),
            heart=_samples_of(stream.get("heartrate")),
            breath=_samples_of(stream.get("respiratory_rate")),
            heart_average=field.get("hr_average"),
            breath_average=field.get("respiratory_rate"),
        )

    return SleepRecord(
        field,
        span,
        read,
        east_ms=field.get("timezone_offset").east_seconds(),
        is_nap=kind == "acknowledged_nap",
        source=field.get("source", "provider").text(),
    )


def _series_of(sent: Field) -> list[Series]:
    """A provider may have several devices: the one with the most samples."""
    if sent.is_absent:
        return []
    if not isinstance(sent.value, dict) or sent.get("groups").is_absent:
        sent.expected("the answer of a grouped timeseries, with groups")
    found = []
    for source, group in sent.get("groups").entries():
        devices = [_samples_of(device.get("data")) for device in group.items()]
        if devices:
            found.append(max(devices, key=lambda one: len(one.samples))._replace(source=source))
    return found


def _samples_of(field: Field) -> Series:
    return series(
        field, field.items(), lambda one: one.get("timestamp").moment(), lambda one: one.get("value").number()
    )
