"""Samples of one signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._sleep import Span
from .._units import Signal, check_unit, reading
from ._field import Field
from ._records import Sample, Series


def series(
    field: Field,
    items: Sequence[Field],
    at_ms: Callable[[Field], int],
    value: Callable[[Field], float | None],
) -> Series:
    """Samples of a list of objects; those without a value are left out."""
    samples: list[Sample] = []
    for item in items:
        number = None if item.is_absent else value(item)
        if number is not None:
            samples.append((at_ms(item), number))
    return Series(field, samples)


def within(span: Span, one: Series | None, signal: Signal) -> list[Sample]:
    """The readings of a series within a span. Raises UnitError if most of them are impossible for the signal."""
    if one is None:
        return []
    found = [
        (at_ms, value)
        for at_ms, value in one.samples
        if span.from_ms <= at_ms <= span.to_ms and reading(value) is not None
    ]
    one.field.located(lambda: check_unit(signal, [value for _, value in found]))
    return found


def of_device(signal: Signal, spans: Sequence[Span], many: Sequence[Series], source: str | None) -> list[Sample]:
    """
    The readings of one device within spans: those of `source` if it has some, else those of the device with the most. A
    series without a source belongs to every device.
    """
    by_source: dict[str | None, list[Sample]] = {}
    for one in many:
        found = by_source.setdefault(one.source, [])
        for span in spans:
            found.extend(within(span, one, signal))
    general = by_source.pop(None, [])
    own = [] if source is None else by_source.get(source, [])
    return general + (own or max(by_source.values(), key=len, default=[]))
