"""Series of pandas go in as they are; their index needs a time zone."""

import pandas

from acuity_client import AcuityClient, SessionBuilder

at = pandas.Timestamp("2025-03-01T07:45:00", tz="Europe/Berlin")
minutes = pandas.date_range(at - pandas.Timedelta(minutes=45), periods=45, freq="min")
heart = pandas.Series(range(60, 105), index=minutes, dtype="Float64")
session = SessionBuilder(at.to_pydatetime()).person(age=34, sex="F").heart_rate(heart).build()
with AcuityClient() as client:
    prediction = client.predict({"current_session": session})
print(prediction.scores)
