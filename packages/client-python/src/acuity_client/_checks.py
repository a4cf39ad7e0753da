"""What is caught before it is sent: mistyped names, which the service ignores, and days that can't be right yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from ._types import Measurement, PredictionRequest, ScoreRecord, Session

_SESSION = frozenset((*Session.__annotations__, "HR_night_imputed", "RR_night_imputed"))
_REQUEST = frozenset((*PredictionRequest.__annotations__, "past_target"))
_TARGET = frozenset(ScoreRecord.__annotations__)
_PARTS = {
    "current_session": _SESSION,
    "past_sessions": _SESSION,
    "past_targets": _TARGET,
    "past_target": _TARGET,
    "measurements": frozenset(Measurement.__annotations__),
}
_ALIKE_MIN = 0.8
"""Of two names, from 0 to 1 (`difflib`): a letter or two of a name as long as these."""


class FieldNameWarning(UserWarning):
    """A field that the service does not know and that was most likely meant to be another. Never holds a value."""


def slips(request: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each unknown name near a known one, with its place."""
    yield from _slips_in("", request, _REQUEST)
    for name, known in _PARTS.items():
        value = request.get(name)
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, Mapping):
                yield from _slips_in(f"{name}.", part, known)


def column_slips(columns: Iterable[str]) -> Iterator[str]:
    """The same for the columns of a table, which are fields of a session in any case of their letters."""
    fields = {name.lower(): name for name in _SESSION}
    named = {fields.get(name.lower(), name): True for name in columns if isinstance(name, str)}
    yield from _slips_in("the column ", named, _SESSION)


def _slips_in(place: str, given: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    for name in given:
        if name in known or not isinstance(name, str):
            continue
        meant = _nearest(name, known)
        # Beside the field itself it is another thing, which merely sounds alike.
        if meant is not None and given.get(meant) is None:
            yield f"{place}{name} is no field of the service and is ignored; did you mean {meant}?"


@lru_cache(maxsize=1024)
def _nearest(name: str, known: frozenset[str]) -> str | None:
    plain = {_plain(one): one for one in sorted(known)}
    near = get_close_matches(_plain(name[:64]), plain, 1, _ALIKE_MIN)
    return plain[near[0]] if near else None


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def check_dates(request: Mapping[str, Any]) -> None:
    """Raises ValueError where it would put the newest night of a history, or a measurement, into the future."""
    if not isinstance(request.get("history"), str):
        return
    _refuse_ahead(request.get("night"), "the night", "the date of waking")
    measurements = request.get("measurements")
    for measurement in measurements if isinstance(measurements, (list, tuple)) else ():
        if isinstance(measurement, Mapping):
            _refuse_ahead(measurement.get("on"), "a measurement", "the day on which it was taken")


def _refuse_ahead(day: object, what: str, remedy: str) -> None:
    """More than one day ahead: it may already be tomorrow somewhere. What is no date is the service's to refuse."""
    if not isinstance(day, str) or not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        return
    if day > (datetime.now(timezone.utc).date() + timedelta(days=1)).isoformat():
        raise ValueError(f"{what} lies ahead of this machine's clock: give {remedy}, or set the clock")
