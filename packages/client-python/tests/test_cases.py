"""The cases that every client passes, through each client and transport."""

from __future__ import annotations

import json
import os
import re
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from acuity_client import (
    Hooks,
    InvalidRequestError,
    MemoryStorage,
    SessionBuilder,
    SqliteStorage,
    UnitError,
)
from acuity_client._moment import iso_of, moment_ms

from .scripted_server import SCORES, ScriptedServer
from .support import FACES, KEY, Face, Maker, cases, error_named, face

REQUEST: dict[str, Any] = {"current_session": {"HR_night": [61.8731, 62, 63]}}


class EachFace(unittest.TestCase):
    """Runs a check through each client, each case a subtest."""

    def each(self, name: str, check: Callable[[Maker, dict[str, Any]], None]) -> None:
        for title, maker in FACES.items():
            for case in cases(name):
                with self.subTest(case["name"], client=title):
                    check(maker, case)


class Refusals(EachFace):
    """Retries and refusals."""

    def test_retries(self) -> None:
        self.each("retries", self._retries)

    def _retries(self, maker: Maker, case: dict[str, Any]) -> None:
        expected = case["expect"]
        with (
            ScriptedServer(case["replies"]) as server,
            face(maker, server.url, case.get("options")) as client,
        ):
            self._expect(client, expected)
            self.assertEqual([round(pause * 1000, 6) for pause in client.pauses], expected["pausesMs"])
        self.assertEqual(len(server.received), len(expected["pausesMs"]) + 1)
        first, _ = server.received[0]
        for headers, body in server.received:
            self.assertEqual(body, REQUEST)
            self.assertEqual(headers[":path"], "/predict")
            self.assertEqual(headers["x-api-key"], KEY)
            self.assertEqual(headers["content-type"], "application/json")
            self.assertEqual(headers["x-request-id"], first["x-request-id"])
            self.assertEqual(headers["x-deadline-ms"], str(case.get("options", {}).get("timeoutMs", 10_000)))

    def test_refusals(self) -> None:
        self.each("refusals", self._refusals)

    def _refusals(self, maker: Maker, case: dict[str, Any]) -> None:
        with (
            ScriptedServer([case["reply"]]) as server,
            face(maker, server.url, {"retries": 0}) as client,
        ):
            self._expect(client, case["expect"])

    def _expect(self, client: Face, expected: dict[str, Any]) -> None:
        if "error" not in expected:
            prediction = client.predict(REQUEST)
            self.assertEqual(prediction.scores, expected["scores"])
            self.assertEqual(prediction.model_version, expected["modelVersion"])
            self.assertEqual(prediction.inference_time_ms, expected["inferenceTimeMs"])
            self.assertEqual(prediction.unmeasured, expected.get("unmeasured"))
            self.assertEqual(list(prediction.measurements_ignored), expected.get("measurementsIgnored", []))
            return
        with self.assertRaises(error_named(expected["error"])) as caught:
            client.predict(REQUEST)
        error: Any = caught.exception
        self.assertIs(type(error), error_named(expected["error"]))
        for name, attribute in (
            ("status", "status"),
            ("detail", "detail"),
            ("findings", "findings"),
            ("requestId", "request_id"),
            ("retryAfterS", "retry_after_s"),
            ("rateLimit", "rate_limit"),
        ):
            if name in expected:
                self.assertEqual(getattr(error, attribute), expected[name], name)
        self.assertIn(expected.get("has", ""), str(error))


class Histories(EachFace):
    """Histories, over each storage."""

    def test_memory(self) -> None:
        self.each("history", lambda maker, case: self._history(maker, case, MemoryStorage()))

    def test_sqlite(self) -> None:
        def check(maker: Maker, case: dict[str, Any]) -> None:
            with tempfile.TemporaryDirectory() as folder:
                storage = SqliteStorage(Path(folder) / "histories.db")
                try:
                    self._history(maker, case, storage)
                finally:
                    storage.close()

        self.each("history", check)

    def _history(self, maker: Maker, case: dict[str, Any], storage: Any) -> None:
        check_history(self, maker, case, storage)


