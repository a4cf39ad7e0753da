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
    is_notable: bool


@dataclass(frozen=True)
class ScoreChart:
    """The numbers of a chart, in points. `contributors` add up to `score` minus `reference`, the largest first."""

    score: float
    reference: float
    against: Literal["typical", "last nights", "usual"]
    """What `reference` is the score of: a typical day, one like the last nights, or a usual one."""
    low: float
    high: float
    contributors: tuple[ChartContributor, ...]
    unmeasured: float | None = None
    """The score without what was measured, where that counts."""


@dataclass(frozen=True)
class ScoreDescription:
    """A score in two plain sentences, and the numbers for its chart."""

    sentences: tuple[str, str]
    chart: ScoreChart


def describe_score(scores: ScoreRecord, explanation: Explanation, name: ScoreName) -> ScoreDescription:
    """
    Writes what an explanation says about one score, in English. It is about the recording and the network, never a
    diagnosis.
    """
    said = explanation["scores"][name]
    against = explanation["against"]
    parts = [
        ChartContributor(
            part["group"], _LABELS.get(part["group"], part["group"]), part[name], name in part["notable"]
        )
        for part in explanation["contributors"]
    ]
    contributors = tuple(sorted(parts, key=lambda part: -abs(part.points)))
    low, high = said["repeatability"]
    change, is_notable = said["change"], said["notable"]
    unmeasured = round(scores[name] - said["measured"], 2) if "measured" in said else None
    chart = ScoreChart(scores[name], said["reference"], against, low, high, contributors, unmeasured)
    told = [_standing(against, change)]
    if _whole(change) != 0:
        told.append(_SELDOM if is_notable else "no more than ordinary days bring")
    told.extend(_causes(contributors, is_notable, is_moved=_whole(change) != 0))
    recent = said.get("recent", 0.0)
    nights = f"; the last nights lie {_side(recent)} usual" if _whole(recent) != 0 else ""
    tested = "" if unmeasured is None else f" ({_whole(unmeasured)} without what was measured)"
    first = f"{_NAMES[name]} is {_whole(scores[name])}{tested}{', '.join(told)}{nights}."
    second = (
        f"Another ordinary device would have put it between {_whole(low)} and {_whole(high)} four times in five "
        f"(confidence in the recording: {explanation['quality']['confidence']}); such recordings explain "
        f"{_share(said['explained'])} of what makes people of one age and sex differ in it."
    )
    return ScoreDescription((first, second), chart)


_SELDOM = "more than on nine ordinary days in ten"


def _standing(against: str, change: float) -> str:
    """Against a usual day it names this day's part of the score alone; the last nights have a sentence of their own."""
    points = _whole(change)
    if against == "usual":
        if points == 0:
            return ": this day is as usual for this person"
        verb = f"adds {points} to it" if change > 0 else f"takes {points} from it"
        return f": this day {verb}, against a usual day of this person"
    day = "a typical day at this age and sex" if against == "typical" else "a day like the last nights"
    return f", as on {day}" if points == 0 else f", {_side(change)} {day}"


def _causes(contributors: tuple[ChartContributor, ...], is_notable: bool, *, is_moved: bool) -> list[str]:
    """The group that moved the score most, if it comes to a point; if the score did not move, only a notable group."""
    if not contributors or _whole(contributors[0].points) == 0:
        return []
    most = contributors[0]
    if not is_moved and not most.is_notable:
        return []
    sign = "+" if most.points > 0 else "−"
    measure = f", {_SELDOM}" if most.is_notable and not is_notable else ""
    return [f"{'mostly by' if is_moved else 'but for'} {most.label} ({sign}{_whole(most.points)}{measure})"]


def _side(points: float) -> str:
    return f"{_whole(points)} {'above' if points > 0 else 'below'}"


def _whole(points: float) -> int:
    """Without its sign, to the nearest whole number; a half upwards, as in the other client."""
    return int(abs(points) + 0.5)


def _share(explained: float) -> str:
    percent = int(100 * explained + 0.5)
    return "less than 1 %" if percent == 0 else f"{percent} %"
