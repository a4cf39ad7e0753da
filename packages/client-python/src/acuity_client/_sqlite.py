"""Histories in a file of SQLite."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Sequence
from os import PathLike

from ._history import HistoryEntry


class SqliteStorage:
    """
    One row for each person, the entries as JSON. Threads may share it. The file holds health data: it is its owner's
    alone (0600), and so is what SQLite writes beside it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._lock = threading.Lock()
        _own(path)
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        with self._database:
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS acuity_history (person TEXT PRIMARY KEY, entries TEXT NOT NULL)"
            )

    def load(self, person: str, /) -> list[HistoryEntry] | None:
        """What was last saved for `person`."""
        with self._lock:
            row = self._database.execute("SELECT entries FROM acuity_history WHERE person = ?", (person,)).fetchone()
        if row is None:
            return None
        entries: list[HistoryEntry] = json.loads(row[0])
        return entries

    def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        """Replaces what is stored for `person`; no entries delete the row."""
        with self._lock, self._database:
            if entries:
                self._database.execute(
                    "INSERT OR REPLACE INTO acuity_history VALUES (?, ?)",
                    (person, json.dumps(list(entries), allow_nan=False)),
                )
            else:
                self._database.execute("DELETE FROM acuity_history WHERE person = ?", (person,))

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
