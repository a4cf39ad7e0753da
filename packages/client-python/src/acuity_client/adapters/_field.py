"""Values within what a provider sent, and where they lie."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from .._units import UnitError
from ._error import AdapterError
from ._looks import look_of
from ._zone import local_ms, offset_ms, written_time

_Value = TypeVar("_Value")
_DAY_S = 86_400


class Field:
    """A value within what a provider sent. What is None counts as absent."""

    def __init__(self, value: object, path: str, zone: str | None = None) -> None:
        """`zone` is that of the times within that say none."""
        self.value = value
        self.path = path
        self.zone = zone

    def in_zone(self, zone: str) -> Field:
        """The same value, its times in another zone."""
        return Field(self.value, self.path, zone)

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
            return Field(None, path, self.zone)
        if not isinstance(self.value, dict):
            self.fail("expected an object")
        return Field(self.value.get(name), path, self.zone)

    def has(self, name: str) -> bool:
        """Whether it is an object that names this field, be it None."""
        return isinstance(self.value, dict) and name in self.value

    def items(self) -> list[Field]:
        """The elements of an array; none where it is absent."""
        if self.value is None:
            return []
        if not isinstance(self.value, (list, tuple)):
            self.fail("expected an array")
        return [Field(item, f"{self.path}[{index}]", self.zone) for index, item in enumerate(self.value)]

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

    def moment(self) -> int:
        """Milliseconds since 1970 of an ISO 8601 time; one without an offset is in `zone`."""
        written = written_time(self.required(self.text()).strip())
        if written is None:
            self.fail("expected a time in ISO 8601")
        if written.clock is None:
            self.fail("is no point in time")
        own = written.offset or self.zone
        if own is None:
            self.fail("a local time without an offset; give the zone of the person")
        return local_ms(written.clock, own)

    def east_ms(self) -> int | None:
        """How far east of UTC a time says that it is, in milliseconds; None where it does not, or only "Z"."""
        written = written_time((self.text() or "").strip())
        offset = None if written is None else written.offset
        return None if offset is None or offset in "Zz" else offset_ms(offset)

    def unix_seconds(self) -> int:
        """Milliseconds since 1970 of seconds since 1970."""
        seconds = self.required(self.number())
        if not 1e8 < seconds < 1e11:
            self.fail("expected seconds since 1970")
        return math.floor(seconds * 1000 + 0.5)

    def east_seconds(self) -> int | None:
        """An offset from UTC in seconds, in milliseconds."""
        seconds = self.number()
        if seconds is not None and abs(seconds) > _DAY_S:
            self.fail("expected seconds east of UTC")
        return None if seconds is None else int(seconds * 1000)

    def unix_ms(self) -> int:
        """Milliseconds since 1970."""
        ms = self.required(self.number())
        if not 1e11 < ms < 1e14:
            self.fail("expected milliseconds since 1970")
        return int(ms)

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
        except UnitError as error:
            raise UnitError(f"{self.path}: {error}") from None
        except ValueError as error:
            raise AdapterError(self.path, str(error)) from None

    def expected(self, what: str) -> NoReturn:
        """Not the documented form: says what was expected and, where it can be told, what this is."""
        look = look_of(self.value)
        self.fail(f"expected {what}" + ("" if look is None else f"; {look}"))


def records_of(
    answer: Field,
    what: str,
    *,
    many: Sequence[str] = (),
    one: str | None = None,
    is_list: bool = False,
    omits_empty: bool = False,
) -> list[Field] | None:
    """
    The records of an answer; None where it was not sent. An answer without a record is no error, what is no answer is.

    `what` names the answer in the message, `many` is the path of the list, `one` a field that a record by itself has:
    one may stand in the place of the answer. `is_list`: the answer may be the list itself. `omits_empty`: it leaves
    its list out where it is empty, as protocol buffers do.
    """
    if answer.is_absent:
        return None
    if isinstance(answer.value, (list, tuple)):
        return answer.items() if is_list else answer.expected(what)
    if not isinstance(answer.value, dict):
        answer.expected(what)
    if one is not None and not answer.get(one).is_absent:
        return [answer]
    if omits_empty and not answer.value:
        return []
    found = answer
    for name in many:
        if not isinstance(found.value, dict):
            answer.expected(what)
        found = found.get(name)
    if found is answer or not isinstance(found.value, (list, tuple)):
        answer.expected(what)
    return found.items()
