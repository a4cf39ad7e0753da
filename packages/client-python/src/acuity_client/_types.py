"""Requests and answers, as they are in JSON. docs/openapi.json describes each field; a test compares the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

Level = Literal["Low", "High"]


class Session(TypedDict, total=False):
    """One night and the hour before the moment to score. Leave out unknown values, or give None."""

    recording: Mapping[str, Any] | None
    """
    In place of the series and durations: what a provider answered, unchanged, such as `{"provider": "oura", "at": …,
    "sleep": …}`. Beside it only `age`, `height_cm`, `weight_kg` and `sex`.
    """
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
    sex: Literal["M", "F"] | None


class ScoreRecord(TypedDict):
    """The seven scores of a session. 50 is typical for the person's age and sex."""

    C_SCORE: float
    attention: float
    memory: float
    reasoning: float
    stress: float
    valence: Level
    arousal: Level


class Measurement(TypedDict, total=False):
    """
    A percentile (`score`, `value`), a rating (`"valence"`, `"High"`), or a test as it was taken: `test` with `answers`,
    `reactions_ms` or `result`.
    """

    score: Literal["attention", "memory", "reasoning", "stress", "valence", "arousal"]
    value: float | Level
    test: str
    answers: Sequence[int]
    reactions_ms: Sequence[float]
    result: float
    on: str | None
    """The date on which it was taken, as "2026-11-10"; `night` where it is absent."""
    reliability: float | None
    """The share of the variance between people's single results that lasts: the retest correlation, 0.05 to 0.99."""


class _Scored(TypedDict):
    current_session: Session


class PredictionRequest(_Scored, total=False):
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


class _Found(TypedDict):
    loc: list[str | int]
    msg: str
    type: str


class Finding(_Found, total=False):
    """One entry of a 422: place, message, type, and the bound that was passed, if it is one."""

    ctx: dict[str, float]


class Explanation(TypedDict):
    """The answer to `"explain": True`; each of `scores` has a `text`, each contributor a `label` in words."""

    against: Literal["typical", "last nights", "usual"]
    """The day with which today is compared."""
    quality: dict[str, Any]
    scores: dict[str, dict[str, Any]]
    labels: dict[str, float]
    contributors: list[dict[str, Any]]


@dataclass(frozen=True)
class Prediction:
    """The service's answer for one session."""

    scores: ScoreRecord
    model_version: str
    """Version of the network that gave the scores; keep it beside them."""
    request_id: str
    inference_time_ms: float
    headers: Mapping[str, str] = field(repr=False)
    """Of the answer, by names in lower case: `ratelimit`, `server-timing`, `x-request-id` and others."""
    explanation: Explanation | None = None
    history: str | None = None
    """There where the request had one: what the person's next request sends."""
    recording: Mapping[str, Any] | None = None
    """There where the session was one: `at`, `night`, `sleep`, and what was `left` and why."""
    unmeasured: ScoreRecord | None = None
    """There where measurements count: the scores without them."""
    measured: Sequence[Mapping[str, Any]] = ()
    """Of tests as they were taken: `test`, `score`, `value`, `on`."""
    measurements_ignored: Sequence[Mapping[str, Any]] = ()
    """Those that came too late to count: `score`, `on`."""
