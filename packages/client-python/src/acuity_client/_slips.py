"""Field names that are a typing error away from a known one: the service ignores them, and scores without the field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from . import _rules as rules

_SESSION = frozenset(rules.SESSION_FIELDS)
_TARGET = frozenset(rules.TARGET_FIELDS)
_REQUEST = frozenset(rules.REQUEST_FIELDS)
_MEASUREMENT = frozenset(rules.MEASUREMENT_FIELDS)


class FieldNameWarning(UserWarning):
    """A field that the service does not know and that was most likely meant to be another. Never holds a value."""


def slips(request: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each unknown name near a known one, with its place."""
    yield from _slips_in("", request, _REQUEST)
    for name, known in (
        ("current_session", _SESSION),
        ("past_sessions", _SESSION),
        ("past_targets", _TARGET),
        ("past_target", _TARGET),
        ("measurements", _MEASUREMENT),
    ):
        value = request.get(name)
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, Mapping):
                yield from _slips_in(f"{name}.", part, known)


def column_slips(columns: Iterable[str]) -> Iterator[str]:
    """The same for the columns of a table, which are fields of a session."""
    yield from _slips_in("the column ", dict.fromkeys(columns, True), _SESSION)


def _slips_in(place: str, given: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    for name in given:
        if name in known or not isinstance(name, str):
            continue
        meant = nearest(name, known)
        # Beside the field itself it is another thing, which merely sounds alike.
        if meant is not None and given.get(meant) is None:
            yield f"{place}{name} is no field of the service and is ignored; did you mean {meant}?"


@lru_cache(maxsize=1024)
def nearest(name: str, known: frozenset[str]) -> str | None:
    """The known name that was meant, None if none is near."""
    if len(name) > rules.NAME_LENGTH_MAX:
        return None
    plain = _plain(name)
    edits, candidate = min((_distance(plain, _plain(candidate)), candidate) for candidate in known)
    return candidate if edits <= len(plain) // rules.LETTERS_PER_EDIT else None


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def _distance(a: str, b: str) -> int:
    """The least number of letters to insert, remove or exchange (Levenshtein), one row at a time."""
    above = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other)))
        above = row
    return above[-1]
