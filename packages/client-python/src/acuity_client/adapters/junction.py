"""
Junction (earlier Vital): models of its API, https://docs.junction.com and https://github.com/tryVital/vital-python
(src/vital/types), 2026-11-22. Times are UTC. "bpm" as the unit of respiratory rate means breaths.
"""

from __future__ import annotations

import re

from .._moment import Moment
from .._sleep import Span
from ._field import Field
from ._night import Adapted, Person, Series, SleepDetails, SleepRecord, adapt, durations, series


def from_junction(
    sleep: object = None,
    *,
    heart_rate: object = None,
    respiratory_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
) -> Adapted:
    """
    The session of what Junction sent: `sleep` is a webhook event `daily.data.sleep.*`, or the answer of
    `GET /v2/summary/sleep/{user_id}`; the others are the answers of `GET /v2/timeseries/{user_id}/heartrate/grouped`
    and `…/respiratory_rate/grouped`.
    """
    records = _records_of(Field(sleep, "sleep"))
    provider = records[0].get("source", "provider").text() if records else None
    heart = _series_of(Field(heart_rate, "heartRate"), provider)
    breath = _series_of(Field(respiratory_rate, "respiratoryRate"), provider)
    return adapt(at, person, None if sleep is None else [_record_of(one) for one in records], heart, breath)


def _records_of(sent: Field) -> list[Field]:
    event = sent.get("event_type").text()
    if event is None:
        return sent.get("sleep").items()
    if not re.fullmatch(r"daily\.data\.sleep\.(created|updated)", event):
        sent.get("event_type").fail("expected daily.data.sleep.created or .updated")
    return [sent.get("data")]


def _record_of(field: Field) -> SleepRecord:
    kind = field.get("type").text()
    span = Span(field.get("bedtime_start").moment(), field.get("bedtime_stop").moment())

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

    return SleepRecord(field, span, read, is_nap=kind == "acknowledged_nap")


def _series_of(sent: Field, provider: str | None) -> list[Series]:
    """One device's: that of the sleep where it is there, else the one with the most samples."""
    groups = sent.get("groups").entries()
    own = [group for name, group in groups if name == provider] or [group for _, group in groups]
    found = [_samples_of(source.get("data")) for group in own for source in group.items()]
    return sorted(found, key=lambda one: -len(one.samples))[:1]


def _samples_of(field: Field) -> Series:
    return series(
        field, field.items(), lambda one: one.get("timestamp").moment(), lambda one: one.get("value").number()
    )
