"""The person of a session."""

from __future__ import annotations

import math
from datetime import date

from . import _rules as rules
from ._moment import Moment, day_ms
from ._types import Session, Sex
from ._units import UnitError

_YEAR_MS = 365.2425 * 86_400_000


def person_fields(
    at_ms: int,
    age: float | None,
    born_at: Moment | date | None,
    height_cm: float | None,
    weight_kg: float | None,
    sex: Sex | None,
) -> Session:
    """Raises UnitError or ValueError if a field can't be right."""
    fields: Session = {}
    years = _age(at_ms, age, born_at)
    if years is not None:
        fields["age"] = years
    if height_cm is not None:
        fields["height_cm"] = _height(height_cm)
    if weight_kg is not None:
        fields["weight_kg"] = _weight(weight_kg)
    if sex is not None:
        if sex not in ("M", "F"):
            raise ValueError("sex is 'M', 'F' or None")
        fields["sex"] = sex
    if height_cm is not None and weight_kg is not None:
        _check_together(height_cm, weight_kg)
    return fields


def _age(at_ms: int, age: float | None, born_at: Moment | date | None) -> float | None:
    if age is not None and born_at is not None:
        raise ValueError("give age or born_at, not both")
    years = age if born_at is None else math.floor((at_ms - day_ms(born_at, "born_at")) / _YEAR_MS)
    if years is None:
        return None
    if years >= rules.FIRST_YEAR_OF_BIRTH:
        raise UnitError("age is in years; this looks like a year of birth")
    return _within(years, "age", "age is in years")


def _height(height_cm: float) -> float:
    if 0 < height_cm < rules.METRES_BELOW:
        raise UnitError("height_cm is in centimetres; this looks like metres")
    return _within(height_cm, "height_cm", "height_cm is in centimetres")


def _weight(weight_kg: float) -> float:
    if weight_kg > rules.NUMBER_BOUNDS["weight_kg"][1]:
        raise UnitError("weight_kg is in kilograms; this looks like grams or pounds")
    return _within(weight_kg, "weight_kg", "weight_kg is in kilograms")


def _within(value: float, field: str, what: str) -> float:
    low, high = rules.NUMBER_BOUNDS[field]
    if not low <= value <= high:
        raise UnitError(f"{what}, {low} to {high}")
    return value


def _check_together(height_cm: float, weight_kg: float) -> None:
    low, high = rules.BODY_MASS_INDEX
    if not low <= weight_kg / (height_cm / 100) ** 2 <= high:
        raise UnitError("height and weight do not go together; is one in inches, or in pounds?")
