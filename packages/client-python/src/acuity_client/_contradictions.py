"""
What can't be true of one session at once, and most likely comes from a mistaken unit: scored, it would give wrong
scores without a word. The service refuses the same; here it is caught before anything is sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _rules as rules
from ._units import UnitError

def check_request(request: Mapping[str, Any]) -> None:
    """Raises UnitError with the place of the first contradiction, in the current session or an earlier one."""
    for place, session in _sessions(request):
        check_session(session, place)


def check_session(session: Mapping[str, Any], place: str) -> None:
    """Raises UnitError with the first contradiction."""
    for field, message in contradictions(session):
        raise UnitError(f"{place}.{field}: {message}")


def _sessions(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What is no session is the service's to refuse."""
    current = request.get("current_session")
    if isinstance(current, Mapping):
        yield "current_session", current
    past = request.get("past_sessions")
    if not isinstance(past, (list, tuple)):
        return
    for index, session in enumerate(past):
        if isinstance(session, Mapping):
            yield f"past_sessions[{index}]", session


def contradictions(session: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields that most likely are wrong, each with the likely cause."""
    for name in rules.BREATHING_FIELDS:
        if _is_heart_rate(session.get(name)):
            yield name, rules.HEART_RATE_MESSAGE
    if _is_in_minutes_beside_seconds(session):
        yield rules.MINUTES_BESIDE_SECONDS
    elif _is_all_in_minutes(session):
        total = _number(session, "sleepTimeSeconds")
        is_time_short = total is not None and rules.MINUTES_MIN <= total <= rules.MINUTES_MAX
        field = "sleepTimeSeconds" if is_time_short else _first_given(session, rules.STAGES)
        yield field, rules.ALL_IN_MINUTES_MESSAGE
    if _has_too_large_shares(session):
        yield _first_given(session, rules.SHARES), rules.SHARES_MESSAGE


def _is_in_minutes_beside_seconds(session: Mapping[str, Any]) -> bool:
    """In whole numbers: nothing is rounded."""
    total = _number(session, "sleepTimeSeconds")
    deep, rem, light = (_number(session, name) for name in rules.STAGES)
    if total is None or deep is None or rem is None or light is None:
        return False
    stages = deep + rem + light
    seconds, minutes = rules.SECONDS_FOR_MINUTES_MIN
    return stages > 0 and rules.SECONDS_FOR_A_MINUTE_MAX * stages >= total and seconds * stages <= minutes * total


def _is_all_in_minutes(session: Mapping[str, Any]) -> bool:
    """No night has both deep and REM sleep within so short a time."""
    sleep = _Sleep.of(session)
    sleep.derive()
    is_short = rules.MINUTES_MIN <= sleep.total <= rules.MINUTES_MAX
    return is_short and sleep.deep >= rules.STAGE_S_MIN and sleep.rem >= rules.STAGE_S_MIN


def _has_too_large_shares(session: Mapping[str, Any]) -> bool:
    """Shares that the stages do not replace."""
    if all(_number(session, name) is not None for name in rules.STAGES):
        return False
    shares = [share for share in (_number(session, name) for name in rules.SHARES) if share is not None]
    whole = 100 if any(share > 1 for share in shares) else 1
    return sum(shares) > whole * (rules.SHARES_SUM_MAX + rules.ROUNDING)


def _is_heart_rate(series: object) -> bool:
    if isinstance(series, (str, bytes, Mapping)) or not isinstance(series, Iterable):
        return False
    low, high = rules.PLAUSIBLE["respiratory rate"]
    try:
        plausible = [value for value in series if low <= value <= high]
    except TypeError:
        return False  # what is no number is the service's to refuse
    fast = sum(1 for value in plausible if value > rules.BREATHS_MEDIAN_MAX)
    return len(plausible) >= rules.BREATHS_SAMPLES_MIN and 2 * fast > len(plausible)


def _number(session: Mapping[str, Any], name: str) -> float | None:
    value = session.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def _first_given(session: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if session.get(name) is not None), names[0])


@dataclass
class _Sleep:
    """Sleep in one unit, NaN where it is missing: durations in seconds, shares as fractions."""

    total: float
    deep: float
    rem: float
    light: float
    deep_share: float
    rem_share: float
    light_share: float

    @staticmethod
    def of(session: Mapping[str, Any]) -> _Sleep:
        names = ("sleepTimeSeconds", *rules.STAGES, *rules.SHARES)
        values = (_number(session, name) for name in names)
        return _Sleep(*(math.nan if value is None else value for value in values))

    def derive(self) -> None:
        """What arithmetic gives, as the service derives it; a known value is never overwritten."""
        stages = self.deep + self.rem + self.light
        if not math.isnan(stages):
            self.total = stages  # the stages are what was measured
            return
        if any(share > 1 for share in (self.deep_share, self.rem_share, self.light_share)):
            self.deep_share *= 0.01
            self.rem_share *= 0.01
            self.light_share *= 0.01
        self.deep_share = _known(self.deep_share, 1 - self.rem_share - self.light_share)
        self.rem_share = _known(self.rem_share, 1 - self.deep_share - self.light_share)
        self.light_share = _known(self.light_share, 1 - self.deep_share - self.rem_share)
        self.total = _known(self.total, _ratio(self.deep, self.deep_share))
        self.total = _known(self.total, _ratio(self.rem, self.rem_share))
        self.total = _known(self.total, _ratio(self.light, self.light_share))
        self.deep = _known(self.deep, self.deep_share * self.total)
        self.rem = _known(self.rem, self.rem_share * self.total)
        self.light = _known(self.light, self.light_share * self.total)
        self.deep = _known(self.deep, self.total - self.rem - self.light)
        self.rem = _known(self.rem, self.total - self.deep - self.light)


def _known(value: float, derived: float) -> float:
    """`value` where it is known, else what was derived; a derived negative or infinity is no knowledge."""
    if not math.isnan(value):
        return value
    return derived if 0 <= derived < math.inf else math.nan


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
