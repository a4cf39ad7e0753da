"""Histories in a file of SQLite, and each way in which a night may not be scored."""

import json
import logging
import sys
from typing import Any

from acuity_client import (
    AcuityClient,
    AcuityError,
    History,
    Hooks,
    InvalidRequestError,
    RateLimitedError,
    RetryReport,
    SessionBuilder,
    SqliteStorage,
    UnitError,
)

log = logging.getLogger("scores")


def on_retry(retry: RetryReport) -> None:
    log.warning("again %s %s in %.1f s", retry.request_id, retry.status, retry.pause_s)


# One client and one history for the whole process: the connections are kept, and threads share them.
client = AcuityClient(timeout=2.0, hooks=Hooks(on_retry=on_retry, on_warning=log.warning))
storage = SqliteStorage(sys.argv[1] if len(sys.argv) > 1 else "histories.db")
history = History(client, storage)


def score_night(person: str, night: dict[str, Any]) -> None:
    try:
        builder = (
            SessionBuilder(night["at"])
            .person(born_at="1991-05-17", height_cm=178, weight_kg=74, sex="F")
            .heart_rate(night["heartRate"])
            .respiratory_rate(night["respiratoryRate"])
            .sleep_stages(night["stages"])
        )
        woke_on = builder.woke_on("Europe/Berlin")  # of the person; sent again, the night replaces itself
        prediction = history.score(person, night["at"], builder.build(), night=woke_on)
        print(json.dumps({"person": person, **prediction.scores, "model": prediction.model_version}))
    except UnitError as error:
        log.error("wrong unit: %s", error)
    except InvalidRequestError as error:
        log.error("refused: %s", error.findings)
    except RateLimitedError as error:
        log.error("come back in %s s", error.retry_after_s)
    except AcuityError as error:
        log.error("%s %s %s", type(error).__name__, error.request_id, error)


with open("docs/examples/wearable.json", encoding="utf-8") as file:
    score_night("person-1", json.load(file))
client.close()
storage.close()