def check_history(test: unittest.TestCase, maker: Maker, case: dict[str, Any], storage: Any) -> None:
    """One case over one storage; the examples' storages go through it too."""
    case = _dated_from_today(case)
    for person, kept in case.get("stored", {}).items():
        text = kept if isinstance(kept, str) else json.dumps([_former(entry) for entry in kept])
        test.assertTrue(storage.save(person, text, None))
    replies: list[Any] = []

    def reply(body: Any) -> Any:
        return replies[-1] or _scored(body)

    with ScriptedServer(reply) as server, face(maker, server.url) as client:
        for step in case["steps"]:
            replies.append(step.get("reply"))
            _run(test, client.history(_WithOthers(storage, step.get("meanwhile", []))), step)
    test.assertEqual([body for _, body in server.received], [_sent(sent) for sent in case["expect"]["sent"]])
    for person, text in case["expect"]["stored"].items():
        test.assertEqual(storage.load(person), text, person)


def _dated_from_today(case: dict[str, Any]) -> dict[str, Any]:
    """Dates by the clock of this machine: today and the days after it."""

    def ahead(found: re.Match[str]) -> str:
        return (datetime.now(timezone.utc).date() + timedelta(days=int(found[1]))).isoformat()

    made: dict[str, Any] = json.loads(re.sub(r"TODAY\+([0-9])", ahead, json.dumps(case)))
    return made


class _WithOthers:
    """Before each of our saves, another process's, as long as there are any."""

    def __init__(self, storage: Any, others: list[Any]) -> None:
        self._storage = storage
        self._others = others

    def load(self, person: str, /) -> Any:
        return self._storage.load(person)

    def save(self, person: str, next: str | None, previous: Any, /) -> bool:
        if self._others:
            self._storage.save(person, self._others.pop(0), self._storage.load(person))
        taken: bool = self._storage.save(person, next, previous)
        return taken


def _run(test: unittest.TestCase, history: Any, step: dict[str, Any]) -> None:
    if "forget" in step:
        history.forget(step["forget"])
        return

    def score() -> Any:
        if "forgetMeasurements" in step:
            return history.forget_measurements(step["forgetMeasurements"])
        measurements = step.get("measurements")
        session = _session(step["session"])
        asked = {"night": step.get("night"), "measurements": measurements, "explain": step.get("explain", False)}
        return history.score(step["person"], step["at"], session, **asked)

    if "fails" not in step:
        prediction = score()
        if "forgetMeasurements" in step:
            return
        test.assertEqual(prediction.scores, _scores(step["session"]))
        test.assertRegex(prediction.history, "^acu1[.]")
        return
    with test.assertRaises(error_named(step["fails"])) as caught:
        score()
    test.assertIn(step.get("has", ""), str(caught.exception))


def _session(number: int) -> dict[str, Any]:
    return {"HR_night": [60], "sleepTimeSeconds": number}


def _scores(number: int) -> dict[str, Any]:
    return {**SCORES, "attention": number / 1000}


def _scored(body: Any) -> dict[str, Any]:
    """Answers as packages/cases/README.md says: a history that can be read."""
    number = body["current_session"]["sleepTimeSeconds"]
    past = [f"-={session['sleepTimeSeconds']}" for session in body.get("past_sessions", [])]
    before = [body["history"].removeprefix("acu1.")] if body["history"] else past
    history = "acu1." + ",".join([*before, f"{body.get('night', '-')}={number}"])
    return {"status": 200, "body": {**_scores(number), "inference_time_ms": 0, "history": history}}


def _sent(sent: dict[str, Any]) -> dict[str, Any]:
    request = {"current_session": _session(sent["session"]), "history": sent["history"]}
    if "night" in sent:
        request["night"] = sent["night"]
    for name in ("measurements", "explain"):
        if name in sent:
            request[name] = sent[name]
    if "past" in sent:
        request["past_sessions"] = [_session(number) for number in sent["past"]]
        request["past_targets"] = [_scores(number) for number in sent["past"]]
    return request


