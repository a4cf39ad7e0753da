"""
Hooks of schemathesis for docs/openapi.json (`npm run python -- schemathesis`): they say what the document can't, so that
everything that it finds is a defect of the document or of the service.
"""

import json
import os
import time
from datetime import date
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import schemathesis
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from schemathesis.core.parameters import ParameterLocation

TRIES_MAX = 20
LIST = "application/x-ndjson"
KNOWN_HEADERS = ("X-API-Key", "X-Request-Id")


def first_history():
    """A busy machine may refuse the first request."""
    headers = {"X-API-Key": os.environ["ACUITY_API_KEY"], "Content-Type": "application/json"}
    body = json.dumps({"current_session": {}, "history": ""}).encode()
    for attempt in range(TRIES_MAX):
        try:
            with urlopen(Request(f"{os.environ['ACUITY_URL']}/predict", body, headers)) as answer:
                return json.load(answer)["history"]
        except HTTPError as error:
            if error.code != 503 or attempt == TRIES_MAX - 1:
                raise
            time.sleep(0.5)


HISTORY = first_history()

# No format has these bounds.
DATES = st.dates(min_value=date(1970, 1, 1), max_value=date(2149, 12, 31))
schemathesis.openapi.format("date", DATES.map(date.isoformat))

validators = []


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """
    OpenAPI 3.1 has no schema for the lines of a list: lists are made of the document's examples. A deadline of 1 ms may
    pass, so none is sent.
    """
    schema = {"$ref": "#/components/schemas/PredictionRequest", "components": raw_schema["components"]}
    validators.append(Draft202012Validator(schema, validate_formats=True))
    operation = raw_schema["paths"]["/predict"]["post"]
    operation["parameters"] = [each for each in operation["parameters"] if each["name"] in KNOWN_HEADERS]
    content = operation["requestBody"]["content"]
    lines = [json.dumps(example["value"]) for example in content["application/json"]["examples"].values()]
    lists = st.lists(st.sampled_from(lines), min_size=1, max_size=3)
    schemathesis.openapi.media_type(LIST, lists.map(lambda chosen: "\n".join(chosen).encode()))
    del content[LIST]["example"]  # such a strategy takes no text


@schemathesis.hook
def map_headers(context, headers):
    """The HTTP library leaves requests with odd names of headers unanswered (docs/HTTP-EDGES.md)."""
    return {name: value for name, value in headers.items() if name in KNOWN_HEADERS} if headers else headers


@schemathesis.hook
def before_call(context, case, kwargs):
    """A history can't be made up: one that is not empty becomes one that an answer gave."""
    body = case.meta and case.meta.components.get(ParameterLocation.BODY)
    is_negated = bool(body) and body.mode.is_negative
    if not is_negated and isinstance(case.body, dict) and case.body.get("history"):
        case.body = {**case.body, "history": HISTORY}


@schemathesis.check
def bodies_fare_as_the_document_says(ctx, response, case):
    """By a validator of its own: what schemathesis means to be invalid may be valid beside the other fields."""
    sent = response.request
    if case.method != "POST" or sent.headers.get("Content-Type") != "application/json":
        return
    try:
        body = json.loads(sent.body or "")
    except ValueError:
        assert response.status_code != 200, "scored, although it is not JSON"
        return
    is_valid = validators[-1].is_valid(body)
    if response.status_code == 200:
        assert is_valid or is_only_night(body), "scored, although the document does not allow it"
    elif is_valid:
        assert response.status_code != 400, "not JSON, although it is"
        findings = response.json()["detail"] if response.status_code == 422 else []
        others = [finding for finding in findings if not is_beyond_schemas(finding)]
        assert not others, f"refused, although the document allows it: {others}"


def is_only_night(body):
    """`night` is not looked at without a history."""
    return body.get("history") is None and validators[-1].is_valid({**body, "night": None})


def is_beyond_schemas(finding):
    """
    Mistaken units, histories that no answer gave, years out of bounds, measurements of a day after the night; what goes
    by the norms of tests (names, scales, ages), and what a provider's answer has to be.
    """
    where, kind = finding["loc"], finding["type"]
    if where[1] == "measurements" and where[-1] in ("test", "score", "answers", "reactions_ms", "result"):
        return kind in ("literal_error", "value_error")
    if where[1:] == ["current_session", "age"]:
        return kind == "missing"
    if where[1:3] == ["current_session", "recording"]:
        return len(where) > 3
    if kind == "value_error":
        return where[1] == "measurements" and where[-1] == "on"
    return kind in ("unit_error", "history_invalid", "date_type")
