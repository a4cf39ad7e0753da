"""The transport without dependencies: the standard library's, with one connection for each request."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from typing import IO, Any

from ._transport import ANSWER_BYTES_MAX, Incoming, OnBody, Outgoing, TransportBroken, TransportTimeout, broken_by


_PIECE_BYTES = 1 << 16


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: the key must not go elsewhere."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class UrllibTransport:
    """Opens one connection for each request: for scripts, and if you may install nothing."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler(_tunnels()))

    def send(self, request: Outgoing, /) -> Incoming:
        """One request, one answer. The time limit applies to each wait, not to the whole."""
        failure: Exception
        call = urllib.request.Request(request.url, request.body, dict(request.headers), method="POST")
        try:
            return self._exchange(call, request)
        except TimeoutError:
            failure = TransportTimeout()
        except urllib.error.URLError as error:
            is_timeout = isinstance(error.reason, TimeoutError)
            failure = TransportTimeout() if is_timeout else _unreached(error)
        except (OSError, http.client.HTTPException) as error:
            failure = broken_by(error)
        raise failure

    def _exchange(self, call: urllib.request.Request, request: Outgoing) -> Incoming:
        try:
            with self._opener.open(call, timeout=request.timeout_s) as answer:
                if request.on_body is not None and answer.status == 200:
                    return _stream(answer, request.on_body)
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
    """Uses proxies of the environment for https alone: a proxy for http would read the key and the night."""
    return {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}


def _read(status: int, headers: Any, stream: IO[bytes]) -> Incoming:
    body = stream.read(ANSWER_BYTES_MAX + 1)
    if len(body) > ANSWER_BYTES_MAX:
        raise http.client.HTTPException("the answer is too long")
    return Incoming(status, _lower(headers), body)


def _stream(answer: http.client.HTTPResponse, on_body: OnBody) -> Incoming:
    headers = _lower(answer.headers)
    while piece := answer.read1(_PIECE_BYTES):
        on_body(headers, piece)
    return Incoming(answer.status, headers, b"")


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _unreached(error: urllib.error.URLError) -> TransportBroken:
    return broken_by(error.reason) if isinstance(error.reason, BaseException) else TransportBroken(error.reason)
