"""`python read.py FILE…`: what the adapters make of each payload, a line of JSON each."""

import json
import re
import sys

from acuity_client import UnitError, adapters


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def said_of(payload: dict) -> dict:
    given = {snake(name): value for name, value in payload["input"].items()}
    if "person" in given:
        given["person"] = {snake(name): value for name, value in given["person"].items()}
    try:
        of = getattr(adapters, f"from_{snake(payload['provider'])}")(**given)
    except (adapters.AdapterError, UnitError) as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    return {"night": of.night, "session": of.session}


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        print(json.dumps(said_of(json.load(file))))
