"""What is particular to this client: secrets, settings, headers, patience beyond the cases, proxies, files."""

from __future__ import annotations

import json
import logging
import os
import pickle
import pprint
import socket
import stat
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import acuity_client
from acuity_client import (
    AcuityClient,
    AcuityConnectionError,
    AcuityError,
    AcuityTimeoutError,
    FieldNameWarning,
    History,
    KeyMissingError,
    KeyRejectedError,
    MemoryStorage,
    RateLimitedError,
    SqliteStorage,
)
from acuity_client import _errors
from acuity_client._types import Measurement, PredictionRequest, ScoreRecord, Session

from .conftest import KEY, REPOSITORY, Face
from .scripted_server import SCORES, ScriptedServer, scored
from .test_cases import REQUEST, number, request_of

OK: dict[str, Any] = {"body": {**SCORES, "inference_time_ms": 1}}
LIMITED: dict[str, Any] = {"status": 429, "headers": {"retry-after": "20"}, "body": {"detail": "Rate limit exceeded"}}
LOCAL = "http://127.0.0.1:8080"


def test_types_have_the_names_of_the_document() -> None:
    schemas = json.loads((REPOSITORY / "docs/openapi.json").read_text("utf-8"))["components"]["schemas"]
    aliases = {"HR_night_imputed", "RR_night_imputed", "past_target"}
    measured = schemas["MeasuredScore"]["properties"] | schemas["MeasuredLabel"]["properties"]
    assert set(Session.__annotations__) | aliases >= set(schemas["Session"]["properties"])
    assert set(PredictionRequest.__annotations__) | aliases >= set(schemas["PredictionRequest"]["properties"])
    assert set(ScoreRecord.__annotations__) == set(schemas["ScoreRecord"]["properties"])
    assert set(Measurement.__annotations__) == set(measured)


