"""Histories in a file of SQLite."""

from __future__ import annotations

import os
import sqlite3
import threading
from os import PathLike

from ._history import StoredHistory


class SqliteStorage:
    """
    One row for each person. Threads and processes may share it. The file holds health data: only its owner may read it
    (0600), and the same holds for the files that SQLite writes beside it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._lock = threading.Lock()
        _own(path)
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        with self._database:
            # The column has the name of what the former client stored in it: its rows are read and moved over.
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS acuity_history (person TEXT PRIMARY KEY, entries TEXT NOT NULL)"
            )

    def load(self, person: str, /) -> str | None:
        """The last saved text for `person`."""
        with self._lock:
            row = self._database.execute("SELECT entries FROM acuity_history WHERE person = ?", (person,)).fetchone()
        return None if row is None else str(row[0])

    def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        """Replaces the text for `person` if it is still `previous`."""
        if previous is None:
            statement = "INSERT OR IGNORE INTO acuity_history (person, entries) VALUES (:person, :next)"
        elif next is None:
            statement = "DELETE FROM acuity_history WHERE person = :person AND entries = :previous"
        else:
            statement = "UPDATE acuity_history SET entries = :next WHERE person = :person AND entries = :previous"
        values = {"person": person, "next": next, "previous": previous}
        with self._lock, self._database:
            return self._database.execute(statement, values).rowcount == 1

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()


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
        try:
            if os.stat(name + beside).st_mode & 0o077:
                os.chmod(name + beside, 0o600)
        except FileNotFoundError:
            pass
