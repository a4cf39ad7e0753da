"""The default transport: pooled connections by httpx."""

from __future__ import annotations

import asyncio
import ssl
import time
from functools import lru_cache

import httpx

from ._transport import (
    ANSWER_BYTES_MAX,
    CONNECTIONS_MAX,
    KEEP_ALIVE_S,
    Incoming,
    OnBody,
    Outgoing,
    TransportBroken,
    TransportTimeout,
    broken_by,
)


def _limits(connections: int) -> httpx.Limits:
    return httpx.Limits(
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=KEEP_ALIVE_S,
    )


_DIRECT = {"http://": None}
"""Goes before the environment's HTTP_PROXY and ALL_PROXY: a proxy for http would read the key and the night."""


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Read once: it takes longer than a request."""
    return httpx.create_ssl_context()


def _failure(error: httpx.HTTPError) -> Exception:
    """Without httpx's own error: that one holds the request, and with it the key and the body."""
    if isinstance(error, httpx.TimeoutException):
        return TransportTimeout()
    return broken_by(error)


class HttpxTransport:
    """Keeps up to `connections` open, one request at a time on each."""

    def __init__(self, connections: int = CONNECTIONS_MAX, *, client: httpx.Client | None = None) -> None:
        """`client`: your own, with your proxies and certificates; you close it."""
        self._owned = client is None
        self._client = client or httpx.Client(limits=_limits(connections), verify=_certificates(), mounts=_DIRECT)

    def send(self, request: Outgoing, /) -> Incoming:
        """One request, one answer."""
        failure: Exception
        try:
            return self._exchange(request)
        except httpx.HTTPError as error:
            failure = _failure(error)
        raise failure

    def _exchange(self, request: Outgoing) -> Incoming:
        # httpx times each read; the answer as a whole, which a list's is not, is timed here.
        until = time.monotonic() + request.timeout_s
        body = bytearray()
        with self._client.stream(
            "POST",
            request.url,
            headers=dict(request.headers),
            content=request.body,
            timeout=request.timeout_s,
            follow_redirects=False,
        ) as answer:
            headers, on_body = _lower(answer.headers), _taker(request, answer)
            for piece in answer.iter_bytes():
                if on_body is not None:
                    on_body(headers, piece)
                    continue
                body += piece
                _check(body)
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the answer takes too long")
            return Incoming(answer.status_code, headers, bytes(body))

    def close(self) -> None:
        """Closes the connections."""
        if self._owned:
            self._client.close()


class AsyncHttpxTransport:
    """The same for asyncio."""

    def __init__(self, connections: int = CONNECTIONS_MAX, *, client: httpx.AsyncClient | None = None) -> None:
        """`client`: your own, with your proxies and certificates; you close it."""
        self._owned = client is None
        self._client = client or httpx.AsyncClient(limits=_limits(connections), verify=_certificates(), mounts=_DIRECT)

    async def send(self, request: Outgoing, /) -> Incoming:
        """One request, one answer."""
        failure: Exception
        try:
            if request.on_body is not None:
                return await self._exchange(request, request.timeout_s)
            return await asyncio.wait_for(self._exchange(request, None), request.timeout_s)
        except httpx.HTTPError as error:
            failure = _failure(error)
        except asyncio.TimeoutError:
            failure = TransportTimeout()
        raise failure

    async def _exchange(self, request: Outgoing, wait_s: float | None) -> Incoming:
        body = bytearray()
        async with self._client.stream(
            "POST",
            request.url,
            headers=dict(request.headers),
            content=request.body,
            timeout=wait_s,
            follow_redirects=False,
        ) as answer:
            headers, on_body = _lower(answer.headers), _taker(request, answer)
            async for piece in answer.aiter_bytes():
                if on_body is not None:
                    on_body(headers, piece)
                    continue
                body += piece
                _check(body)
            return Incoming(answer.status_code, headers, bytes(body))

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owned:
            await self._client.aclose()


def _taker(request: Outgoing, answer: httpx.Response) -> OnBody | None:
    return request.on_body if answer.status_code == 200 else None


def _check(body: bytearray) -> None:
    if len(body) > ANSWER_BYTES_MAX:
        raise httpx.ReadError("the answer is too long")


def _lower(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
