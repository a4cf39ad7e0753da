"""Guesses what kind of data was passed instead of the expected one."""

from __future__ import annotations

_LOOKS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("dailySleepDTO",), "Garmin Connect's own form"),
    (("nightSleeps",), "Polar v4"),
    (("sleepResult", "sleepDate"), "Polar v4"),
    (("nights",), "an answer of Polar v3"),
    (("sleep_start_time",), "a night of Polar v3"),
    (("dataPoints",), "an answer of Google Health"),
    (("sleeps",), "a notification of Garmin"),
    (("startTimeInSeconds",), "a summary of Garmin"),
    (("event_type", "data"), "a webhook event of Junction"),
    (("groups",), "a grouped timeseries of Junction"),
    (("bedtime_start", "bedtime_stop"), "a sleep of Junction"),
    (("bedtime_start", "bedtime_end"), "a document of Oura"),
    (("score_state",), "a sleep of WHOOP"),
    (("records", "next_token"), "an answer of WHOOP"),
    (("data", "next_token"), "an answer of Oura"),
    (("dateOfSleep",), "a sleep log of Fitbit's"),
    (("sleep", "summary"), "an answer of Fitbit's Web API"),
    (("body", "status"), "an answer of Withings"),
    (("user", "data"), "an event of Terra"),
    (("metadata", "sleep_durations_data"), "a sleep of Terra"),
)
"""The names that tell it, and what it is. The first that fits is said."""
_OF_ERRORS = ("error", "errors", "error_description", "detail", "message", "fault", "title", "errorMessage")
"""No answer with data has one of these."""


def look_of(value: object) -> str | None:
    """What a value of another form looks like; None if that can't be told."""
    if isinstance(value, str):
        return "this is text: parse it as JSON first"
    if isinstance(value, (list, tuple)):
        inner = look_of(value[0]) if value and not isinstance(value[0], (list, tuple)) else None
        return "this is a list" if inner is None else inner.replace("this is", "this is a list; its first is", 1)
    if not isinstance(value, dict):
        return None
    if any(name in value for name in _OF_ERRORS):
        return "this is an error answer"
    look = next((what for names, what in _LOOKS if all(name in value for name in names)), None)
    return None if look is None else f"this is {look}"
