"""What is particular to this client."""

from __future__ import annotations

import copy
import importlib
import json
import logging
import os
import pickle
import pprint
import socket
import threading
import traceback
import unittest
import warnings
from datetime import date, datetime, timedelta, timezone
from typing import Any
from unittest import mock

from acuity_client import (
    AcuityClient,
    AcuityConnectionError,
    AcuityError,
    AcuityTimeoutError,
    AttemptReport,
    FieldNameWarning,
    UnitWarning,
    History,
    Hooks,
    KeyRejectedError,
    MemoryStorage,
    Outgoing,
    Prediction,
    RateLimitedError,
    RetryPolicy,
    RetryReport,
    SessionBuilder,
    TransportBroken,
)
from acuity_client import _rules as rules
from acuity_client._moment import iso_of, moment_ms
from acuity_client._transport import default_async_transport, default_transport
from acuity_client._types import PredictionRequest, ScoreRecord, Session

from .scripted_server import SCORES, ScriptedServer
from .support import FACES, HAS_HTTPX, KEY, face

SAMPLE = 61.8731
REQUEST: dict[str, Any] = {"current_session": {"HR_night": [SAMPLE, 62, 63]}}
OK: dict[str, Any] = {"status": 200, "body": {**SCORES, "inference_time_ms": 1}}
LIMITED: dict[str, Any] = {"status": 429, "headers": {"retry-after": "20"}, "body": {"detail": "Rate limit exceeded"}}
BUSY: dict[str, Any] = {"status": 503, "headers": {"retry-after": "1"}}
LOCAL = "http://127.0.0.1:8080"


