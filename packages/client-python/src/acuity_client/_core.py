"""What both clients share: everything about a request except sending and waiting."""

from __future__ import annotations

import json
import math
import os
import random
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, Union
from urllib.parse import urlsplit

from ._contradictions import UnitWarning, check_request, unit_warnings
from ._errors import (
    AcuityConnectionError,
    AcuityError,
    AcuityTimeoutError,
    OverloadedError,
    RateLimitedError,
    Refusal,
    RefusedError,
    error_for,
)
from ._gate import Gate
from ._night import check_night_of
from ._retry import RetryPolicy
from ._slips import FieldNameWarning, slips
from ._transport import Incoming, OnBody, Outgoing, TransportBroken, TransportTimeout
from ._types import Prediction, PredictionRequest, ScoreRecord

URL_VARIABLE = "ACUITY_URL"
KEY_VARIABLE = "ACUITY_API_KEY"
DEFAULT_TIMEOUT_S = 10.0
DEFAULT_DEADLINE_S = 60.0

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_KEY_FORM = re.compile(r"sk_(demo|live)_[0-9A-Za-z]{38}")
_KNOWN_WARNINGS_MAX = 1_000
_PATIENCE_MAX_MS = 600_000
"""The service takes no longer patience than this."""


@dataclass(frozen=True)
class AttemptReport:
    """An attempt has ended, with an answer or without one (`status` None)."""

    request_id: str
    attempt: int
    """From 1 on."""
    status: int | None
    duration_s: float
    request_bytes: int


@dataclass(frozen=True)
class RetryReport:
    """Another attempt follows after a pause."""

    request_id: str
    attempt: int
    """The attempt that failed."""
    status: int | None
    pause_s: float


@dataclass(frozen=True)
class Hooks:
    """
    Functions for logs and metrics; they never receive keys or biometric values. They run in the caller's thread; for
    the lists of `predict_many`, in the threads that send them.
    """

    on_attempt: Callable[[AttemptReport], None] | None = None
    on_retry: Callable[[RetryReport], None] | None = None
    on_warning: Callable[[str], None] | None = None
    """A mistyped field name, or a sleep time that may be minutes. Without it, `warnings.warn` is told: once for each."""


Propagate = Callable[[dict[str, str]], None]
"""Writes the caller's trace context into a carrier, by header."""


Answer = Union[Incoming, TransportTimeout, TransportBroken]
"""How an attempt ended."""


