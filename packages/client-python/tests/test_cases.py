"""The cases that every client passes, through each client and transport."""

from __future__ import annotations

import os
import tempfile
import unittest
import warnings
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from acuity_client import (
    HistoryEntry,
    Hooks,
    InvalidRequestError,
    MemoryStorage,
    SessionBuilder,
    SqliteStorage,
    UnitError,
    describe_score,
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
    failing = iter([step.get("fails") for step in case["steps"] if "session" in step])
    for person, kept in case.get("stored", {}).items():
        storage.save(person, [_entry(entry) for entry in kept])

    def reply(body: Any) -> dict[str, Any]:
        if next(failing) is not None:
            return {"status": 500, "body": {"detail": "Internal Server Error"}}
        return {"status": 200, "body": {**_scores(body["current_session"]), "inference_time_ms": 0}}

    with ScriptedServer(reply) as server, face(maker, server.url) as client:
        history = client.history(storage)
        for step in case["steps"]:
            _run(test, history, step)
        for person, kept in case["expect"]["kept"].items():
            entries = history.entries(person)
            test.assertEqual(
                [(entry["at"], entry.get("night"), entry["session"]) for entry in entries],
                [(entry["at"], entry.get("night"), _session(entry["session"])) for entry in kept],
            )
            for entry in entries:
                test.assertEqual(entry["scores"], _scores(entry["session"]))
    past = [body.get("past_sessions", []) for _, body in server.received]
    test.assertEqual(
        [[session["sleepTimeSeconds"] for session in sessions] for sessions in past],
        case["expect"]["past"],
    )
    for _, body in server.received:
        test.assertEqual(
            [_scores(session) for session in body.get("past_sessions", [])],
            body.get("past_targets", []),
        )
        test.assertNotEqual(body.get("past_sessions"), [])


def _run(test: unittest.TestCase, history: Any, step: dict[str, Any]) -> None:
    if "forget" in step:
        history.forget(step["forget"])
        return
    run = (step["person"], step["at"], _session(step["session"]))
    if "refused" in step:
        with test.assertRaisesRegex(ValueError, step["refused"]):
            history.score(*run, night=step.get("night"))
    elif "fails" in step:
        with test.assertRaises(error_named(step["fails"])):
            history.score(*run, night=step.get("night"))
    else:
        history.score(*run, night=step.get("night"))


def _session(number: int) -> dict[str, Any]:
    return {"HR_night": [60], "sleepTimeSeconds": number}


def _scores(session: dict[str, Any]) -> dict[str, Any]:
    return {**SCORES, "attention": session["sleepTimeSeconds"] / 1000}


def _entry(entry: dict[str, Any]) -> HistoryEntry:
    session: Any = _session(entry["session"])
    scores: Any = _scores(session)
    return {"at": entry["at"], "modelVersion": "1", "session": session, "scores": scores}


class Sessions(unittest.TestCase):
    """Sessions built from what wearables give."""

    def test_sessions(self) -> None:
        for case in cases("sessions"):
            with self.subTest(case["name"]):
                expected = case["expect"]
                if "session" in expected:
                    self.assertEqual(built(case["build"]), expected["session"])
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
    return builder.build()


def _samples(given: Any) -> Any:
    if isinstance(given, list):
        return given
    start_ms = moment_ms(given["from"], "a case")
    step = timedelta(seconds=given["everyS"]) // timedelta(milliseconds=1)
    return [{"at": iso_of(start_ms + index * step), "value": value} for index, value in enumerate(given["values"])]


class Explanations(unittest.TestCase):
    """What an explanation says, in words and numbers."""

    def test_explanations(self) -> None:
        for case in cases("explanations"):
            with self.subTest(case["name"]):
                said = describe_score(case["scores"], case["explanation"], case["score"])
                self.assertEqual(list(said.sentences), case["expect"]["sentences"])
                chart = asdict(said.chart)
                chart["isUsual"] = chart.pop("is_usual")
                chart["contributors"] = list(chart["contributors"])
                self.assertEqual(chart, case["expect"]["chart"])


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


@unittest.skipUnless("ACUITY_URL" in os.environ, "there is no service: ACUITY_URL is not set")
class Service(unittest.TestCase):
    """The real service, at the address and with the key of the environment."""

    def test_service(self) -> None:
        url, key = os.environ["ACUITY_URL"], os.environ["ACUITY_API_KEY"]
        for title, maker in FACES.items():
            for case in cases("service"):
                with self.subTest(case["name"], client=title), face(maker, url) as client:
                    client.client._core._key.text = key  # type: ignore[attr-defined]
                    self._check(client, case)

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
