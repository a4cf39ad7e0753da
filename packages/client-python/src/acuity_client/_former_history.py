"""
Reads what an earlier version of the client stored, a list of sessions with their scores, and begins a history with it.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import NamedTuple, TypedDict

from ._moment import moment_ms
from ._rules import PAST_MAX
from ._types import Measurement, PredictionRequest, ScoreRecord, Session


class _Dated(TypedDict, total=False):
    night: str
    """The date on which the person woke, where it was given."""


class FormerEntry(_Dated):
    """A scored session. The earlier client stored a list of at most five for each person."""

    at: str
    """The moment that was scored, in ISO 8601 with Z."""
    modelVersion: str
    session: Session
    scores: ScoreRecord


class Asked(NamedTuple):
    """The session to score."""

    at_ms: int
    night: str | None
    session: Session
    measurements: Sequence[Measurement] = ()
    explain: bool = False


_SAME_NIGHT_MS = 18 * 3_600_000
"""Two sessions less than this apart are of one night, where their nights are not known."""


def former_entries(stored: object) -> Sequence[FormerEntry] | None:
    """The list that the earlier client stored, as text or parsed; None if `stored` is no such list."""
    if isinstance(stored, str) and stored.startswith("["):
        try:
            stored = json.loads(stored)
        except ValueError:
            return None  # damaged: the service refuses it
    return stored if isinstance(stored, (list, tuple)) else None


def move_over(former: Sequence[FormerEntry], asked: Asked) -> Generator[PredictionRequest, str, None]:
    """
    The requests that convert the list; each is sent with the history of the answer before. The first begins a history
    with the entries before the current session as its past. If a night comes late, the entries after it follow one by
    one.
    """
    entries = sorted(former, key=lambda entry: (entry.get("night") or entry["at"], entry["at"]))
    past = [entry for entry in entries if _distance(entry, asked) < 0][-PAST_MAX:]
    request = request_of(asked.session, "", asked.night, asked.measurements, asked.explain)
    if past:
        request["past_sessions"] = [entry["session"] for entry in past]
        request["past_targets"] = [entry["scores"] for entry in past]
    history = yield request
    for later in entries:
        if _distance(later, asked) > 0:
            history = yield request_of(later["session"], history, later.get("night"))


def request_of(
    session: Session, history: str, night: str | None, measurements: Sequence[Measurement] = (), explain: bool = False
) -> PredictionRequest:
    """The request for a session that gets its place in `history`."""
    request: PredictionRequest = {"current_session": session, "history": history}
    if night is not None:
        request["night"] = night
    if measurements:
        request["measurements"] = measurements
    if explain:
        request["explain"] = True
    return request


def _distance(entry: FormerEntry, asked: Asked) -> int:
    """Below 0 if `entry` is of an earlier night, 0 if it is of the same."""
    night = entry.get("night")
    if night is not None and asked.night is not None:
        return (night > asked.night) - (night < asked.night)
    apart_ms = moment_ms(entry["at"], "the moment of a stored session") - asked.at_ms
    return 0 if abs(apart_ms) < _SAME_NIGHT_MS else apart_ms
