"""The only way to the network: pooled connections by httpx."""

from __future__ import annotations

import ssl
import time
from functools import lru_cache
from typing import Any

import httpx

from .._base import ANSWER_BYTES_MAX, LINE_BYTES_MAX, Call, Incoming
from .._concurrency import async_within
from .._errors import AcuityConnectionError, AcuityError, AcuityTimeoutError

_KEEP_ALIVE_S = 5.0
"""The service closes connections that are idle for 8 to 12 s: ours go well before, so that no request meets one."""
_CONNECTIONS_MAX = 32
_LIMITS = httpx.Limits(
    max_connections=_CONNECTIONS_MAX, max_keepalive_connections=_CONNECTIONS_MAX, keepalive_expiry=_KEEP_ALIVE_S
)
_DIRECT = {"http://": None}
"""Goes before the environment's HTTP_PROXY and ALL_PROXY: a proxy for http would read the key and the night."""
_TOO_LONG = "the answer is too long"
_CAUSES_MAX = 16
_LEFT_MIN_S = 0.001
"""None would make a socket that does not wait at all."""


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Read once: it takes longer than a request."""
    return httpx.create_ssl_context()


def _cause_of(error: BaseException) -> str:
    """
    The system's words for the cause, such as "connection refused", which httpx wraps. Never the text of another error:
    that may hold what was sent.
    """
    if str(error) == _TOO_LONG:
        return _TOO_LONG
    pending: list[BaseException] = [error]
    for _ in range(_CAUSES_MAX):
        if not pending:
            break
        cause = pending.pop()
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused; is the service running there?"
        if isinstance(cause, OSError) and isinstance(cause.strerror, str):
            return cause.strerror[:1].lower() + cause.strerror[1:]
        # An address of several machines has an error for each: the first of them tells enough.
        pending.extend(getattr(cause, "exceptions", ())[:1])
        pending.extend(each for each in (cause.__context__, cause.__cause__) if each is not None)
    return f"the connection broke ({type(error).__name__})"


class _Left(dict[str, float]):
    """
    The time limits of an exchange. httpcore asks for its limit as each step begins (pool, connect, write, read) and
    gets what is left then: limits of their own would add up, and only asyncio can end a step from outside.
    """

    def __init__(self, until: float) -> None:
        super().__init__(dict.fromkeys(("pool", "connect", "write", "read"), until - time.monotonic()))
        self.until = until
        """By the monotonic clock."""

    def get(self, *_: Any) -> float:
        return max(_LEFT_MIN_S, self.until - time.monotonic())


class AsyncTransport:
    """Keeps connections open, one request at a time on each."""

    def __init__(self, client: httpx.AsyncClient | None) -> None:
        """`client`: the caller's own, which the caller closes."""
        self._owned = client is None
        self._client = client or httpx.AsyncClient(limits=_LIMITS, verify=_certificates(), mounts=_DIRECT)

    async def send(self, call: Call) -> Incoming | AcuityError:
        """
        The answer, or the error of an attempt without one. That is returned and not raised here: its context would be
        httpx's own error, which holds the request, and with it the key and the body.
        """
        ends = call.ends if call.lines else min(call.ends, time.monotonic() + call.timeout_s)
        try:
            return await async_within(ends - time.monotonic(), self._exchange(call, ends))
        except (httpx.TimeoutException, TimeoutError):
            limit = "by the deadline" if time.monotonic() >= call.ends else f"within {call.timeout_s:g} s"
            return AcuityTimeoutError(f"{call.address}: no answer {limit}", call.request_id)
        except httpx.HTTPError as error:
            failure = AcuityConnectionError(f"{call.address}: {_cause_of(error)}", call.request_id)
            failure.may_pass = str(error) != _TOO_LONG
            return failure

    async def _exchange(self, call: Call, ends: float) -> Incoming:
        left = _Left(min(ends, time.monotonic() + call.timeout_s))
        async with self._client.stream(
            "POST",
            call.url,
            headers=call.headers,
            content=call.body,
            extensions={"timeout": left},
            follow_redirects=False,
        ) as answer:
            body = bytearray()
            call.came = Incoming(answer.status_code, {n.lower(): text for n, text in answer.headers.items()}, body)
            left.until = min(ends, time.monotonic() + call.timeout_s)
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > ANSWER_BYTES_MAX + call.lines * LINE_BYTES_MAX:
                    raise httpx.ReadError(_TOO_LONG)
                if call.lines and b"\n" in piece:
                    left.until = min(ends, time.monotonic() + call.timeout_s)
                # httpx times each read alone: an answer that trickles would never end.
                if time.monotonic() > left.until:
                    raise TimeoutError
            return call.came

    async def aclose(self) -> None:
        if self._owned:
            await self._client.aclose()
