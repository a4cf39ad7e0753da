"""Values that are most likely in another unit than the service expects. Messages never hold the value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Literal

from . import _rules as rules

Signal = Literal["heart rate", "respiratory rate"]


class UnitError(ValueError):
    """A value that is most likely in another unit than the service expects."""


_NO_READINGS = frozenset(float(value) for value in rules.SENTINELS)


def reading(value: object) -> float | None:
    """The value as a number, None if it is no reading. numpy's numbers count, its missing values don't."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return None if not math.isfinite(number) or number in _NO_READINGS else number


def check_unit(signal: Signal, readings: Sequence[float]) -> None:
    """Raises UnitError if most readings of a series are impossible for the signal."""
    low, high = rules.PLAUSIBLE[signal]
    suspects = sum(1 for value in readings if not low <= value <= high)
    half = len(readings) / 2
    if suspects < rules.SUSPECT_SAMPLES_MIN or suspects <= half:
        return
    guess = "most readings lie outside"
    for least, most, what in rules.MISTAKES[signal]:
        if sum(1 for value in readings if least <= value <= most) > half:
            guess = f"these look like {what}"
            break
    raise UnitError(f"{signal} is {rules.UNITS[signal]}, {low} to {high}; {guess}")


def check_apart(heart: Sequence[float], breath: Sequence[float]) -> None:
    """Raises UnitError if breathing is as fast as the heart: one series was given twice, or the two were swapped."""
    if len(heart) < rules.SUSPECT_SAMPLES_MIN or len(breath) < rules.SUSPECT_SAMPLES_MIN:
        return
    if median(breath) > rules.BREATHS_PER_BEAT_MAX * median(heart):
        raise UnitError("respiratory rate is about as high as heart rate; was one series given for both, or swapped?")


def median(values: Sequence[float]) -> float:
    """The upper one of the two in the middle."""
    return sorted(values)[len(values) // 2]
