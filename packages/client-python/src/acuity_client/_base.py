"""What both clients share: everything about a request except sending and waiting."""

from __future__ import annotations

import copy
import json
import logging
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
from typing import Any, Generic, Optional, TypeVar, cast
from urllib.parse import urlsplit

from . import __version__
from ._checks import FieldNameWarning, check_dates, slips
from ._errors import AcuityError, RateLimitedError, Refusal, RefusedError, error_for, may_pass
from ._patience import RetryPolicy
from ._types import Prediction, PredictionRequest, ScoreRecord

ANSWER_BYTES_MAX = 1 << 20
"""An answer has a few thousand bytes, a proxy's page a little more."""
LINE_BYTES_MAX = 1 << 16

_LOG = logging.getLogger("acuity_client")
_USER_AGENT = f"acuity-client-python/{__version__}"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_KEY_FORM = re.compile(r"sk_(demo|live)_[0-9A-Za-z]{38}")
_KNOWN_WARNINGS_MAX = 1_000
_PATIENCE_MAX_MS = 600_000
"""The service takes no longer patience than this."""

Limits = tuple[Optional[float], Optional[float], Optional[int]]
"""Of a call: timeout, deadline, retries."""


@dataclass(frozen=True)
class Incoming:
    """An answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes | bytearray = field(repr=False)


@dataclass
class Call:
    """One request on its way, through all of its attempts. Its repr shows neither headers nor body."""

    url: str
    request_id: str
    body: bytes = field(repr=False)
    timeout_s: float
    policy: RetryPolicy
    ends: float
    """The deadline, by the monotonic clock."""
    has_recording: bool = False
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    lines: int = 0
    """Of a list: how many. `timeout_s` is then the longest wait for the next of the answer's."""
    came: Incoming | None = None
    """What there is of the answer, whole or not."""
    attempt: int = 0
    failures: int = 0

    @property
    def address(self) -> str:
        return "/".join(self.url.split("/")[:3])


HttpClient = TypeVar("HttpClient")
Client = TypeVar("Client", bound="BaseClient[Any]")


