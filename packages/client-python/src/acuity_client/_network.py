"""What the transports of both clients share."""

from __future__ import annotations

import ssl
from functools import lru_cache

import httpx

_KEEP_ALIVE_S = 5.0
"""The service closes connections that are idle for 8 to 12 s: ours go well before, so that no request meets one."""
_CONNECTIONS_MAX = 32
LIMITS = httpx.Limits(
    max_connections=_CONNECTIONS_MAX, max_keepalive_connections=_CONNECTIONS_MAX, keepalive_expiry=_KEEP_ALIVE_S
)
DIRECT = {"http://": None}
"""Goes before the environment's HTTP_PROXY and ALL_PROXY: a proxy for http would read the key and the night."""
TOO_LONG = "the answer is too long"
_CAUSES_MAX = 16


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Read once: it takes longer than a request."""
    return httpx.create_ssl_context()


def cause_of(error: BaseException) -> str:
    """
    The system's words for the cause, such as "connection refused", which httpx wraps. Never the text of another error:
    that may hold what was sent.
    """
    if str(error) == TOO_LONG:
        return TOO_LONG
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
