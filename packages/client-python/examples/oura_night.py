"""What Oura's API v2 answered to /sleep and /heartrate, here shortened."""

from acuity_client import AcuityClient, History, MemoryStorage
from acuity_client.adapters import from_oura

sleep = {
    "data": [
        {
            "id": "a",
            "day": "2026-03-02",
            "type": "long_sleep",
            "bedtime_start": "2026-03-01T23:00:00.000+01:00",
            "bedtime_end": "2026-03-02T07:00:00.000+01:00",
            "total_sleep_duration": 27000,
            "deep_sleep_duration": 5400,
            "rem_sleep_duration": 6000,
            "light_sleep_duration": 15600,
            "awake_time": 1800,
            "average_breath": 14.125,
            "heart_rate": {"interval": 300, "timestamp": "2026-03-01T23:00:00.000+01:00", "items": [None, 58, 57, 54]},
        }
    ]
}
heart_rate = {"data": [{"bpm": 68, "source": "awake", "timestamp": "2026-03-02T06:10:00.000Z"}]}
of = from_oura(sleep, heart_rate=heart_rate, at="2026-03-02T06:30:00Z", person={"age": 34, "sex": "F"})

with AcuityClient() as client:
    history = History(client, MemoryStorage())
    prediction = history.score("person-1", of.at, of.session, night=of.night)  # a person has each night once
    print(prediction.scores, of.left)  # left: what was not used, and why
