"""A morning from Oura, with the person's history, explained."""

import json
import sys
from contextlib import closing

from acuity_client import AcuityClient, History, SqliteStorage

with open(sys.argv[1], encoding="utf-8") as file:
    recording = json.load(file)  # the moment, and what Oura answered to /sleep and /heartrate, unchanged
# Address and key come from ACUITY_URL and ACUITY_API_KEY. The file of the histories: "histories.db".
with AcuityClient() as client, closing(SqliteStorage(sys.argv[2])) as storage:
    morning = History(client, storage).score("person-1", {"recording": recording, "age": 34, "sex": "F"}, explain=True)
print(morning.scores)
print(morning.recording)  # which night it was, and what of it was not used
if morning.explanation:
    print(morning.explanation["scores"]["stress"]["text"])
