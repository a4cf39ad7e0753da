"""
WHOOP API v2: https://developer.whoop.com/api (sleep), 2026-11-22. Durations are milliseconds. There is no series: the
respiratory rate is an average of the night, and heart rate of the night stays missing.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import durations
from ._field import Field, records_of
from ._records import SleepDetails, SleepRecord
from ._zone import offset_ms


def from_whoop(
    sleep: object = None,
    *,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """The session of WHOOP's answer of `GET /v2/activity/sleep`, or of one sleep in it."""
    sent = Field(sleep, "sleep", zone)
    if isinstance(sleep, dict) and "type" in sleep and "id" in sleep:
        sent.get("type").fail("a webhook event has no data; ask for the sleep of its id")
    records = records_of(sent, "the answer of /v2/activity/sleep, with records", many=["records"], one="start")
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if records is None else [_record_of(one) for one in records],
    )


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

    east = field.get("timezone_offset").text()
    is_nap = field.get("nap").flag()
    east_ms = None if east is None else offset_ms(east)
    return SleepRecord(field, span, read, east_ms=east_ms, is_nap=is_nap, is_main=not is_nap)
