"""Many requests in few lists: the cases that every client passes, and what is particular to this client."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import unittest
from collections.abc import AsyncIterator, Iterator
from typing import Any

from acuity_client import AcuityClient, AsyncAcuityClient, Hooks, Incoming, KeyMissingError, Outcome, Outgoing, Prediction

from .scripted_server import SCORES, ScriptedServer
from .support import FACES, KEY, Maker, cases, error_named, face


def _request(number: int) -> dict[str, Any]:
    return {"current_session": {"sleepTimeSeconds": number}}


def _number(request: dict[str, Any]) -> int:
    number: int = request["current_session"].get("sleepTimeSeconds", 0)
    return number


def _scored(request: dict[str, Any]) -> str:
    return json.dumps({**SCORES, "attention": _number(request) / 1000, "inference_time_ms": 0.2})


def _reply(requests: list[dict[str, Any]], reply: dict[str, Any] | None = None) -> dict[str, Any]:
    """As packages/cases/README.md says."""
    reply = reply or {"lines": ["scored"] * len(requests)}
    if "lines" not in reply:
        return {"status": 200, **reply}
    lines = [
        _scored(requests[index]) if said == "scored" else json.dumps(said) for index, said in enumerate(reply["lines"])
    ]
    last = reply.get("text", "")
    end = _scored(requests[len(lines)]) if last == "scored" else last
    text = "".join(line + reply.get("ends", "\n") for line in lines) + end
    headers = {"content-type": "application/x-ndjson", "x-model-version": "7"}
    return {"status": 200, **reply, "headers": headers, "text": text}


class Cases(unittest.TestCase):
    """The shared cases."""

    def test_lists(self) -> None:
        for title, maker in FACES.items():
            for case in cases("lists"):
                with self.subTest(case["name"], client=title):
                    self._check(maker, case)

    def _check(self, maker: Maker, case: dict[str, Any]) -> None:
        left, expected = list(case.get("replies", [])), case["expect"]
        given = case.get("lists", {})
        options = {
            "list_max": given.get("listMax", 100),
            "list_bytes_max": given.get("listBytesMax", 1 << 22),
            "concurrency": given.get("concurrency", 1),
        }
        outcomes: list[Outcome[Any]] = []
        thrown: Exception | None = None
        with (
            ScriptedServer(lambda body: _reply(body, left.pop(0) if left else None)) as server,
            face(maker, server.url, case.get("options")) as client,
        ):
            try:
                for outcome in client.predict_many(_input(case), **options):
                    outcomes.append(outcome)
            except Exception as error:
                thrown = error
            self.assertEqual([round(pause * 1000, 6) for pause in client.pauses], expected["pausesMs"])
        self.assertEqual(len(outcomes), len(expected["outcomes"]), thrown)
        for index, (outcome, said) in enumerate(zip(outcomes, expected["outcomes"])):
            self.assertEqual((outcome.index, outcome.key), (index, case.get("keys", range(99))[index]))
            self._check_outcome(outcome, said)
        if "throws" not in expected:
            self.assertIsNone(thrown)
        elif expected["throws"] != "Error":
            self.assertIsInstance(thrown, error_named(expected["throws"]))
        self.assertIn(expected.get("has", ""), str(thrown))
        self.assertEqual([[_number(request) for request in body] for _, body in server.received], expected["sent"])
        for headers, _ in server.received:
            self.assertEqual(headers[":path"], "/predict")
            self.assertEqual(headers["x-api-key"], KEY)
            self.assertEqual(headers["content-type"], "application/x-ndjson")
            self.assertRegex(headers["x-deadline-ms"], "^[0-9]+$")

    def _check_outcome(self, outcome: Outcome[Any], said: Any) -> None:
        said = {"scored": said} if isinstance(said, int) else said
        if "error" in said:
            self.assertIsNone(outcome.prediction)
            self.assertIsInstance(outcome.error, error_named(said["error"]))
            self.assertIn(said.get("has", ""), str(outcome.error))
            if "status" in said:
                self.assertEqual(getattr(outcome.error, "status", None), said["status"])
            return
        self.assertIsNone(outcome.error)
        prediction = outcome.prediction
        assert prediction is not None
        self.assertEqual(prediction.scores, {**SCORES, "attention": said["scored"] / 1000})
        self.assertEqual((prediction.model_version, prediction.inference_time_ms), ("7", 0.2))
        self.assertEqual(prediction.explanation, said.get("explanation"))
        self.assertEqual(prediction.history, said.get("history"))


def _input(case: dict[str, Any]) -> Iterator[Any]:
    for index, one in enumerate(case["requests"]):
        request = _request(one) if isinstance(one, int) else one
        yield (case["keys"][index], request) if "keys" in case else request
    if "inputFails" in case:
        raise ValueError("the input broke")


class _Endless:
    """Requests 0, 1, 2 … without end; counts those that were taken."""

    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            self.taken += 1
            yield _request(self.taken - 1)


class _Pieces:
    """A transport that gives the lines of an answer one by one, and waits for `more` before the second."""

    def __init__(self) -> None:
        self.more = threading.Event()

    def send(self, request: Outgoing, /) -> Incoming:
        for index, line in enumerate(request.body.splitlines()):
            if index > 0:
                self.more.wait(30)
            assert request.on_body is not None
            request.on_body({}, f"{_scored(json.loads(line))}\n".encode())
        return Incoming(200, {}, b"")

    def close(self) -> None:
        pass


class _Whole(_Pieces):
    """One that knows nothing of pieces."""

    def send(self, request: Outgoing, /) -> Incoming:
        lines = [_scored(json.loads(line)) for line in request.body.splitlines()]
        return Incoming(200, {}, "\n".join(lines).encode())


def _attention(outcome: Outcome[Any]) -> float | None:
    return None if outcome.prediction is None else outcome.prediction.scores["attention"]


class Runs(unittest.TestCase):
    """What is read, sent and given up, and when."""

    def test_no_more_is_read_ahead_than_the_lists_under_way_hold(self) -> None:
        for maker in FACES.values():
            with ScriptedServer(_reply) as server, face(maker, server.url) as client:
                endless, most = _Endless(), 0
                outcomes = client.predict_many(endless, list_max=5, concurrency=3)
                for given, outcome in enumerate(outcomes):
                    self.assertEqual(outcome.index, given)
                    most = max(most, endless.taken - given)
                    if given == 99:
                        break
                outcomes.close()  # type: ignore[attr-defined]
                self.assertLessEqual(most, 15)
                self.assertGreater(most, 5)

    def test_nothing_is_read_before_the_first_outcome_is_asked_for(self) -> None:
        for maker in FACES.values():
            with face(maker, "http://127.0.0.1:1") as client:
                endless = _Endless()
                client.predict_many(endless)
                self.assertEqual(endless.taken, 0)

    def test_outcomes_come_while_the_answer_still_does(self) -> None:
        transport = _Pieces()
        client = AcuityClient(base_url="http://127.0.0.1:1", api_key=KEY, transport=transport)
        outcomes = client.predict_many([_request(1), _request(2)])
        self.assertEqual(_attention(next(outcomes)), 0.001)
        transport.more.set()
        self.assertEqual(list(map(_attention, outcomes)), [0.002])

    def test_a_transport_that_only_gives_whole_answers_does(self) -> None:
        client = AcuityClient(base_url="http://127.0.0.1:1", api_key=KEY, transport=_Whole())
        outcomes = client.predict_many({"a": _request(1), "b": _request(2)}.items())
        self.assertEqual([(one.key, _attention(one)) for one in outcomes], [("a", 0.001), ("b", 0.002)])

    def test_closing_the_outcomes_gives_up_what_is_under_way(self) -> None:
        for title, maker in FACES.items():
            if "threads" in title:
                continue  # a thread's request ends with its time limit
            replies = iter([{"lines": ["scored", "scored"]}])
            with (
                ScriptedServer(lambda body: _reply(body, next(replies, {"silent": True}))) as server,
                face(maker, server.url, {"timeoutMs": 1_000}) as client,
            ):
                outcomes = client.predict_many(_Endless(), list_max=2, concurrency=2)
                self.assertEqual([next(outcomes).index, next(outcomes).index], [0, 1])
                outcomes.close()  # type: ignore[attr-defined]

    def test_a_pause_ends_with_the_outcomes(self) -> None:
        busy = {"status": 503, "headers": {"retry-after": "20"}}
        told = threading.Event()
        hooks = Hooks(on_retry=lambda _: told.set())
        with ScriptedServer(lambda body: busy if _number(body[0]) else _reply(body)) as server:
            with AcuityClient(base_url=server.url, api_key=KEY, hooks=hooks) as client:
                outcomes: Any = client.predict_many(_Endless(), list_max=1, concurrency=2)
                self.assertEqual(next(outcomes).index, 0)
                self.assertTrue(told.wait(10))
                outcomes.close()
                for thread in threading.enumerate():
                    if thread.name == "acuity-list":
                        thread.join(10)
                        self.assertFalse(thread.is_alive())

    def test_the_run_ends_with_a_refused_key_and_reads_no_further(self) -> None:
        for maker in FACES.values():
            with ScriptedServer(lambda _: {"status": 401}) as server, face(maker, server.url) as client:
                endless = _Endless()
                with self.assertRaises(KeyMissingError):
                    next(client.predict_many(endless, list_max=2))
                self.assertLessEqual(endless.taken, 5)

    def test_where_the_rate_refuses_a_list_those_after_it_wait_for_those_before(self) -> None:
        for maker in FACES.values():
            guard, tokens = threading.Lock(), [4]

            def reply(body: Any) -> Any:
                with guard:
                    if len(body) > tokens[0]:
                        tokens[0] = 4
                        refused = {"detail": "Rate limit exceeded"}
                        return {"status": 429, "body": refused, "headers": {"retry-after": "0"}}
                    tokens[0] -= len(body)
                return _reply(body)

            with ScriptedServer(reply) as server, face(maker, server.url) as client:
                requests = [_request(number) for number in range(40)]
                outcomes = list(client.predict_many(requests, list_max=4, concurrency=4))
            self.assertEqual([one.index for one in outcomes], list(range(40)))
            self.assertTrue(all(isinstance(one.prediction, Prediction) for one in outcomes))

    def test_a_list_that_has_parts_left_is_finished_before_the_run_ends(self) -> None:
        """A later list is refused for the key while the first, split, is not yet through."""

        def reply(body: Any) -> Any:
            if _number(body[0]) >= 4:
                return {"status": 403}
            if len(body) > 1:
                found = {"loc": ["body"], "msg": "at most 1", "type": "too_long"}
                return {"status": 422, "body": {"detail": [found]}}
            time.sleep(0.05)
            return _reply(body)

        for maker in FACES.values():
            with ScriptedServer(reply) as server, face(maker, server.url) as client:
                given: list[int] = []
                with self.assertRaises(error_named("KeyRejectedError")):
                    for one in client.predict_many([_request(n) for n in range(8)], list_max=4, concurrency=2):
                        given.append(one.index)
                self.assertEqual(given, [0, 1, 2, 3])

    def test_limits_out_of_range_are_refused_at_once(self) -> None:
        with AcuityClient(base_url="http://127.0.0.1:1", api_key=KEY) as client:
            for name, value in (("list_max", 0), ("list_max", 1_001), ("list_bytes_max", 0), ("concurrency", 0)):
                with self.assertRaisesRegex(ValueError, name):
                    client.predict_many([], **{name: value})
            with self.assertRaisesRegex(ValueError, "time limit"):
                client.predict_many([], timeout=0)

    def test_no_error_shows_a_value(self) -> None:
        with AcuityClient(base_url="http://127.0.0.1:1", api_key=KEY) as client:
            requests: list[Any] = [None, 7, {"current_session": {"HR_night": [float("nan"), 61.873]}}]
            for one in client.predict_many(requests):
                self.assertIsInstance(one.error, Exception)
                self.assertNotIn("61.873", str(one.error))


class AsynchronousInput(unittest.IsolatedAsyncioTestCase):
    """The input of the client for asyncio."""

    async def test_an_asynchronous_input(self) -> None:
        async def requests() -> AsyncIterator[Any]:
            for number in range(5):
                await asyncio.sleep(0)
                yield f"key {number}", _request(number)

        with ScriptedServer(_reply) as server:
            async with AsyncAcuityClient(base_url=server.url, api_key=KEY) as client:
                outcomes = [one async for one in client.predict_many(requests(), list_max=2)]
        self.assertEqual([(one.key, _attention(one)) for one in outcomes], [(f"key {n}", n / 1000) for n in range(5)])

    async def test_an_input_that_waits_for_ever_keeps_no_task(self) -> None:
        async def requests() -> AsyncIterator[Any]:
            yield _request(1)
            await asyncio.Event().wait()

        with ScriptedServer(_reply) as server:
            async with AsyncAcuityClient(base_url=server.url, api_key=KEY) as client:
                outcomes: Any = client.predict_many(requests(), list_max=1)
                self.assertEqual((await outcomes.__anext__()).index, 0)
                await outcomes.aclose()
        self.assertEqual(len(asyncio.all_tasks()), 1)


if __name__ == "__main__":
    unittest.main()
