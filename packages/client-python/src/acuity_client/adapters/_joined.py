"""Joins the parts of a night."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._sleep import Durations, Stage
from .._units import UnitError, reading
from ._choose import Night
from ._field import Field
from ._records import Left, Sample, SleepDetails, SleepRecord
from ._series import within

_Part = tuple[SleepRecord, SleepDetails]


class OwnSignal(NamedTuple):
    """One signal of a night."""

    samples: list[Sample]
    average: float | None
    """Where the provider gives one in the place of a series."""


class Joined(NamedTuple):
    """What the parts of a night say together; the time between them was spent awake."""

    stages: Durations
    asleep_s: float | None
    heart: OwnSignal
    breath: OwnSignal
    left: list[Left]


def joined(night: Night) -> Joined:
    """The parts of a night, read and put together."""
    parts = [(record, record.read()) for record in night.parts]
    asleep_ms = sum(record.span.to_ms - record.span.from_ms for record in night.parts)
    stages, asleep_s = _durations_of(parts, max(0, night.length_ms - asleep_ms) / 1000)
    heart = OwnSignal(
        [sample for record, details in parts for sample in within(record.span, details.heart, "heart rate")],
        _average_of(parts, lambda details: _average(details.heart_average, 25, 150, "beats")),
    )
    breath = OwnSignal(
        [sample for record, details in parts for sample in within(record.span, details.breath, "respiratory rate")],
        _average_of(parts, lambda details: _average(details.breath_average, 3, 40, "breaths")),
    )
    return Joined(stages, asleep_s, heart, breath, [one for _, details in parts for one in details.left])


def _durations_of(parts: Sequence[_Part], gap_s: float) -> tuple[Durations, float | None]:
    if len(parts) == 1:
        return parts[0][1].stages, parts[0][1].asleep_s
    stages: Durations = {}
    names: tuple[Stage, ...] = ("deep", "rem", "light")
    if all(_is_staged(details) for _, details in parts):
        for stage in names:
            stages[stage] = sum(details.stages[stage] for _, details in parts)
    if all("awake" in details.stages for _, details in parts):
        stages["awake"] = sum(details.stages["awake"] for _, details in parts) + gap_s
    asleep = [
        sum(details.stages[stage] for stage in names) if _is_staged(details) else details.asleep_s
        for _, details in parts
    ]
    known = [value for value in asleep if value is not None]
    return stages, None if "deep" in stages or len(known) < len(parts) else sum(known)


def _is_staged(details: SleepDetails) -> bool:
    return {"deep", "rem", "light"} <= details.stages.keys()


def _average_of(parts: Sequence[_Part], of: Callable[[SleepDetails], float | None]) -> float | None:
    """Of the parts that have one, by their lengths, in hundredths where there are several."""
    known = [(of(details), record.span.to_ms - record.span.from_ms) for record, details in parts]
    values = [(value, ms) for value, ms in known if value is not None]
    if len(values) <= 1:
        return values[0][0] if values else None
    total = sum(ms for _, ms in values)
    return math.floor(sum(value * ms for value, ms in values) / total * 100 + 0.5) / 100


def _average(field: Field | None, low: float, high: float, what: str) -> float | None:
    value = None if field is None else reading(field.quoted_number())
    if field is None or value is None:
        return None
    if low <= value <= high:
        return value
    raise UnitError(f"{field.path}: expected {what} per minute on average, {low} to {high}")
