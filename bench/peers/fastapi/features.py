"""The feature row of a session in NumPy: the same numbers as the service's, written a second time.

Order, centres and scales come from the service's catalogue (BENCH_FEATURES: JSON of name, centre, scale); what
each feature means is described there and in the service's pipeline.
"""

import json
import math
import os

import numpy as np

from schema import ScoreRecord, Session

CATALOGUE = json.loads(os.environ["BENCH_FEATURES"])
ROW_CLAMP = CATALOGUE["rowClamp"]
PAST_MAX = CATALOGUE["pastMax"]
INDEX = {feature["name"]: index for index, feature in enumerate(CATALOGUE["features"])}
CENTRES = np.array([feature["centre"] for feature in CATALOGUE["features"]])
SCALES = np.array([feature["scale"] for feature in CATALOGUE["features"]])

BLOCKS = 12
THIRD = BLOCKS // 3
SENTINELS = (0.0, -1.0, -2.0, 255.0)
SECONDS_PER_HOUR = 3600

NAN = math.nan


class UnitError(ValueError):
    """Most samples of a series lie where no such signal can."""


def session_row(session: Session) -> np.ndarray:
    """One row of the model's input `session`."""
    row = np.full(len(INDEX), NAN)
    hr_day = put_series(row, "hr_day", session.HR_day_1h, 25, 240, 1)
    rr_day = put_series(row, "rr_day", session.RR_day_1h, 3, 70, 4)
    hr_night = put_series(row, "hr_night", session.HR_night or session.HR_night_imputed, 25, 240, 1)
    rr_night = put_series(row, "rr_night", session.RR_night or session.RR_night_imputed, 3, 70, 4)
    check_breathing(session.RR_day_1h)
    check_breathing(session.RR_night or session.RR_night_imputed)
    put(row, "hr_dip", hr_day.get("p50", NAN) - hr_night.get("mean", NAN))
    put(row, "rr_dip", rr_day.get("p50", NAN) - rr_night.get("mean", NAN))
    put(row, "pulse_breath", hr_night.get("mean", NAN) / rr_night.get("mean", NAN))
    put_sleep(row, session)
    put_person(row, session)
    scaled = np.clip((row - CENTRES) / SCALES, -ROW_CLAMP, ROW_CLAMP)
    return np.nan_to_num(scaled, nan=0.0).astype(np.float32)


def history_rows(past: list[Session], targets: list[ScoreRecord]) -> dict[str, np.ndarray]:
    """The model's inputs for the past, blockIndex 0 the newest."""
    rows = np.zeros((1, PAST_MAX, len(INDEX)), np.float32)
    scores = np.zeros((1, PAST_MAX, 7), np.float32)
    present = np.zeros((1, PAST_MAX), np.float32)
    for blockIndex, (session, target) in enumerate(zip(reversed(past), reversed(targets), strict=True)):
        rows[0, blockIndex] = session_row(session)
        scores[0, blockIndex] = target_row(target)
        present[0, blockIndex] = 1
    return {"past": rows, "targets": scores, "present": present}


def target_row(target: ScoreRecord) -> list[float]:
    numbers = (target.C_SCORE, target.attention, target.memory, target.reasoning, target.stress)
    labels = (target.valence, target.arousal)
    return [(number - 50) / 25 for number in numbers] + [1.0 if label == "High" else -1.0 for label in labels]


def put(row: np.ndarray, group: str, value: float) -> None:
    """A group of one value; NaN is missing."""
    if not math.isnan(value):
        row[INDEX[f"{group}_known"]] = 1
        row[INDEX[group]] = value


def put_series(row, group, samples, low, high, bins_per_unit) -> dict[str, float]:
    values = summary(samples, low, high, bins_per_unit) if samples else {}
    if values:
        row[INDEX[f"{group}_known"]] = 1
        for name, value in values.items():
            index = INDEX.get(f"{group}_{name}")
            if index is not None:
                row[index] = value
    return values


def summary(samples: list[float], low: float, high: float, bins_per_unit: int) -> dict[str, float]:
    """What is said of a series; empty where no sample is plausible."""
    raw = np.asarray(samples, np.float32).astype(np.float64)
    length = len(raw)
    plausible = (raw >= low) & (raw <= high)
    values = raw[plausible]
    if len(values) == 0:
        return {}
    check_unit(raw, len(values))
    times = np.flatnonzero(plausible).astype(np.float64)
    mean = values.mean()
    variance = values.var()
    time_variance = times.var()
    slope = ((times - times.mean()) * (values - mean)).mean() / time_variance * length if time_variance > 0 else 0.0
    steps = np.diff(raw)[plausible[1:] & plausible[:-1]]
    squared_step = (steps**2).mean() if len(steps) > 0 else 0.0
    result = {
        "mean": mean,
        "sd": math.sqrt(variance),
        "slope": slope,
        "rmssd": math.sqrt(squared_step),
        "count": math.log10(len(values)),
        "irregularity": squared_step / variance if variance > 0 else 0.0,
    }
    return result | percentiles(values, low, bins_per_unit) | course(raw, plausible, mean)


def check_unit(raw: np.ndarray, plausible: int) -> None:
    implausible = len(raw) - plausible - int(np.isin(raw, SENTINELS).sum())
    if implausible >= 3 and implausible > plausible:
        raise UnitError("a series is in another unit")


