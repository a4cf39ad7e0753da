"""From what adapters read to a session: the same for every provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field as member
from datetime import date
from typing import Any, Literal, NamedTuple, TypedDict, Union, cast

from .._moment import Moment, iso_of, moment_ms
from .._rules import NIGHT_AGE_HOURS_MAX, NIGHT_HOURS_MAX
from .._session import SessionBuilder
from .._sleep import Durations, Span, Stage, measure_stages, rounded
from .._types import Session, Sex
from .._units import Signal, UnitError, check_unit, reading
from ._field import AdapterError, Field

Sample = tuple[int, float]
"""Milliseconds since 1970, and the value."""


class Person(TypedDict, total=False):
    """What `SessionBuilder.person` takes."""

    age: float | None
    born_at: Moment | date | None
    height_cm: float | None
    weight_kg: float | None
    sex: Sex | None


class Adapted(NamedTuple):
    """A session, and the moment that it is of (ISO 8601 with Z): both are what `History.score` takes."""

    at: str
    session: Session


class Series(NamedTuple):
    """Samples of one signal, and the field to name where they can't be right."""

    field: Field
    samples: Sequence[Sample]


@dataclass
class SleepDetails:
    """What a provider says of one sleep."""

    stages: Durations = member(default_factory=dict)
    asleep_s: float | None = None
    """Time asleep, without the time awake in between: where the stages are not known."""
    heart: Series | None = None
    breath: Series | None = None
    heart_average: Field | None = None
    """Averages of the night, where the provider has no series: each is the one sample."""
    breath_average: Field | None = None


@dataclass
class SleepRecord:
    """A sleep among those that a provider sent; only the one that counts is read further."""

    field: Field
    span: Span
    read: Callable[[], SleepDetails]
    is_nap: bool = False
    is_deleted: bool = False


_HOUR_MS = 3_600_000
_NIGHT_AGE_MAX_MS = NIGHT_AGE_HOURS_MAX * _HOUR_MS
_SLEEP_MAX_MS = NIGHT_HOURS_MAX * _HOUR_MS
_DAY_OF_SLEEP_MS = 16 * _HOUR_MS
"""Sleeps that end this close to each other are of one day: the longest is the night, the others naps."""


def adapt(
    at: Moment | None,
    person: Person | None,
    sleeps: Sequence[SleepRecord] | None,
    heart: Sequence[Series] = (),
    breath: Sequence[Series] = (),
) -> Adapted:
    """
    The session of what a provider sent.

    `sleeps` is every sleep it sent, None where it was not asked; `heart` and `breath` are samples beside those of the
    sleep: the hour's, and the night's where the sleep has none.
    """
    given_ms = None if at is None else moment_ms(at, "at")
    main = None if sleeps is None else _main_sleep(sleeps, given_ms)
    if given_ms is None and main is None:
        raise AdapterError("at", "is missing, and there is no sleep whose end it could be")
    at_ms = given_ms if given_ms is not None else cast(SleepRecord, main).span.to_ms
    details = SleepDetails() if main is None else main.read()
    hour = Span(max(at_ms - _HOUR_MS, 0 if main is None else main.span.to_ms + 1), at_ms)
    night = None if main is None else main.span
    hour_heart, night_heart = _pieces("heart rate", hour, night, heart, details.heart)
    hour_breath, night_breath = _pieces("respiratory rate", hour, night, breath, details.breath)

    day = SessionBuilder(at_ms / 1000).person(**(person or {}))
    session = day.heart_rate(_timed(hour_heart)).respiratory_rate(_timed(hour_breath)).build()
    if main is not None:
        of_night = main.field.located(lambda: _night_of(at_ms, main.span, night_heart, night_breath, details.stages))
        for name, value in of_night.items():
            if name not in ("HR_day_1h", "RR_day_1h"):
                cast(dict[str, Any], session)[name] = value
    if "sleepTimeSeconds" not in session and details.asleep_s is not None:
        session["sleepTimeSeconds"] = rounded(details.asleep_s)
    if not session.get("HR_night"):
        session["HR_night"] = _average(details.heart_average, 25, 150, "beats")
    if not session.get("RR_night"):
        session["RR_night"] = _average(details.breath_average, 3, 40, "breaths")
    return Adapted(iso_of(at_ms), session)


def _night_of(at_ms: int, span: Span, heart: Sequence[Sample], breath: Sequence[Sample], stages: Durations) -> Session:
    builder = SessionBuilder(at_ms / 1000).night(span.from_ms / 1000, span.to_ms / 1000)
    builder.heart_rate(_timed(heart)).respiratory_rate(_timed(breath))
    return builder.sleep_seconds(**cast(Any, stages)).build()


