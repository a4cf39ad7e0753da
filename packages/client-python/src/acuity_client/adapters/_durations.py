"""How long somebody slept, and in which stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Union, cast

from .._sleep import Durations, Span, Stage, measure_stages
from .._units import UnitError
from ._field import Field
from ._records import Left

Unit = Literal["milliseconds", "seconds", "minutes", "hours"]
_UNIT_S: dict[Unit, float] = {"milliseconds": 0.001, "seconds": 1, "minutes": 60, "hours": 3_600}
_SLEEP = ("deep", "rem", "light")
_PART = 0.75
"""Stages that add up to less of the stated sleep, or of its time, are not those of the whole sleep."""
_UNCOVERED = "its stages cover less than three quarters of the sleep: they were not taken"
_PARTIAL = "its stages add up to far less than the sleep that it states: only that is taken"

Measured = tuple[Durations, float | None, Sequence[Left]]
"""Seconds of the stages, of sleep, and what was not used: the first fields of `SleepDetails`."""


def durations(field: Field, span: Span, unit: Unit, given: Mapping[str, float | None]) -> Measured:
    """
    Seconds of the stages that are there, and of sleep. All three stages of sleep at zero are what devices without
    stages give; `field` is named where they can't be those of a sleep from the one end of `span` to the other.

    Raises UnitError where they add up to far more or far less than the sleep is long.
    """
    if any(value is not None and value < 0 for value in given.values()):
        field.fail("a duration is negative")
    seconds = {name: value * _UNIT_S[unit] for name, value in given.items() if value is not None}
    asleep_s = seconds.pop("asleep", None)
    total = sum(seconds.get(stage, 0) for stage in _SLEEP)
    is_staged = total > 0 or not asleep_s
    span_s = (span.to_ms - span.from_ms) / 1000
    has_all = all(stage in seconds for stage in _SLEEP)
    sleep_s = max(total, asleep_s or 0)
    is_whole = sleep_s > 0 and (has_all or asleep_s is not None)
    least = 30 if not is_whole else 4 if "awake" in seconds else 10
    far = _distance(sleep_s, seconds.get("awake", 0), span_s, span_s / least)
    if far is not None:
        raise UnitError(f"{field.path}: expected {unit}; they add up to far {far} than the sleep is long")
    is_partial = has_all and total < (asleep_s or 0) * _PART
    left = [Left(field.path, _PARTIAL)] if is_staged and is_partial else []
    has_stages = is_staged and not is_partial
    stages = {name: value for name, value in seconds.items() if has_stages or name == "awake"}
    return cast(Durations, stages), asleep_s, left


def _distance(sleep_s: float, awake_s: float, span_s: float, least_s: float) -> str | None:
    """
    Whether sleep and time awake can't be those of so long a sleep. Somebody may well lie awake nearly all night; what
    is not said, of stages or of the time awake, may be the rest. Together they are at least `least_s`.
    """
    most_s = span_s * 1.05 + 120
    if sleep_s + awake_s > most_s:
        return "more"
    minutes_s = sleep_s * 60
    is_minutes_beside_seconds = sleep_s < span_s / 30 and span_s / 2 < minutes_s and minutes_s + awake_s <= most_s
    is_short = 0 < sleep_s + awake_s < least_s
    return "less" if is_short or is_minutes_beside_seconds else None


AnyStage = Union[Stage, Literal["asleep"]]
"""A stage; "asleep" is sleep of no known one."""


class Stretch(NamedTuple):
    """A stretch of one stage; None is not known at all."""

    stage: AnyStage | None
    from_ms: int
    to_ms: int


def stretches(
    field: Field,
    span: Span,
    intervals: Sequence[Stretch],
    *,
    asleep: float | None = None,
    awake: float | None = None,
) -> Measured:
    """
    Seconds of stages of stretches; where some sleep has no known stage, only their sum. `asleep` and `awake` are
    seconds that the provider gives beside them.
    """
    known = [interval for interval in intervals if interval.stage is not None]
    if not known:
        return durations(field, span, "seconds", {"asleep": asleep, "awake": awake})
    is_staged = all(interval.stage != "asleep" for interval in known)
    named = [
        ("light" if stage == "asleep" else cast(str, stage), from_ms / 1000, to_ms / 1000)
        for stage, from_ms, to_ms in known
    ]
    _, _, seconds = field.located(lambda: measure_stages(named))
    if sum(seconds.values()) < (span.to_ms - span.from_ms) / 1000 * _PART:
        stages, asleep_s, left = durations(field, span, "seconds", {"asleep": asleep, "awake": awake})
        return stages, asleep_s, [*left, Left(field.path, _UNCOVERED)]
    given: dict[str, float | None] = {}
    if is_staged:
        given.update((stage, seconds[cast(Stage, stage)]) for stage in _SLEEP)
    elif asleep is None:
        asleep = sum(seconds[cast(Stage, stage)] for stage in _SLEEP)
    if awake is None and (is_staged or seconds["awake"] > 0):
        # Sleep of no known stage alone says nothing of the time awake in between.
        awake = seconds["awake"]
    given.update(asleep=asleep, awake=awake)
    return durations(field, span, "seconds", given)
