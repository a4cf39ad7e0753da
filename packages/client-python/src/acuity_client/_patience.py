"""When to try again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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
