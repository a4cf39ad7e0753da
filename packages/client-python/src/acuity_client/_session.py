"""Builds a session from wearable data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Protocol, Union

from . import _rules as rules
from ._contradictions import check_session
from ._moment import Moment, moment_ms
from ._night import waking_date
from ._person import person_fields
from ._sleep import (
    Durations,
    Span,
    StageInterval,
    check_seconds,
    measure_stages,
    seconds_of_minutes,
    sleep_fields,
)
from ._types import Session, Sex
from ._units import Signal, check_apart, check_unit, reading


class TimedSeries(Protocol):
    """What has `items()` of times and values: a pandas Series with a time index, or a dict."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


Sample = Union[tuple[Moment, Any], Mapping[str, Any]]
"""`(at, value)`, or a mapping with `at` and `value`."""
Samples = Union[Iterable[Sample], TimedSeries]

_HOUR_MS = 3_600_000


class SessionBuilder:
    """
    Makes a session out of what wearables give: timestamped samples in any order and of any length, and the stages of
    sleep. The hour before `at` becomes the day series, what lies within the night the night series.

        SessionBuilder(now).person(age=34, sex="F").heart_rate(samples).sleep_stages(stages).build()
    """

    def __init__(self, at: Moment) -> None:
        """`at` is the moment that is scored."""
        self._at = at
        self._at_ms = moment_ms(at, "the moment to score")
        self._who: Session = {}
        self._heart: list[tuple[int, float]] = []
        self._breath: list[tuple[int, float]] = []
        self._span: Span | None = None
        self._woke: Moment | None = None
        self._seconds: Durations = {}

    def person(
        self,
        *,
        age: float | None = None,
        born_at: Moment | date | None = None,
        height_cm: float | None = None,
        weight_kg: float | None = None,
        sex: Sex | None = None,
    ) -> SessionBuilder:
        """Leave out unknown values; give `age` or `born_at`."""
        self._who = person_fields(self._at_ms, age, born_at, height_cm, weight_kg, sex)
        return self

    def heart_rate(self, samples: Samples) -> SessionBuilder:
        """Heart rate in beats per minute. No-readings (None, NaN, 0, -1, -2, 255) are left out."""
        self._heart = _readings(samples, "heart rate")
        return self

    def respiratory_rate(self, samples: Samples) -> SessionBuilder:
        """Respiratory rate in breaths per minute; not R-R intervals."""
        self._breath = _readings(samples, "respiratory rate")
        return self

    def sleep_stages(self, intervals: Iterable[StageInterval]) -> SessionBuilder:
        """The night as a tracker gives it: intervals of stages, which also say when the night was."""
        self._span, self._woke, self._seconds = measure_stages(intervals)
        return self

    def sleep_minutes(
        self,
        *,
        deep: float | None = None,
        rem: float | None = None,
        light: float | None = None,
        awake: float | None = None,
    ) -> SessionBuilder:
        """For totals alone, in minutes; say with `night` when the night was."""
        self._seconds = seconds_of_minutes({"deep": deep, "rem": rem, "light": light, "awake": awake})
        return self

    def sleep_seconds(
        self,
        *,
        deep: float | None = None,
        rem: float | None = None,
        light: float | None = None,
        awake: float | None = None,
    ) -> SessionBuilder:
        """For totals alone, in seconds; say with `night` when the night was."""
        self._seconds = check_seconds({"deep": deep, "rem": rem, "light": light, "awake": awake})
        return self

    def night(self, start: Moment, end: Moment) -> SessionBuilder:
        """From falling asleep to getting up."""
        span = Span(moment_ms(start, "the beginning of the night"), moment_ms(end, "the end of the night"))
        if span.to_ms <= span.from_ms:
            raise ValueError("the night ends before it begins")
        self._span, self._woke = span, end
        return self

    def woke_on(self, zone: str | None = None) -> str | None:
        """
        The date on which the person woke, such as "2026-11-21": the `night` of `History.score`. None if neither stages
        nor `night` have said when the night was. `zone` is the person's, "Europe/Berlin" or "+01:00"; without it the
        offset of the night's end or of the moment to score counts, else UTC. Raises AdapterError if the zone is
        unknown.
        """
        return None if self._woke is None else waking_date(self._woke, self._at, zone)

    def build(self) -> Session:
        """
        The session. Raises UnitError if values are most likely in another unit, ValueError if the night is not the one
        before.
        """
        if self._span is not None:
            _check_night(self._span, self._at_ms)
        hour = Span(self._at_ms - _HOUR_MS, self._at_ms)
        heart_day = _within(hour, self._heart, rules.DAY_SAMPLES_MAX)
        breath_day = _within(hour, self._breath, rules.DAY_SAMPLES_MAX)
        heart_night = _within(self._span, self._heart, rules.NIGHT_SAMPLES_MAX)
        breath_night = _within(self._span, self._breath, rules.NIGHT_SAMPLES_MAX)
        for heart, breath in ((heart_day, breath_day), (heart_night, breath_night)):
            check_unit("heart rate", heart)
            check_unit("respiratory rate", breath)
            check_apart(heart, breath)
        session: Session = {
            "HR_day_1h": heart_day,
            "RR_day_1h": breath_day,
            "HR_night": heart_night,
            "RR_night": breath_night,
        }
        session.update(sleep_fields(self._seconds))
        session.update(self._who)
        check_session(session, "session")
        return session


def _pairs(samples: Samples) -> Iterator[tuple[Any, Any]]:
    items = getattr(samples, "items", None)
    if callable(items):
        yield from items()
        return
    for sample in samples:  # type: ignore[union-attr]
        if isinstance(sample, Mapping):
            yield sample["at"], sample.get("value")
        else:
            at, value = sample
            yield at, value


def _readings(samples: Samples, signal: Signal) -> list[tuple[int, float]]:
    """Oldest first; of several samples at one moment, as in overlapping downloads, the last counts."""
    by_moment: dict[int, float] = {}
    for at, value in _pairs(samples):
        number = reading(value)
        if number is not None:
            by_moment[moment_ms(at, f"the time of a {signal} sample")] = number
    return sorted(by_moment.items())


def _within(span: Span | None, readings: list[tuple[int, float]], samples_max: int) -> list[float]:
    if span is None:
        return []
    values = [value for at_ms, value in readings if span.from_ms <= at_ms <= span.to_ms]
    # Every second, third, … sample where there are more than the service takes: the spacing stays even.
    step = max(1, math.ceil(len(values) / samples_max))
    return values[::step]


def _check_night(span: Span, at_ms: int) -> None:
    if span.to_ms > at_ms:
        raise ValueError("the night ends after the moment to score")
    if at_ms - span.to_ms > rules.NIGHT_AGE_HOURS_MAX * _HOUR_MS:
        raise ValueError("this is not the night before the moment to score")
    if span.to_ms - span.from_ms > rules.NIGHT_HOURS_MAX * _HOUR_MS:
        raise ValueError("the night is longer than a day")
