"""Histories in Redis, and one call for a person at a time over all processes."""

import json
import os
from collections.abc import Sequence
from typing import cast

import redis

from acuity_client import AcuityClient, History, HistoryEntry, Prediction, Session


class RedisStorage:
    """One key for each person. Without an expiry: a history that vanishes makes scores jump."""

    def __init__(self, server: redis.Redis) -> None:
        self._server = server

    def load(self, person: str, /) -> list[HistoryEntry] | None:
        stored = cast("bytes | None", self._server.get(f"acuity:{person}"))
        entries: list[HistoryEntry] | None = None if stored is None else json.loads(stored)
        return entries

    def save(self, person: str, entries: Sequence[HistoryEntry], /) -> None:
        if entries:
            self._server.set(f"acuity:{person}", json.dumps(list(entries)))
        else:
            self._server.delete(f"acuity:{person}")


def score(history: History, server: redis.Redis, person: str, at: str, session: Session) -> Prediction:
    """The lock is held while the person's history is read, scored with and written; it ends by itself after 60 s."""
    with server.lock(f"acuity:lock:{person}", timeout=60, blocking_timeout=60):
        return history.score(person, at, session)


if __name__ == "__main__":
    server = redis.Redis.from_url(os.environ["REDIS_URL"])
    with AcuityClient() as client:
        history = History(client, RedisStorage(server))
        for day in (1, 2):
            moment = f"2025-03-0{day}T07:00:00Z"
            score(history, server, "person-1", moment, {"HR_night": [57 + day, 56, 55], "age": 34})
        print(len(history.entries("person-1")), "kept")