class _Secret:
    """A text that no repr shows."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> str:
        raise TypeError("a client holds a key and can't be pickled: make one in each process")


@dataclass
class Call:
    """One request on its way, through all of its attempts."""

    address: str
    """Scheme, host and port of the service, for errors."""
    request_id: str
    body: bytes = field(repr=False)
    timeout_s: float
    policy: RetryPolicy
    ends: float
    """When no further attempt is begun, by the monotonic clock."""
    content_type: str = "application/json"
    on_body: OnBody | None = field(default=None, repr=False)
    attempt: int = 0
    failures: int = 0
    started: float = 0.0
    closing: int = 0
    """Of the gate: the last one that this call has waited for."""


class Core:
    """The settings of a client, and what follows from them."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout_s: float,
        deadline_s: float,
        retry: RetryPolicy,
        hooks: Hooks | None,
        allow_plain_http: bool,
        propagate: Propagate | None,
    ) -> None:
        base_url = base_url or os.environ.get(URL_VARIABLE)
        api_key = api_key or os.environ.get(KEY_VARIABLE)
        if not base_url:
            raise ValueError(f"no address: set {URL_VARIABLE} to the base address of the service")
        if not api_key:
            raise ValueError(f"no key: set {KEY_VARIABLE} to the key that the operator issued")
        self.url = _address(base_url, allow_plain_http)
        parts = urlsplit(self.url)
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._key = _Secret(_checked_key(api_key))
        self._timeout_s = _checked_timeout(timeout_s)
        self._deadline_s = _checked_timeout(deadline_s)
        self._gate = Gate()
        self._retry = retry
        self._hooks = hooks or Hooks()
        self._propagate = propagate
        self._warned: set[str] = set()
        self.random: Callable[[], float] = random.random

    def begin(
        self,
        request: PredictionRequest | Mapping[str, Any],
        request_id: str | None,
        timeout_s: float | None,
        deadline_s: float | None,
        retries: int | None,
    ) -> Call:
        """The text to send. Raises, before anything is sent, if the request can't be right."""
        request_id = request_id or str(uuid.uuid4())
        if not _REQUEST_ID.fullmatch(request_id):
            raise ValueError("a request id is 1 to 128 of A-Z a-z 0-9 . _ -")
        return self.call(request_id, self.encode(request), timeout_s, deadline_s, retries)

    def encode(self, request: PredictionRequest | Mapping[str, Any]) -> bytes:
        """The request as JSON. Raises if it can't be right."""
        self._warn(slips(request), FieldNameWarning)
        check_request(request)
        self._warn(unit_warnings(request), UnitWarning)
        check_night_of(request)
        return encoded(request)

    def call(
        self,
        request_id: str,
        body: bytes,
        timeout_s: float | None,
        deadline_s: float | None,
        retries: int | None,
    ) -> Call:
        """A call with its limits, or those of the client."""
        policy = self._retry
        if retries is not None:
            policy = RetryPolicy(retries, policy.first_pause_s, policy.pause_max_s)
        timeout_s = self._timeout_s if timeout_s is None else _checked_timeout(timeout_s)
        deadline_s = self._deadline_s if deadline_s is None else _checked_timeout(deadline_s)
        return Call(self._address, request_id, body, timeout_s, policy, time.monotonic() + deadline_s)

    def held(self, call: Call) -> float | None:
        """
        Seconds until the service accepts another call, after it has refused one of this client for its rate; None if
        the call may be sent now. Raises if the call may not last that long.
        """
        held = self._gate.holds(call.closing) if call.policy.retries > 0 else None
        if held is None:
            return None
        if time.monotonic() + held.left_s > call.ends:
            raise held.refusal(call.request_id)
        call.closing = held.closing
        # No random part: those who have waited go before those who were refused just now, so that none waits for ever.
        return held.left_s

    def outgoing(self, call: Call) -> Outgoing:
        """The next attempt."""
        call.attempt += 1
        call.started = time.monotonic()
        return Outgoing(
            url=self.url,
            headers={
                **self._trace_headers(),
                "x-api-key": self._key.text,
                "content-type": call.content_type,
                "x-request-id": call.request_id,
                # The service need not score what is no longer waited for.
                "x-deadline-ms": str(max(1, min(_PATIENCE_MAX_MS, math.ceil(call.timeout_s * 1000)))),
            },
            body=call.body,
            timeout_s=call.timeout_s,
            on_body=call.on_body,
        )

    def _trace_headers(self) -> dict[str, str]:
        """The trace headers that `propagate` wrote; baggage and everything else is dropped."""
        if self._propagate is None:
            return {}
        carrier: dict[str, str] = {}
        self._propagate(carrier)
        return {name: carrier[name] for name in ("traceparent", "tracestate") if name in carrier}

    def after(self, call: Call, answer: Answer) -> Prediction | float:
        """The scores, or the seconds to wait before the next attempt; raises if there is no next attempt."""
        self.report(call, answer)
        outcome = _judged(call, answer)
        return outcome if isinstance(outcome, Prediction) else self.again(call, outcome)

    def report(self, call: Call, answer: Answer) -> None:
        """Reports an attempt to the hook."""
        if self._hooks.on_attempt is not None:
            status = answer.status if isinstance(answer, Incoming) else None
            duration_s = time.monotonic() - call.started
            self._hooks.on_attempt(AttemptReport(call.request_id, call.attempt, status, duration_s, len(call.body)))

    def again(self, call: Call, error: AcuityError) -> float:
        """The seconds to wait before the next attempt; raises the error if there is none."""
        turn = error if isinstance(error, RateLimitedError) and error.retry_after_s is not None else None
        if turn is None:
            call.failures += 1
        pause_s = self._pause_after(call, error)
        if pause_s is None:
            raise error
        if turn is not None:
            call.closing = self._gate.close(turn)
        if self._hooks.on_retry is not None:
            status = error.status if isinstance(error, RefusedError) else None
            self._hooks.on_retry(RetryReport(call.request_id, call.attempt, status, pause_s))
        return pause_s

    def _pause_after(self, call: Call, error: AcuityError) -> float | None:
        if not isinstance(error, (RateLimitedError, OverloadedError, AcuityConnectionError)):
            return None
        asked_s = None if isinstance(error, AcuityConnectionError) else error.retry_after_s
        pause_s = call.policy.pause_before(max(1, call.failures), asked_s, self.random)
        return None if pause_s is not None and time.monotonic() + pause_s > call.ends else pause_s

    def _warn(self, sentences: Iterable[str], category: type[Warning]) -> None:
        for sentence in sentences:
            if sentence in self._warned:
                continue
            if len(self._warned) < _KNOWN_WARNINGS_MAX:
                self._warned.add(sentence)
            if self._hooks.on_warning is not None:
                self._hooks.on_warning(sentence)
            else:
                warnings.warn(sentence, category, stacklevel=5)


def _judged(call: Call, answer: Answer) -> Prediction | AcuityError:
    if not isinstance(answer, Incoming):
        return failure_of(call, answer)
    if answer.status == 200:
        prediction = _prediction(_decoded(answer.body), answer.headers, call.request_id)
        if prediction is not None:
            return prediction
    return refusal_of(call, answer)


