"""The history of each person: the text of the service's last answer, stored by compare-and-swap."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from os import PathLike
from typing import Protocol, Union

from ._errors import AcuityError
from ._patience import RetryPolicy
from ._types import Prediction


class HistoryStorage(Protocol):
    """Your storage of one text for each person. It is health data, under your own rules for such data."""

    def load(self, person: str, /) -> str | None:
        """The last saved text for `person`; None if there is none."""
        ...

    def save(self, person: str, next: str | None, previous: str | None, /) -> bool:
        """
        Replaces `previous`, which `load` returned, by `next` in one step. Returns False and changes nothing if
        something else is stored by now. `next` None deletes.
        """
        ...


class AsyncHistoryStorage(Protocol):
    """The same for asyncio. A storage without `async` serves too: it is called in a thread."""

    async def load(self, person: str, /) -> str | None: ...

    async def save(self, person: str, next: str | None, previous: str | None, /) -> bool: ...


AnyAsyncStorage = Union[AsyncHistoryStorage, HistoryStorage]
AnyStorage = HistoryStorage


class HistoryContendedError(Exception):
    """Other processes stored a history of the person each time before this one could. The stored history is whole."""


class SqliteStorage(HistoryStorage):
    """
    One row for each person. Threads and processes may share it. The file holds health data: only its owner may read it
    (0600), and the same holds for the files that SQLite writes beside it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._lock = threading.Lock()
        _own(path)
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        with self._database:
            columns = "person TEXT PRIMARY KEY, history TEXT NOT NULL"
            self._database.execute(f"CREATE TABLE IF NOT EXISTS acuity_history ({columns})")

    def load(self, person: str, /) -> str | None:
        with self._lock:
            row = self._database.execute("SELECT history FROM acuity_history WHERE person = ?", (person,)).fetchone()
        return None if row is None else str(row[0])

    def save(self, person: str, next: str | None, previous: str | None, /) -> bool:
        if previous is None:
            statement = "INSERT OR IGNORE INTO acuity_history (person, history) VALUES (:person, :next)"
        elif next is None:
            statement = "DELETE FROM acuity_history WHERE person = :person AND history = :previous"
        else:
            statement = "UPDATE acuity_history SET history = :next WHERE person = :person AND history = :previous"
        values = {"person": person, "next": next, "previous": previous}
        with self._lock, self._database:
            return self._database.execute(statement, values).rowcount == 1

    def close(self) -> None:
        with self._lock:
            self._database.close()


class MemoryStorage(SqliteStorage):
    """A storage that loses everything when the process ends: for trials and tests. Threads may share it."""

    def __init__(self) -> None:
        super().__init__(":memory:")

    def __del__(self) -> None:
        self.close()


def _own(path: str | PathLike[str]) -> None:
    """
    Creates the file, or takes it from others who may read it, with what SQLite has beside it; a new journal gets the
    file's mode. A link that leads nowhere is not followed: `FileExistsError`.
    """
    name = os.fsdecode(path)
    if name in ("", ":memory:"):
        return
    if not os.path.exists(name):
        try:
            os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if not os.path.exists(name):
                raise
    for beside in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.chmod(name + beside, 0o600)


def history_of(prediction: Prediction) -> str:
    """What is to be stored."""
    if prediction.history is None:
        told = "the service gave no history: it is older than this client, update it"
        raise AcuityError(told, prediction.request_id)
    return prediction.history


CONTENTION = RetryPolicy(retries=10, first_pause_s=0.01, pause_max_s=0.05)
"""Of several processes that store at once one succeeds, and the pauses keep it from being always the same."""


def was_saved(saved: object) -> bool:
    """Raises TypeError if `save` returned no bool: None would mean that every other process is faster."""
    if isinstance(saved, bool):
        return saved
    raise TypeError("save() of a history storage gives True or False")
