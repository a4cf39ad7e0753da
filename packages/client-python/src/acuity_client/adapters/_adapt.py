"""From the records of a provider to a session: the same for every provider."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple, TypedDict, cast

from .._moment import Moment, iso_of, moment_ms
from .._session import SessionBuilder
from .._sleep import Span, rounded
from .._types import Session, Sex
from .._units import Signal
from ._choose import Night, Window, choose_night, date_of
from ._error import AdapterError
from ._field import Field
from ._joined import OwnSignal, joined
from ._records import Left, Sample, Series, SleepRecord
from ._series import of_device
from ._zone import offset_at

_HOUR_MS = 3_600_000
_NIGHT_WITHIN_HOURS = 20
_OF_DAY: tuple[Literal["HR_day_1h"], Literal["RR_day_1h"]] = ("HR_day_1h", "RR_day_1h")
_NOTHING = "says neither how long nor in which stages somebody slept, and has no heart rate or breathing"
_NO_ZONE = "says no local time: the date of the night is that in UTC; give the zone of the person"


class Person(TypedDict, total=False):
    """The arguments of `SessionBuilder.person`."""

    age: float | None
    born_at: Moment | date | None
    height_cm: float | None
    weight_kg: float | None
    sex: Sex | None


class Options(NamedTuple):
    """The arguments of every adapter, besides the provider's data."""

    at: Moment | None
    """The moment to score; without it the end of the newest night."""
    person: Person | None
    zone: str | None
    """Of times that have none: an offset ("+01:00") or a name ("Europe/Berlin")."""
    newest_night_within_hours: float | None
    """How long before `at` a night may have ended; 20 without it. Only with `at`."""


@dataclass(frozen=True)
class UsedPart:
    """One of the sleeps that make up a night."""

    what: str
    """The field, as `sleep.data[0]`."""
    start: str
    end: str


@dataclass(frozen=True)
class UsedSleep:
    """The sleep that the night was made of. Times are ISO 8601 with Z."""

    start: str
    end: str
    source: str | None
    """The device, app or provider that recorded it, where the answer says so."""
    parts: list[UsedPart]
    """More than one where the night came in pieces."""


@dataclass(frozen=True)
class Adapted:
    """
    The session with its moment and night (the arguments of `History.score`), what it was made of, and what was left
    out.
    """

    at: str
    """ISO 8601 with Z."""
    night: str | None
    """The date of waking, as "2026-11-21"; None where the session has no night."""
    session: Session
    sleep: UsedSleep | None
    left: list[Left]
    """What was sent and not used."""


def adapt(
    options: Options,
    sleeps: Sequence[SleepRecord] | None,
    heart: Sequence[Series] = (),
    breath: Sequence[Series] = (),
) -> Adapted:
    """
    The session of what a provider sent.

    `sleeps` is every sleep it sent, None where it was not asked; `heart` and `breath` are samples beside those of the
    sleep: the hour's, and the night's where the sleep has none.
    """
    zone = options.zone
    given_ms = given_moment(options.at, options.zone)
    within = within_hours(options.newest_night_within_hours)
    if zone is not None:
        offset_at(0, zone)

    def east_ms(record: SleepRecord, ms: int) -> int | None:
        if record.east_ms is not None:
            return record.east_ms
        return None if zone is None else offset_at(ms, zone)

    window = Window(given_ms, within, lambda record, ms: ms + (east_ms(record, ms) or 0))
    night, why, left = choose_night(sleeps or (), window)
    if given_ms is None and night is None:
        if sleeps is None:
            raise AdapterError("at", "is missing, and there is no sleep whose end it could be")
        raise AdapterError("sleep", f"no night to score: {why}")
    at_ms = given_ms if given_ms is not None else cast(Night, night).to_ms
    hour = [Span(max(at_ms - _HOUR_MS, 0 if night is None else night.to_ms + 1), at_ms)]
    source = None if night is None else night.parts[0].source
    day = SessionBuilder(at_ms / 1000).person(**(options.person or {}))
    day.heart_rate(_timed(of_device("heart rate", hour, heart, source)))
    session = day.respiratory_rate(_timed(of_device("respiratory rate", hour, breath, source))).build()
    if night is None:
        if not session["HR_day_1h"] and not session["RR_day_1h"]:
            raise AdapterError("sleep", f"no night to score: {why}, and no sample of the hour before")
        none = [] if sleeps is None or left else [Left("sleep", why)]
        return Adapted(iso_of(at_ms), None, session, None, none + left)
    of_night = _night_of(night, heart, breath, left)
    of_both = [*(value for name, value in of_night.items() if name not in _OF_DAY), *(session[name] for name in _OF_DAY)]
    if all(value == [] for value in of_both):
        raise AdapterError(night.parts[0].field.path, _NOTHING)
    for name, value in of_night.items():
        if name not in _OF_DAY:
            cast(dict[str, Any], session)[name] = value
    if east_ms(night.parts[-1], night.to_ms) is None:
        left.append(Left(night.parts[0].field.path, _NO_ZONE))
    return Adapted(iso_of(at_ms), date_of(night, window), session, _used_sleep(night), left)


