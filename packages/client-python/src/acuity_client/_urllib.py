"""The transport without a dependency: the standard library's, a connection for each request."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from typing import IO, Any

from ._transport import ANSWER_BYTES_MAX, Incoming, Outgoing, TransportBroken, TransportTimeout


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: the key must not go elsewhere."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class UrllibTransport:
    """One connection for each request: for scripts, and where nothing may be installed."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler(_tunnels()))

    def send(self, request: Outgoing, /) -> Incoming:
        """One request, one answer. The time limit holds for each wait, not for the whole."""
        failure: Exception
        call = urllib.request.Request(request.url, request.body, dict(request.headers), method="POST")
        try:
            return self._exchange(call, request.timeout_s)
        except TimeoutError:
            failure = TransportTimeout()
        except urllib.error.URLError as error:
            is_timeout = isinstance(error.reason, TimeoutError)
            failure = TransportTimeout() if is_timeout else TransportBroken(_cause(error.reason))
        except (OSError, http.client.HTTPException) as error:
            failure = TransportBroken(_cause(error))
        raise failure

    def _exchange(self, call: urllib.request.Request, timeout_s: float) -> Incoming:
        try:
            with self._opener.open(call, timeout=timeout_s) as answer:
                return _read(answer.status, answer.headers, answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return _read(refusal.code, refusal.headers, refusal)

    def close(self) -> None:
        """Nothing is kept open."""


class AsyncUrllibTransport:
    """The same for asyncio, in threads."""

    def __init__(self) -> None:
        self._transport = UrllibTransport()

    async def send(self, request: Outgoing, /) -> Incoming:
        """One request, one answer."""
        return await asyncio.to_thread(self._transport.send, request)

    async def aclose(self) -> None:
        """Nothing is kept open."""


def _tunnels() -> dict[str, str]:
    """Proxies of the environment for https alone: one for http would read the key and the night."""
    return {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}


def _read(status: int, headers: Any, stream: IO[bytes]) -> Incoming:
    body = stream.read(ANSWER_BYTES_MAX + 1)
    if len(body) > ANSWER_BYTES_MAX:
        raise http.client.HTTPException("the answer is too long")
    return Incoming(status, {name.lower(): value for name, value in headers.items()}, body)


def _cause(reason: object) -> str:
    return reason if isinstance(reason, str) else type(reason).__name__
