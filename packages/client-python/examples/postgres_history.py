"""Histories in PostgreSQL, for any number of processes."""

import os
from typing import Any

import psycopg

from acuity_client import AcuityClient, History, StoredHistory

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStorage:
    """One row for each person. The connection is in autocommit, or in a transaction of yours."""

    def __init__(self, database: Connection) -> None:
        self._database = database
        # What an earlier version of this example stored was jsonb: as text, it is read and moved over.
        database.execute("CREATE TABLE IF NOT EXISTS acuity_history (person text PRIMARY KEY, entries text NOT NULL)")
        database.execute("ALTER TABLE acuity_history ALTER COLUMN entries TYPE text")

    def load(self, person: str, /) -> str | None:
        row = self._database.execute("SELECT entries FROM acuity_history WHERE person = %s", (person,)).fetchone()
        return None if row is None else row[0]

    def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        if previous is None:
            statement = "INSERT INTO acuity_history VALUES (%(person)s, %(next)s) ON CONFLICT DO NOTHING"
        elif next is None:
            statement = "DELETE FROM acuity_history WHERE person = %(person)s AND entries = %(previous)s"
        else:
            statement = "UPDATE acuity_history SET entries = %(next)s WHERE person = %(person)s AND entries = %(previous)s"
        values = {"person": person, "next": next, "previous": previous}
        return self._database.execute(statement, values).rowcount == 1


if __name__ == "__main__":
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database, AcuityClient() as client:
        storage = PostgresStorage(database)
        history = History(client, storage)
        for date in ("2025-03-01", "2025-03-02"):
            history.score("person-1", f"{date}T07:00:00Z", {"HR_night": [57, 56, 55], "age": 34}, night=date)
        print(storage.load("person-1"))
