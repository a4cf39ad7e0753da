"""
Apple Health export: `export.xml` of the Health app; types and values as in
https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22. The form of the file is not
documented beyond the DTD that it begins with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .._moment import Moment
from .._sleep import Span
from .._units import reading
from ._field import Field
from ._night import Adapted, AnyStage, Person, Sample, Series, SleepDetails, SleepRecord, Stretch, adapt, stretches

_SLEEP = "HKCategoryTypeIdentifierSleepAnalysis"
_HEART = "HKQuantityTypeIdentifierHeartRate"
_BREATH = "HKQuantityTypeIdentifierRespiratoryRate"
_VALUES: dict[str, AnyStage] = {
    "AsleepDeep": "deep",
    "AsleepREM": "rem",
    "AsleepCore": "light",
    "Awake": "awake",
    "Asleep": "asleep",
    "AsleepUnspecified": "asleep",
}
"""After `HKCategoryValueSleepAnalysis`. "InBed" is no sleep, and lies over the others."""
_PER_MINUTE = {"count/min": 1, "count/s": 60}
_PAUSE_MAX_MS = 3_600_000
"""Sleep that goes on after a longer pause is another sleep."""
_RECORD = re.compile(r"<Record\s([^>]*)>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def from_apple_health(
    export: str | Iterable[str], *, at: Moment | None = None, person: Person | None = None
) -> Adapted:
    """
    The session of what the Health app exported: `export` is the text of `export.xml`, in one piece or in several (an
    open file gives lines).
    """
    found: dict[str, list[Field]] = {_SLEEP: [], _HEART: [], _BREATH: []}
    for record in _records_of([export] if isinstance(export, str) else export):
        found.get(record.get("type").text() or "", []).append(record)
    sleeps = _sleeps_of(found[_SLEEP])
    return adapt(at, person, sleeps, _series_of(_HEART, found[_HEART]), _series_of(_BREATH, found[_BREATH]))


def _records_of(pieces: Iterable[str]) -> Iterator[Field]:
    rest, count = "", 0
    for piece in pieces:
        rest += piece
        end = rest.rfind(">") + 1
        for found in _RECORD.finditer(rest, 0, end):
            yield Field(dict(_ATTRIBUTE.findall(found[1])), f"export.Record[{count}]")
            count += 1
        rest = rest[end:]


def _sleeps_of(records: Sequence[Field]) -> list[SleepRecord]:
    """Devices overlap: of each only its own stretches are put together, and the longest sleep counts."""
    by_source: dict[str, dict[Stretch, Field]] = {}
    for record in records:
        stage = _VALUES.get((record.get("value").text() or "").replace("HKCategoryValueSleepAnalysis", ""))
        if stage is not None:
            stretch = Stretch(stage, record.get("startDate").moment(), record.get("endDate").moment())
            by_source.setdefault(record.get("sourceName").text() or "", {}).setdefault(stretch, record)
    return [sleep for source in by_source.values() for sleep in _sleeps_of_source(source)]


def _sleeps_of_source(source: dict[Stretch, Field]) -> Iterator[SleepRecord]:
    sleeps: list[list[Stretch]] = []
    until_ms = float("-inf")
    for stretch in sorted(source, key=lambda one: one.from_ms):
        if stretch.from_ms - until_ms > _PAUSE_MAX_MS:
            sleeps.append([])
        sleeps[-1].append(stretch)
        until_ms = max(until_ms, stretch.to_ms)
    for parts in sleeps:
        yield _sleep_of(source[parts[0]], parts)


def _sleep_of(field: Field, parts: Sequence[Stretch]) -> SleepRecord:
    span = Span(parts[0].from_ms, max(part.to_ms for part in parts))
    return SleepRecord(field, span, lambda: SleepDetails(*stretches(field, span, parts)))


def _series_of(kind: str, records: Sequence[Field]) -> list[Series]:
    samples: list[Sample] = []
    for record in records:
        factor = _PER_MINUTE.get(record.get("unit").text() or "")
        if factor is None:
            record.get("unit").fail("expected count/min")
        value = reading(_number(record.get("value").text()))
        if value is not None:
            samples.append((record.get("startDate").moment(), value * factor))
    return [Series(Field(None, f"export.{kind}"), samples)]


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
