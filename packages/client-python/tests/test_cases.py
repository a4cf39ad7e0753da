"""The cases that every client passes (packages/cases/README.md), and the histories of the real service."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from acuity_client import FieldNameWarning, InvalidRequestError, MemoryStorage, Prediction, SqliteStorage

from .conftest import KEY, Face, cases, error_named
from .scripted_server import SCORES, ScriptedServer, scored

REQUEST: Any = {"current_session": {"HR_night": [61.8731, 62, 63]}}


@cases("retries")
def test_retries(face: Face, case: dict[str, Any]) -> None:
    expected = case["expect"]
    with ScriptedServer(case["replies"]) as server:
        check(face(server.url, case.get("options")), expected)
    assert [round(pause * 1000, 6) for pause in face.pauses] == expected["pausesMs"]
    assert len(server.received) == len(expected["pausesMs"]) + 1
    options = {"timeoutMs": 10_000, "deadlineMs": 60_000, **case.get("options", {})}
    least = [min(options["timeoutMs"], options["deadlineMs"])] * len(server.received)
    for most, (headers, body) in zip(expected.get("patienceMs", least), server.received):
        assert (body, headers[":path"]) == (REQUEST, "/predict")
        assert headers["x-api-key"] == KEY
        assert headers["content-type"] == "application/json"
        assert headers["x-request-id"] == server.received[0][0]["x-request-id"]
        assert 0 < int(headers["x-deadline-ms"]) <= most


@cases("refusals")
def test_refusals(face: Face, case: dict[str, Any]) -> None:
    with ScriptedServer([case["reply"]]) as server:
        check(face(server.url, {"retries": 0}), case["expect"])


def check(client: Face, expected: dict[str, Any]) -> None:
    """One request: its scores, or its error, with every field that the case names."""
    fields = {name: said for name, said in expected.items() if name not in ("error", "has", "pausesMs", "patienceMs")}
    outcome: Any
    if "error" in expected:
        with pytest.raises(error_named(expected["error"])) as caught:
            client.predict(REQUEST)
        outcome = caught.value
        assert type(outcome) is error_named(expected["error"])
        assert expected.get("has", "") in str(outcome)
    else:
        outcome = client.predict(REQUEST)
    for name, said in fields.items():
        found = getattr(outcome, re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name))
        assert (list(found) if isinstance(found, tuple) else found) == said, name


@cases("slips")
def test_slips(face: Face, case: dict[str, Any]) -> None:
    with ScriptedServer() as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        client = face(server.url)
        for _ in range(2):
            client.predict(case["request"])
    assert [one.category for one in told] == [FieldNameWarning] * len(case["meant"])
    for one, slip in zip(told, case["meant"]):
        assert re.search(f"{slip['name']} is no field .*did you mean {slip['meant']}[?]", str(one.message))


@cases("lists")
def test_lists(face: Face, case: dict[str, Any]) -> None:
    left, expected, given = list(case.get("replies", [])), case["expect"], case.get("lists", {})
    options = {"list_max": given.get("listMax", 100), "list_bytes_max": given.get("listBytesMax", 1 << 22)}
    outcomes: list[Any] = []
    thrown: Exception | None = None
    with ScriptedServer(lambda body: _list_reply(body, left.pop(0)) if left else scored(body)) as server:
        try:
            for outcome in face(server.url, case.get("options")).predict_many(_input(case), **options):
                outcomes.append(outcome)
        except Exception as error:
            thrown = error
    assert [round(pause * 1000, 6) for pause in face.pauses] == expected["pausesMs"]
    assert len(outcomes) == len(expected["outcomes"]), thrown
    for index, (outcome, said) in enumerate(zip(outcomes, expected["outcomes"])):
        assert (outcome.index, outcome.key) == (index, case.get("keys", range(99))[index])
        _check_outcome(outcome, {"scored": said} if isinstance(said, int) else said)
    if "throws" not in expected:
        assert thrown is None
    else:
        assert isinstance(thrown, error_named(expected["throws"]))
    assert expected.get("has", "") in str(thrown)
    assert [[number(request) for request in body] for _, body in server.received] == expected["sent"]
    for headers, _ in server.received:
        assert headers["content-type"] == "application/x-ndjson"


def _check_outcome(outcome: Any, said: dict[str, Any]) -> None:
    if "error" in said:
        assert outcome.prediction is None
        assert isinstance(outcome.error, error_named(said["error"]))
        assert said.get("has", "") in str(outcome.error)
        assert said.get("status") in (None, getattr(outcome.error, "status", None))
        return
    prediction: Prediction = outcome.prediction
    assert outcome.error is None
    assert prediction.scores == {**SCORES, "attention": said["scored"] / 1000}
    assert (prediction.model_version, prediction.inference_time_ms) == ("7", 0.2)
    assert (prediction.explanation, prediction.history) == (said.get("explanation"), said.get("history"))


def _input(case: dict[str, Any]) -> Iterator[Any]:
    for index, one in enumerate(case["requests"]):
        request = request_of(one) if isinstance(one, int) else one
        yield (case["keys"][index], request) if "keys" in case else request
    if "inputFails" in case:
        raise ValueError("the input broke")


def request_of(number: int) -> dict[str, Any]:
    """The request that a number stands for."""
    return {"current_session": {"sleepTimeSeconds": number}}


def number(request: dict[str, Any]) -> int:
    """The number of a request."""
    return int(request["current_session"].get("sleepTimeSeconds", 0))


def _list_reply(requests: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    if "lines" not in reply:
        return reply
    said = [json.dumps(scored(request)["body"]) for request in requests]
    lines = [said[index] if line == "scored" else json.dumps(line) for index, line in enumerate(reply["lines"])]
    last = reply.get("text", "")
    end = said[len(lines)] if last == "scored" else last
    text = "".join(line + reply.get("ends", "\n") for line in lines) + end
    rest = {name: said for name, said in reply.items() if name not in ("lines", "ends")}
    return {**rest, "headers": {"x-model-version": "7"}, "text": text}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@cases("history")
def test_history(face: Face, case: dict[str, Any], kind: str, tmp_path: Path) -> None:
    storage = MemoryStorage() if kind == "memory" else SqliteStorage(tmp_path / "histories.db")
    today = datetime.now(timezone.utc).date()
    ahead = re.compile(r"TODAY\+([0-9])")
    case = json.loads(ahead.sub(lambda found: str(today + timedelta(days=int(found[1]))), json.dumps(case)))
    for person, text in case.get("stored", {}).items():
        assert storage.save(person, text, None)
    replies: list[Any] = []
    with ScriptedServer(lambda body: replies[-1] or _kept(body)) as server:
        for step in case["steps"]:
            replies.append(step.get("reply"))
            history = face(server.url).history(_WithOthers(storage, step.get("meanwhile", [])))
            if "fails" in step:
                with pytest.raises(error_named(step["fails"])) as caught:
                    _run(face, history, step)
                assert step.get("has", "") in str(caught.value)
            elif (prediction := _run(face, history, step)) is not None:
                assert prediction.scores["attention"] == step["session"] / 1000
                assert prediction.history.startswith("acu1.")
    names = ("night", "measurements", "explain")
    assert [body for _, body in server.received] == [
        {
            "current_session": _session(sent["session"]),
            "history": sent["history"],
            **{name: sent[name] for name in names if name in sent},
        }
        for sent in case["expect"]["sent"]
    ]
    for person, text in case["expect"]["stored"].items():
        assert storage.load(person) == text, person
    storage.close()


def _run(face: Face, history: Any, step: dict[str, Any]) -> Any:
    if "forget" in step:
        return face.wait(history.forget(step["forget"]))
    asked = {name: step.get(name) for name in ("night", "measurements")}
    session = _session(step["session"])
    return face.wait(history.score(step["person"], session, explain=step.get("explain", False), **asked))


def _session(number: int) -> dict[str, Any]:
    return {"HR_night": [60], "sleepTimeSeconds": number}


def _kept(body: Any) -> dict[str, Any]:
    """A history that can be read."""
    before = [body["history"].removeprefix("acu1.")] if body["history"] else []
    history = "acu1." + ",".join([*before, f"{body.get('night', '-')}={number(body)}"])
    return {"body": {**SCORES, "attention": number(body) / 1000, "inference_time_ms": 0, "history": history}}


class _WithOthers:
    """Before each of our saves, another process's, as long as there are any."""

    def __init__(self, storage: Any, others: list[Any]) -> None:
        self.load = storage.load
        self._storage = storage
        self._others = others

    def save(self, person: str, next: str | None, previous: Any, /) -> bool:
        if self._others:
            self._storage.save(person, self._others.pop(0), self.load(person))
        return bool(self._storage.save(person, next, previous))


needs_service = pytest.mark.skipif("ACUITY_URL" not in os.environ, reason="there is no service: ACUITY_URL is not set")


@pytest.fixture
def service(face: Face) -> Face:
    """A client of the service that the environment names."""
    return face(os.environ["ACUITY_URL"], api_key=os.environ["ACUITY_API_KEY"])


@needs_service
@cases("service")
def test_service(service: Face, case: dict[str, Any]) -> None:
    if "scored" in case["expect"]:
        prediction = service.predict(case["request"])
        assert sorted(prediction.scores) == sorted(SCORES)
        assert prediction.model_version and prediction.headers["x-request-id"] == prediction.request_id
        return
    with pytest.raises(InvalidRequestError) as caught:
        service.predict(case["request"])
    assert [{"loc": f["loc"], "type": f["type"]} for f in caught.value.findings] == case["expect"]["findings"]
