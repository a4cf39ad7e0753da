import json

from acuity_client import AcuityClient, History, MemoryStorage, SessionBuilder

with open("docs/examples/wearable.json", encoding="utf-8") as file:
    night = json.load(file)
builder = (
    SessionBuilder(night["at"])
    .person(age=34, height_cm=178, weight_kg=74, sex="F")
    .heart_rate(night["heartRate"])  # [{"at": "2025-03-01T06:45:00Z", "value": 71}, …]
    .respiratory_rate(night["respiratoryRate"])
    .sleep_stages(night["stages"])  # [{"stage": "deep", "from": "…", "to": "…"}, …]
)
with AcuityClient() as client:  # address and key from ACUITY_URL and ACUITY_API_KEY
    history = History(client, MemoryStorage())
    prediction = history.score("person-1", night["at"], builder.build(), night=builder.woke_on())
    print(prediction.scores)
