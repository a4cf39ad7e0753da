from acuity_client import AcuityClient

requests = {
    "person-1": {"current_session": {"HR_night": [58, 53, 56], "sleepTimeSeconds": 26100, "age": 34, "sex": "F"}},
    "person-2": {"current_session": {"HR_night": [63, 61, 66], "sleepTimeSeconds": 21600, "age": 51, "sex": "M"}},
}
with AcuityClient() as client:
    for outcome in client.predict_many(requests.items()):
        if outcome.prediction is None:
            print(outcome.key, outcome.error)  # the error that predict would have raised
        else:
            print(outcome.key, outcome.prediction.scores)
