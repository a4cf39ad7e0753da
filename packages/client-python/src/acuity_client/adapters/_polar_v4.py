"""
Polar AccessLink v4 ("Dynamic API"), https://www.polar.com/polar-api-v4: its page could not be read. The names are those
that public clients use, unverified, 2026-11-22. Durations are those of protocol buffers, "80s".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .._sleep import Span
from ._durations import AnyStage, Measured, Stretch, durations, stretches
from ._field import Field, records_of
from ._records import Sample, Series, SleepDetails, SleepRecord

_STATES: dict[str, AnyStage] = {
    "SLEEP_STATE_WAKE": "awake",
    "SLEEP_STATE_REM": "rem",
    "SLEEP_STATE_NON_REM1": "light",
    "SLEEP_STATE_NON_REM2": "light",
    "SLEEP_STATE_NON_REM3": "deep",
}
_MINUTE_MS = 60_000


def night_sleeps_of(sent: Field) -> list[Field] | None:
    """Of `/v4/data/sleeps`; a list of answers too, for each is of one day."""
    answers = _answers_with(sent, "nightSleeps")
    if answers is None:
        return None
    what = "the answer of /v4/data/sleeps"
    nights = [night for answer in answers for night in records_of(answer, what, many=["nightSleeps"]) or ()]
    full = [night for night in nights if not night.get("sleepResult").is_absent]
    if nights and not full:
        missing = nights[0].get("sleepResult")
        missing.fail("is missing: ask for a day with features=sleep-result and sleep-evaluation")
    return full


def nightly_recharges_of(sent: Field) -> list[Field] | None:
    """Of `/v4/data/nightly-recharge-results`."""
    name = "nightlyRechargeResults"
    answers = _answers_with(sent, name)
    if answers is None:
        return None
    inner = [answer.get(name) for answer in answers]
    return [one for part in inner for one in (part.get(name) if part.has(name) else part).items()]


def heart_days_of(sent: Field) -> list[Field] | None:
    """Of `/v4/data/continuous-samples`."""
    name = "heartRateSamplesPerDay"
    answers = _answers_with(sent, "continuousSamples") or _answers_with(sent, name)
    if answers is None:
        return None
    inner = [answer if answer.has(name) else answer.get("continuousSamples") for answer in answers]
    return [day for part in inner for day in part.get(name).items()]


def _answers_with(sent: Field, name: str) -> list[Field] | None:
    """None where it is no answer of v4."""
    answers = sent.items() if isinstance(sent.value, (list, tuple)) else [sent]
    return answers if answers and all(answer.has(name) for answer in answers) else None


def begin_of(night: Field) -> Field:
    return night.get("sleepResult", "hypnogram", "sleepStart")


def record_of_v4(field: Field, recharges: Sequence[Field]) -> SleepRecord:
    hypnogram = field.get("sleepResult", "hypnogram")
    end = hypnogram.get("sleepEnd")
    span = Span(begin_of(field).moment(), end.moment())

    def read() -> SleepDetails:
        day = field.get("sleepDate").text()
        recharge = next((one for one in recharges if one.get("sleepResultDate").text() == day), None)
        details = SleepDetails(*_stages_of(field, hypnogram, span))
        if recharge is not None:
            details.heart_average = _per_minute(recharge.get("meanNightlyRecoveryRri"))
            details.breath = _breath_of(recharge.get("breathingRateSamples"))
            details.breath_average = _per_minute(recharge.get("meanNightlyRecoveryRespirationInterval"))
        return details

    return SleepRecord(field, span, read, east_ms=end.east_ms())


def _stages_of(field: Field, hypnogram: Field, span: Span) -> Measured:
    evaluation = field.get("sleepEvaluation")
    phases = evaluation.get("phaseDurations")
    asleep = _seconds_of(evaluation.get("asleepDuration"))
    awake = _seconds_of(phases.get("wake"))
    if awake is None:
        awake = _seconds_of(evaluation.get("interruptions", "totalDuration"))
    if not phases.is_absent or hypnogram.get("sleepStateChanges").is_absent:
        given = {name: _seconds_of(phases.get(name)) for name in ("deep", "rem", "light")}
        named = evaluation if phases.is_absent else phases
        return durations(named, span, "seconds", {**given, "awake": awake, "asleep": asleep})
    points = [
        # One at the end of the span, or after it, ends the last stretch.
        (
            _STATES.get(change.get("newState").text() or ""),
            min(span.from_ms + int((_seconds_of(change.get("offsetFromStart")) or 0) * 1000), span.to_ms),
        )
        for change in hypnogram.get("sleepStateChanges").items()
    ]
    ends = [from_ms for _, from_ms in points[1:]] + [span.to_ms]
    intervals = [Stretch(stage, from_ms, to_ms) for (stage, from_ms), to_ms in zip(points, ends) if to_ms > from_ms]
    return stretches(hypnogram.get("sleepStateChanges"), span, intervals, asleep=asleep, awake=awake)


def _seconds_of(field: Field) -> float | None:
    """"80s", "3.000000001s"; zero may be left out."""
    text = field.text()
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)s", text)
    return field.fail("expected a duration in seconds, as 80s") if found is None else float(found[1])


def _per_minute(field: Field) -> Field:
    """Of the mean milliseconds between two, in hundredths."""
    ms = field.number()
    if ms is None or ms <= 0:
        return Field(None, field.path)
    return Field(math.floor(_MINUTE_MS / ms * 100 + 0.5) / 100, field.path)


def _breath_of(field: Field) -> Series:
    samples: list[Sample] = []
    for run in field.items():
        values = run.get("breathingRateValues").items()
        if not values:
            continue
        from_ms = run.get("startTime").moment()
        interval = run.get("sampleInterval")
        step_ms = int(interval.required(_seconds_of(interval)) * 1000)
        for index, value in enumerate(values):
            number = value.number()
            if number is not None:
                samples.append((from_ms + index * step_ms, number))
    return Series(field, samples)


def heart_of_v4(day: Field) -> Series:
    """Samples are dated in milliseconds after local midnight; those without a time are left out."""
    date = day.get("date")
    samples: list[Sample] = []
    for one in day.get("samples").items():
        offset_ms, number = one.get("offsetMillis").number(), one.get("heartRate").number()
        if offset_ms is not None and number is not None:
            midnight_ms = Field(f"{date.required(date.text())}T00:00", date.path, day.zone).moment()
            samples.append((midnight_ms + int(offset_ms), number))
    device = day.get("deviceRef")
    return Series(day.get("samples"), samples, device.get("deviceId").text() or device.get("uuid").text())
