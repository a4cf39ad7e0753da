import json
import os
import random
import time
import urllib.error
import urllib.request

ATTEMPTS = 5
PAUSE_MAX_S = 20.0


def predict(request: dict) -> dict:
    """Scores one request; tries again where the service has no room (429, 503)."""
    body = json.dumps(request, allow_nan=False).encode()
    for attempt in range(1, ATTEMPTS + 1):
        call = urllib.request.Request(
            os.environ["ACUITY_URL"] + "/predict",
            data=body,
            headers={"X-API-Key": os.environ["ACUITY_API_KEY"], "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(call, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            asked_s = float(error.headers.get("Retry-After", 0))
            if error.code not in (429, 503) or attempt == ATTEMPTS or asked_s > PAUSE_MAX_S:
                raise RuntimeError(f"{error.code}: {error.read().decode()}") from None
            time.sleep(asked_s + random.uniform(0, 0.2 * 2**attempt))
    raise AssertionError("the last attempt returns or raises")


with open("docs/examples/request.json", encoding="utf-8") as file:
    print(json.dumps(predict(json.load(file))))
