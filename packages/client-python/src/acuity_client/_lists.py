"""Many requests in few lists: which list holds which, and their outcomes, without sending and waiting."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import _errors as errors
from ._base import BaseClient, Call, Incoming, Limits, read_line, refusal_of
from ._types import Prediction

_LINES_MAX = 1_000
LINES = 100
BYTES = 4 * 1024 * 1024

_CONCERN_ALL = (
    *(errors.KeyMissingError, errors.KeyRejectedError, errors.WrongAddressError),
    *(errors.UnsupportedMediaTypeError, errors.RateLimitedError),
)
"""What every further list would meet too."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one request: `prediction`, or the `error` of `predict` (of one not sent, its `__cause__`)."""

    index: int
    """The request's place in the input, from 0 on."""
    key: Any
    """The key that came with the request, else the index."""
    prediction: Prediction | None = None
    error: errors.AcuityError | None = None


@dataclass
class Line:
    """One request of the input, as a line of a list."""

    index: int
    key: Any
    body: bytes = field(repr=False)
    """JSON; empty once the line is settled."""
    size: int
    settled: Prediction | errors.AcuityError | None = None
    failed: errors.RefusedError | None = None
    """What the service said of it in the last attempt, where another attempt may mend that (500, 503)."""

    def settle(self, outcome: Prediction | errors.AcuityError) -> None:
        """No further attempt."""
        self.settled = outcome
        self.body = b""


class Part:
    """As many open lines of a list as fit into one body, through all of their attempts."""

    def __init__(self, run: Run, lines: list[Line]) -> None:
        self._run = run
        self._lines = lines
        self.call = run.client._call(str(uuid.uuid4()), b"", run.limits)

    def prepared(self) -> Call:
        """The call with the lines that are still open."""
        self._sent = self._open()
        for line in self._sent:
            line.failed = None
        self.call.body = b"".join(line.body + b"\n" for line in self._sent)
        self.call.lines = len(self._sent)
        return self.call

    def _open(self) -> list[Line]:
        return [line for line in self._lines if line.settled is None]

    def after(self, answer: Incoming | errors.AcuityError) -> float | None:
        """The seconds to wait before the next attempt, None where there is none; raises what ends the run."""
        error = self._error_of(answer)
        # A connection that breaks after the last line has taken nothing with it.
        if error is None or not (self._open() or isinstance(error, errors.UnexpectedAnswerError)):
            return None
        try:
            return self._run.client._again(self.call, error)
        except errors.AcuityError as last:
            left = self._open()
            if isinstance(last, _CONCERN_ALL) or not left:
                raise
            if len(left) == 1 or not self._run.shrinks(last, left):
                for line in left:
                    line.settle(line.failed or last)
            return None

    def _error_of(self, answer: Incoming | errors.AcuityError) -> errors.AcuityError | None:
        """Settles the lines that came, of a broken answer too. None where no line is left to be sent again."""
        came = self.call.came
        if came is None or came.status != 200:
            return refusal_of(self.call, answer) if isinstance(answer, Incoming) else answer
        request_id = self.call.request_id
        texts = bytes(came.body).split(b"\n")
        rest = texts.pop()
        # A last line may lack its end; one that is cut is not taken, and its request sent again.
        is_line = not rest.startswith(b"{") or read_line(rest, came.headers, request_id) is not None
        texts = [text for text in (*texts, rest if isinstance(answer, Incoming) and is_line else b"") if text.strip()]
        failed: errors.RefusedError | None = None
        for place, text in enumerate(texts):
            said = read_line(text, came.headers, request_id) if place < len(self._sent) else None
            if said is None:
                return errors.UnexpectedAnswerError(errors.Refusal(200, request_id, headers=came.headers))
            if isinstance(said, (errors.OverloadedError, errors.ServiceError)):
                self._sent[place].failed = failed = said
            else:
                self._sent[place].settle(said)
        if len(texts) < len(self._sent):
            broke = errors.AcuityConnectionError("the answer ended before its last line", request_id)
            return broke if isinstance(answer, Incoming) else answer
        # A line's 500 is one request's misfortune: unlike that of a whole answer it may pass.
        return failed and errors.OverloadedError(errors.Refusal(failed.status, request_id, failed.detail))


