"""A client that knows the service only from its OpenAPI document.

    BASE_URL=http://127.0.0.1:8080 API_KEY=sk_… python3 openapi_client.py docs/openapi.json

Calls every operation with every example of the document, and without and with a wrong key; holds status and body
of each answer against what the document says. Ends with 1 at the first difference.
"""

import json
import os
import sys
import urllib.error
import urllib.request

document = json.load(open(sys.argv[1], encoding="utf-8"))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def resolve(node):
    """What a $ref stands for."""
    while "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def check(value, schema, where="body"):
    """As much of JSON Schema as the document uses; anything else in it is an error too."""
    schema = resolve(schema)
    known = {"type", "required", "properties", "items", "enum", "minimum", "maximum", "minItems", "maxItems", "maxLength"}
    known |= {"anyOf", "if", "else", "dependentSchemas"}
    unknown = set(schema) - known - {"description", "pattern", "format"}
    assert not unknown, f"{where}: the document uses {unknown}"
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name != "boolean") for name in types)
        assert fits, f"{where}: not of type {types}"
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: none of {schema['enum']}"
    if "minimum" in schema and value is not None:
        assert value >= schema["minimum"], f"{where}: too small"
    if "maximum" in schema and value is not None:
        assert value <= schema["maximum"], f"{where}: too large"
    if isinstance(value, str):
        assert len(value) <= schema.get("maxLength", 1 << 30), f"{where}: too long"
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 30), f"{where}: length"
        for index, item in enumerate(value):
            check(item, schema.get("items", {}), f"{where}[{index}]")
    if "anyOf" in schema:
        check_any(value, schema["anyOf"], where)
    if "if" in schema:
        check_any(value, [schema["if"], schema["else"]], where)
    if isinstance(value, dict):
        for name in schema.get("required", []):
            assert name in value, f"{where}: {name} is missing"
        for name, beside in schema.get("dependentSchemas", {}).items():
            if name in value:
                check(value, beside, where)
        for name, item in value.items():
            if name in schema.get("properties", {}):
                check(item, schema["properties"][name], f"{where}.{name}")


def check_any(value, schemas, where):
    wrong = []
    for schema in schemas:
        try:
            return check(value, schema, where)
        except AssertionError as error:
            wrong.append(str(error))
    raise AssertionError("; ".join(wrong))


def call(path, method, body, key):
    """Status, headers and JSON of an answer."""
    scheme = resolve(document["components"]["securitySchemes"][next(iter(document["security"][0]))])
    assert (scheme["type"], scheme["in"]) == ("apiKey", "header")
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers[scheme["name"]] = key
    request = urllib.request.Request(os.environ["BASE_URL"] + path, json.dumps(body).encode(), headers, method=method.upper())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def hold(operation, answer, expected):
    """The answer is the expected one of those that the operation lists."""
    status, headers, body = answer
    assert status == expected, f"{status} instead of {expected}: {body}"
    listed = resolve(operation["responses"][str(status)])
    check(body, listed["content"]["application/json"]["schema"])
    for name in listed.get("headers", {}):
        assert headers.get(name) is not None, f"{expected}: the header {name} is missing"


calls = 0
for path, operations in document["paths"].items():
    for method, operation in operations.items():
        content = operation["requestBody"]["content"]["application/json"]
        for example in content["examples"].values():
            check(example["value"], content["schema"])
            hold(operation, call(path, method, example["value"], os.environ["API_KEY"]), 200)
            hold(operation, call(path, method, example["value"], None), 401)
            hold(operation, call(path, method, example["value"], "sk_live_wrong"), 403)
            calls += 3
        hold(operation, call(path, method, {"current_session": {"sex": "X"}}, os.environ["API_KEY"]), 422)
        hold(operation, call(path, method, [], os.environ["API_KEY"]), 422)
        calls += 2
print(f"{calls} calls as documented")