class BaseClient(Generic[HttpClient]):
    """The settings of a client, and what follows from them."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | Callable[[], str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        deadline: float = 60.0,
        retry: RetryPolicy = RetryPolicy(),
        allow_plain_http: bool = False,
        http_client: HttpClient | None = None,
    ) -> None:
        self._url = _address(base_url or os.environ.get("ACUITY_URL", ""), allow_plain_http)
        self._key = _key_of(api_key or os.environ.get("ACUITY_API_KEY", ""))
        self._headers = headers or {}
        self._timeout_s = _checked_timeout(timeout)
        self._deadline_s = _checked_timeout(deadline)
        self._retry = retry
        self._warned: set[str] = set()
        self._random: Callable[[], float] = random.random
        self._open(http_client)

    def _open(self, http_client: HttpClient | None) -> None:
        raise NotImplementedError

    def with_options(
        self: Client,
        *,
        api_key: str | Callable[[], str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retry: RetryPolicy | None = None,
    ) -> Client:
        """A copy with other options, on the same connections: closing one closes both."""
        twin = copy.copy(self)
        twin._key = self._key if api_key is None else _key_of(api_key)
        twin._headers = self._headers if headers is None else headers
        twin._timeout_s = self._timeout_s if timeout is None else _checked_timeout(timeout)
        twin._deadline_s = self._deadline_s if deadline is None else _checked_timeout(deadline)
        twin._retry = retry or self._retry
        return twin

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _begin(self, request: PredictionRequest, request_id: str | None, limits: Limits) -> Call:
        """The call to send. Raises, before anything is sent, if the request can't be right."""
        request_id = request_id or str(uuid.uuid4())
        if not _REQUEST_ID.fullmatch(request_id):
            raise ValueError("a request id is 1 to 128 of A-Z a-z 0-9 . _ -")
        call = self._call(request_id, self._encode(request), limits)
        session = request.get("current_session")
        call.has_recording = isinstance(session, Mapping) and session.get("recording") is not None
        return call

    def _encode(self, request: PredictionRequest) -> bytes:
        """The request as JSON. Raises if it can't be right."""
        self._warn(slips(request))
        check_dates(request)
        return _encoded(request)

    def _call(self, request_id: str, body: bytes, limits: Limits) -> Call:
        """A call with its limits, or those of the client."""
        (timeout_s, deadline_s, retries), policy = limits, self._retry
        if retries is not None:
            policy = RetryPolicy(retries, policy.first_pause_s, policy.pause_max_s)
        timeout_s = self._timeout_s if timeout_s is None else _checked_timeout(timeout_s)
        deadline_s = self._deadline_s if deadline_s is None else _checked_timeout(deadline_s)
        return Call(self._url, request_id, body, timeout_s, policy, time.monotonic() + deadline_s)

    def _attempt(self, call: Call) -> Call:
        """The call, ready for its next attempt."""
        call.attempt += 1
        patience_s = min(call.timeout_s, call.ends - time.monotonic())
        call.came = None
        call.headers = {
            **{name.lower(): text for name, text in self._headers.items()},
            "user-agent": _USER_AGENT,
            "x-api-key": self._key(),
            "content-type": "application/x-ndjson" if call.lines else "application/json",
            "x-request-id": call.request_id,
            # The service need not score what is no longer waited for.
            "x-deadline-ms": str(max(1, min(_PATIENCE_MAX_MS, math.ceil(patience_s * 1000)))),
        }
        return call

    def _after(self, call: Call, answer: Incoming | AcuityError) -> Prediction | float:
        """The scores, or the seconds to wait before the next attempt; raises if there is no next attempt."""
        if isinstance(answer, AcuityError):
            return self._again(call, answer)
        body = _decoded(answer.body) if answer.status == 200 else None
        prediction = _prediction(body, answer.headers, call.request_id)
        if prediction is None:
            return self._again(call, refusal_of(call, answer))
        if call.has_recording and prediction.recording is None:
            told = "the service did not read the recording: it is older than this client, update it"
            raise AcuityError(told, prediction.request_id)
        return prediction

    def _again(self, call: Call, error: AcuityError) -> float:
        """The seconds to wait before the next attempt; raises the error if there is none."""
        asked_s = error.retry_after_s if isinstance(error, RefusedError) else None
        # A refusal for the key's rate that says when to ask again is no failure: the call waits its turn.
        if not isinstance(error, RateLimitedError) or asked_s is None:
            call.failures += 1
        pause_s = call.policy.pause_before(max(1, call.failures), asked_s, self._random) if may_pass(error) else None
        if pause_s is None or time.monotonic() + pause_s > call.ends:
            raise error
        failure = f"{type(error).__name__} {getattr(error, 'status', '')}".rstrip()
        _LOG.warning("request %s, attempt %d: %s, again in %.2f s", call.request_id, call.attempt, failure, pause_s)
        return pause_s

    def _warn(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            if sentence in self._warned:
                continue
            if len(self._warned) < _KNOWN_WARNINGS_MAX:
                self._warned.add(sentence)
            warnings.warn(sentence, FieldNameWarning, stacklevel=5)


def refusal_of(call: Call, answer: Incoming) -> RefusedError:
    """The error of an answer without scores."""
    return _refusal(_decoded(answer.body), answer.status, answer.headers, call.request_id)


def read_line(line: bytes | bytearray, headers: Mapping[str, str], request_id: str) -> Prediction | RefusedError | None:
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
        headers=headers,
        explanation=body.get("explanation"),
        history=body.get("history"),
        recording=body.get("recording"),
        unmeasured=body.get("unmeasured"),
        measured=tuple(body.get("measured", ())),
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
            retry_after_s=_seconds_of(headers.get("retry-after")),
            limit=_limit(headers.get("ratelimit", ""), headers.get("ratelimit-policy", "")),
            headers=headers,
        )
    )


def _limit(state: str, policy: str) -> str | None:
    """What the policy says of the limit that was reached: "20 in 2 s"."""
    name = re.match(r'"\w+"', state)
    said = name and re.search(rf"{name[0]};q=(\d+);w=(\d+)", policy)
    return f"{said[1]} in {said[2]} s" if said else None


def _is_finding(finding: object) -> bool:
    return isinstance(finding, dict) and isinstance(finding.get("loc"), list) and "msg" in finding


def _seconds_of(retry_after: str | None) -> float | None:
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


def _encoded(request: object) -> bytes:
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


def _decoded(body: bytes | bytearray) -> object:
    try:
        return cast(object, json.loads(body))
    except ValueError:
        return None  # a page of something in between


def _address(base_url: str, allow_plain_http: bool) -> str:
    if not base_url:
        raise ValueError("no address: set ACUITY_URL to the base address of the service")
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
    if not key:
        raise ValueError("no key: set ACUITY_API_KEY to the key that the operator issued")
    trimmed = key.strip()
    if not _KEY_FORM.fullmatch(trimmed):
        raise ValueError("the key must be whole: sk_demo_ or sk_live_ and 38 letters and digits")
    return trimmed


def _key_of(api_key: str | Callable[[], str]) -> Callable[[], str]:
    """No repr shows the key, and nothing pickles it."""
    if callable(api_key):
        return lambda: _checked_key(api_key())
    key = _checked_key(api_key)
    return lambda: key


def _checked_timeout(timeout_s: float) -> float:
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise ValueError("a time limit is a positive number of seconds")
    return timeout_s
