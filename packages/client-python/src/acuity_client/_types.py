"""Requests and answers, as they are in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Union

Sex = Literal["M", "F"]
Level = Literal["Low", "High"]


class Session(TypedDict, total=False):
    """One night and the hour before the moment to score. Leave out unknown values, or give None."""

    HR_day_1h: Sequence[float] | None
    """Beats per minute over the hour before, oldest first."""
    RR_day_1h: Sequence[float] | None
    """Breaths per minute over the hour before; not R-R intervals."""
    HR_night: Sequence[float] | None
    RR_night: Sequence[float] | None
    sleepTimeSeconds: int | None
    deepSleepSeconds: int | None
    remSleepSeconds: int | None
    lightSleepSeconds: int | None
    awakeSleepSeconds: int | None
    deepPercentage: float | None
    remPercentage: float | None
    lightPercentage: float | None
    age: float | None
    height_cm: float | None
    weight_kg: float | None
    sex: Sex | None


class ScoreRecord(TypedDict):
    """The seven scores of a session. 50 is typical for the person's age and sex."""

    C_SCORE: float
    attention: float
    memory: float
    reasoning: float
    stress: float
    valence: Level
    arousal: Level


class _Measured(TypedDict, total=False):
    on: str | None
    """The date on which it was taken, as "2026-11-10"; `night` where it is absent."""
    reliability: float | None
    """The share of the variance between people's single results that lasts: the retest correlation, 0.05 to 0.99."""


class MeasuredScore(_Measured):
    """The result of a test or a questionnaire: a percentile among people of that age and sex."""

    score: Literal["attention", "memory", "reasoning", "stress"]
    value: float


class MeasuredLabel(_Measured):
    """A person's own rating of their mood."""

    score: Literal["valence", "arousal"]
    value: Level


Measurement = Union[MeasuredScore, MeasuredLabel]


class IgnoredMeasurement(TypedDict):
    """A measurement not newer than the newest of those that the history keeps only as a sum."""

    score: Literal["attention", "memory", "reasoning", "stress", "valence", "arousal"]
    on: str


class _Required(TypedDict):
    current_session: Session


class PredictionRequest(_Required, total=False):
    """What `predict` sends."""

    past_sessions: Sequence[Session] | None
    past_targets: Sequence[ScoreRecord] | None
    history: str | None
    """The history that the person's last answer gave; empty begins one. The answer then has one to store."""
    night: str | None
    """With `history`: the date on which the person woke, as "2026-11-21"."""
    measurements: Sequence[Measurement] | None
    """With `history` and `night`: what was measured since the last request, at most 64. The history keeps it."""
    explain: bool | None


class Finding(TypedDict):
    """One entry of a 422: place, message and type."""

    loc: list[str | int]
    msg: str
    type: str


class SeriesQuality(TypedDict):
    """How many samples of a series were sent, and how many the network could use."""

    samples: int
    used: int


class Quality(TypedDict):
    """What the data were like."""

    confidence: Literal["high", "medium", "low"]
    sessions: int
    missing: list[str]
    implausible: list[str]
    not_at_rest: list[str]
    series: dict[str, SeriesQuality]


class ExplainedScore(TypedDict, total=False):
    """
    One score beside its reference day. `recent` is how far a day like the last nights is from the reference; present if
    the reference is a usual day and there are last nights. `measured` is present if a measurement counts.
    """

    reference: float
    change: float
    recent: float
    notable: bool
    repeatability: list[float]
    explained: float
    measured: float
    """The score less what it is without measurements; there where one of it counts."""


class Contributor(TypedDict):
    """
    How much a group of inputs moved each score. `notable` are the scores to which it adds more than on nine ordinary
    days in ten, and more than a point.
    """

    group: str
    notable: list[str]
    C_SCORE: float
    attention: float
    memory: float
    reasoning: float
    stress: float


class Explanation(TypedDict):
    """
    The answer to `"explain": True`. `against` names the day with which today is compared: "usual" from ten nights on in
    the long run of the history.
    """

    against: Literal["typical", "last nights", "usual"]
    quality: Quality
    scores: dict[str, ExplainedScore]
    labels: dict[str, float]
    contributors: list[Contributor]


@dataclass(frozen=True)
class Prediction:
    """The service's answer for one session."""

    scores: ScoreRecord
    model_version: str
    """Version of the network that gave the scores; keep it beside them."""
    request_id: str
    inference_time_ms: float
    explanation: Explanation | None = None
    """There where it was asked for and the service can explain."""
    history: str | None = None
    """There where the request had one: what the person's next request sends."""
    unmeasured: ScoreRecord | None = None
    """There where measurements count: the scores without them."""
    measurements_ignored: Sequence[IgnoredMeasurement] = ()
    """Those that came too late to count."""