def _former(entry: dict[str, Any]) -> dict[str, Any]:
    number = entry["session"]
    return {**entry, "modelVersion": "1", "session": _session(number), "scores": _scores(number)}


class Sessions(unittest.TestCase):
    """Sessions built from what wearables give."""

    def test_sessions(self) -> None:
        for case in cases("sessions"):
            with self.subTest(case["name"]):
                expected = case["expect"]
                if "session" in expected:
                    session, woke_on = built(case["build"])
                    self.assertEqual(session, expected["session"])
                    self.assertEqual(woke_on, expected.get("wokeOn", woke_on))
                    continue
                with self.assertRaises(error_named(expected["error"])) as caught:
                    built(case["build"])
                self.assertIn(expected["has"], str(caught.exception))


def built(given: dict[str, Any]) -> Any:
    """What the builder makes of a case."""
    builder = SessionBuilder(given["at"])
    if "person" in given:
        names = {"bornAt": "born_at", "heightCm": "height_cm", "weightKg": "weight_kg"}
        builder.person(**{names.get(name, name): value for name, value in given["person"].items()})
    if "heartRate" in given:
        builder.heart_rate(_samples(given["heartRate"]))
    if "respiratoryRate" in given:
        builder.respiratory_rate(_samples(given["respiratoryRate"]))
    if "sleepStages" in given:
        builder.sleep_stages(given["sleepStages"])
    if "sleepMinutes" in given:
        builder.sleep_minutes(**given["sleepMinutes"])
    if "sleepSeconds" in given:
        builder.sleep_seconds(**given["sleepSeconds"])
    if "night" in given:
        builder.night(*given["night"])
    return builder.build(), builder.woke_on(given.get("zone"))


def _samples(given: Any) -> Any:
    if isinstance(given, list):
        return given
    start_ms = moment_ms(given["from"], "a case")
    step = timedelta(seconds=given["everyS"]) // timedelta(milliseconds=1)
    return [{"at": iso_of(start_ms + index * step), "value": value} for index, value in enumerate(given["values"])]


