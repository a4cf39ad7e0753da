"""
Fields that can't all be true of one session, most likely because of a mistaken unit. The service refuses the same; here
the client finds it before anything is sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Any

from . import _rules as rules
from ._units import UnitError


class UnitWarning(UserWarning):
    """A field that may be in another unit. The request is scored unchanged. Never holds a value."""


def check_request(request: Mapping[str, Any]) -> None:
    """Raises UnitError with the place of the first contradiction, in the current session or an earlier one."""
    for place, session in _sessions(request):
        check_session(session, place)


def check_session(session: Mapping[str, Any], place: str) -> None:
    """Raises UnitError with the first contradiction."""
    for field, message in contradictions(session):
        raise UnitError(f"{place}.{field}: {message}")


def unit_warnings(request: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each session whose sleep is far shorter than the series of its night suggest."""
    for place, session in _sessions(request):
        if _is_short_beside_night(session):
            yield f"{place}.sleepTimeSeconds: {rules.SHORT_SLEEP_MESSAGE}"


def _is_short_beside_night(session: Mapping[str, Any]) -> bool:
    series = (session.get(name) for name in rules.NIGHT_SERIES)
    samples = max((len(one) for one in series if isinstance(one, Sized)), default=0)
    if samples <= rules.LONG_NIGHT_SAMPLES:
        return False
    sleep = _Sleep.of(session)
    sleep.derive()
    least, most = rules.SHORT_SLEEP_S
    return least <= sleep.total <= most


def _sessions(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Leaves anything that is not a session to the service, which refuses it."""
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
    """The fields that are most likely wrong, each with the likely cause."""
    for name in rules.BREATHING_FIELDS:
        if _is_heart_rate(session.get(name)):
            yield name, rules.HEART_RATE_MESSAGE
    contradiction = (
        _minutes_beside_seconds(session) or _all_in_another_unit(session) or _one_in_minutes(session)
    )
    if contradiction is not None:
        yield contradiction
    contradiction = _wrong_shares(session)
    if contradiction is not None:
        yield contradiction


def _minutes_beside_seconds(session: Mapping[str, Any]) -> tuple[str, str] | None:
    """Compares whole numbers: nothing is rounded."""
    total = _number(session, "sleepTimeSeconds")
    deep, rem, light = (_number(session, name) for name in rules.STAGES)
    if total is None or deep is None or rem is None or light is None:
        return None
    stages = deep + rem + light
    seconds, minutes = rules.SECONDS_FOR_MINUTES_MIN
    is_not_too_long = rules.SECONDS_FOR_A_MINUTE_MAX * stages >= total
    found = stages > 0 and is_not_too_long and seconds * stages <= minutes * total
    return rules.MINUTES_BESIDE_SECONDS if found else None


def _all_in_another_unit(session: Mapping[str, Any]) -> tuple[str, str] | None:
    """No night has both deep and REM sleep within minutes, or any stage within seconds."""
    sleep = _Sleep.of(session)
    sleep.derive()
    are_both = sleep.deep >= rules.STAGE_S_MIN and sleep.rem >= rules.STAGE_S_MIN
    if rules.MINUTES_MIN <= sleep.total <= rules.MINUTES_MAX and are_both:
        return _short_field(session, rules.MINUTES_MIN, rules.MINUTES_MAX), rules.ALL_IN_MINUTES_MESSAGE
    is_any = sleep.deep > 0 or sleep.rem > 0 or sleep.light > 0
    if rules.HOURS_MIN <= sleep.total <= rules.HOURS_MAX and is_any:
        return _short_field(session, rules.HOURS_MIN, rules.HOURS_MAX), rules.ALL_IN_HOURS_MESSAGE
    return None


def _short_field(session: Mapping[str, Any], least: float, most: float) -> str:
    """The sleep time if it is as short as the night looks, else the first stage that is given."""
    total = _number(session, "sleepTimeSeconds")
    is_time_short = total is not None and least <= total <= most
    return "sleepTimeSeconds" if is_time_short else _first_given(session, rules.STAGES)


def _one_in_minutes(session: Mapping[str, Any]) -> tuple[str, str] | None:
    """One stage in minutes, the rest in seconds."""
    total = _number(session, "sleepTimeSeconds")
    stages = [_number(session, name) for name in rules.STAGES]
    given = [stage for stage in stages if stage is not None]
    if total is None or len(given) < len(stages):
        return None
    unexplained = total - sum(given)
    awake = _number(session, "awakeSleepSeconds") or 0
    for name, stage in zip(rules.STAGES, given):
        if stage > 0 and _is_in_minutes(stage, unexplained + stage, awake):
            return name, rules.STAGE_IN_MINUTES_MESSAGE
    return None


def _is_in_minutes(stage: float, left: float, awake: float) -> bool:
    """
    Whether so many minutes equal what the sleep time leaves for the stage, with or without awake time. A value that is
    no whole number of epochs may differ a little: the time may include more awake time than is given.
    """
    are_epochs = stage % rules.EPOCH_S == 0
    near = rules.EPOCH_S if are_epochs else rules.ROUNDED_S
    asleep = left - awake
    if abs(60 * stage - left) < near or abs(60 * stage - asleep) < near:
        return True
    seconds, minutes = rules.SECONDS_FOR_MINUTES_MIN
    is_not_too_long = rules.SECONDS_FOR_A_MINUTE_MAX * stage >= asleep
    return not are_epochs and is_not_too_long and seconds * stage <= minutes * asleep


def _wrong_shares(session: Mapping[str, Any]) -> tuple[str, str] | None:
    """Contradictions of shares that the stages do not replace."""
    if all(_number(session, name) is not None for name in rules.STAGES):
        return None
    numbers = {name: _number(session, name) for name in rules.SHARES}
    shares = {name: share for name, share in numbers.items() if share is not None}
    total = sum(shares.values())
    are_all_fractions = all(share <= 1 for share in shares.values())
    if total > (1 if are_all_fractions else 100) * (rules.SHARES_SUM_MAX + rules.ROUNDING):
        return _first_given(session, rules.SHARES), rules.SHARES_MESSAGE
    small = [name for name, share in shares.items() if 0 < share < 1]
    if are_all_fractions or not small:
        return None
    scaled = sum(100 * share if name in small else share for name, share in shares.items())
    # A sum of points that is as near to a hundred as it stands may hold a very small share.
    is_nearer = abs(100 - scaled) < abs(100 - total)
    is_whole = rules.POINTS_SUM_MIN <= scaled <= rules.POINTS_SUM_MAX
    return (small[0], rules.TWO_SCALES_MESSAGE) if is_nearer and is_whole else None


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
        self.light = _known(self.light, self.total - self.deep - self.rem)


def _known(value: float, derived: float) -> float:
    """`value` if it is known, else the derived one; a derived negative or infinite value counts as unknown."""
    if not math.isnan(value):
        return value
    return derived if 0 <= derived < math.inf else math.nan


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
