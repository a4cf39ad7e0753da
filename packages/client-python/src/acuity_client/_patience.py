"""When to try again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ._errors import RateLimitedError, Refusal


@dataclass(frozen=True)
class RetryPolicy:
    """How patient the client is."""

    retries: int = 2
    """Attempts after the first that failed; 0 for none. A 429 that says when to come back is no failure."""
    first_pause_s: float = 0.2
    """The first pause is at most this long; each further one may be twice as long."""
    pause_max_s: float = 30.0
    """No pause is longer. A service that asks for more (a daily quota) is not waited for."""

    def pause_before(self, attempt: int, retry_after_s: float | None, random: Callable[[], float]) -> float | None:
        """
        Seconds before the next attempt, None where there is none. `attempt`, from 1 on, is the one that failed.

        Pauses grow and are drawn at random ("full jitter"), so that callers who were refused together do not come
        back together; what `Retry-After` asks for is never undercut.
        """
        asked_s = retry_after_s or 0.0
        if attempt > self.retries or asked_s > self.pause_max_s:
            return None
        longest_s = min(self.pause_max_s, self.first_pause_s * 2.0 ** (attempt - 1))
        return min(self.pause_max_s, asked_s + random() * longest_s)


class Gate:
    """
    Holds the calls of one client while its key has no tokens left: the rate belongs to the key, so a refusal of one
    call holds for every call. Threads may share it.
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
            self._refusal = error.refusal
            self._closing += 1
            return self._closing

    def holds(self, waited: int) -> tuple[float, int, Refusal] | None:
        """
        Seconds that are left, the closing, and what the service would answer now; None if a call may be sent. `waited`
        is the last closing that the call has waited for.
        """
        with self._lock:
            left_s = self._opens_s - time.monotonic()
            if left_s <= 0 or self._closing == waited:
                return None
            return left_s, self._closing, replace(self._refusal, retry_after_s=float(math.ceil(left_s)))
