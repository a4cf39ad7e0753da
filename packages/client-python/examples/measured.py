import json

from acuity_client import AcuityClient, History, MemoryStorage, SessionBuilder, percentile_of, pss10_sum

answers = [2, 3, 1, 2, 1, 3, 2, 2, 1, 2]  # to the ten questions, as they were given
stress = percentile_of("pss10", pss10_sum(answers), age=34, sex="F")

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
        measurements=[{"score": "stress", "value": stress, "on": "2025-02-28"}],  # once: the history keeps it
    )
    unmeasured = prediction.unmeasured
    print({"measured": stress, "stress": prediction.scores["stress"], "unmeasured": unmeasured and unmeasured["stress"]})