def given_moment(at: Moment | None, zone: str | None) -> int | None:
    """Raises AdapterError if it is no moment."""
    if at is None:
        return None
    field = Field(at, "at", zone)
    return field.moment() if isinstance(at, str) else field.located(lambda: moment_ms(at, "this"))


def within_hours(hours: float | None) -> float:
    """How long before the moment to score a night may have ended."""
    if hours is None:
        return _NIGHT_WITHIN_HOURS
    if isinstance(hours, (int, float)) and not isinstance(hours, bool) and 0 < hours < math.inf:
        return hours
    raise AdapterError("newest_night_within_hours", "expected a number of hours above 0")


def _used_sleep(night: Night) -> UsedSleep:
    parts = [UsedPart(one.field.path, iso_of(one.span.from_ms), iso_of(one.span.to_ms)) for one in night.parts]
    return UsedSleep(iso_of(night.from_ms), iso_of(night.to_ms), night.parts[0].source, parts)


def _night_of(night: Night, heart: Sequence[Series], breath: Sequence[Series], left: list[Left]) -> Session:
    """The sleep's own series, else its average, else the series of another device."""
    field, source = night.parts[0].field, night.parts[0].source
    details = joined(night)
    left.extend(details.left)

    def samples_of(signal: Signal, beside: Sequence[Series], own: OwnSignal) -> list[tuple[float, float]]:
        if own.samples:
            return _timed(own.samples)
        spans = [part.span for part in night.parts]
        same = [one for one in beside if one.source is None or one.source == source]
        of_same = of_device(signal, spans, same, source)
        if of_same or own.average is not None:
            return _timed(of_same)
        others = of_device(signal, spans, beside, source)
        if others and source is not None:
            left.append(Left(field.path, f"no {signal} of its own device: that of another was taken"))
        return _timed(others)

    builder = SessionBuilder(night.to_ms / 1000).night(night.from_ms / 1000, night.to_ms / 1000)
    builder.heart_rate(samples_of("heart rate", heart, details.heart))
    builder.respiratory_rate(samples_of("respiratory rate", breath, details.breath))
    session = field.located(lambda: builder.sleep_seconds(**cast(Any, details.stages)).build())
    if "sleepTimeSeconds" not in session and details.asleep_s is not None:
        session["sleepTimeSeconds"] = rounded(details.asleep_s)
    if not session["HR_night"] and details.heart.average is not None:
        session["HR_night"] = [details.heart.average]
    if not session["RR_night"] and details.breath.average is not None:
        session["RR_night"] = [details.breath.average]
    return session


def _timed(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    return [(at_ms / 1000, value) for at_ms, value in samples]
