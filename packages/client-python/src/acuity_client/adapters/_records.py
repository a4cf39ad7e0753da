"""The common form that every provider's records are mapped to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field as member
from typing import NamedTuple

from .._sleep import Durations, Span
from ._field import Field

Sample = tuple[int, float]
"""Milliseconds since 1970, and the value."""


class Left(NamedTuple):
    """Data that was sent and not used, and why."""

    what: str
    """The field, as `sleep.data[1]`."""
    why: str


class Series(NamedTuple):
    """Samples of one signal, and the field to name if they can't be right."""

    field: Field
    samples: Sequence[Sample]
    source: str | None = None
    """The device or provider that they are of; without one they go with every sleep."""


@dataclass
class SleepDetails:
    """What a provider says about one sleep."""

    stages: Durations = member(default_factory=dict)
    asleep_s: float | None = None
    """Time asleep, without the time awake in between: where the stages are not known."""
    left: Sequence[Left] = ()
    heart: Series | None = None
    breath: Series | None = None
    heart_average: Field | None = None
    """Averages of the night, where the provider has no series: each is the one sample."""
    breath_average: Field | None = None


@dataclass
class SleepRecord:
    """A sleep among those that a provider sent; only those that may count are read further."""

    field: Field
    span: Span
    read: Callable[[], SleepDetails]
    east_ms: int | None = None
    """East of UTC where the sleep ended; None where the provider does not say."""
    is_nap: bool = False
    """The provider calls it a nap,"""
    is_main: bool = False
    """or the main sleep. Most say neither."""
    unusable: str | None = None
    """Why it is no sleep at all, as "deleted"."""
    standing: int = 0
    """Of records of the same time the highest counts: the final before the tentative."""
    source: str | None = None
    """The device, app or provider that recorded it."""
