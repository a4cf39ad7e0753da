from acuity_client import AcuityClient, History, MemoryStorage, Session

session: Session = {"HR_night": [58, 53, 56, 54], "sleepTimeSeconds": 26100, "age": 34, "sex": "F"}
answers = [2, 3, 1, 2, 1, 3, 2, 2, 1, 2]  # to the ten questions, as they were given

with AcuityClient() as client:
    prediction = History(client, MemoryStorage()).score(
        "person-1",
        session,
        night="2025-03-01",
        measurements=[{"test": "pss10", "answers": answers, "on": "2025-02-28"}],  # once: the history keeps it
    )
    unmeasured = prediction.unmeasured
    print({"stress": prediction.scores["stress"], "unmeasured": unmeasured and unmeasured["stress"]})
