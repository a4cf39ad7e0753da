"""From stages of sleep, as intervals, minutes or seconds, to the fields of a session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict, Union

from . import _rules as rules
from ._moment import Moment, moment_ms
from ._types import Session
from ._units import UnitError

Stage = Literal["deep", "rem", "light", "awake"]
STAGES: tuple[Stage, ...] = ("deep", "rem", "light", "awake")

Durations = dict[Stage, float]
"""How long each stage lasted; a stage that is not known is left out."""

StageInterval = Union[tuple[str, Moment, Moment], Mapping[str, Any]]
"""A stretch of one stage: `("deep", start, end)`, or a mapping with `stage`, `from` and `to`."""


class Span(NamedTuple):
    """A span of time, in milliseconds since 1970."""

    from_ms: int
    to_ms: int


class StageDurations(TypedDict, total=False):
    """Keyword arguments of `sleep_minutes` and `sleep_seconds`."""

    deep: float | None
    rem: float | None
    light: float | None
    awake: float | None


_HOUR_MS = 3_600_000


def measure_stages(intervals: Iterable[StageInterval]) -> tuple[Span, Moment, Durations]:
    """
    The whole night, its end as it was given, and the seconds in each stage. Raises ValueError if an interval ends
    before it begins or overlaps another, or if all of them span more than a day.
    """
    spans = sorted((_interval(interval) for interval in intervals), key=lambda interval: interval[1])
    if not spans:
        raise ValueError("no sleep stage was given")
    total_ms: dict[Stage, int] = dict.fromkeys(STAGES, 0)
    first_ms = until_ms = spans[0][1].from_ms
    woke = spans[0][2]
    for stage, span, end in spans:
        if span.to_ms < span.from_ms:
            raise ValueError("a sleep stage ends before it begins")
        if span.from_ms < until_ms:
            raise ValueError("sleep stages overlap; give those of one device, each stretch once")
        total_ms[stage] += span.to_ms - span.from_ms
        until_ms, woke = span.to_ms, end
    if until_ms - first_ms > rules.NIGHT_HOURS_MAX * _HOUR_MS:
        raise ValueError("the sleep stages span more than one night")
    return Span(first_ms, until_ms), woke, {stage: rounded(ms / 1000) for stage, ms in total_ms.items()}


def _interval(interval: StageInterval) -> tuple[Stage, Span, Moment]:
    if isinstance(interval, Mapping):
        stage, start, end = interval["stage"], interval["from"], interval["to"]
    else:
        stage, start, end = interval
    if stage not in STAGES:
        raise ValueError(f"a sleep stage is one of {', '.join(STAGES)}")
    begin_ms = moment_ms(start, "the beginning of a sleep stage")
    return stage, Span(begin_ms, moment_ms(end, "the end of a sleep stage")), end


def seconds_of_minutes(minutes: StageDurations) -> Durations:
    """Raises UnitError if the minutes are seconds."""
    known = _known(minutes, lambda value: value)
    if sum(known.values()) > rules.NIGHT_MINUTES_MAX:
        raise UnitError("sleep of more than a day: are these seconds, not minutes?")
    return _known(minutes, lambda value: rounded(value * 60))


def check_seconds(seconds: StageDurations) -> Durations:
    """Raises UnitError if the seconds are minutes or hours."""
    if 0 < sum(_known(seconds, lambda value: value).values()) < rules.NIGHT_SECONDS_MIN:
        raise UnitError("sleep of less than a quarter of an hour: are these minutes or hours, not seconds?")
    return _known(seconds, rounded)


def sleep_fields(seconds: Durations) -> Session:
    """The durations; if all three stages of sleep are known, also their sum (without awake time) and shares."""
    fields: Session = {}
    if "deep" in seconds:
        fields["deepSleepSeconds"] = int(seconds["deep"])
    if "rem" in seconds:
        fields["remSleepSeconds"] = int(seconds["rem"])
    if "light" in seconds:
        fields["lightSleepSeconds"] = int(seconds["light"])
    if "awake" in seconds:
        fields["awakeSleepSeconds"] = int(seconds["awake"])
    if not {"deep", "rem", "light"} <= seconds.keys():
        return fields
    asleep = int(seconds["deep"] + seconds["rem"] + seconds["light"])
    fields["sleepTimeSeconds"] = asleep
    if asleep > 0:
        fields["deepPercentage"] = _share(seconds["deep"], asleep)
        fields["remPercentage"] = _share(seconds["rem"], asleep)
        fields["lightPercentage"] = _share(seconds["light"], asleep)
    return fields


def rounded(value: float) -> int:
    """The nearest whole number, halves up."""
    return math.floor(value + 0.5)


def _share(part: float, whole: float) -> float:
    """A fraction with four digits."""
    return rounded(part / whole * 10_000) / 10_000


def _known(durations: StageDurations, change: Callable[[float], float]) -> Durations:
    known: Durations = {}
    for stage in STAGES:
        duration = durations.get(stage)
        if duration is None:
            continue
        if not (duration >= 0 and math.isfinite(duration)):
            raise ValueError(f"the duration of {stage} sleep is no positive number")
        known[stage] = change(duration)
    return known
