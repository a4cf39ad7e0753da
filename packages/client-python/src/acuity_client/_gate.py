"""Holds the calls of one client while its key has no tokens left."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace

from ._errors import RateLimitedError, Refusal


@dataclass(frozen=True)
class Held:
    """The reason why a call can't be sent now."""

    left_s: float
    closing: int
    _refusal: Refusal

    def refusal(self, request_id: str) -> RateLimitedError:
        """The refusal that the service would send to the call with this id."""
        return RateLimitedError(
            replace(self._refusal, request_id=request_id, retry_after_s=float(math.ceil(self.left_s)))
        )


class Gate:
    """
    The rate belongs to the key, so a refusal of one call holds for every call of the client. Threads may share it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opens_s = 0.0
        self._closing = 0
        self._refusal = Refusal(429, "")

    def close(self, error: RateLimitedError) -> int:
        """Returns the number of this closing: the refused call waits for it by itself."""
        with self._lock:
            self._opens_s = max(self._opens_s, time.monotonic() + (error.retry_after_s or 0.0))
            self._refusal = Refusal(429, "", error.detail, rate_limit=error.rate_limit, limit=error.limit)
            self._closing += 1
            return self._closing

    def holds(self, waited: int) -> Held | None:
        """What holds the call, None if it may be sent. `waited`: the last closing that the call has waited for."""
        with self._lock:
            left_s = self._opens_s - time.monotonic()
            if left_s <= 0 or self._closing == waited:
                return None
            return Held(left_s, self._closing, self._refusal)
