"""Keeps the needed part of a long file."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

_Item = TypeVar("_Item")


class Days(NamedTuple):
    """The first and the last day to keep, in days since 1970."""

    first: int
    last: int


class Recent(Generic[_Item]):
    """Items by their days, of which only those of `around` are kept, or else of the newest `days`."""

    def __init__(self, around: Days | None, days: int) -> None:
        self._around = around
        self._days = days
        self._first = -1 if around is None else around.first
        self._has_dropped = False
        self._by_day: dict[int, list[_Item]] = {}

    def add(self, day: int, item: _Item) -> None:
        """Keeps it, or not."""
        if self._around is not None and day > self._around.last:
            return
        if day < self._first:
            self._has_dropped = True
            return
        of_day = self._by_day.get(day)
        if of_day is not None:
            of_day.append(item)
            return
        self._by_day[day] = [item]
        if self._around is None:
            self._drop_before(day - self._days)

    def _drop_before(self, day: int) -> None:
        self._first = max(self._first, day)
        for kept in [kept for kept in self._by_day if kept < self._first]:
            del self._by_day[kept]
            self._has_dropped = True

    def holds(self, day: int) -> bool:
        """Whether what is of this day would be kept."""
        return self._first <= day and (self._around is None or day <= self._around.last)

    def lacks(self, day: int) -> bool:
        """Whether some of a day may be missing because newer ones came."""
        return self._around is None and self._has_dropped and day < self._first

    def items(self) -> list[_Item]:
        """All that is kept."""
        return [item for of_day in self._by_day.values() for item in of_day]
