from acuity_client import AcuityClient, History, MemoryStorage, SessionBuilder

at = "2025-03-01T07:45:00Z"  # the moment to score
builder = (
    SessionBuilder(at)
    .person(age=34, height_cm=178, weight_kg=74, sex="F")
    .heart_rate(
        {
            "2025-02-28T23:30:00Z": 58,  # as many samples as the device has, in any order
            "2025-03-01T02:30:00Z": 53,
            "2025-03-01T05:30:00Z": 56,
            "2025-03-01T07:10:00Z": 71,
            "2025-03-01T07:40:00Z": 68,
        }
    )
    .respiratory_rate({"2025-03-01T02:30:00Z": 14.2})
    .sleep_stages(
        [
            {"stage": "light", "from": "2025-02-28T22:50:00Z", "to": "2025-03-01T01:10:00Z"},
            {"stage": "deep", "from": "2025-03-01T01:10:00Z", "to": "2025-03-01T02:40:00Z"},
            {"stage": "light", "from": "2025-03-01T02:40:00Z", "to": "2025-03-01T04:20:00Z"},
            {"stage": "awake", "from": "2025-03-01T04:20:00Z", "to": "2025-03-01T04:30:00Z"},
            {"stage": "rem", "from": "2025-03-01T04:30:00Z", "to": "2025-03-01T06:20:00Z"},
        ]
    )
)
with AcuityClient() as client:  # address and key from ACUITY_URL and ACUITY_API_KEY
    history = History(client, MemoryStorage())
    prediction = history.score("person-1", at, builder.build(), night=builder.woke_on())
    print(prediction.scores)
