"""The history of each person: the text of the service's last answer, stored by compare-and-swap."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, Union

from ._errors import AcuityError
from ._former_history import Asked, FormerEntry, former_entries, move_over, request_of
from ._moment import Moment, moment_ms
from ._measured_history import without_measurements
from ._night import check_measured, check_night
from ._retry import RetryPolicy
from ._types import Measurement, Prediction, PredictionRequest, Session

StoredHistory = Union[str, Sequence[FormerEntry], None]
"""What a storage holds of a person: the history as text, or what the former client stored there."""


class HistoryStorage(Protocol):
    """Your storage of one text for each person. It is health data, under your own rules for such data."""

    def load(self, person: str, /) -> StoredHistory:
        """The last saved text for `person`; None or empty if there is none."""
        ...

    def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        """
        Replaces `previous`, which `load` returned, by `next` in one step. Returns False and changes nothing if
        something else is stored by now. `next` None deletes.
        """
        ...


class AsyncHistoryStorage(Protocol):
    """The same for asyncio."""

    async def load(self, person: str, /) -> StoredHistory:
        """As for `HistoryStorage`."""
        ...

    async def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        """As for `HistoryStorage`."""
        ...


class HistoryContendedError(Exception):
    """Other processes stored a history of the person each time before this one could. The stored history is whole."""

    def __init__(self) -> None:
        super().__init__("others kept storing this person's history in between: score the night again later")


class Predicts(Protocol):
    """The part of a client that `History` uses."""

    def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As for `AcuityClient`."""
        ...


class AsyncPredicts(Protocol):
    """The part of a client that `AsyncHistory` uses."""

    async def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As for `AsyncAcuityClient`."""
        ...


class History:
    """
    Scores sessions with the person's history, the text of the last answer, and stores the new one.

    Calls for one person run one after the other in this process. If another process stores first, the history is loaded
    and the session scored again, so no night is lost.
    """

    def __init__(self, client: Predicts, storage: HistoryStorage) -> None:
        self._client = client
        self._storage = storage
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    def score(
        self,
        person: str,
        at: Moment,
        session: Session,
        *,
        night: str | None = None,
        measurements: Sequence[Measurement] | None = None,
        explain: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """
        Scores `session` with the person's history.

        `night` is the date of waking, such as "2026-11-21", from `Adapted.night` or `SessionBuilder.woke_on()`; it
        decides the place of the session in the history. A night scored again replaces its earlier version; a session
        without a night is always a new one. `measurements` are those since the last night, each sent once; they need
        `night`, and the history keeps them. `explain` asks for `explanation` beside the scores; from the sixteenth
        night on it compares the day with usual ones.

        Raises ValueError if a date is malformed or in the future, HistoryInvalidError if the stored text is damaged,
        HistoryContendedError, and the errors of the client and the storage; the stored history is then unchanged.
        """
        asked = _asked(at, night, session, measurements, explain)
        with self._alone(person):
            for pause_s in _pauses():
                stored = self._storage.load(person)
                steps = _Steps(stored, asked)
                for request in steps:
                    steps.answered(
                        self._client.predict(request, request_id=request_id, timeout=timeout, retries=retries)
                    )
                if _is_taken(self._storage.save(person, steps.history, stored)):
                    return steps.prediction()
                time.sleep(pause_s)
        raise HistoryContendedError

    def forget_measurements(self, person: str) -> None:
        """
        Removes the measurements of `person` and keeps their nights: later scores are the network's alone. Raises
        ValueError if the stored text is damaged.
        """
        with self._alone(person):
            for pause_s in _pauses():
                stored = self._storage.load(person)
                history = _unmeasured(stored)
                if history is None or _is_taken(self._storage.save(person, history, stored)):
                    return
                time.sleep(pause_s)
        raise HistoryContendedError

    def forget(self, person: str) -> None:
        """Deletes the history of `person`."""
        with self._alone(person):
            for pause_s in _pauses():
                stored = self._storage.load(person)
                if stored is None or _is_taken(self._storage.save(person, None, stored)):
                    return
                time.sleep(pause_s)
        raise HistoryContendedError

    @contextmanager
    def _alone(self, person: str) -> Iterator[None]:
        """One lock for each person with calls under way, and none for others."""
        with self._guard:
            lock, waiting = self._locks.get(person, (threading.Lock(), 0))
            self._locks[person] = (lock, waiting + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, waiting = self._locks.pop(person)
                if waiting > 1:
                    self._locks[person] = (lock, waiting - 1)


class AsyncHistory:
    """The same for asyncio. A storage without `async` is called in a thread."""

    def __init__(self, client: AsyncPredicts, storage: Union[AsyncHistoryStorage, HistoryStorage]) -> None:
        self._client = client
        self._storage: AsyncHistoryStorage = (
            storage if _is_async(storage) else _InThreads(storage)  # type: ignore[assignment, arg-type]
        )
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    async def score(
        self,
        person: str,
        at: Moment,
        session: Session,
        *,
        night: str | None = None,
        measurements: Sequence[Measurement] | None = None,
        explain: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As for `History`."""
        asked = _asked(at, night, session, measurements, explain)
        async with _Turn(self._locks, person):
            for pause_s in _pauses():
                stored = await self._storage.load(person)
                steps = _Steps(stored, asked)
                for request in steps:
                    steps.answered(
                        await self._client.predict(request, request_id=request_id, timeout=timeout, retries=retries)
                    )
                if _is_taken(await self._storage.save(person, steps.history, stored)):
                    return steps.prediction()
                await asyncio.sleep(pause_s)
        raise HistoryContendedError

    async def forget_measurements(self, person: str) -> None:
        """As for `History`."""
        async with _Turn(self._locks, person):
            for pause_s in _pauses():
                stored = await self._storage.load(person)
                history = _unmeasured(stored)
                if history is None or _is_taken(await self._storage.save(person, history, stored)):
                    return
                await asyncio.sleep(pause_s)
        raise HistoryContendedError

    async def forget(self, person: str) -> None:
        """Deletes the history of `person`."""
        async with _Turn(self._locks, person):
            for pause_s in _pauses():
                stored = await self._storage.load(person)
                if stored is None or _is_taken(await self._storage.save(person, None, stored)):
                    return
                await asyncio.sleep(pause_s)
        raise HistoryContendedError


