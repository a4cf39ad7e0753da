"""Many requests in few lists: which list holds which, and their outcomes, without sending and waiting."""

from __future__ import annotations

import re
import uuid
from collections import deque
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, Union

from ._core import Answer, Call, Core, failure_of, read_line, refusal_of
from ._errors import (
    AcuityConnectionError,
    AcuityError,
    InvalidRequestError,
    KeyMissingError,
    KeyRejectedError,
    OverloadedError,
    RateLimitedError,
    Refusal,
    RefusedError,
    RequestTooLargeError,
    ServiceError,
    UnexpectedAnswerError,
    UnsupportedMediaTypeError,
    WrongAddressError,
)
from ._transport import ANSWER_BYTES_MAX, Incoming, Outgoing, TransportBroken
from ._types import Prediction, PredictionRequest

Key = TypeVar("Key")
Request = Union[PredictionRequest, Mapping[str, Any]]
Requests = Union[Iterable[Any], AsyncIterable[Any]]

_LINES_MAX = 1_000
LINES = 100
BYTES = 4 * 1024 * 1024
CONCURRENCY = 2

_CONCERN_ALL = (
    KeyMissingError,
    KeyRejectedError,
    WrongAddressError,
    UnsupportedMediaTypeError,
    RateLimitedError,
)
"""What every further list would meet too."""


@dataclass(frozen=True)
class Outcome(Generic[Key]):
    """The outcome of one request: `prediction`, or the `error` that `predict` would have raised."""

    index: int
    """The request's place in the input, from 0 on."""
    key: Key
    """The key that came with the request, else the index."""
    prediction: Prediction | None = None
    error: Exception | None = None


@dataclass
class Line:
    """One request of a list."""

    body: bytes = field(repr=False)
    """JSON; empty once the line is settled."""
    size: int
    settled: Prediction | Exception | None = None
    failed: RefusedError | None = None
    """What the service said of it in the last attempt, where another attempt may mend that (500, 503)."""

    def settle(self, outcome: Prediction | Exception) -> None:
        """No further attempt."""
        self.settled = outcome
        self.body = b""


@dataclass
class Entry:
    """One request of the input."""

    index: int
    key: Any
    line: Line


@dataclass
class List:
    """Requests that are sent together, in parts if they don't fit into one body."""

    entries: list[Entry]
    before: List | None
    """The list before, until it has ended."""
    done: Any
    """An event of the run's own kind: nothing more will be sent."""
    taken: int = 0
    fault: BaseException | None = None
    """What ends the run where this list is reached."""


