"""
WHOOP API v2: https://developer.whoop.com/api (sleep), 2026-11-22. Durations are milliseconds. There is no series at all:
the respiratory rate is an average of the night, heart rate of the night stays missing.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._field import Field
from ._night import Adapted, Person, SleepDetails, SleepRecord, adapt, durations


def from_whoop(sleep: object = None, *, at: Moment | None = None, person: Person | None = None) -> Adapted:
    """The session of what WHOOP sent: the answer of `GET /v2/activity/sleep`, or one sleep of it."""
    sent = Field(sleep, "sleep")
    if not sent.get("type").is_absent:
        sent.get("type").fail("a webhook event has no data; ask for the sleep of its id")
    records = sent.get("records").items() if sent.get("start").is_absent else [sent]
    return adapt(at, person, None if sleep is None else [_record_of(one) for one in records])


def _record_of(field: Field) -> SleepRecord:
    span = Span(field.get("start").moment(), field.get("end").moment())

    def read() -> SleepDetails:
        if field.get("score_state").text() != "SCORED":
            field.get("score_state").fail("this sleep has no score yet, or none at all")
        stages = field.get("score", "stage_summary")
        given = {
            "deep": stages.get("total_slow_wave_sleep_time_milli").number(),
            "rem": stages.get("total_rem_sleep_time_milli").number(),
            "light": stages.get("total_light_sleep_time_milli").number(),
            "awake": stages.get("total_awake_time_milli").number(),
        }
        return SleepDetails(
            *durations(stages, span, "milliseconds", given), breath_average=field.get("score", "respiratory_rate")
        )

    return SleepRecord(field, span, read, is_nap=field.get("nap").flag())