def failure_of(call: Call, failure: TransportTimeout | TransportBroken) -> AcuityError:
    """The error of an attempt without an answer."""
    if isinstance(failure, TransportTimeout):
        return AcuityTimeoutError(f"{call.address}: no answer within {call.timeout_s:g} s", call.request_id)
    return AcuityConnectionError(f"{call.address}: {failure}", call.request_id)


def refusal_of(call: Call, answer: Incoming) -> RefusedError:
    """The error of an answer without scores."""
    return _refusal(_decoded(answer.body), answer.status, answer.headers, call.request_id)


def read_line(line: bytes, headers: Mapping[str, str], request_id: str) -> Prediction | RefusedError | None:
    """
    Reads one line of a list's answer: the scores, or the error that the request alone would have met. None if the
    service did not write the line.
    """
    body = _decoded(line)
    prediction = _prediction(body, headers, request_id)
    if prediction is not None:
        return prediction
    status = body.get("status") if isinstance(body, dict) and "detail" in body else None
    return _refusal(body, status, headers, request_id) if isinstance(status, int) else None


_SCORES = tuple(ScoreRecord.__annotations__)


def _prediction(body: object, headers: Mapping[str, str], sent_id: str) -> Prediction | None:
    if not isinstance(body, dict) or not all(name in body for name in (*_SCORES, "inference_time_ms")):
        return None
    scores: Any = {name: body[name] for name in _SCORES}
    return Prediction(
        scores=scores,
        model_version=headers.get("x-model-version", ""),
        request_id=headers.get("x-request-id", sent_id),
        inference_time_ms=body["inference_time_ms"],
        explanation=body.get("explanation"),
        history=body.get("history"),
        unmeasured=body.get("unmeasured"),
        measurements_ignored=tuple(body.get("measurements_ignored", ())),
    )


def _refusal(body: object, status: int, headers: Mapping[str, str], sent_id: str) -> RefusedError:
    # What has no detail is not of the service: a proxy's 503 is tried again all the same.
    detail = body.get("detail") if isinstance(body, dict) else None
    return error_for(
        Refusal(
            status=status,
            request_id=headers.get("x-request-id", sent_id),
            detail=detail if isinstance(detail, str) else "",
            findings=[finding for finding in detail if _is_finding(finding)] if isinstance(detail, list) else [],
            retry_after_s=seconds_of(headers.get("retry-after")),
            rate_limit=headers.get("ratelimit"),
            limit=_limit(headers.get("ratelimit", ""), headers.get("ratelimit-policy", "")),
        )
    )


def _limit(state: str, policy: str) -> str | None:
    """What the policy says of the limit that was reached: "20 in 2 s"."""
    name = re.match(r'"\w+"', state)
    said = name and re.search(rf"{name[0]};q=(\d+);w=(\d+)", policy)
    return f"{said[1]} in {said[2]} s" if said else None


def _is_finding(finding: object) -> bool:
    return isinstance(finding, dict) and isinstance(finding.get("loc"), list) and "msg" in finding


def seconds_of(retry_after: str | None) -> float | None:
    """`Retry-After` is a number of seconds or a date; anything else counts as absent."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]+", retry_after):
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return None
    return max(0.0, until.timestamp() - time.time())


def encoded(request: object) -> bytes:
    """JSON; arrays of numpy and pandas become lists."""
    try:
        return json.dumps(request, allow_nan=False, separators=(",", ":"), default=_plain).encode()
    except ValueError:
        pass  # its text may name the value
    raise ValueError("the request holds NaN or Infinity, which JSON has not: leave such samples out")


def _plain(value: object) -> Any:
    """Arrays and numbers of numpy and pandas, as lists and numbers."""
    for name in ("tolist", "item"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    raise TypeError(f"a request is made of JSON; it holds a {type(value).__name__}")


def _decoded(body: bytes) -> object:
    try:
        decoded: object = json.loads(body)
    except ValueError:
        return None  # a page of something in between
    return decoded


def _address(base_url: str, allow_plain_http: bool) -> str:
    base = urlsplit(base_url)
    if base.scheme not in ("http", "https") or not base.hostname:
        raise ValueError("the address must be an http or https URL")
    if base.username is not None or base.query or base.fragment:
        raise ValueError("the address must have no user, query or fragment")
    if base.scheme == "http" and not _is_loopback(base.hostname) and not allow_plain_http:
        raise ValueError(
            "http to another machine carries the key and biometrics in clear: use https, or allow_plain_http"
        )
    prefix = base.path.rstrip("/")
    if prefix.endswith("/predict"):
        raise ValueError("give the base address, without /predict")
    return f"{base.scheme}://{base.netloc}{prefix}/predict"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False  # a name


def _checked_key(key: str) -> str:
    trimmed = key.strip()
    if not _KEY_FORM.fullmatch(trimmed):
        raise ValueError("the key must be whole: sk_demo_ or sk_live_ and 38 letters and digits")
    return trimmed


def _checked_timeout(timeout_s: float) -> float:
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise ValueError("a time limit is a positive number of seconds")
    return timeout_s
