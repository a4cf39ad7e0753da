"""
Garmin Connect, as python-garminconnect and garth (`connectapi`) return its answers: not documented by Garmin, and
unverified beyond the models and recorded answers of these libraries, 2026-11-22. Times are milliseconds since 1970,
some of them texts without an offset, which are UTC; durations are seconds.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import durations
from ._field import Field
from ._records import Series, SleepDetails, SleepRecord
from ._series import series


def from_garmin_connect(
    sleep: object = None,
    *,
    heart_rate: object = None,
    respiration: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of Garmin Connect's answers: `sleep` is the answer of `get_sleep_data`, `heart_rate` the answer of
    `get_heart_rates`, `respiration` the answer of `get_respiration_data`; each may be a list of answers for several
    days.
    """
    nights = _days_of(Field(sleep, "sleep", zone), "dailySleepDTO")
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if nights is None else [_record_of(one) for one in nights if _is_night(one)],
        _pairs(Field(heart_rate, "heartRate", zone), "heartRateValues"),
        _pairs(Field(respiration, "respiration", zone), "respirationValuesArray"),
    )


def _days_of(sent: Field, name: str) -> list[Field] | None:
    """The answers of days; one that has nothing names what it has not, as None."""
    if sent.is_absent:
        return None
    answers = sent.items() if isinstance(sent.value, (list, tuple)) else [sent]
    days = [day for day in answers if not day.is_absent]
    if not all(day.has(name) for day in days):
        sent.expected(f"the answer of a day, with {name}, or a list of such")
    return days


def _is_night(day: Field) -> bool:
    """A day on which the watch was not worn has its fields, all None."""
    dto = day.get("dailySleepDTO")
    return any(not dto.get(name).is_absent for name in ("sleepStartTimestampGMT", "sleepTimeSeconds"))


def _record_of(answer: Field) -> SleepRecord:
    field = answer.get("dailySleepDTO")
    end = field.get("sleepEndTimestampGMT")
    span = Span(_time_ms(field.get("sleepStartTimestampGMT")), _time_ms(end))
    local = field.get("sleepEndTimestampLocal")

    def read() -> SleepDetails:
        given = {
            "deep": field.get("deepSleepSeconds").number(),
            "rem": field.get("remSleepSeconds").number(),
            "light": field.get("lightSleepSeconds").number(),
            "awake": field.get("awakeSleepSeconds").number(),
            "asleep": field.get("sleepTimeSeconds").number(),
        }
        breath = answer.get("wellnessEpochRespirationDataDTOList")
        return SleepDetails(
            *durations(field, span, "seconds", given),
            heart=_list_series(answer.get("sleepHeartRate"), "startGMT", "value"),
            heart_average=field.get("avgHeartRate"),
            breath=_list_series(breath, "startTimeGMT", "respirationValue"),
            breath_average=field.get("averageRespirationValue"),
        )

    return SleepRecord(
        field,
        span,
        read,
        east_ms=None if local.is_absent else _time_ms(local) - span.to_ms,
        standing=1 if "final" in (field.get("sleepWindowConfirmationType").text() or "") else 0,
    )


def _time_ms(field: Field) -> int:
    """Milliseconds since 1970, or a text of UTC that does not say so."""
    return field.in_zone("Z").moment() if isinstance(field.value, str) else field.unix_ms()


def _list_series(field: Field, at: str, value: str) -> Series:
    return series(field, field.items(), lambda one: _time_ms(one.get(at)), lambda one: one.get(value).number())


def _pairs(sent: Field, name: str) -> list[Series]:
    """`[[1772431200000, 61], …]`"""
    lists = [day.get(name) for day in _days_of(sent, name) or ()]
    return [
        series(one, one.items(), lambda pair: _time_ms(_of_pair(pair, 0)), lambda pair: _of_pair(pair, 1).number())
        for one in lists
    ]


def _of_pair(pair: Field, index: int) -> Field:
    parts = pair.items()
    return parts[index] if index < len(parts) else pair.fail("expected a time and a value")
