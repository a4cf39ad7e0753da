"""Histories in a file of SQLite, and each way in which a night may not be scored."""

import json
import logging
import sys
from typing import Any

from acuity_client import AcuityClient, AcuityError, History, InvalidRequestError, RateLimitedError, SqliteStorage

log = logging.getLogger("scores")

# One client and one history for the whole process: the connections are kept, and threads share them.
client = AcuityClient(timeout=2.0)
storage = SqliteStorage(sys.argv[1])
history = History(client, storage)


def score_night(person: str, recording: dict[str, Any]) -> None:
    """The night of a recording; sent again, it replaces itself."""
    try:
        scored = history.score(person, {"recording": recording, "age": 34, "sex": "F"})
        print(json.dumps({"person": person, **scored.scores, "model": scored.model_version}))
    except InvalidRequestError as error:
        log.error("refused: %s", error.findings)  # where, and why; no value of the person's
    except RateLimitedError as error:
        log.error("come back in %s s", error.retry_after_s)
    except AcuityError as error:
        log.error("%s %s %s", type(error).__name__, error.request_id, error)


with open("packages/client-python/examples/oura.json", encoding="utf-8") as file:
    score_night("person-1", json.load(file))
client.close()
storage.close()