class Checks(EachFace):
    """What is caught before it is sent."""

    def test_contradictions(self) -> None:
        self.each("contradictions", self._contradictions)

    def _contradictions(self, maker: Maker, case: dict[str, Any]) -> None:
        with ScriptedServer(lambda _: _ok()) as server, face(maker, server.url) as client:
            if "has" not in case:
                client.predict(case["request"])
                return
            with self.assertRaises(UnitError) as caught:
                client.predict(case["request"])
        self.assertIn(case["has"], str(caught.exception))
        self.assertEqual(server.received, [])

    def test_slips(self) -> None:
        self.each("slips", self._slips)

    def _slips(self, maker: Maker, case: dict[str, Any]) -> None:
        told: list[str] = []
        with (
            ScriptedServer(lambda _: _ok()) as server,
            face(maker, server.url, hooks=Hooks(on_warning=told.append)) as client,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            client.predict(case["request"])
            client.predict(case["request"])
        self.assertEqual(len(told), len(case["meant"]), told)
        for sentence, slip in zip(told, case["meant"]):
            self.assertIn(slip["name"], sentence)
            self.assertIn(f"did you mean {slip['meant']}?", sentence)


def _ok() -> dict[str, Any]:
    return {"status": 200, "body": {**SCORES, "inference_time_ms": 0}}


BAD: dict[str, Any] = {"HR_night": [72, 71, 70], "sleepTimeSeconds": 10_800, "age": 40, "sex": "F"}


def _night(day: int) -> dict[str, Any]:
    return {"HR_night": [58 + day, 57, 56], "age": 40, "sex": "F"}


@contextmanager
def service(maker: Maker) -> Iterator[Face]:
    """A client of the service that the environment names."""
    with face(maker, os.environ["ACUITY_URL"]) as client:
        client.client._core._key.text = os.environ["ACUITY_API_KEY"]  # type: ignore[attr-defined]
        yield client


@unittest.skipUnless("ACUITY_URL" in os.environ, "there is no service: ACUITY_URL is not set")
class Service(unittest.TestCase):
    """The real service, at the address and with the key of the environment."""

    def test_service(self) -> None:
        for title, maker in FACES.items():
            for case in cases("service"):
                with self.subTest(case["name"], client=title), service(maker) as client:
                    self._check(client, case)

    def test_worked_histories(self) -> None:
        for title, maker in FACES.items():
            for case in cases("histories"):
                with self.subTest(case["name"], client=title), service(maker) as client:
                    self._worked(client, case["steps"])

    def _worked(self, client: Face, steps: list[dict[str, Any]]) -> None:
        answers: list[Any] = []

        def lists(indices: list[int]) -> dict[str, Any]:
            return {
                "past_sessions": [steps[index]["session"] for index in indices],
                "past_targets": [answers[index].scores for index in indices],
            }

        for index, step in enumerate(steps):
            source = step.get("from", index - 1)
            is_new = "lists" in step or source is None or source < 0
            request = {"current_session": step["session"], "history": "" if is_new else answers[source].history}
            if "night" in step:
                request["night"] = step["night"]
            answer = client.predict(request | lists(step.get("lists", [])))
            by_lists = client.predict({"current_session": step["session"]} | lists(step["past"]))
            self.assertEqual(answer.scores, by_lists.scores, index)
            if "historyOf" in step:
                self.assertEqual(answer.history, answers[step["historyOf"]].history)
            answers.append(answer)

    def test_a_bad_night_scored_hourly_for_a_day_stays_one_night(self) -> None:
        for title, maker in FACES.items():
            storage = MemoryStorage()
            with self.subTest(title), service(maker) as client:
                history = client.history(storage)
                for day in range(1, 7):
                    history.score("a", f"2025-01-0{day}T07:00:00Z", _night(day), night=f"2025-01-0{day}")
                hours = [iso_of(moment_ms("2025-01-07T07:00:00Z", "it") + hour * 3_600_000) for hour in range(24)]
                attention, stored = set(), set()
                for at in hours:
                    attention.add(history.score("a", at, BAD, night="2025-01-07").scores["attention"])
                    stored.add(storage.load("a"))
                self.assertEqual((len(attention), len(stored)), (1, 1))

    def test_what_the_former_client_stored_is_moved_over_with_the_same_scores(self) -> None:
        for title, maker in FACES.items():
            storage = MemoryStorage()
            with self.subTest(title), service(maker) as client:
                former: list[dict[str, Any]] = []
                past: dict[str, Any] = {}
                for day in range(1, 6):
                    scores = client.predict({"current_session": _night(day), **past}).scores
                    entry = {"at": f"2025-01-0{day}T07:00:00.000Z", "modelVersion": "1", "session": _night(day)}
                    former.append(entry | {"scores": scores})
                    past = {"past_sessions": [one["session"] for one in former]}
                    past["past_targets"] = [one["scores"] for one in former]
                storage.save("a", json.dumps(former), None)
                by_lists = client.predict({"current_session": BAD, **past})
                history = client.history(storage)
                moved = history.score("a", "2025-01-06T07:00:00Z", BAD, night="2025-01-06")
                self.assertEqual(moved.scores, by_lists.scores)
                self.assertRegex(str(storage.load("a")), r"^acu1\.[\w-]+$")
                again = history.score("a", "2025-01-06T19:00:00Z", BAD, night="2025-01-06")
                self.assertEqual(again.scores, moved.scores)

    def _check(self, client: Face, case: dict[str, Any]) -> None:
        expected = case["expect"]
        if "scored" in expected:
            prediction = client.predict(case["request"])
            self.assertEqual(sorted(prediction.scores), sorted(SCORES))
            self.assertTrue(prediction.model_version)
            return
        with self.assertRaises(InvalidRequestError) as caught:
            client.predict(case["request"])
        found = [{"loc": f["loc"], "type": f["type"]} for f in caught.exception.findings]
        self.assertEqual(found, expected["findings"])


if __name__ == "__main__":
    unittest.main()
