"""Values within what a provider sent, and where they lie."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ._zone import clock_of, local_ms

_Value = TypeVar("_Value")


class AdapterError(ValueError):
    """
    What a provider sent can't be read as its documentation says. The message names the field, never its value.

    `field` is where it is, as `sleep.data[0].bedtime_start`.
    """

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field


class Field:
    """A value within what a provider sent. What is None counts as absent."""

    def __init__(self, value: object, path: str) -> None:
        self.value = value
        self.path = path

    @property
    def is_absent(self) -> bool:
        return self.value is None

    def get(self, *names: str) -> Field:
        """A field of an object, and of its objects."""
        field = self
        for name in names:
            field = field._child(name)
        return field

    def _child(self, name: str) -> Field:
        path = f"{self.path}.{name}" if self.path else name
        if self.value is None:
            return Field(None, path)
        if not isinstance(self.value, dict):
            self.fail("expected an object")
        return Field(self.value.get(name), path)

    def items(self) -> list[Field]:
        """The elements of an array; none where it is absent."""
        if self.value is None:
            return []
        if not isinstance(self.value, (list, tuple)):
            self.fail("expected an array")
        return [Field(item, f"{self.path}[{index}]") for index, item in enumerate(self.value)]

    def entries(self) -> list[tuple[str, Field]]:
        """The fields of an object, by their names; none where it is absent."""
        if self.value is None:
            return []
        if not isinstance(self.value, dict):
            self.fail("expected an object")
        return [(name, self._child(name)) for name in self.value]

    def number(self) -> float | None:
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            self.fail("expected a number")
        return self.value

    def quoted_number(self) -> float | None:
        """A number, also in quotes, as protocol buffers write whole numbers in JSON."""
        if not isinstance(self.value, str):
            return self.number()
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", self.value):
            self.fail("expected a number")
        number = float(self.value)
        return int(number) if number.is_integer() else number

    def text(self) -> str | None:
        if self.value is None or isinstance(self.value, str):
            return self.value
        self.fail("expected a string")

    def flag(self) -> bool:
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            self.fail("expected true or false")
        return self.value

    def moment(self, zone: str | None = None) -> int:
        """Milliseconds since 1970 of an ISO 8601 time; `zone` is that of a time that has none."""
        clock, offset = clock_of(self.required(self.text()).strip())
        if offset is None and clock is None:
            self.fail("expected a time in ISO 8601")
        if clock is None:
            self.fail("is no point in time")
        own = offset or zone
        if own is None:
            self.fail("a local time without an offset; give the zone of the person")
        return self.located(lambda: local_ms(clock, own))

    def unix_seconds(self) -> int:
        """Milliseconds since 1970 of seconds since 1970."""
        seconds = self.required(self.number())
        if not 1e8 < seconds < 1e11:
            self.fail("expected seconds since 1970")
        return math.floor(seconds * 1000 + 0.5)

    def required(self, value: _Value | None) -> _Value:
        if value is None:
            self.fail("is missing")
        return value

    def fail(self, what: str) -> NoReturn:
        raise AdapterError(self.path, what)

    def located(self, work: Callable[[], _Value]) -> _Value:
        """Names this field in what `work` raises."""
        try:
            return work()
        except AdapterError:
            raise
        except ValueError as error:
            raise type(error)(f"{self.path}: {error}") from None