def check_breathing(samples: list[float] | None) -> None:
    raw = np.asarray(samples or [], np.float32)
    plausible = raw[(raw >= 3) & (raw <= 70)]
    if len(plausible) >= 10 and 2 * int((plausible > 40).sum()) > len(plausible):
        raise UnitError("heart rate in the place of breathing")


def percentiles(values: np.ndarray, low: float, bins_per_unit: int) -> dict[str, float]:
    """Quantiles of a histogram, straight within a bin."""
    counts = np.bincount(((values - low) * bins_per_unit + 0.5).astype(np.int64))
    up_to = np.cumsum(counts)
    smallest, largest = values.min(), values.max()
    result = {}
    for name, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9)):
        rank = len(values) * share
        found = int(np.searchsorted(up_to, rank))
        below = up_to[found] - counts[found]
        start = low + (found - 0.5) / bins_per_unit
        value = start + (rank - below) / (counts[found] * bins_per_unit)
        result[name] = min(max(value, smallest), largest)
    return result


def course(raw: np.ndarray, plausible: np.ndarray, mean: float) -> dict[str, float]:
    """First and last third against the whole, and the lowest of twelve blocks."""
    bounds = [block * len(raw) // BLOCKS for block in range(BLOCKS + 1)]
    blocks = [raw[start:end][plausible[start:end]] for start, end in zip(bounds, bounds[1:])]
    means = [block.mean() if len(block) > 0 else math.inf for block in blocks]
    lowest = int(np.argmin(means))

    def third(part: list[np.ndarray]) -> float:
        joined = np.concatenate(part)
        return joined.mean() - mean if len(joined) > 0 else 0.0

    return {
        "first": third(blocks[:THIRD]),
        "last": third(blocks[-THIRD:]),
        "nadir": means[lowest],
        "nadir_at": (lowest + 0.5) / BLOCKS,
    }


def put_sleep(row: np.ndarray, session: Session) -> None:
    sleep_s, awake_s, deep, rem, light = sleep_of(session)
    put(row, "sleep_time", sleep_s / SECONDS_PER_HOUR)
    put(row, "deep_share", deep)
    put(row, "rem_share", rem)
    put(row, "light_share", light)
    put(row, "awake", awake_s / SECONDS_PER_HOUR)
    put(row, "efficiency", ratio(sleep_s, sleep_s + awake_s))


def sleep_of(session: Session) -> tuple[float, float, float, float, float]:
    """Sleep and awake seconds and the shares of deep, REM and light sleep; NaN is missing."""
    stages = [number(session.deepSleepSeconds), number(session.remSleepSeconds), number(session.lightSleepSeconds)]
    awake_s = number(session.awakeSleepSeconds)
    total = sum(stages)
    given_s = number(session.sleepTimeSeconds)
    if total > 0 and 80 * total >= given_s and 600 * total <= 11 * given_s:
        raise UnitError("stages in minutes beside seconds")
    if not math.isnan(total):
        check_minutes(total, stages)
        return total, awake_s, *(ratio(stage, total) for stage in stages)
    shares = [number(session.deepPercentage), number(session.remPercentage), number(session.lightPercentage)]
    known = [share for share in shares if not math.isnan(share)]
    scale = 0.01 if any(share > 1 for share in known) else 1
    if sum(known) * scale > 1.05 + 1e-9:
        raise UnitError("the shares add up to more than the whole")
    shares = [share * scale for share in shares]
    sleep_s = derive(given_s, stages, shares)
    check_minutes(sleep_s, stages)
    return sleep_s, awake_s, *shares


def check_minutes(sleep_s: float, stages: list[float]) -> None:
    deep_s, rem_s, _ = stages
    if 120 <= sleep_s <= 720 and deep_s >= 0.5 and rem_s >= 0.5:
        raise UnitError("minutes instead of seconds")


def derive(sleep_s: float, stages: list[float], shares: list[float]) -> float:
    """Fills in place what arithmetic can derive; returns the time asleep."""
    others = ((1, 2), (0, 2), (0, 1))
    for stage, (a, b) in enumerate(others):
        shares[stage] = or_derived(shares[stage], 1 - shares[a] - shares[b])
    for stage in range(3):
        sleep_s = or_derived(sleep_s, ratio(stages[stage], shares[stage]))
    for stage in range(3):
        stages[stage] = or_derived(stages[stage], shares[stage] * sleep_s)
    for stage, (a, b) in enumerate(others):
        stages[stage] = or_derived(stages[stage], sleep_s - stages[a] - stages[b])
    for stage in range(3):
        shares[stage] = or_derived(shares[stage], ratio(stages[stage], sleep_s))
    return sleep_s


def put_person(row: np.ndarray, session: Session) -> None:
    height, weight = number(session.height_cm), number(session.weight_kg)
    put(row, "age", number(session.age))
    put(row, "sex", {"M": 1.0, "F": -1.0, None: NAN}[session.sex])
    put(row, "height", height)
    put(row, "weight", weight)
    put(row, "bmi", weight / (height / 100) ** 2)


def number(value: float | None) -> float:
    return NAN if value is None else float(value)


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else NAN


def or_derived(value: float, derived: float) -> float:
    """`value` where it is known; a derived negative is no knowledge."""
    if not math.isnan(value):
        return value
    return derived if derived >= 0 else NAN
