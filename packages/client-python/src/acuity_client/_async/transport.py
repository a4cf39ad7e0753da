"""The only way to the network: pooled connections by httpx."""

from __future__ import annotations

import time

import httpx

from .._base import ANSWER_BYTES_MAX, LINE_BYTES_MAX, Call, Incoming
from .._concurrency import async_within
from .._errors import AcuityConnectionError, AcuityError, AcuityTimeoutError
from .._network import DIRECT, LIMITS, TOO_LONG, cause_of, certificates


class AsyncTransport:
    """Keeps connections open, one request at a time on each."""

    def __init__(self, client: httpx.AsyncClient | None) -> None:
        """`client`: the caller's own, which the caller closes."""
        self._owned = client is None
        self._client = client or httpx.AsyncClient(limits=LIMITS, verify=certificates(), mounts=DIRECT)

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
            failure = AcuityConnectionError(f"{call.address}: {cause_of(error)}", call.request_id)
            failure.may_pass = str(error) != TOO_LONG
            return failure

    async def _exchange(self, call: Call, ends: float) -> Incoming:
        async with self._client.stream(
            "POST",
            call.url,
            headers=call.headers,
            content=call.body,
            timeout=call.timeout_s,
            follow_redirects=False,
        ) as answer:
            body = bytearray()
            call.came = Incoming(answer.status_code, {n.lower(): text for n, text in answer.headers.items()}, body)
            until = min(ends, time.monotonic() + call.timeout_s)
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > ANSWER_BYTES_MAX + call.lines * LINE_BYTES_MAX:
                    raise httpx.ReadError(TOO_LONG)
                if call.lines and b"\n" in piece:
                    until = min(ends, time.monotonic() + call.timeout_s)
                # httpx times each read alone: an answer that trickles would never end.
                if time.monotonic() > until:
                    raise TimeoutError
            return call.came

    async def aclose(self) -> None:
        if self._owned:
            await self._client.aclose()
