"""Chooses the night among the sleeps that were sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .._moment import iso_of
from ._records import Left, SleepRecord

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_GAP_MAX_MS = 3 * _HOUR_MS
"""Parts that lie closer together are of one night."""
_OVERLAP_MAX_MS = _HOUR_MS // 6
"""Parts of one night may lie so far over each other."""
_MAIN_MIN_MS = 3 * _HOUR_MS
"""What is shorter is no main sleep, unless its provider says so."""
_SOON_MS = 12 * _HOUR_MS
"""A short sleep that ends this soon after a main one is no night of its own."""
_EVENING_HOUR = 20
"""A sleep of the night begins from this hour of the evening until noon."""
_NOON_HOUR = 12


class Night(NamedTuple):
    """A night: one sleep, or several that are one."""

    from_ms: int
    to_ms: int
    parts: tuple[SleepRecord, ...]
    """At least one; in order, apart from each other, of one source."""

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms


@dataclass(frozen=True)
class Window:
    """Which nights count."""

    at_ms: int | None
    """The moment to score; without it the newest night counts."""
    hours: float
    """A night that ended longer before it does not count."""
    clock_ms: Callable[[SleepRecord, int], int]
    """The local time of a moment of a sleep, read as if it were UTC."""

    def age_ms(self, to_ms: int) -> int:
        return 0 if self.at_ms is None else self.at_ms - to_ms

    def has(self, to_ms: int) -> bool:
        return self.age_ms(to_ms) <= self.hours * _HOUR_MS

    def hour(self, record: SleepRecord, ms: int) -> int:
        return self.clock_ms(record, ms) // _HOUR_MS % 24


class Choice(NamedTuple):
    """The night, or why there is none; and what else was sent."""

    night: Night | None
    why: str
    left: list[Left]


def choose_night(records: Sequence[SleepRecord], window: Window) -> Choice:
    """The night among them. Raises AdapterError if the newest can't be right."""
    left = _Remainder()
    kept = [record for record in records if _counts(record, window, left)]
    by_source: dict[str, list[Night]] = {}
    for record in kept:
        if _flaw_of(record) is None:
            alone = Night(record.span.from_ms, record.span.to_ms, (record,))
            by_source.setdefault(record.source or "", []).append(alone)
    joined = [
        night for of_source in by_source.values() for night in _with_parts(_without_doubles(of_source, left), window)
    ]
    nights = _without_naps(_without_doubles(joined, left), window, left)
    recent = [night for night in nights if window.has(night.to_ms)]
    night = _newest(recent, window, left)
    if night is not None:
        for older in nights:
            if older not in recent:
                left.add_night(older, "an earlier night")
    for record in kept:
        flaw = _flaw_of(record)
        if flaw is None:
            continue
        is_older = night is not None and max(record.span) <= night.to_ms
        if not is_older and window.has(record.span.to_ms):
            record.field.fail(flaw)
        left.add(record, flaw)
    return Choice(night, _why_none(records, nights, window, left) if night is None else "", left.all)


def date_of(night: Night, window: Window) -> str:
    """The date of waking, as `2026-11-21`."""
    return iso_of(window.clock_ms(night.parts[-1], night.to_ms))[:10]


class _Remainder:
    """What is not used, in the order of the records."""

    def __init__(self) -> None:
        self.all: list[Left] = []

    def add(self, record: SleepRecord, why: str) -> None:
        self.all.append(Left(record.field.path, why))

    def add_night(self, night: Night, why: str) -> None:
        for part in night.parts:
            self.add(part, why)


def _counts(record: SleepRecord, window: Window, left: _Remainder) -> bool:
    why = record.unusable
    if why is None and record.is_nap:
        why = "a nap"
    if why is None and window.age_ms(record.span.to_ms) < 0:
        why = "ends after the moment to score"
    if why is not None:
        left.add(record, why)
    return why is None


def _flaw_of(record: SleepRecord) -> str | None:
    length_ms = record.span.to_ms - record.span.from_ms
    if length_ms <= 0:
        return "ends before it begins"
    return "is longer than a day" if length_ms > _DAY_MS else None


def _without_doubles(nights: Sequence[Night], left: _Remainder) -> list[Night]:
    """Of sleeps that overlap the better one: the same night, recorded or sent more than once."""
    kept: list[Night] = []
    for night in sorted(nights, key=lambda one: one.from_ms):
        last = kept[-1] if kept else None
        if last is None or not _is_same_time(last, night):
            kept.append(night)
            continue
        why = _better_because(last, night)
        winner, loser = (last, night) if why is not None else (night, last)
        because = why or _better_because(night, last) or "was sent later"
        left.add_night(loser, f"the same time as {winner.parts[0].field.path}, which {because}")
        kept[-1] = winner
    return kept


