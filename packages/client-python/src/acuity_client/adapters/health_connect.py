"""
Health Connect (Android): the records by the names of their fields in
https://developer.android.com/reference/kotlin/androidx/health/connect/client/records, 2026-11-22, with times in ISO
8601. An app has to send them: Health Connect itself has no JSON.
"""

from __future__ import annotations

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Stretch, stretches
from ._field import Field, records_of
from ._records import SleepDetails, SleepRecord
from ._series import series
from ._zone import offset_ms

_STAGES: dict[float, AnyStage] = {1: "awake", 2: "asleep", 3: "awake", 4: "light", 5: "deep", 6: "rem", 7: "awake"}
"""0 is unknown."""


def from_health_connect(
    sleep: object = None,
    *,
    heart_rate: object = None,
    respiratory_rate: object = None,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """The session of Health Connect's records: `SleepSessionRecord`, `HeartRateRecord` and `RespiratoryRateRecord`."""
    records = _list_of(Field(sleep, "sleep", zone), "SleepSessionRecord")
    hearts = Field(heart_rate, "heartRate", zone)
    of_heart = _list_of(hearts, "HeartRateRecord") or ()
    samples = [sample for record in of_heart for sample in record.get("samples").items()]
    breaths = Field(respiratory_rate, "respiratoryRate", zone)
    rates = _list_of(breaths, "RespiratoryRateRecord") or ()
    return adapt(
        Options(at, person, zone, newest_night_within_hours),
        None if records is None else [_record_of(record) for record in records],
        [series(hearts, samples, _at_ms, lambda one: one.get("beatsPerMinute").number())],
        [series(breaths, list(rates), _at_ms, lambda one: one.get("rate").number())],
    )


def _list_of(sent: Field, kind: str) -> list[Field] | None:
    return records_of(sent, f"a list of {kind}", is_list=True)


def _at_ms(sample: Field) -> int:
    return sample.get("time").moment()


def _record_of(field: Field) -> SleepRecord:
    """A session without stages says when a person was in bed, not how long they slept."""
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

    east = field.get("endZoneOffset").text()
    east_ms = field.get("endTime").east_ms() if east is None else offset_ms(east)
    return SleepRecord(field, span, read, east_ms=east_ms, source=_app_of(field))


def _app_of(field: Field) -> str | None:
    """The package of the app that wrote it: a string, or an object with the name."""
    origin = field.get("metadata", "dataOrigin")
    return origin.value if isinstance(origin.value, str) else origin.get("packageName").text()
