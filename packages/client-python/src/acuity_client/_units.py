"""Values that are most likely in another unit than the service reads. The messages never hold the value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

Signal = Literal["heart rate", "respiratory rate"]


class UnitError(ValueError):
    """A value that is most likely in another unit than the service reads."""


_SENTINELS = frozenset((0.0, -1.0, -2.0, 255.0))
"""Devices write these for "no reading"."""


def reading(value: object) -> float | None:
    """The value as a number, None where it is no reading. Numbers of numpy count, its missing values don't."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return None if not math.isfinite(number) or number in _SENTINELS else number


@dataclass(frozen=True)
class _Plausible:
    unit: str
    low: float
    high: float
    mistakes: tuple[tuple[float, float, str], ...]
    """Where the samples lie when they are something else, and what that is."""


BREATHS_MIN = 3
BREATHS_MAX = 70
_PLAUSIBLE: dict[Signal, _Plausible] = {
    "heart rate": _Plausible(
        unit="beats per minute",
        low=25,
        high=240,
        mistakes=(
            (240, 3_000, "intervals between beats in milliseconds: heart rate is 60,000 divided by them"),
            (0.3, 2.5, "beats per second or intervals in seconds: heart rate is beats per minute"),
            (4, 25, "respiratory rate"),
        ),
    ),
    "respiratory rate": _Plausible(
        unit="breaths per minute",
        low=BREATHS_MIN,
        high=BREATHS_MAX,
        mistakes=(
            (
                200,
                3_000,
                'R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats',
            ),
            (
                0.03,
                1.5,
                "breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute",
            ),
            (70, 200, "heart rate"),
        ),
    ),
}
_FEWEST_SUSPECT = 3


def check_unit(signal: Signal, readings: Sequence[float]) -> None:
    """Raises UnitError where most readings of a series lie where the signal can't."""
    plausible = _PLAUSIBLE[signal]
    low, high = plausible.low, plausible.high
    suspects = sum(1 for value in readings if not low <= value <= high)
    half = len(readings) / 2
    if suspects < _FEWEST_SUSPECT or suspects <= half:
        return
    guess = "most readings lie outside"
    for least, most, what in plausible.mistakes:
        if sum(1 for value in readings if least <= value <= most) > half:
            guess = f"these look like {what}"
            break
    raise UnitError(f"{signal} is {plausible.unit}, {low} to {high}; {guess}")


_BREATHS_PER_BEAT_MAX = 0.7
"""Nobody breathes nearly as often as their heart beats; a resting adult breathes once in four beats or so."""


def check_apart(heart: Sequence[float], breath: Sequence[float]) -> None:
    """Raises UnitError where the breathing is as fast as the heart: one series given twice, or the two swapped."""
    if len(heart) < _FEWEST_SUSPECT or len(breath) < _FEWEST_SUSPECT:
        return
    if median(breath) > _BREATHS_PER_BEAT_MAX * median(heart):
        raise UnitError("respiratory rate is about as high as heart rate; was one series given for both, or swapped?")


def median(values: Sequence[float]) -> float:
    """The upper one of the two in the middle."""
    return sorted(values)[len(values) // 2]
