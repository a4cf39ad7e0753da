"""From a test's raw result to a percentile among people of that age and sex."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal, Union

from ._norm_tables import TABLES

NormName = Literal["pss10", "digit_symbol", "delayed_recall", "animal_fluency", "vigilance_speed"]


@dataclass(frozen=True)
class NormSex:
    """The people of one sex."""

    n: int
    mean: float


@dataclass(frozen=True)
class NormAges:
    """The people of an age band: completed years, both ends included."""

    start: int
    end: int
    n: int
    mean: float
    sd: float


@dataclass(frozen=True)
class Norm:
    """How the raw results of a test are distributed among people: means and standard deviations by age and by sex."""

    title: str
    """What was done."""
    score: Literal["attention", "memory", "reasoning", "stress"]
    """The score that a percentile of it is a measurement of. More of the raw result is more of that score."""
    unit: str
    """What a raw result counts, from `least` to `most`."""
    least: float
    most: float
    is_whole: bool
    source: str
    """Where the numbers are from."""
    population: str
    """Who was tested, and when."""
    n: int
    mean: float
    """Of all people."""
    sexes: Mapping[str, NormSex]
    ages: Sequence[NormAges]
    """Without the years between the bands the norm says nothing."""


def _norm(table: Mapping[str, object]) -> Norm:
    fields: dict[str, object] = {**table, "is_whole": table["isWhole"]}
    del fields["isWhole"]
    sexes: Mapping[str, Mapping[str, float]] = table["sexes"]  # type: ignore[assignment]
    bands: Sequence[Mapping[str, float]] = table["ages"]  # type: ignore[assignment]
    fields["sexes"] = MappingProxyType({sex: NormSex(**numbers) for sex, numbers in sexes.items()})  # type: ignore[arg-type]
    fields["ages"] = tuple(
        NormAges(int(band["from"]), int(band["to"]), int(band["n"]), band["mean"], band["sd"]) for band in bands
    )
    return Norm(**fields)  # type: ignore[arg-type]


NORMS: Mapping[str, Norm] = MappingProxyType({name: _norm(table) for name, table in TABLES.items()})
"""The norms that come with the client, by name."""

_OLDEST = 130
"""The end of an age band that has none."""


def percentile_of(
    norm: Union[NormName, Norm], result: float, *, age: float, sex: Literal["M", "F"] | None = None
) -> float:
    """
    The percentile of a raw result among people of that age and sex (without a sex: among both), to a tenth: the `value`
    of a measurement.

    It is that of a normal distribution with the mean of the age band, shifted by the difference of the sex from all
    people, and the band's standard deviation. `norm`: the name of one of `NORMS`, or one of your own. Raises ValueError
    if the norm is unknown or has no such age, or if the result is outside the test's scale.
    """
    name = norm.title if isinstance(norm, Norm) else norm
    table = norm if isinstance(norm, Norm) else NORMS.get(norm)
    if table is None:
        raise ValueError(f"there is no such norm; there are {', '.join(NORMS)}")
    if not table.least <= result <= table.most or (table.is_whole and result != math.floor(result)):
        kind = "whole number" if table.is_whole else "number"
        raise ValueError(f"{name} is a {kind} from {table.least} to {table.most}: {table.unit}")
    if sex not in ("M", "F", None):
        raise ValueError("sex is 'M', 'F' or None")
    # Not a number is of no band.
    band = next((band for band in table.ages if band.start <= age < band.end + 1), None)
    if band is None:
        raise ValueError(f"{name}: the norm is of people {_span(table)}; it has no percentile for another age")
    shift = 0.0 if sex is None else table.sexes[sex].mean - table.mean
    below = NormalDist().cdf((result - band.mean - shift) / band.sd)
    return math.floor(1000 * below + 0.5) / 10


_TURNED = (4, 5, 7, 8)
_FALSE_START_MS = 100
"""What is faster was pressed before anything could be seen."""
_REACTIONS_MIN = 20


def pss10_sum(answers: Sequence[int]) -> int:
    """
    The sum of the ten answers to the Perceived Stress Scale, 0 (never) to 4 (very often), in the order of the scale: 0
    to 40. Pass the answers unchanged: questions 4, 5, 7 and 8, which ask about good things, are reversed here. Raises
    ValueError unless there are ten answers of 0 to 4.
    """
    if len(answers) != 10 or not all(answer in (0, 1, 2, 3, 4) for answer in answers):
        raise ValueError("the Perceived Stress Scale has ten answers, each 0, 1, 2, 3 or 4")
    return sum(4 - answer if place in _TURNED else answer for place, answer in enumerate(answers, 1))


def vigilance_speed(reactions_ms: Sequence[float]) -> float:
    """
    The mean speed of a vigilance test, in reactions a second: the mean of 1000 / milliseconds. Presses within 100 ms of
    the signal are false starts and left out. Raises ValueError unless at least 20 of at most 30,000 ms remain.
    """
    reactions = [ms for ms in reactions_ms if not ms < _FALSE_START_MS]
    if len(reactions) < _REACTIONS_MIN:
        raise ValueError(f"a vigilance test has at least {_REACTIONS_MIN} reactions of 100 ms and more")
    if not all(ms <= 30_000 for ms in reactions):
        raise ValueError("a reaction is at most 30,000 milliseconds")
    return sum(1000 / ms for ms in reactions) / len(reactions)


def _span(norm: Norm) -> str:
    spans: list[list[int]] = []
    for band in norm.ages:
        if spans and spans[-1][1] == band.start - 1:
            spans[-1][1] = band.end
        else:
            spans.append([band.start, band.end])
    return " and ".join(f"of {start} and over" if end == _OLDEST else f"of {start} to {end}" for start, end in spans)