@pytest.mark.parametrize("reply", [{"status": 403}, {"broken": True}, {"silent": True}], ids=str)
def test_no_error_and_no_log_shows_the_key_or_a_sample(face: Face, reply: Any, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer([reply, reply]) as server, pytest.raises(AcuityError) as caught:
        face(server.url, {"retries": 1, "timeoutMs": 200}).predict(REQUEST)
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [str(frame.locals) for frame in told.stack if "acuity_client" in frame.filename]
    shown = "".join(ours) + repr(face.client) + pprint.pformat(vars(face.client)) + caplog.text
    assert KEY not in shown + str(caught.value) and str(61.8731) not in caplog.text + str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    with pytest.raises((TypeError, pickle.PicklingError, AttributeError)):
        pickle.dumps(face.client)


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACUITY_URL", LOCAL)
    monkeypatch.setenv("ACUITY_API_KEY", f"{KEY}\n")
    with AcuityClient() as client:
        assert repr(client) == f"AcuityClient('{LOCAL}/predict')"
    for url in ("http://localhost:1", "http://[::1]:1", "https://scores.example/prefix/"):
        AcuityClient(base_url=url).close()
    AcuityClient(base_url="http://10.0.0.8", allow_plain_http=True).close()
    for url, message in (
        ("http://10.0.0.8:8080", "in clear"),
        ("http://127.0.0.1.example", "in clear"),
        ("https://scores.example/predict", "without /predict"),
        ("scores.example", "http or https"),
        ("https://me:secret@scores.example", "no user"),
        ("https://scores.example/?a=b", "no user"),
    ):
        with pytest.raises(ValueError, match=message):
            AcuityClient(base_url=url)
    for key in ("sk_live_short", KEY[:-1], KEY + "0", KEY.replace("live", "test")):
        with pytest.raises(ValueError, match="must be whole") as caught:
            AcuityClient(api_key=key)
        assert key not in str(caught.value)
    for name, message in (("ACUITY_API_KEY", "set ACUITY_API_KEY"), ("ACUITY_URL", "set ACUITY_URL")):
        monkeypatch.delenv(name)
        with pytest.raises(ValueError, match=message):
            AcuityClient()


def test_what_can_not_be_right_is_refused_before_it_is_sent(face: Face) -> None:
    client = face("http://127.0.0.1:1")
    samples: Any
    for samples, message in (([float("nan")], "NaN or Infinity"), ({60}, "holds a set")):
        with pytest.raises((ValueError, TypeError), match=message):
            client.predict({"current_session": {"HR_night": samples}})
    for options, message in (({"request_id": "a b"}, "request id"), ({"timeout": 0}, "positive number of seconds")):
        with pytest.raises(ValueError, match=message):
            client.predict(REQUEST, **options)
    for name, value in (("list_max", 0), ("list_max", 1_001), ("list_bytes_max", 0)):
        with pytest.raises(ValueError, match=name):
            next(client.predict_many([], **{name: value}))
    for one in client.predict_many([None, {"current_session": {"HR_night": [float("nan"), 61.873]}}]):
        assert isinstance(one.error, Exception) and "61.873" not in str(one.error)


def test_headers_go_and_come(face: Face) -> None:
    said = {"server-timing": "queue;dur=1", "RateLimit": '"burst";r=1;t=2', "X-Request-Id": "mine-1"}
    refusal = {"status": 403, "headers": said}
    recording = {"night": "2026-03-02", "left": [{"what": "naps", "why": "short"}]}
    answer = {
        **OK["body"],
        "recording": recording,
        "measured": [{"test": "pss10"}],
        "explanation": {"against": "usual"},
    }
    with ScriptedServer([{"body": answer, "headers": said}, refusal]) as server:
        session = {"recording": {"provider": "oura", "sleep": []}, "age": 34}
        prediction = face(server.url).predict({"current_session": session, "explain": True}, request_id="mine-1")
        with pytest.raises(KeyRejectedError) as caught:
            face(server.url).predict(REQUEST)
    for headers in (prediction.headers, caught.value.headers):
        assert {name: headers[name.lower()] for name in said} == said
    assert (prediction.recording, prediction.explanation) == (recording, {"against": "usual"})
    assert (prediction.measured, prediction.request_id) == (({"test": "pss10"},), "mine-1")
    sent, body = server.received[0]
    assert sent["user-agent"] == f"acuity-client-python/{acuity_client.__version__}"
    assert body["current_session"] == session


def test_a_service_that_does_not_read_recordings_is_told_of(face: Face) -> None:
    with ScriptedServer([OK]) as server, pytest.raises(AcuityError, match="older than this client"):
        face(server.url).predict({"current_session": {"recording": {"provider": "oura"}}})


def test_a_429_of_one_call_holds_no_other(face: Face) -> None:
    with ScriptedServer([LIMITED, OK]) as server:
        client = face(server.url)
        with pytest.raises(RateLimitedError):
            client.predict(REQUEST, retries=0)
        client.predict(REQUEST)
    assert (client.pauses, len(server.received)) == ([], 2)


def test_no_more_is_read_ahead_than_a_list_holds(face: Face) -> None:
    taken: list[int] = []

    def endless() -> Iterator[Any]:
        while True:
            taken.append(len(taken))
            yield request_of(taken[-1])

    with ScriptedServer() as server:
        outcomes: Any = face(server.url).predict_many(endless(), list_max=5)
        assert not taken
        for given in range(50):
            assert next(outcomes).index == given
            assert len(taken) - given <= 5
        outcomes.close()
    with ScriptedServer(lambda body: scored(body) if number(body[0]) < 60 else {"status": 401}) as server:
        with pytest.raises(KeyMissingError):
            list(face(server.url).predict_many(endless(), list_max=2))


def test_an_asynchronous_input(face: Face) -> None:
    async def requests() -> Any:
        for index in range(5):
            yield f"key {index}", request_of(index)

    if face.is_async:
        with ScriptedServer() as server:
            outcomes = list(face(server.url).predict_many(requests(), list_max=2))
        assert [one.key for one in outcomes if one.prediction] == [f"key {index}" for index in range(5)]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_connection_error_names_the_address_and_the_cause(face: Face, host: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://{host}:{free.getsockname()[1]}"
    with pytest.raises(AcuityConnectionError, match=f"^{address}: connection refused"):
        face(f"{address}/prefix", {"retries": 0}).predict(REQUEST)
    with ScriptedServer([{"text": "x" * (1 << 20) + "x"}] * 3) as server:
        with pytest.raises(AcuityConnectionError, match=f"^{server.url}: the answer is too long"):
            face(server.url).predict(REQUEST)
        assert len(server.received) == 1  # it would be as long again
    with ScriptedServer([{"trickles": True}]) as server, pytest.raises(AcuityTimeoutError, match="by the deadline"):
        face(server.url).predict(REQUEST, deadline=0.2)


def test_connections_are_kept(face: Face) -> None:
    with ScriptedServer() as server:
        client = face(server.url)
        for _ in range(10):
            client.predict(REQUEST)
    assert server.connections == 1


def test_a_copy_has_other_options_and_the_same_connections_a_key_may_be_a_function_and_headers_ones_own() -> None:
    keys = [KEY[:-1] + "Y", KEY]
    with ScriptedServer() as server, AcuityClient(base_url=server.url, api_key=keys.pop, headers={"X-Mine": "a"}) as client:
        client.predict(REQUEST)
        client.with_options(headers={"X-Mine": "b", "X-API-Key": "none"}, timeout=3).predict(REQUEST)
    said = [(h["x-api-key"][-1], h["x-mine"], int(h["x-deadline-ms"]) // 1000) for h, _ in server.received]
    assert said == [("z", "a", 10), ("Y", "b", 3)]
    assert server.connections == 1


def test_every_error_is_among_the_names_of_the_package() -> None:
    errors = {name for name, value in vars(_errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert errors <= set(acuity_client.__all__)


def test_a_mistyped_name_is_warned_of_where_it_was_written() -> None:
    with ScriptedServer() as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            client.predict({"current_session": {"HR_nigth": [61.8731]}})  # type: ignore[typeddict-unknown-key]
    assert [(one.category, one.filename) for one in told] == [(FieldNameWarning, __file__)]
    assert "61.8731" not in str(told[0].message)


@pytest.mark.parametrize("count", [1, 5], ids=["threads take turns", "processes lose no night"])
def test_at_once(count: int) -> None:
    def kept(body: Any) -> Any:
        history = f"{body['history'] or 'acu1.'} {number(body)}"
        return {"body": {**SCORES, "inference_time_ms": 0, "history": history}}

    storage = MemoryStorage()
    with ScriptedServer(kept) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
        histories = [History(client, storage) for _ in range(count)]
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda n: histories[n % count].score("a", request_of(100 + n)["current_session"]), range(20)))
        assert not histories[0]._turns
    assert sorted(str(storage.load("a")).split()[1:]) == [str(100 + n) for n in range(20)]
    assert count > 1 or len(server.received) == 20


def test_a_storage_that_says_nothing_is_told_of(face: Face) -> None:
    storage = MemoryStorage()
    storage.save = lambda *_: None  # type: ignore[assignment, method-assign]
    with ScriptedServer() as server, pytest.raises(TypeError, match="gives True or False"):
        face.wait(face(server.url).history(storage).score("a", {}))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    for name in ("new.db", "before.db"):
        file = tmp_path / name
        if name == "before.db":
            file.touch(0o644)
        SqliteStorage(file).close()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (tmp_path / "link.db").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        SqliteStorage(tmp_path / "link.db")


def test_processes_lose_nothing_of_each_others_files(tmp_path: Path) -> None:
    program = """
import sys
from acuity_client import SqliteStorage
storage = SqliteStorage(sys.argv[1])
for _ in range(20):
    while not storage.save("a", f"{(stored := storage.load('a')) or ''} {sys.argv[2]}", stored):
        pass
"""
    file = str(tmp_path / "histories.db")
    processes = [subprocess.Popen([sys.executable, "-B", "-c", program, file, str(name)]) for name in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert sorted(str(SqliteStorage(file).load("a")).split()) == sorted(["0", "1", "2"] * 20)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """One that the environment names for everything."""
    with ScriptedServer() as made:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            for spelt in (name, name.upper()):
                monkeypatch.setenv(spelt, "" if name == "no_proxy" else made.url)
        yield made


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_what_travels_in_clear_meets_no_proxy_of_the_environment(face: Face, host: str, proxy: ScriptedServer) -> None:
    with ScriptedServer() as server:  # Linux takes 0.0.0.0 for this machine; the client does not
        face(server.url.replace("127.0.0.1", host), {"retries": 0}, allow_plain_http=True).predict(REQUEST)
    assert (len(proxy.received), len(server.received)) == (0, 1)


def test_https_takes_the_tunnel_that_the_environment_names_and_shows_it_nothing(face: Face, proxy: ScriptedServer) -> None:
    with pytest.raises(AcuityConnectionError):
        face("https://scores.invalid", {"retries": 0}).predict(REQUEST)
    assert proxy.received[0][0][":path"] == "scores.invalid:443"
    assert KEY not in str(proxy.received)


def test_a_client_of_ones_own_keeps_its_proxy(proxy: ScriptedServer) -> None:
    with httpx.Client(proxy=proxy.url) as mine:
        AcuityClient(base_url="http://127.0.0.1:9", api_key=KEY, http_client=mine).predict(REQUEST)
    assert proxy.received[0][0][":path"] == "http://127.0.0.1:9/predict"
