"""Histories in Redis, for any number of processes."""

import os
from typing import cast

import redis

from acuity_client import AcuityClient, History, StoredHistory

# Redis runs it as one step: nothing comes in between.
_SAVE = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1]) end
return 1
"""


class RedisStorage:
    """One key for each person. Without an expiry: a history that vanishes makes scores jump."""

    def __init__(self, server: redis.Redis) -> None:
        self._server = server
        self._save = server.register_script(_SAVE)

    def load(self, person: str, /) -> str | None:
        stored = cast("bytes | None", self._server.get(f"acuity:{person}"))
        return None if stored is None else stored.decode()

    def save(self, person: str, next: str | None, previous: StoredHistory, /) -> bool:
        return bool(self._save(keys=[f"acuity:{person}"], args=[next or "", str(previous or "")]))


if __name__ == "__main__":
    server = redis.Redis.from_url(os.environ["REDIS_URL"])
    storage = RedisStorage(server)
    with AcuityClient() as client:
        history = History(client, storage)
        for date in ("2025-03-01", "2025-03-02"):
            history.score("person-1", f"{date}T07:00:00Z", {"HR_night": [57, 56, 55], "age": 34}, night=date)
    print(storage.load("person-1"))