class Run:
    """What is known of one input. The client decides when to read and to send."""

    def __init__(self, client: BaseClient[Any], list_max: int, list_bytes_max: int, limits: Limits) -> None:
        """Raises ValueError if a limit is out of range."""
        self.client = client
        self._lines = _whole("list_max", list_max, _LINES_MAX)
        self._bytes = _whole("list_bytes_max", list_bytes_max, None)
        self.limits = limits
        client._call("", b"", limits)  # raises for a limit that is none
        self.is_ended = False
        """Nothing more is to be read."""
        self.input_fault: Exception | None = None
        self._gathered: list[Line] = []
        self._gathered_bytes = 0
        self._index = 0

    def add(self, item: Any) -> None:
        """Takes one request of the input."""
        index = self._index
        self._index += 1
        key, request = item if isinstance(item, tuple) and len(item) == 2 else (index, item)
        try:
            body = self.client._encode(request)
        except Exception as cause:  # it stops no other
            error = errors.UnsentError(str(cause), "")
            error.__cause__ = cause
            line = Line(index, key, b"", 0, error)
        else:
            line = Line(index, key, body, len(body) + 1)
        self._gathered.append(line)
        self._gathered_bytes += line.size

    def is_full(self) -> bool:
        """Whether what was read fills a list."""
        return self.is_ended or len(self._gathered) >= self._lines or self._gathered_bytes > self._bytes

    def next_list(self) -> list[Line]:
        """What fits into one list; empty where nothing is left."""
        fitting = self._fitting(self._gathered)
        self._gathered = self._gathered[len(fitting) :]
        self._gathered_bytes = sum(line.size for line in self._gathered)
        return fitting

    def part(self, lines: list[Line]) -> Part | None:
        """The next open lines of a list, as many as fit by what is known now."""
        fitting = self._fitting([line for line in lines if line.settled is None])
        return Part(self, fitting) if fitting else None

    def _fitting(self, lines: list[Line]) -> list[Line]:
        """The first of them, at least one."""
        size = 0
        for count, line in enumerate(lines):
            size += line.size
            if count >= self._lines or (count and size > self._bytes):
                return lines[:count]
        return lines

    def shrinks(self, error: errors.AcuityError, sent: list[Line]) -> bool:
        """Learns what fits from a list that was refused for its length; False where that is not why."""
        if isinstance(error, errors.RequestTooLargeError):
            self._bytes = min(self._bytes, -(-sum(line.size for line in sent) // 2))
            return True
        findings = error.findings if isinstance(error, errors.RefusedError) else []
        found = next((f for f in findings if f.get("type") == "too_long" and len(f["loc"]) == 1), None)
        if found is None:
            return False
        ctx: Any = found.get("ctx")
        fitting = ctx.get("max_length") if isinstance(ctx, dict) else None
        is_fitting = isinstance(fitting, int) and 1 <= fitting < len(sent)
        self._lines = int(fitting) if fitting is not None and is_fitting else len(sent) // 2
        return True


def outcomes_of(lines: list[Line]) -> Iterator[Outcome]:
    """Those of the lines that are settled, up to the first that is not."""
    for line in lines:
        if line.settled is None:
            return
        if isinstance(line.settled, Prediction):
            yield Outcome(line.index, line.key, prediction=line.settled)
        else:
            yield Outcome(line.index, line.key, error=line.settled)


def _whole(name: str, value: int, most: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        raise ValueError(f"{name} is a whole number from 1 {'on' if most is None else f'to {most}'}")
    return value