def _is_same_time(a: Night, b: Night) -> bool:
    return a.to_ms - b.from_ms > min(_OVERLAP_MAX_MS, a.length_ms / 2, b.length_ms / 2)


def _better_because(a: Night, b: Night) -> str | None:
    """Why `a` is the better record of the same time; None where it is not."""
    standing = a.parts[0].standing - b.parts[0].standing
    if standing != 0:
        return "is more final" if standing > 0 else None
    of_a, of_b = _detail_of(a), _detail_of(b)
    # A scrap with stages is no better record of a night than the whole of it without.
    if of_a != of_b and min(a.length_ms, b.length_ms) * 2 >= max(a.length_ms, b.length_ms):
        return "says more" if of_a > of_b else None
    return "is longer" if a.length_ms > b.length_ms else None


def _detail_of(night: Night) -> int:
    """2 with stages, 1 without, 0 what can't be read."""
    try:
        return 2 if all("deep" in part.read().stages for part in night.parts) else 1
    except ValueError:
        return 0  # read again, and its error raised, where it is the one that counts


def _with_parts(nights: Sequence[Night], window: Window) -> list[Night]:
    """Sleeps of one source, those put together that are parts of one night."""
    joined: list[Night] = []
    for night in nights:
        if joined and _is_one(joined[-1], night, window):
            last = joined[-1]
            joined[-1] = Night(last.from_ms, night.to_ms, (*last.parts, *night.parts))
        else:
            joined.append(night)
    return joined


def _is_one(a: Night, b: Night, window: Window) -> bool:
    if b.from_ms - a.to_ms >= _GAP_MAX_MS or b.to_ms - a.from_ms > _DAY_MS:
        return False
    return not any(_is_afternoon(window.hour(part, part.span.from_ms)) for part in (a.parts[-1], b.parts[0]))


def _is_afternoon(hour: int) -> bool:
    return _NOON_HOUR <= hour < _EVENING_HOUR


def _is_short(night: Night) -> bool:
    return night.length_ms < _MAIN_MIN_MS and not any(part.is_main for part in night.parts)


def _without_naps(nights: Sequence[Night], window: Window, left: _Remainder) -> list[Night]:
    """Short sleeps without a mark: by day, or soon after a main sleep."""
    kept = []
    for night in nights:
        why = _nap_because(night, nights, window) if _is_short(night) else None
        if why is None:
            kept.append(night)
        else:
            left.add_night(night, why)
    return kept


def _nap_because(night: Night, nights: Sequence[Night], window: Window) -> str | None:
    first = night.parts[0]
    if _is_afternoon(window.hour(first, first.span.from_ms)):
        return "a short sleep of the afternoon is no night"
    for other in nights:
        if not _is_short(other) and 0 < night.to_ms - other.to_ms < _SOON_MS:
            return f"a short sleep soon after {other.parts[0].field.path}"
    return None


def _newest(nights: Sequence[Night], window: Window, left: _Remainder) -> Night | None:
    """The longest of those with the newest date of waking."""
    by_length = sorted(nights, key=lambda night: -night.length_ms)
    dated = sorted(by_length, key=lambda night: date_of(night, window), reverse=True)
    if not dated:
        return None
    first, *others = dated
    for night in others:
        is_same = date_of(night, window) == date_of(first, window)
        of_date = f"of the same date as {first.parts[0].field.path}, which is longer"
        left.add_night(night, of_date if is_same else "an earlier night")
    return first


def _why_none(records: Sequence[SleepRecord], nights: Sequence[Night], window: Window, left: _Remainder) -> str:
    if not records:
        return "there is none"
    if nights:
        latest = max(nights, key=lambda night: night.to_ms)
        why = (
            f"ended {window.age_ms(latest.to_ms) // _HOUR_MS} hours before the moment to score, and a night counts for "
            f"{window.hours:g}; was the device not synced since? An older night has to be asked for"
        )
        left.add_night(latest, why)
        return f"the newest {why}"
    if all(one.why == "ends after the moment to score" for one in left.all):
        return "all that were sent end after the moment to score"
    unusable = [record.unusable for record in records if record.unusable not in (None, "deleted")]
    return unusable[0] or "" if unusable else "there are only naps and deleted ones"
