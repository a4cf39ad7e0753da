import json

from acuity_client import AcuityClient, History, MemoryStorage
from acuity_client.adapters import from_oura

with open("docs/examples/adapters/oura.json", encoding="utf-8") as file:
    sent = json.load(file)  # what the API answered
of = from_oura(sent["sleep"], heart_rate=sent["heart_rate"], at="2026-03-02T06:30:00Z", person={"age": 34})
with AcuityClient() as client:
    print(History(client, MemoryStorage()).score("person-1", of.at, of.session, night=of.night).scores)
