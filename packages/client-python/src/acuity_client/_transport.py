"""
The only way to the network. A transport of your own needs `send` and `close`, an asynchronous one `send` and `aclose`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

CONNECTIONS_MAX = 32
KEEP_ALIVE_S = 5.0
"""The service closes connections that are idle for 8 to 12 s: ours go well before, so that no request meets one."""
ANSWER_BYTES_MAX = 1 << 20
"""
An answer of the service, or one line of a list's, has a few hundred bytes, a refusal a few thousand; a proxy's page a
little more.
"""

OnBody = Callable[[Mapping[str, str], bytes], None]
"""Takes the headers and a piece of the body."""


@dataclass(frozen=True)
class Outgoing:
    """The request of one attempt. Its repr shows neither headers nor body: they hold the key and health data."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    timeout_s: float
    on_body: OnBody | None = field(default=None, repr=False)
    """
    Of a list: takes a 200's body piece by piece as it arrives; the answer's own is then empty, and `timeout_s` the
    longest wait for each piece. A transport that does not call it gives the whole body at the end: a connection that
    breaks before has then brought nothing.
    """


@dataclass(frozen=True)
class Incoming:
    """An answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class TransportTimeout(Exception):
    """No answer within the time limit."""


class TransportBroken(Exception):
    """The connection could not be made, or broke before the answer; the text says what is known of the cause."""


_CAUSES_MAX = 16


def broken_by(error: BaseException) -> TransportBroken:
    """
    With the system's words for the cause, such as "connection refused", which httpx and asyncio wrap. Never the text
    of another error: that may hold what was sent.
    """
    pending: list[BaseException] = [error]
    for _ in range(_CAUSES_MAX):
        if not pending:
            break
        cause = pending.pop()
        if isinstance(cause, ConnectionRefusedError):
            return TransportBroken("connection refused; is the service running there?")
        if isinstance(cause, OSError) and isinstance(cause.strerror, str):
            return TransportBroken(cause.strerror[:1].lower() + cause.strerror[1:])
        # An address of several machines has an error for each: the first of them tells enough.
        pending.extend(getattr(cause, "exceptions", ())[:1])
        pending.extend(each for each in (cause.__context__, cause.__cause__) if each is not None)
    return TransportBroken(f"the connection broke ({type(error).__name__})")


class Transport(Protocol):
    """Sends one request and returns its answer. It follows no redirect: the key must not go elsewhere."""

    def send(self, request: Outgoing, /) -> Incoming:
        """Raises TransportTimeout or TransportBroken; other errors reach the caller unchanged."""
        ...

    def close(self) -> None:
        """Closes the connections."""
        ...


class AsyncTransport(Protocol):
    """The same for asyncio."""

    async def send(self, request: Outgoing, /) -> Incoming:
        """Raises TransportTimeout or TransportBroken; other errors reach the caller unchanged."""
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...


def default_transport() -> Transport:
    """httpx if it is installed, else the standard library."""
    try:
        from ._httpx import HttpxTransport
    except ModuleNotFoundError:
        from ._urllib import UrllibTransport

        return UrllibTransport()
    return HttpxTransport()


def default_async_transport() -> AsyncTransport:
    """httpx if it is installed, else the standard library in threads."""
    try:
        from ._httpx import AsyncHttpxTransport
    except ModuleNotFoundError:
        from ._urllib import AsyncUrllibTransport

        return AsyncUrllibTransport()
    return AsyncHttpxTransport()
