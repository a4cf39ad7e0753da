"""Histories in PostgreSQL, and one call for a person at a time over all processes."""

import os
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Json

from acuity_client import AcuityClient, History, HistoryEntry, Prediction, Session

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStorage:
    """One row for each person. The connection is in autocommit, or in a transaction of yours."""

    def __init__(self, database: Connection) -> None:
        self._database = database
        database.execute("CREATE TABLE IF NOT EXISTS acuity_history (person text PRIMARY KEY, entries jsonb NOT NULL)")

    def load(self, person: str, /) -> list[HistoryEntry] | None:
        row = self._database.execute("SELECT entries FROM acuity_history WHERE person = %s", (person,)).fetchone()
        return None if row is None else row[0]

    def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        if entries:
            self._database.execute(
                "INSERT INTO acuity_history VALUES (%s, %s)"
                " ON CONFLICT (person) DO UPDATE SET entries = excluded.entries",
                (person, Json(list(entries))),
            )
        else:
            self._database.execute("DELETE FROM acuity_history WHERE person = %s", (person,))


def score(history: History, database: Connection, person: str, at: str, session: Session) -> Prediction:
    """The lock ends with the transaction, and that is rolled back where the night was not scored."""
    with database.transaction():
        database.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (person,))
        return history.score(person, at, session)


if __name__ == "__main__":
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database, AcuityClient() as client:
        history = History(client, PostgresStorage(database))
        for day in (1, 2):
            moment = f"2025-03-0{day}T07:00:00Z"
            score(history, database, "person-1", moment, {"HR_night": [57 + day, 56, 55], "age": 34})
        print(len(history.entries("person-1")), "kept")
