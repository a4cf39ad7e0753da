"""The latest five scored sessions of each person, and requests made of them."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypedDict, Union

from ._core import encoded
from ._moment import Moment, iso_of, moment_ms
from ._rules import PAST_MAX
from ._types import Prediction, PredictionRequest, ScoreRecord, Session


class _Dated(TypedDict, total=False):
    night: str
    """The date on which the person woke, where it was given: a person has each night once."""


class HistoryEntry(_Dated):
    """A session that was scored. Plain JSON, the same as the TypeScript client's: store it as it is."""

    at: str
    """The moment that was scored, in ISO 8601 with Z."""
    modelVersion: str
    session: Session
    scores: ScoreRecord


class HistoryStorage(Protocol):
    """Where you keep histories. They are health data: under your own rules for such data."""

    def load(self, person: str, /) -> Sequence[HistoryEntry] | None:
        """What was last saved for `person`; None or empty where nothing was."""
        ...

    def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        """Replaces what is stored for `person`; no entries forget them."""
        ...


class AsyncHistoryStorage(Protocol):
    """The same for asyncio."""

    async def load(self, person: str, /) -> Sequence[HistoryEntry] | None:
        """What was last saved for `person`; None or empty where nothing was."""
        ...

    async def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        """Replaces what is stored for `person`; no entries forget them."""
        ...


class Predicts(Protocol):
    """What `History` needs of a client."""

    def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As of `AcuityClient`."""
        ...


class AsyncPredicts(Protocol):
    """What `AsyncHistory` needs of a client."""

    async def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As of `AsyncAcuityClient`."""
        ...


class History:
    """
    Keeps the latest five scored sessions of each person and puts them into requests: oldest first, each with its own
    scores, and never one that is not earlier than the session to score.

    Calls for one person run one after the other in this process. Where several processes score the same person at
    once, the storage must order them (a lock or a transaction around `load` and `save`): else an entry may get lost.
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
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """
        Scores `session` with the person's history and adds it to it. `night` is the date of waking, as "2026-11-21":
        what `Adapted.night` is. A session of the same moment or the same night is replaced, so scoring one again does
        no harm. What the client or the storage raises leaves the history as it was.
        """
        when = _when(at, night)
        session = json.loads(encoded(session))  # as it is sent: a storage has to do with plain JSON alone
        with self._alone(person):
            entries = self.entries(person)
            request = request_with(entries, when, session)
            prediction = self._client.predict(request, request_id=request_id, timeout=timeout, retries=retries)
            self._storage.save(person, _with_entry(entries, when, session, prediction))
        return prediction

    def entries(self, person: str) -> list[HistoryEntry]:
        """What is kept of `person`, oldest first."""
        return _latest(self._storage.load(person))

    def forget(self, person: str) -> None:
        """Forgets `person`."""
        with self._alone(person):
            self._storage.save(person, [])

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
        request_id: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As of `History`."""
        when = _when(at, night)
        session = json.loads(encoded(session))  # as it is sent: a storage has to do with plain JSON alone
        async with _Turn(self._locks, person):
            entries = await self.entries(person)
            request = request_with(entries, when, session)
            prediction = await self._client.predict(request, request_id=request_id, timeout=timeout, retries=retries)
            await self._storage.save(person, _with_entry(entries, when, session, prediction))
        return prediction

    async def entries(self, person: str) -> list[HistoryEntry]:
        """What is kept of `person`, oldest first."""
        return _latest(await self._storage.load(person))

    async def forget(self, person: str) -> None:
        """Forgets `person`."""
        async with _Turn(self._locks, person):
            await self._storage.save(person, [])


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

    async def load(self, person: str, /) -> Sequence[HistoryEntry] | None:
        return await asyncio.to_thread(self._storage.load, person)

    async def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        await asyncio.to_thread(self._storage.save, person, entries)


def _is_async(storage: object) -> bool:
    return inspect.iscoroutinefunction(getattr(storage, "load", None))


class MemoryStorage:
    """A storage that forgets when the process ends: for trials and tests."""

    def __init__(self) -> None:
        self._stored: dict[str, list[HistoryEntry]] = {}

    def load(self, person: str, /) -> list[HistoryEntry] | None:
        """What was last saved for `person`."""
        return copy.deepcopy(self._stored.get(person))

    def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        """Replaces what is stored for `person`."""
        if entries:
            self._stored[person] = copy.deepcopy(list(entries))
        else:
            self._stored.pop(person, None)


class _When(NamedTuple):
    at: str
    night: str | None


def _when(at: Moment, night: str | None) -> _When:
    if night is not None and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", night):
        raise ValueError("the night is a date, as 2026-11-21: that of waking")
    return _When(iso_of(moment_ms(at, "the moment of the session")), night)


def _when_of(entry: HistoryEntry) -> _When:
    return _When(entry["at"], entry.get("night"))


def request_with(entries: Sequence[HistoryEntry], when: _When, session: Session) -> PredictionRequest:
    """The request for `session` with what of `entries` lies before it; one list gives both halves of the pair."""
    past = [
        entry for entry in entries if _order(_when_of(entry)) < _order(when) and not _is_same(_when_of(entry), when)
    ]
    request: PredictionRequest = {"current_session": session}
    if past:
        request["past_sessions"] = [entry["session"] for entry in past]
        request["past_targets"] = [entry["scores"] for entry in past]
    return request


def _with_entry(
    entries: Sequence[HistoryEntry], when: _When, session: Session, prediction: Prediction
) -> list[HistoryEntry]:
    added: HistoryEntry = {
        "at": when.at,
        "modelVersion": prediction.model_version,
        "session": session,
        "scores": prediction.scores,
    }
    if when.night is not None:
        added["night"] = when.night
    return _latest([*(entry for entry in entries if not _is_same(_when_of(entry), when)), added])


def _is_same(a: _When, b: _When) -> bool:
    return a.at == b.at or (a.night is not None and a.night == b.night)


def _order(when: _When) -> tuple[str, str]:
    """By nights where both have one, else by moments: both are text that sorts."""
    return when.night or when.at, when.at


def _latest(entries: Sequence[HistoryEntry] | None) -> list[HistoryEntry]:
    """Oldest first."""
    return sorted(entries or (), key=lambda entry: _order(_when_of(entry)))[-PAST_MAX:]
