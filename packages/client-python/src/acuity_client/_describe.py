"""An explanation in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._types import Explanation, ScoreRecord

ScoreName = Literal["C_SCORE", "attention", "memory", "reasoning", "stress"]

_NAMES = {
    "C_SCORE": "C_SCORE",
    "attention": "Attention",
    "memory": "Memory",
    "reasoning": "Reasoning",
    "stress": "Stress",
}
_LABELS = {
    "sleep_amount": "the amount of sleep",
    "sleep_quality": "the quality of sleep",
    "night_heart_rate": "the heart rate by night",
    "day_heart_rate": "the heart rate by day",
    "breathing": "breathing",
    "body": "height and weight",
}


@dataclass(frozen=True)
class ChartContributor:
    """What one group of inputs adds, in points."""

    group: str
    label: str
    points: float


@dataclass(frozen=True)
class ScoreChart:
    """Points; `contributors` add up to `score` less `reference`, the largest first."""

    score: float
    reference: float
    is_usual: bool
    """Whether `reference` is what is usual for this person, or what is typical of that age and sex."""
    low: float
    high: float
    contributors: tuple[ChartContributor, ...]
    unmeasured: float | None = None
    """The score without what was measured, where that counts."""


@dataclass(frozen=True)
class ScoreDescription:
    """A score in two plain sentences, and the numbers that a chart of it needs."""

    sentences: tuple[str, str]
    chart: ScoreChart


def describe_score(scores: ScoreRecord, explanation: Explanation, name: ScoreName) -> ScoreDescription:
    """
    Says what an explanation says of one score, in English. It is about the recording and the network, never a
    diagnosis.
    """
    said = explanation["scores"][name]
    parts = [
        ChartContributor(part["group"], _LABELS.get(part["group"], part["group"]), part[name])
        for part in explanation["contributors"]
    ]
    contributors = tuple(sorted(parts, key=lambda part: -abs(part.points)))
    low, high = said["repeatability"]
    is_usual = "usual" in said
    reference, change = said["reference"], said["change"]
    unmeasured = round(scores[name] - said["measured"], 2) if "measured" in said else None
    chart = ScoreChart(scores[name], reference, is_usual, low, high, contributors, unmeasured)
    against = "usual for this person" if is_usual else "typical of this age and sex"
    cause = ""
    if contributors and contributors[0].points != 0:
        cause = f", mostly by {contributors[0].label} ({_signed(contributors[0].points)})"
    measure = "more than on nine ordinary days in ten" if said["notable"] else "no more than ordinary days bring"
    difference = f"just what is {against}"
    if change != 0:
        side = "above" if change > 0 else "below"
        difference = f"{abs(change):.2f} {side} the {reference:.2f} that is {against}, {measure}"
    tested = "" if unmeasured is None else f" ({unmeasured:.2f} without what was measured)"
    first = f"{_NAMES[name]} is {scores[name]:.2f}{tested}, {difference}{cause}."
    second = (
        f"Another ordinary device would have put it between {low:.2f} and {high:.2f} four times in five "
        f"(confidence in the recording: {explanation['quality']['confidence']}); such recordings explain "
        f"{100 * said['explained']:.1f} % of what makes people of one age and sex differ in it."
    )
    return ScoreDescription((first, second), chart)


def _signed(points: float) -> str:
    return f"{'+' if points > 0 else '−'}{abs(points):.2f}"
