"""
Health Auto Export (an app that sends the data of Apple Health): its JSON,
https://help.healthyapps.dev/en/health-auto-export/export-format/health-metrics and
https://github.com/Lybron/health-auto-export/wiki/API-Export---JSON-Format, 2026-11-22.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .._moment import Moment
from .._sleep import Span
from ._adapt import Adapted, Options, Person, adapt
from ._durations import AnyStage, Stretch, Unit, durations, stretches
from ._field import Field, records_of
from ._pieces import Piece, by_source, groups_of, pieces_within
from ._records import Left, Series, SleepDetails, SleepRecord
from ._series import series

_STAGES: dict[str, AnyStage] = {
    "deep": "deep",
    "rem": "rem",
    "core": "light",
    "awake": "awake",
    "asleep": "asleep",
    "unspecified": "asleep",
}
"""Unaggregated values, without blanks, in small letters. In bed is no sleep, and lies over the others."""
_UNITS: dict[str, Unit] = {"hr": "hours", "h": "hours", "min": "minutes", "s": "seconds"}
_UNIT_MS: dict[Unit, int] = {"hours": 3_600_000, "minutes": 60_000, "seconds": 1000}
_SUMS = ("deep", "rem", "core", "awake", "asleep", "totalSleep")
_IN_BED = "does not fit into the sleep beside the time asleep: it is that of the time in bed"
_PER_MINUTE = {"count/min": 1, "bpm": 1, "count/s": 60}
_DAY_MS = 86_400_000
_OF_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?!\.).*)?")


def from_health_auto_export(
    export: object,
    *,
    at: Moment | None = None,
    person: Person | None = None,
    zone: str | None = None,
    newest_night_within_hours: float | None = None,
) -> Adapted:
    """
    The session of what Health Auto Export sent: `export` is its body, `{"data": {"metrics": […]}}`, or a list of such
    bodies.
    """
    metrics = _metrics_of(Field(export, "export", zone))
    sleeps, hearts, breaths = (
        [metric for metric in metrics if metric.get("name").text() == name]
        for name in ("sleep_analysis", "heart_rate", "respiratory_rate")
    )
    heart, breath = [_samples_of(one) for one in hearts], [_samples_of(one) for one in breaths]
    adapted = adapt(
        Options(at, person, zone, newest_night_within_hours),
        [record for metric in sleeps for record in _records_of_metric(metric)] if sleeps else None,
        [one for one, _ in heart],
        [one for one, _ in breath],
    )
    return replace(adapted, left=adapted.left + [left for _, one in (*heart, *breath) for left in one])


def _metrics_of(sent: Field) -> list[Field]:
    what = "what the app sends, with data.metrics, or a list of such"
    bodies = sent.items() if isinstance(sent.value, (list, tuple)) else [sent]
    metrics: list[Field] = []
    for body in bodies:
        found = records_of(body, what, many=["data", "metrics"])
        metrics += body.expected(what) if found is None else found
    return metrics


def _samples_of(metric: Field) -> tuple[Series, list[Left]]:
    many = metric.get("data")
    items = many.items()
    if items and all(_is_of_day(one) for one in items):
        return Series(many, []), [Left(many.path, "its samples are those of whole days: export by minutes")]
    unit = metric.get("units")
    factor = _PER_MINUTE.get(unit.text() or "")
    if factor is None:
        unit.fail("expected count/min")

    def value(one: Field) -> float | None:
        average = one.get("Avg").number()
        if average is None:
            average = one.get("qty").number()
        return None if average is None else average * factor

    return series(many, items, lambda one: one.get("date").moment(), value), []


def _is_of_day(sample: Field) -> bool:
    """The app dates the average of a day with the date alone, or with its local midnight to the second."""
    return _OF_DAY.fullmatch(sample.get("date").text() or "") is not None


def _records_of_metric(metric: Field) -> list[SleepRecord]:
    items = metric.get("data").items()
    nights = [_night_of(one, metric.get("units")) for one in items if not one.has("startDate")]
    pieces = [piece for one in items if one.has("startDate") for piece in _piece_of(one)]
    return nights + [record for own in by_source(pieces) for record in _sleeps_of(own)]


def _night_of(field: Field, units: Field) -> SleepRecord:
    """Aggregated: the sums of a night."""
    until = field.get("sleepEnd")
    span = Span(field.get("sleepStart").moment(), until.moment())
    source = field.get("source").text()
    if source is None:
        source = field.get("sleepSource").text()

    def read() -> SleepDetails:
        unit = _UNITS.get(units.text() or "")
        if unit is None:
            units.fail("expected hr")
        sums, is_in_bed = _sums_of(field, (span.to_ms - span.from_ms) / _UNIT_MS[unit])
        details = SleepDetails(*durations(field, span, unit, sums))
        if is_in_bed:
            details.left = [*details.left, Left(f"{field.path}.awake", _IN_BED)]
        return details

    return SleepRecord(field, span, read, east_ms=until.east_ms(), source=source or None)


def _sums_of(field: Field, length: float) -> tuple[dict[str, float | None], bool]:
    """`length` is that of the sleep, in the unit of the sums; whether the time awake is that of the time in bed."""
    deep, rem, light, awake, asleep, stated = (field.get(name).number() for name in _SUMS)
    staged = (deep or 0) + (rem or 0) + (light or 0)

    def fits(total: float) -> bool:
        return total + (awake or 0) <= length * 1.02

    # Beside stages "asleep" is what has no stage, in some versions all of it; and some totals have the time awake in them.
    both = staged + (asleep or 0)
    known = both if fits(both) else max(staged, asleep or 0)
    total = known if stated is None or (not fits(stated) and staged > 0 and fits(staged)) else stated
    # A phone alone knows when somebody lay in bed: all at zero is not known, and not a night without sleep.
    if total == 0:
        return {}, False
    is_in_bed = awake is not None and awake > 0 and not fits(total)
    sums: dict[str, float | None] = {"deep": deep, "rem": rem, "light": light} if staged > 0 else {}
    if not is_in_bed and (staged > 0 or awake != 0):
        sums["awake"] = awake
    return {**sums, "asleep": total}, is_in_bed


def _piece_of(field: Field) -> list[Piece]:
    value = field.get("value")
    name = (value.text() or "").replace(" ", "").lower()
    if name == "inbed":
        return []
    stage = _STAGES.get(name)
    if stage is None:
        value.fail("expected Awake, Asleep, In Bed, Core, REM, Deep or Unspecified")
    until = field.get("endDate")
    stretch = Stretch(stage, field.get("startDate").moment(), until.moment())
    source = field.get("source").text() or ""
    is_sound = 0 < stretch.to_ms - stretch.from_ms <= _DAY_MS
    return [Piece(stretch, field.path, until.east_ms(), source)] if is_sound else []


def _sleeps_of(pieces: Sequence[Piece]) -> list[SleepRecord]:
    return [_sleep_of(pieces, group) for group in groups_of(pieces)]


def _sleep_of(pieces: Sequence[Piece], group: Sequence[Stretch]) -> SleepRecord:
    span = Span(group[0].from_ms, group[-1].to_ms)
    first, last = pieces_within(pieces, span)
    field = Field(None, first.path)

    def read() -> SleepDetails:
        return SleepDetails(*stretches(field, span, group))

    return SleepRecord(field, span, read, east_ms=last.east_ms, source=last.source or None)