class _Steps:
    """The requests that score a session: one, or more to convert what the earlier client stored."""

    def __init__(self, stored: StoredHistory, asked: Asked) -> None:
        former = former_entries(stored)
        self._requests = _one_request(str(stored or ""), asked) if former is None else move_over(former, asked)
        self._first: Prediction | None = None
        self.history: str | None = None
        """Of the latest answer."""

    def __iter__(self) -> Iterator[PredictionRequest]:
        try:
            yield next(self._requests)
            while True:
                assert self.history is not None
                yield self._requests.send(self.history)
        except StopIteration:
            return

    def answered(self, prediction: Prediction) -> None:
        """Keeps what an answer gave."""
        if prediction.history is None:
            told = "the service gave no history: it is older than this client, update it"
            raise AcuityError(told, prediction.request_id)
        self._first = self._first or prediction
        self.history = prediction.history

    def prediction(self) -> Prediction:
        """The answer to the session, with the history that was stored."""
        assert self._first is not None
        return replace(self._first, history=self.history)


def _one_request(history: str, asked: Asked) -> Generator[PredictionRequest, str, None]:
    yield request_of(asked.session, history, asked.night, asked.measurements, asked.explain)


def _asked(
    at: Moment, night: str | None, session: Session, measurements: Sequence[Measurement] | None, explain: bool
) -> Asked:
    check_night(night)
    check_measured(measurements or ())
    return Asked(moment_ms(at, "the moment of the session"), night, session, list(measurements or ()), explain)


def _unmeasured(stored: StoredHistory) -> str | None:
    """The stored text without measurements; None if that changes nothing."""
    if not isinstance(stored, str) or not stored or former_entries(stored) is not None:
        return None
    history = without_measurements(stored)
    return None if history == stored else history


_CONTENTION = RetryPolicy(retries=10, first_pause_s=0.01, pause_max_s=0.05)
"""Of several processes that store at once one succeeds, and the pauses keep it from being always the same."""


def _pauses() -> Iterator[float]:
    for attempt in range(1, _CONTENTION.retries + 1):
        yield _CONTENTION.pause_before(attempt, None, random.random) or 0.0


def _is_taken(saved: object) -> bool:
    """
    Whether `save` stored the text. Raises TypeError if it returned no bool, as a storage of the earlier kind does.
    """
    if isinstance(saved, bool):
        return saved
    raise TypeError("save() of a history storage gives True or False")


class _Turn:
    """One lock for each person with calls under way, and none for others."""

    def __init__(self, locks: dict[str, tuple[asyncio.Lock, int]], person: str) -> None:
        self._locks = locks
        self._person = person

    async def __aenter__(self) -> None:
        lock, waiting = self._locks.get(self._person, (asyncio.Lock(), 0))
        self._locks[self._person] = (lock, waiting + 1)
        try:
            await lock.acquire()
        except BaseException:
            self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._locks[self._person][0].release()
        self._leave()

    def _leave(self) -> None:
        lock, waiting = self._locks.pop(self._person)
        if waiting > 1:
            self._locks[self._person] = (lock, waiting - 1)


class _InThreads:
    """A storage without `async`, for asyncio."""

    def __init__(self, storage: HistoryStorage) -> None:
        self._storage = storage

    async def load(self, person: str, /) -> StoredHistory:
        return await asyncio.to_thread(self._storage.load, person)

    async def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        return await asyncio.to_thread(self._storage.save, person, next, previous)


def _is_async(storage: object) -> bool:
    return inspect.iscoroutinefunction(getattr(storage, "load", None))


class MemoryStorage:
    """A storage that loses everything when the process ends: for trials and tests. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: dict[str, str] = {}

    def load(self, person: str, /) -> str | None:
        """The last saved text for `person`."""
        return self._stored.get(person)

    def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        """Replaces the text for `person` if it is still `previous`."""
        with self._lock:
            if self._stored.get(person) != previous:
                return False
            if next is None:
                del self._stored[person]
            else:
                self._stored[person] = next
            return True