class Secrets(unittest.TestCase):
    """Neither keys nor samples are shown."""

    def test_no_error_and_no_log_shows_the_key_or_a_sample(self) -> None:
        logged: list[str] = []

        class Keeps(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                logged.append(record.getMessage())

        root, handler = logging.getLogger(), Keeps()
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        self.addCleanup(root.removeHandler, handler)
        self.addCleanup(root.setLevel, level)
        replies: list[dict[str, Any]] = [{"status": 403}, {"broken": True}, {"silent": True}]
        for maker in FACES.values():
            for reply in replies:
                options = {"retries": 0, "timeoutMs": 200}
                with ScriptedServer([reply]) as server, face(maker, server.url, options) as client:
                    with self.assertRaises(AcuityError) as caught:
                        client.predict(REQUEST)
                    self._check(client, caught.exception)
        self.assertNotIn(KEY, "".join(logged))
        self.assertNotIn(str(SAMPLE), "".join(logged))

    def _check(self, client: Any, error: BaseException | None) -> None:
        self.assertNotIn(KEY, repr(client.client) + pprint.pformat(vars(client.client._core)))
        while error is not None:
            told = traceback.TracebackException.from_exception(error, capture_locals=True)
            ours = [
                line
                for frame in told.stack
                if "acuity_client" in frame.filename
                for line in (frame.locals or {}).values()
            ]
            self.assertNotIn(KEY, "".join(ours) + repr(error) + str(error))
            self.assertNotIn(str(SAMPLE), repr(error) + str(error))
            self.assertIsNone(error.__cause__)
            error = error.__context__

    def test_a_client_is_not_copied_elsewhere(self) -> None:
        client = AcuityClient(base_url=LOCAL, api_key=KEY)
        self.addCleanup(client.close)
        with self.assertRaisesRegex(TypeError, "make one in each process"):
            pickle.dumps(client._core._key)
        with self.assertRaises(TypeError):
            copy.deepcopy(client._core._key)

    def test_a_request_shows_neither_headers_nor_body(self) -> None:
        shown = repr(Outgoing(LOCAL, {"x-api-key": KEY}, b'{"HR_night":[61]}', 1.0))
        self.assertNotIn(KEY, shown)
        self.assertNotIn("HR_night", shown)


class Settings(unittest.TestCase):
    """Addresses, keys, limits."""

    def test_the_environment_gives_address_and_key(self) -> None:
        with mock.patch.dict(os.environ, {"ACUITY_URL": LOCAL, "ACUITY_API_KEY": f"{KEY}\n"}):
            with AcuityClient() as client:
                self.assertEqual(repr(client), f"AcuityClient('{LOCAL}/predict')")
        without = {n: v for n, v in os.environ.items() if n not in ("ACUITY_URL", "ACUITY_API_KEY")}
        with mock.patch.dict(os.environ, without, clear=True):
            with self.assertRaisesRegex(ValueError, "set ACUITY_URL"):
                AcuityClient(api_key=KEY)
            with self.assertRaisesRegex(ValueError, "set ACUITY_API_KEY"):
                AcuityClient(base_url=LOCAL)

    def test_the_address_is_the_base_address_and_not_in_clear_over_a_network(self) -> None:
        for url in (LOCAL, "http://localhost:1", "http://[::1]:1", "https://scores.example/prefix/"):
            AcuityClient(base_url=url, api_key=KEY).close()
        for url, message in (
            ("http://10.0.0.8:8080", "in clear"),
            ("http://127.0.0.1.example", "in clear"),
            ("https://scores.example/predict", "without /predict"),
            ("ftp://scores.example", "http or https"),
            ("scores.example", "http or https"),
            ("https://me:secret@scores.example", "no user"),
            ("https://scores.example/?a=b", "no user"),
        ):
            with self.subTest(url), self.assertRaisesRegex(ValueError, message):
                AcuityClient(base_url=url, api_key=KEY)
        AcuityClient(base_url="http://10.0.0.8", api_key=KEY, allow_plain_http=True).close()

    def test_a_key_that_was_cut_is_refused_and_not_shown(self) -> None:
        for key in ("sk_live_short", KEY[:-1], KEY + "0", KEY.replace("live", "test")):
            with self.assertRaisesRegex(ValueError, "must be whole") as caught:
                AcuityClient(base_url=LOCAL, api_key=key)
            self.assertNotIn(key, str(caught.exception))

    def test_what_can_not_be_right_is_refused_before_it_is_sent(self) -> None:
        with ScriptedServer([]) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            for request_id in ("a b", "ä", "x" * 129):
                with self.assertRaisesRegex(ValueError, "request id"):
                    client.predict(REQUEST, request_id=request_id)
            with self.assertRaisesRegex(ValueError, "positive number of seconds"):
                client.predict(REQUEST, timeout=0)
            for number in (float("nan"), float("inf")):
                with self.assertRaisesRegex(ValueError, "NaN or Infinity"):
                    client.predict({"current_session": {"HR_night": [number]}})
            with self.assertRaisesRegex(TypeError, "holds a set"):
                client.predict({"current_session": {"HR_night": {60}}})
            ahead = (datetime.now(timezone.utc) + timedelta(days=2)).date().isoformat()
            with self.assertRaisesRegex(ValueError, "ahead of this machine's clock"):
                client.predict({"current_session": {}, "history": "", "night": ahead})
        self.assertEqual(server.received, [])


class Names(unittest.TestCase):
    """The types beside the names that are generated."""

    def test_names(self) -> None:
        aliases = {"HR_night_imputed", "RR_night_imputed"}
        self.assertEqual(set(Session.__annotations__) | aliases, set(rules.SESSION_FIELDS))
        self.assertEqual(tuple(ScoreRecord.__annotations__), rules.TARGET_FIELDS)


class Requests(unittest.TestCase):
    """Options of a call, hooks, transports."""

    def test_options_of_a_call(self) -> None:
        for title, maker in FACES.items():
            with self.subTest(title), ScriptedServer([{"silent": True}, BUSY, OK]) as server:
                with face(maker, server.url, {"retries": 0}) as client:
                    with self.assertRaisesRegex(AcuityTimeoutError, "within 0.2 s"):
                        client.predict(REQUEST, timeout=0.2)
                    prediction = client.predict(REQUEST, request_id="mine-1", retries=1)
                self.assertEqual(prediction.request_id, "mine-1")
                self.assertEqual(server.received[-1][0]["x-request-id"], "mine-1")

    def test_after_a_429_the_other_calls_of_a_client_are_held(self) -> None:
        for title, maker in FACES.items():
            with self.subTest(title), ScriptedServer([LIMITED, OK, OK]) as server, face(maker, server.url) as client:
                # The pauses of these clients take no time: the second call meets the gate that the first one closed.
                client.predict(REQUEST, request_id="first")
                client.predict(REQUEST, request_id="second")
                self.assertEqual(client.pauses[0], 20.1)
                self.assertTrue(19 < client.pauses[1] <= 20.1, client.pauses)
                with self.assertRaises(RateLimitedError) as caught:
                    client.predict(REQUEST, request_id="hasty", deadline=5)
                self.assertEqual((caught.exception.request_id, caught.exception.retry_after_s), ("hasty", 20.0))
                self.assertEqual(len(server.received), 3, "what is held is not sent")

    def test_what_is_given_up_at_once_holds_nobody(self) -> None:
        for title, maker in FACES.items():
            with self.subTest(title), ScriptedServer([LIMITED, LIMITED]) as server, face(maker, server.url) as client:
                for _ in range(2):
                    with self.assertRaises(RateLimitedError):
                        client.predict(REQUEST, deadline=5)
                self.assertEqual((len(server.received), client.pauses), (2, []))

    def test_hooks_tell_of_attempts_and_pauses(self) -> None:
        for title, maker in FACES.items():
            attempts: list[AttemptReport] = []
            retries: list[RetryReport] = []
            hooks = Hooks(on_attempt=attempts.append, on_retry=retries.append)
            with self.subTest(title), ScriptedServer([BUSY, {"broken": True}, OK]) as server:
                with face(maker, server.url, hooks=hooks) as client:
                    client.predict(REQUEST, request_id="r1")
                size = len(json.dumps(REQUEST, separators=(",", ":")))
                self.assertEqual(
                    [(r.request_id, r.attempt, r.status, r.request_bytes) for r in attempts],
                    [("r1", 1, 503, size), ("r1", 2, None, size), ("r1", 3, 200, size)],
                )
                self.assertEqual([(r.attempt, r.status) for r in retries], [(1, 503), (2, None)])

    def test_the_callers_trace_goes_with_each_attempt_and_nothing_else_of_it(self) -> None:
        def propagate(carrier: dict[str, str]) -> None:
            carrier |= {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "baggage": "person=7", "x-api-key": "other"}

        with ScriptedServer([BUSY, OK]) as server:
            with AcuityClient(base_url=server.url, api_key=KEY, propagate=propagate) as client:
                client._sleep = lambda *_: None
                client.predict(REQUEST)
        for headers, _ in server.received:
            self.assertEqual(headers["traceparent"], f"00-{'a' * 32}-{'b' * 16}-01")
            self.assertEqual(headers["x-api-key"], KEY)
            self.assertNotIn("baggage", headers)
        self.assertEqual(len(server.received), 2)

    def test_an_explanation_is_beside_the_scores(self) -> None:
        explanation = {"quality": {"confidence": "high"}}
        body = {**SCORES, "inference_time_ms": 1, "explanation": explanation, "new": 1}
        with ScriptedServer([{"status": 200, "body": body}]) as server:
            with AcuityClient(base_url=server.url, api_key=KEY) as client:
                prediction = client.predict({"current_session": {}, "explain": True})
        self.assertEqual(prediction.explanation, explanation)
        self.assertEqual(prediction.scores, SCORES)

    def test_a_transport_of_ones_own(self) -> None:
        class Broken:
            def send(self, request: Outgoing, /) -> Any:
                raise TransportBroken("the tunnel is down")

            def close(self) -> None:
                """Nothing is open."""

        policy = RetryPolicy(retries=0)
        with AcuityClient(base_url=LOCAL, api_key=KEY, transport=Broken(), retry=policy) as client:
            with self.assertRaisesRegex(AcuityConnectionError, f"^{LOCAL}: the tunnel is down$"):
                client.predict(REQUEST)

    def test_a_connection_error_names_the_address_and_the_cause(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for title, maker in FACES.items():
            for host in ("127.0.0.1", "localhost"):
                address = f"http://{host}:{port}"
                with self.subTest(title, host=host), face(maker, f"{address}/prefix", {"retries": 0}) as client:
                    with self.assertRaises(AcuityConnectionError) as raised:
                        client.predict(REQUEST)
                    message = str(raised.exception)
                    self.assertRegex(message, f"^{address}: connection refused")
                    self.assertNotIn(KEY, message)
                    self.assertNotIn(str(SAMPLE), message)

    def test_an_answer_that_breaks_off_names_the_address(self) -> None:
        for title, maker in FACES.items():
            with self.subTest(title), ScriptedServer([{"broken": True}]) as server:
                with face(maker, server.url, {"retries": 0}) as client:
                    with self.assertRaisesRegex(AcuityConnectionError, f"^{server.url}: "):
                        client.predict(REQUEST)

    def test_without_httpx_the_standard_library_serves(self) -> None:
        with mock.patch.dict("sys.modules", {"acuity_client._httpx": None}):
            self.assertEqual(type(default_transport()).__name__, "UrllibTransport")
            self.assertEqual(type(default_async_transport()).__name__, "AsyncUrllibTransport")

    @unittest.skipUnless(HAS_HTTPX, "httpx is not installed")
    def test_connections_are_kept(self) -> None:
        for title in ("threads, httpx", "asyncio, httpx"):
            with self.subTest(title), ScriptedServer([OK] * 10) as server:
                with face(FACES[title], server.url) as client:
                    for _ in range(10):
                        client.predict(REQUEST)
                self.assertEqual(server.connections, 1)

    def test_an_endless_answer_is_cut(self) -> None:
        for title, maker in FACES.items():
            endless = {"status": 200, "text": "x" * (1 << 20) + "x"}
            with self.subTest(title), ScriptedServer([endless]) as server:
                with face(maker, server.url, {"retries": 0}) as client:
                    with self.assertRaises(AcuityConnectionError):
                        client.predict(REQUEST)

    def test_threads_share_a_client(self) -> None:
        with ScriptedServer() as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            answers: list[Prediction] = []
            threads = [threading.Thread(target=lambda: answers.append(client.predict(REQUEST))) for _ in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len({answer.request_id for answer in answers}), 20)

    def test_a_mistyped_name_is_warned_of_once(self) -> None:
        request = {"current_session": {"HR_nigth": [SAMPLE]}}
        with ScriptedServer() as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                client.predict(request)
                client.predict(request)
        self.assertEqual([warning.category for warning in told], [FieldNameWarning])
        self.assertIn("did you mean HR_night?", str(told[0].message))
        self.assertNotIn(str(SAMPLE), str(told[0].message))
        self.assertEqual(told[0].filename, __file__)

    def test_minutes_of_sleep_beside_a_long_night_are_warned_of_once(self) -> None:
        series = [58.0 + index % 7 for index in range(101)]
        night: PredictionRequest = {"current_session": {"HR_night": series, "sleepTimeSeconds": 435}}
        short: PredictionRequest = {"current_session": {"HR_night": series[1:], "sleepTimeSeconds": 435}}
        with ScriptedServer() as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                client.predict(short)
                client.predict(night)
                client.predict(night)
        self.assertEqual([warning.category for warning in told], [UnitWarning])
        self.assertIn("current_session.sleepTimeSeconds: So few seconds of sleep", str(told[0].message))
        self.assertNotIn("435", str(told[0].message))
        self.assertEqual(len(server.received), 3)

    def test_a_refused_key_is_told_by_its_type(self) -> None:
        with ScriptedServer([{"status": 403}]) as server:
            with AcuityClient(base_url=server.url, api_key=KEY) as client:
                with self.assertRaises(KeyRejectedError):
                    client.predict(REQUEST)


class Orders(unittest.TestCase):
    """Calls for one person run one after the other."""

    def test_threads_take_turns(self) -> None:
        storage = MemoryStorage()
        with ScriptedServer(nights) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            history = History(client, storage)
            score_all([history] * 20)
            self.assertEqual(history._locks, {})
        self.assertEqual(len(server.received), 20)
        self.assertEqual(sorted(str(storage.load("a")).split()[1:]), [str(number) for number in range(100, 120)])

    def test_five_processes_lose_no_night(self) -> None:
        storage = MemoryStorage()
        with ScriptedServer(nights) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            score_all([History(client, storage) for _ in range(5)] * 4)
        self.assertEqual(sorted(str(storage.load("a")).split()[1:]), [str(number) for number in range(100, 120)])

    def test_a_storage_of_the_former_kind_is_told_of(self) -> None:
        class Former:
            def load(self, person: str, /) -> None:
                """Nothing is stored."""

            def save(self, person: str, entries: Any, previous: Any, /) -> Any:
                """Says nothing."""

        with ScriptedServer(nights) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            with self.assertRaisesRegex(TypeError, "gives True or False"):
                History(client, Former()).score("a", "2025-01-01T07:00:00Z", {})
        self.assertEqual(len(server.received), 1)

    def test_a_former_list_that_the_storage_parsed(self) -> None:
        class Parsed(MemoryStorage):
            def load(self, person: str, /) -> Any:
                entry = {"at": "2025-01-01T07:00:00Z", "modelVersion": "1", "session": {"age": 30}, "scores": SCORES}
                return [entry]

            def save(self, person: str, next: str | None, previous: Any, /) -> bool:
                return bool(previous == self.load(person))

        with ScriptedServer(nights) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            History(client, Parsed()).score("a", "2025-01-02T07:00:00Z", {"sleepTimeSeconds": 1})
        self.assertEqual([body.get("past_sessions") for _, body in server.received], [[{"age": 30}]])


def nights(body: Any) -> dict[str, Any]:
    """A history that names its sessions."""
    history = f"{body['history'] or 'acu1.'} {body['current_session'].get('sleepTimeSeconds')}"
    return {"status": 200, "body": {**SCORES, "inference_time_ms": 0, "history": history}}


def score_all(histories: list[History]) -> None:
    """A session by each, all at once."""
    at = "2025-01-01T07:00:00Z"
    threads = [
        threading.Thread(target=history.score, args=("a", at, {"sleepTimeSeconds": 100 + number}))
        for number, history in enumerate(histories)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Moments(unittest.TestCase):
    """Points in time."""

    def test_all_forms_are_the_same_moment(self) -> None:
        moment = datetime(2025, 3, 1, 6, 45, 0, 250_000, timezone.utc)
        zone = timezone(timedelta(hours=-3, minutes=-30))
        for form in (
            moment,
            moment.astimezone(zone),
            moment.timestamp(),
            "2025-03-01T06:45:00.250Z",
            "2025-03-01 06:45:00.25+00:00",
            "2025-03-01T03:15:00.250999-0330",
        ):
            with self.subTest(str(form)):
                self.assertEqual(iso_of(moment_ms(form, "it")), "2025-03-01T06:45:00.250Z")

    def test_what_is_no_moment_is_refused(self) -> None:
        for form, message in (
            (datetime(2025, 3, 1), "without an offset"),
            ("2025-03-01T06:45:00", "without an offset"),
            (1_740_811_500_000, "looks like milliseconds"),
            (float("nan"), "not a point in time"),
            ("2025-13-01T06:45:00Z", "not a point in time"),
            ("yesterday", "not a point in time"),
            (None, "not a point in time"),
            (True, "not a point in time"),
        ):
            with self.subTest(str(form)), self.assertRaisesRegex(ValueError, message):
                moment_ms(form, "it")  # type: ignore[arg-type]

    def test_a_day_of_birth_in_each_form(self) -> None:
        for born in ("1991-02-20", date(1991, 2, 20), datetime(1991, 2, 20, tzinfo=timezone.utc)):
            session = SessionBuilder("2025-03-01T08:00:00Z").person(born_at=born).build()
            self.assertEqual(session.get("age"), 34)
        with self.assertRaisesRegex(ValueError, "not a day"):
            SessionBuilder("2025-03-01T08:00:00Z").person(born_at="1991-02-30")


class Series(unittest.TestCase):
    """Samples in the forms in which they come."""

    at = datetime(2025, 3, 1, 8, tzinfo=timezone.utc)

    def test_pairs_mappings_and_what_has_items(self) -> None:
        times = [self.at - timedelta(minutes=minutes) for minutes in (3, 2, 1)]
        values = [60, 61, 62]
        as_pairs = list(zip(times, values))
        as_mappings = [{"at": at, "value": value} for at, value in as_pairs]
        for samples in (as_pairs, as_mappings, dict(as_pairs), iter(as_pairs)):
            built = SessionBuilder(self.at).heart_rate(samples).build()
            self.assertEqual(built.get("HR_day_1h"), [60, 61, 62])

    def test_a_denser_series_than_the_service_takes_is_thinned_evenly(self) -> None:
        dense = [(self.at - timedelta(milliseconds=200 * n), 60 + n % 3) for n in range(18_000)]
        built = SessionBuilder(self.at).heart_rate(dense).build()
        self.assertEqual(len(built.get("HR_day_1h") or ()), 6_000)

    def test_a_series_of_pandas(self) -> None:
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError:
            self.skipTest("pandas is not installed")
        index = pandas.date_range("2025-03-01T07:30:00Z", periods=5, freq="min")
        series = pandas.Series([60, None, 62, 0, 63], index=index, dtype="Float64")
        built = SessionBuilder(self.at).heart_rate(series).build()
        self.assertEqual(built.get("HR_day_1h"), [60.0, 62.0, 63.0])
        naive = series.tz_localize(None)
        with self.assertRaisesRegex(ValueError, "time zone"):
            SessionBuilder(self.at).heart_rate(naive)


if __name__ == "__main__":
    unittest.main()