class ListAnswer:
    """One attempt's answer: settles each line when it arrives."""

    def __init__(self, lines: list[Line], request_id: str, tell: Callable[[], None]) -> None:
        self._lines = lines
        self._request_id = request_id
        self._tell = tell
        self._rest = b""
        self._answered = 0
        self._failed: RefusedError | None = None
        self._fault: AcuityError | None = None
        for line in lines:
            line.failed = None

    def take(self, headers: Mapping[str, str], piece: bytes) -> None:
        """Raises TransportBroken where no more of the answer is to be read."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > ANSWER_BYTES_MAX:
            raise TransportBroken("the answer is too long")
        for line in lines:
            if line.strip():
                self._take_line(headers, line)
        self._tell()

    def _take_line(self, headers: Mapping[str, str], text: bytes) -> None:
        said = read_line(text, headers, self._request_id)
        if said is None or self._answered == len(self._lines):
            self._fault = UnexpectedAnswerError(Refusal(200, self._request_id))
            raise TransportBroken("no answer to this list")
        line = self._lines[self._answered]
        self._answered += 1
        if isinstance(said, (OverloadedError, ServiceError)):
            self._failed = line.failed = said
        else:
            line.settle(said)

    def outcome(self, call: Call, answer: Answer) -> AcuityError | None:
        """None where no line is left to be sent again."""
        if isinstance(answer, Incoming) and answer.status == 200:
            try:
                self._end(answer)
            except TransportBroken as failure:
                answer = failure
        if self._fault is not None:
            return self._fault
        if not isinstance(answer, Incoming):
            return failure_of(call, answer)
        if answer.status != 200:
            return refusal_of(call, answer)
        if self._answered < len(self._lines):
            return AcuityConnectionError("the answer ended before its last line", call.request_id)
        if self._failed is None:
            return None
        # A line's 500 is one request's misfortune: unlike that of a whole answer it may pass.
        return OverloadedError(Refusal(self._failed.status, call.request_id, self._failed.detail))

    def _end(self, answer: Incoming) -> None:
        if answer.body:
            self.take(answer.headers, answer.body)
        rest = self._rest
        # A last line may lack its end; one that is cut is not taken, and its request sent again.
        if rest and (not rest.startswith(b"{") or read_line(rest, answer.headers, self._request_id) is not None):
            self._take_line(answer.headers, rest)
        self._tell()


class Part:
    """As many open lines of a list as fit into one body, through all of their attempts."""

    def __init__(self, run: Run, lst: List, lines: list[Line]) -> None:
        self._run = run
        self._list = lst
        self.lines = lines
        self.call = run.core.call(str(uuid.uuid4()), b"", *run.limits_of_calls)
        self.call.content_type = "application/x-ndjson"

    def outgoing(self) -> Outgoing:
        """The next attempt: the lines that are still open."""
        open_lines = [line for line in self.lines if line.settled is None]
        self._answer = ListAnswer(open_lines, self.call.request_id, self._run.tell)
        self.call.body = b"".join(line.body + b"\n" for line in open_lines)
        self.call.on_body = self._answer.take
        return self._run.core.outgoing(self.call)

    def after(self, answer: Answer) -> float | None:
        """The seconds to wait before the next attempt, None where there is none; raises what ends the run."""
        try:
            return self._after(answer)
        except AcuityError as error:
            self._run.settle(self.lines, error)
            return None

    def _after(self, answer: Answer) -> float | None:
        run = self._run
        run.core.report(self.call, answer)
        error = self._answer.outcome(self.call, answer)
        if error is None:
            return None
        if isinstance(error, RateLimitedError):
            run.is_rated = True
            before = self._list.before
            if before is not None and not before.done.is_set():
                return None
        # A connection that breaks after the last line has taken nothing with it.
        is_open = any(line.settled is None for line in self.lines)
        return run.core.again(self.call, error) if is_open or isinstance(error, UnexpectedAnswerError) else None


class Run:
    """All lists of one input. The client decides when to read, send and take."""

    def __init__(
        self,
        core: Core,
        tell: Callable[[], None],
        event: Callable[[], Any],
        *,
        list_max: int,
        list_bytes_max: int,
        concurrency: int,
        timeout: float | None,
        deadline: float | None,
        retries: int | None,
    ) -> None:
        """Raises ValueError if a limit is out of range."""
        self.core = core
        self.tell = tell
        """Called when something has changed, from any thread."""
        self._event = event
        self._lines = _whole("list_max", list_max, _LINES_MAX)
        self._bytes = _whole("list_bytes_max", list_bytes_max, None)
        self._concurrency = _whole("concurrency", concurrency, None)
        self.limits_of_calls = (timeout, deadline, retries)
        core.call("", b"", *self.limits_of_calls)  # raises for a limit that is none
        self.lists: deque[List] = deque()
        """Those whose outcomes are not all taken, in the order of the input."""
        self.is_rated = False
        """The key's rate has refused a list: two at once would take turns at being refused."""
        self.is_halted = False
        """Nothing more is read or begun."""
        self._last: List | None = None
        self._gathered: list[Entry] = []
        self._gathered_bytes = 0
        self._index = 0
        self._is_ended = False
        self._input_fault: Exception | None = None

    def wants(self) -> bool:
        """Whether the next request is to be read."""
        return not self._is_ended and not self.is_halted and len(self.lists) < self._concurrency

    def add(self, item: Any) -> List | None:
        """Takes one request of the input; returns the list that it fills."""
        entry = self._entry(item)
        if self._gathered and self._gathered_bytes + entry.line.size > self._bytes:
            full = self._begin()
            self._gather(entry)
            return full
        self._gather(entry)
        return self._begin() if len(self._gathered) >= self._lines else None

    def end(self, fault: Exception | None) -> List | None:
        """The input has ended or raised; returns the last list."""
        self._is_ended = True
        self._input_fault = fault
        return self._begin() if self._gathered and not self.is_halted else None

    def _gather(self, entry: Entry) -> None:
        self._gathered.append(entry)
        self._gathered_bytes += entry.line.size

    def _entry(self, item: Any) -> Entry:
        index = self._index
        self._index += 1
        key, request = item if isinstance(item, tuple) and len(item) == 2 else (index, item)
        try:
            body = self.core.encode(request)
        except Exception as error:  # it stops no other
            return Entry(index, key, Line(b"", 0, error))
        return Entry(index, key, Line(body, len(body) + 1))

    def _begin(self) -> List:
        before = self._last if self._last is not None and not self._last.done.is_set() else None
        begun = self._last = List(self._gathered, before, self._event())
        self._gathered, self._gathered_bytes = [], 0
        self.lists.append(begun)
        return begun

    def part(self, lst: List) -> Part | None:
        """The next open lines of the list, as many as fit by what is known now."""
        lines: list[Line] = []
        size = 0
        for entry in lst.entries:
            if entry.line.settled is not None:
                continue
            size += entry.line.size
            if len(lines) >= self._lines or (lines and size > self._bytes):
                break
            lines.append(entry.line)
        return Part(self, lst, lines) if lines else None

    def ended(self, lst: List, fault: BaseException | None) -> None:
        """Nothing more of the list will be sent."""
        lst.fault = fault
        self.is_halted = self.is_halted or fault is not None
        lst.before = None
        lst.done.set()
        self.tell()

    def next_outcome(self) -> Outcome[Any] | None:
        """The next outcome in the order of the input, None if it has not arrived; raises what ends the run."""
        while self.lists:
            lst = self.lists[0]
            if lst.taken < len(lst.entries):
                entry = lst.entries[lst.taken]
                settled = entry.line.settled
                if settled is None:
                    if lst.done.is_set() and lst.fault is not None and entry.line.settled is None:
                        raise lst.fault
                    return None
                lst.taken += 1
                if isinstance(settled, Prediction):
                    return Outcome(entry.index, entry.key, prediction=settled)
                return Outcome(entry.index, entry.key, error=settled)
            if not lst.done.is_set():
                return None
            if lst.fault is not None:
                raise lst.fault
            self.lists.popleft()
        return None

    def is_over(self) -> bool:
        """Whether every outcome is taken; raises what the input raised."""
        if not self._is_ended or self.lists:
            return False
        if self._input_fault is not None:
            raise self._input_fault
        return True

    def settle(self, lines: list[Line], error: AcuityError) -> None:
        """After the last attempt of a part: raises the error if it ends the run."""
        open_lines = [line for line in lines if line.settled is None]
        if isinstance(error, _CONCERN_ALL) or not open_lines:
            raise error
        if len(open_lines) > 1 and self._shrink(error, open_lines):
            return
        for line in open_lines:
            line.settle(line.failed or error)

    def _shrink(self, error: AcuityError, sent: list[Line]) -> bool:
        """Learns what fits from a list that was refused for its length; False where that is not why."""
        if isinstance(error, RequestTooLargeError):
            self._bytes = min(self._bytes, -(-sum(line.size for line in sent) // 2))
            return True
        findings = error.findings if isinstance(error, InvalidRequestError) else []
        found = next((f for f in findings if f.get("type") == "too_long" and len(f["loc"]) == 1), None)
        if found is None:
            return False
        # The sentence has the number that fits, and may have the number that was sent.
        numbers = re.findall(r"[0-9]+", re.sub(r"(?<=[0-9]),(?=[0-9]{3})", "", found["msg"]))
        fitting = [int(number) for number in numbers if 1 <= int(number) < len(sent)]
        self._lines = max(fitting, default=len(sent) // 2)
        return True


def _whole(name: str, value: int, most: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        raise ValueError(f"{name} is a whole number from 1 {'on' if most is None else f'to {most}'}")
    return value
