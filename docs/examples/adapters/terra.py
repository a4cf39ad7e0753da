import json

from acuity_client import AcuityClient, History, MemoryStorage
from acuity_client.adapters import from_terra

with open("docs/examples/adapters/terra.json", encoding="utf-8") as file:
    sent = json.load(file)  # the bodies of two webhooks
of = from_terra(sent["sleep"], daily=sent["daily"], at="2026-03-02T06:30:00Z", zone="Europe/Berlin")
with AcuityClient() as client:
    print(History(client, MemoryStorage()).score("person-1", of.at, of.session, night=of.night).scores)
