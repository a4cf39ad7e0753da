"""Nights of a person, one after the other, for asyncio; `unasync.py` makes the twin for threads."""

from __future__ import annotations

import random
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from .._concurrency import AsyncLock, async_call, async_pause
from .._histories import CONTENTION, AnyAsyncStorage, HistoryContendedError, history_of, was_saved
from .._types import Measurement, Prediction, PredictionRequest, Session
from .client import AsyncAcuityClient

T = TypeVar("T")


class AsyncHistory:
    """
    Scores sessions with the person's history, the text of the last answer, and stores the new one.

    Calls for one person run one after the other in this process. If another process stores first, the history is loaded
    and the session scored again, so no night is lost.
    """

    def __init__(self, client: AsyncAcuityClient, storage: AnyAsyncStorage) -> None:
        self._client = client
        self._storage = storage
        self._guard = threading.Lock()
        self._turns: WeakValueDictionary[str, AsyncLock] = WeakValueDictionary()

    async def score(
        self,
        person: str,
        session: Session,
        *,
        night: str | None = None,
        measurements: Sequence[Measurement] | None = None,
        explain: bool = False,
        **options: Any,
    ) -> Prediction:
        """
        Scores `session` with the person's history.

        `night` is the date of waking, such as "2026-11-21"; it decides the place of the session in the history. Without
        it the night of the session's `recording` counts. A night scored again replaces its earlier version; a session
        with neither is always a new one. `measurements` are those since the last night, each sent once; they need a
        night, and the history keeps them. `options` are those of `predict`.

        Raises ValueError if a day is in the future, HistoryInvalidError if the stored text is damaged,
        HistoryContendedError, and the errors of the client and the storage; the stored history is then unchanged.
        """
        asked = {"night": night, "measurements": measurements, "explain": explain}
        given = {name: value for name, value in asked.items() if value}

        async def scored(stored: str | None) -> tuple[str, Prediction]:
            request = {"current_session": session, "history": stored or "", **given}
            prediction = await self._client.predict(cast(PredictionRequest, request), **options)
            return history_of(prediction), prediction

        return await self._swap(person, scored)

    async def forget(self, person: str) -> None:
        """Deletes the history of `person`."""

        async def nothing(_: str | None) -> tuple[None, None]:
            return None, None

        return await self._swap(person, nothing)

    async def _swap(self, person: str, work: Callable[[str | None], Awaitable[tuple[str | None, T]]]) -> T:
        """Replaces what is stored by what `work` makes of it, and again where another process was faster."""
        with self._guard:
            turn = self._turns.setdefault(person, AsyncLock())  # it goes with the last call for the person
        async with turn:
            for attempt in range(1, CONTENTION.retries + 1):
                stored = await async_call(self._storage.load, person)
                next, done = await work(stored)
                if next == stored or was_saved(await async_call(self._storage.save, person, next, stored)):
                    return done
                await async_pause(CONTENTION.pause_before(attempt, None, random.random) or 0.0)
        raise HistoryContendedError("others kept storing this person's history in between: score the night again later")
