"""The clients: one for threads, one for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ._core import DEFAULT_DEADLINE_S, DEFAULT_TIMEOUT_S, Core, Hooks, Propagate
from ._retry import RetryPolicy
from ._transport import (
    AsyncTransport,
    Incoming,
    Outgoing,
    Transport,
    TransportBroken,
    TransportTimeout,
    default_async_transport,
    default_transport,
)
from ._types import Prediction, PredictionRequest


class AcuityClient:
    """
    A connection pool to one service with one key. Make one and keep it; threads may share it.

    Address and key come from `ACUITY_URL` and `ACUITY_API_KEY` where they are not given. `timeout` is the longest wait
    for the answer of one attempt, in seconds, `deadline` the longest time for a whole call, pauses included: no attempt
    is begun later, and what the service asks to wait beyond it is not waited for.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        deadline: float = DEFAULT_DEADLINE_S,
        retry: RetryPolicy = RetryPolicy(),
        hooks: Hooks | None = None,
        allow_plain_http: bool = False,
        propagate: Propagate | None = None,
        transport: Transport | None = None,
    ) -> None:
        """
        Raises ValueError where the address or the key can't be one. `allow_plain_http` allows `http:` to another
        machine: biometrics and the key then travel in clear. `propagate` writes the caller's trace context before each
        attempt, as `opentelemetry.propagate.inject` does: `traceparent` and `tracestate` are sent, nothing else of it.
        """
        self._core = Core(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout,
            deadline_s=deadline,
            retry=retry,
            hooks=hooks,
            allow_plain_http=allow_plain_http,
            propagate=propagate,
        )
        self._transport = transport or default_transport()
        self._sleep = time.sleep

    def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """
        Scores one request. Refusals for want of room (429, 503) and broken connections are tried again.

        Raises AcuityError of the kind that fits; before anything is sent UnitError, where fields contradict each
        other as they do in a wrong unit, and ValueError, where `night` lies ahead.
        """
        call = self._core.begin(request, request_id, timeout, deadline, retries)
        while True:
            while (held := self._core.held(call)) is not None:
                self._sleep(held)
            step = self._core.after(call, self._send(self._core.outgoing(call)))
            if isinstance(step, Prediction):
                return step
            self._sleep(step)

    def _send(self, request: Outgoing) -> Incoming | TransportTimeout | TransportBroken:
        try:
            return self._transport.send(request)
        except (TransportTimeout, TransportBroken) as failure:
            return failure

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> AcuityClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AcuityClient({self._core.url!r})"


class AsyncAcuityClient:
    """The same for asyncio: `async with AsyncAcuityClient() as client: await client.predict(…)`."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        deadline: float = DEFAULT_DEADLINE_S,
        retry: RetryPolicy = RetryPolicy(),
        hooks: Hooks | None = None,
        allow_plain_http: bool = False,
        propagate: Propagate | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        """As of `AcuityClient`."""
        self._core = Core(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout,
            deadline_s=deadline,
            retry=retry,
            hooks=hooks,
            allow_plain_http=allow_plain_http,
            propagate=propagate,
        )
        self._transport = transport or default_async_transport()
        self._sleep = asyncio.sleep

    async def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As of `AcuityClient`. Cancelling the task gives the request up, pauses between attempts included."""
        call = self._core.begin(request, request_id, timeout, deadline, retries)
        while True:
            while (held := self._core.held(call)) is not None:
                await self._sleep(held)
            step = self._core.after(call, await self._send(self._core.outgoing(call)))
            if isinstance(step, Prediction):
                return step
            await self._sleep(step)

    async def _send(self, request: Outgoing) -> Incoming | TransportTimeout | TransportBroken:
        try:
            return await self._transport.send(request)
        except (TransportTimeout, TransportBroken) as failure:
            return failure

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncAcuityClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncAcuityClient({self._core.url!r})"
