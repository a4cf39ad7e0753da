"""
Archives of Fitbit (Google Takeout): the files `sleep-*.json` and `heart_rate-*.json`. The sleep logs are those of the
Fitbit Web API, https://dev.fitbit.com/build/reference/web-api/sleep, 2026-11-22; their times are local. Unverified: the
format of the heart rate's files, and that its times are UTC, which no document says.
"""

from __future__ import annotations

import re

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import durations
from ._field import Field, records_of
from ._records import SleepDetails, SleepRecord
from ._series import series

_HEART_TIME = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2})")
"""Month first."""


def from_fitbit_archive(
    sleep: object = None,
    *,
    heart_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of an archive of Fitbit: `sleep` is the content of `sleep-*.json`, or of several, one after the other;
    `heart_rate` the content of `heart_rate-*.json`, in the same way.
    """
    logs = records_of(Field(sleep, "sleep", zone), "the list of a file sleep-*.json of the archive", is_list=True)
    field = Field(heart_rate, "heartRate")
    samples = records_of(field, "the list of a file heart_rate-*.json of the archive", is_list=True)
    heart = series(
        field,
        samples or [],
        lambda one: _heart_ms(one.get("dateTime")),
        lambda one: one.get("value", "bpm").number(),
    )
    sleeps = None if logs is None else [_record_of(log) for log in logs]
    return adapt(Options(at, person, zone, newest_night_within_hours), sleeps, [heart])


def _heart_ms(field: Field) -> int:
    found = _HEART_TIME.fullmatch(field.text() or "")
    if found is None:
        field.fail("expected a time as 03/01/26 06:45:00")
    return Field(f"20{found[3]}-{found[1]}-{found[2]}T{found[4]}Z", field.path).moment()


def _record_of(field: Field) -> SleepRecord:
    span = Span(field.get("startTime").moment(), field.get("endTime").moment())
    summary = field.get("levels", "summary")

    def read() -> SleepDetails:
        given = {"asleep": field.get("minutesAsleep").number()}
        if field.get("type").text() == "classic":
            # A classic log knows asleep, restless and awake: only the sum of sleep is known.
            given["awake"] = field.get("minutesAwake").number()
        else:
            for stage, name in (("deep", "deep"), ("rem", "rem"), ("light", "light"), ("awake", "wake")):
                given[stage] = summary.get(name, "minutes").number()
        return SleepDetails(*durations(summary, span, "minutes", given))

    # A second log of the night is not the main one, and no nap: when it was decides.
    return SleepRecord(field, span, read, is_main=field.get("mainSleep").flag())
