import json

from acuity_client import AcuityClient, History, MemoryStorage, SessionBuilder

answers = [2, 3, 1, 2, 1, 3, 2, 2, 1, 2]  # to the ten questions, as they were given

with open("docs/examples/wearable.json", encoding="utf-8") as file:
    night = json.load(file)
builder = (
    SessionBuilder(night["at"])
    .person(age=34, sex="F")
    .heart_rate(night["heartRate"])
    .respiratory_rate(night["respiratoryRate"])
    .sleep_stages(night["stages"])
)
with AcuityClient() as client:
    prediction = History(client, MemoryStorage()).score(
        "person-1",
        night["at"],
        builder.build(),
        night=builder.woke_on(),
        measurements=[{"test": "pss10", "answers": answers, "on": "2025-02-28"}],  # once: the history keeps it
    )
    unmeasured = prediction.unmeasured
    print({"stress": prediction.scores["stress"], "unmeasured": unmeasured and unmeasured["stress"]})