def _timed(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    return [(at_ms / 1000, value) for at_ms, value in samples]


def _pieces(
    signal: Signal, hour: Span, night: Span | None, series: Sequence[Series], own: Series | None
) -> tuple[list[Sample], list[Sample]]:
    """One signal, cut into the hour before and the night; each piece is checked by itself."""
    of_hour = [sample for one in series for sample in _within(hour, one, signal)]
    if night is None:
        return of_hour, []
    of_sleep = [] if own is None else _within(night, own, signal)
    others = [sample for one in series for sample in _within(night, one, signal)]
    return of_hour, of_sleep or others


def _within(span: Span, series: Series, signal: Signal) -> list[Sample]:
    found = [
        (at_ms, value)
        for at_ms, value in series.samples
        if span.from_ms <= at_ms <= span.to_ms and reading(value) is not None
    ]
    series.field.located(lambda: check_unit(signal, [value for _, value in found]))
    return found


def _main_sleep(sleeps: Sequence[SleepRecord], at_ms: int | None) -> SleepRecord:
    """The night: of the sleeps of the latest day the longest that is no nap."""
    kept = [sleep for sleep in sleeps if not sleep.is_nap and not sleep.is_deleted]
    for sleep in kept:
        if sleep.span.to_ms <= sleep.span.from_ms:
            sleep.field.fail("ends before it begins")
        if sleep.span.to_ms - sleep.span.from_ms > _SLEEP_MAX_MS:
            sleep.field.fail("is longer than a day")
    past = [sleep for sleep in kept if at_ms is None or 0 <= at_ms - sleep.span.to_ms <= _NIGHT_AGE_MAX_MS]
    if past:
        last_ms = max(sleep.span.to_ms for sleep in past)
        of_day = [sleep for sleep in past if last_ms - sleep.span.to_ms < _DAY_OF_SLEEP_MS]
        return max(of_day, key=lambda sleep: (sleep.span.to_ms - sleep.span.from_ms, sleep.span.to_ms))
    why = "none is of the night before the moment to score"
    if not sleeps:
        why = "there is none"
    elif not kept:
        why = "there are only naps and deleted ones"
    raise AdapterError("sleep", f"no night to score: {why}")


Unit = Literal["milliseconds", "seconds", "minutes"]
_UNIT_S: dict[Unit, float] = {"milliseconds": 0.001, "seconds": 1, "minutes": 60}


def durations(
    field: Field, span: Span, unit: Unit, given: Mapping[str, float | None]
) -> tuple[Durations, float | None]:
    """
    Seconds of the stages that are there, and of sleep. All three stages of sleep at zero are what devices without
    stages give.

    Raises UnitError where they add up to far more or far less than the sleep is long.
    """
    if any(value is not None and value < 0 for value in given.values()):
        field.fail("a duration is negative")
    seconds = {name: value * _UNIT_S[unit] for name, value in given.items() if value is not None}
    asleep_s = seconds.pop("asleep", None)
    total = sum(seconds.get(stage, 0) for stage in ("deep", "rem", "light"))
    span_s = (span.to_ms - span.from_ms) / 1000
    far = _distance(max(total, asleep_s or 0), seconds.get("awake", 0), span_s)
    if far is not None:
        raise UnitError(f"{field.path}: expected {unit}; they add up to far {far} than the sleep is long")
    has_stages = total > 0 or not asleep_s
    stages = {name: value for name, value in seconds.items() if has_stages or name == "awake"}
    return cast(Durations, stages), asleep_s


def _distance(sleep_s: float, awake_s: float, span_s: float) -> str | None:
    """Whether sleep and time awake can't be those of so long a sleep. Somebody may well lie awake nearly all night."""
    most_s = span_s * 1.05 + 120
    if sleep_s + awake_s > most_s:
        return "more"
    is_minutes_beside_seconds = sleep_s * 60 > span_s / 2 and sleep_s * 60 + awake_s <= most_s
    is_short = 0 < sleep_s + awake_s < span_s / 30
    return "less" if is_short or (is_minutes_beside_seconds and sleep_s < span_s / 30) else None


AnyStage = Union[Stage, Literal["asleep"]]
"""A stage; "asleep" is sleep of no known one."""


class Stretch(NamedTuple):
    """A stretch of one stage; None is not known at all."""

    stage: AnyStage | None
    from_ms: int
    to_ms: int


def stretches(field: Field, span: Span, intervals: Sequence[Stretch]) -> tuple[Durations, float | None]:
    """Seconds of stages of stretches; where some sleep has no known stage, only their sum."""
    known = [interval for interval in intervals if interval.stage is not None]
    if not known:
        return {}, None
    is_staged = all(interval.stage != "asleep" for interval in known)
    named = [
        ("light" if stage == "asleep" else cast(str, stage), from_ms / 1000, to_ms / 1000)
        for stage, from_ms, to_ms in known
    ]
    _, seconds = field.located(lambda: measure_stages(named))
    if is_staged:
        return durations(field, span, "seconds", cast(Mapping[str, float], seconds))
    asleep = seconds["deep"] + seconds["rem"] + seconds["light"]
    return durations(field, span, "seconds", {"asleep": asleep, "awake": seconds["awake"]})


def series(
    field: Field,
    items: Sequence[Field],
    at_ms: Callable[[Field], int],
    value: Callable[[Field], float | None],
) -> Series:
    """Samples of a list of objects; those without a value are left out."""
    samples: list[Sample] = []
    for item in items:
        number = None if item.is_absent else value(item)
        if number is not None:
            samples.append((at_ms(item), number))
    return Series(field, samples)


def _average(field: Field | None, low: float, high: float, what: str) -> list[float]:
    value = None if field is None else reading(field.quoted_number())
    if field is None or value is None:
        return []
    if low <= value <= high:
        return [value]
    raise UnitError(f"{field.path}: expected {what} per minute on average, {low} to {high}")
