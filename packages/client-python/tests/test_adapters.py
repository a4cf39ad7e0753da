"""The shared cases of adapters: what a provider sent, and the session of it."""

from __future__ import annotations

import copy
import json
import re
import unittest
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from acuity_client import UnitError, adapters

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "adapters"
ERRORS = {"AdapterError": adapters.AdapterError, "UnitError": UnitError, "Error": ValueError}


def snake(name: str) -> str:
    """`heartRate` as Python writes it."""
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """What a case hands to the function; the fields of a person have Python's names."""
    options = {snake(name): value for name, value in case["input"].items()}
    if "person" in options:
        options["person"] = {snake(name): value for name, value in options["person"].items()}
    return options


def values_of(sent: Any) -> list[str]:
    """Numbers and times within what was sent, as text; of few digits they might be an index or a limit."""
    if isinstance(sent, (dict, list)):
        inner = sent.values() if isinstance(sent, dict) else sent
        return [value for one in inner for value in values_of(one)]
    text = str(sent)
    return [text] if len(text) >= 4 and re.search(r"[0-9]", text) else []


def as_case(adapted: adapters.Adapted) -> dict[str, Any]:
    """As a case has it: `from` is no name in Python."""
    sleep = adapted.sleep
    return {
        "at": adapted.at,
        "night": adapted.night,
        "session": adapted.session,
        "sleep": None
        if sleep is None
        else {
            "from": sleep.start,
            "to": sleep.end,
            "source": sleep.source,
            "parts": [{"what": one.what, "from": one.start, "to": one.end} for one in sleep.parts],
        },
        "left": [one._asdict() for one in adapted.left],
    }


WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|([+-]\d\d):?(\d\d))(?=\\?\")")


def without_offsets(options: dict[str, Any]) -> dict[str, Any]:
    """The same moments without offsets, and their zone; in UTC where the offsets differ."""
    kept = {name: value for name, value in options.items() if name in ("at", "person")}
    sent = json.dumps({name: value for name, value in options.items() if name not in kept}, ensure_ascii=False)
    offsets = {f"{found[2]}:{found[3]}" if found[2] else "+00:00" for found in WRITTEN.finditer(sent)}
    zone = offsets.pop() if len(offsets) == 1 else None

    def clock(found: re.Match[str]) -> str:
        if zone is not None:
            return found[1]
        offset = f"{found[2]}:{found[3]}" if found[2] else "+00:00"
        moment = datetime.fromisoformat(f"{found[1]}{offset}").astimezone(timezone.utc)
        return moment.replace(tzinfo=None).isoformat()

    return {**json.loads(WRITTEN.sub(clock, sent)), **kept, "zone": zone or "Z"}


class Adapters(unittest.TestCase):
    """Each provider's function, over all of its cases."""

    def test_cases(self) -> None:
        files = sorted(FOLDER.glob("*.json"))
        functions = [f"from_{snake(file.stem)}" for file in files]
        self.assertEqual(functions, sorted(name for name in adapters.__all__ if name.startswith("from_")))
        for file, function in zip(files, functions):
            for case in json.loads(file.read_text("utf-8")):
                with self.subTest(case["name"], provider=file.stem, trap=case.get("trap")):
                    self._check(getattr(adapters, function), case)

    def test_a_time_without_an_offset_is_in_the_zone_of_the_person(self) -> None:
        for file in sorted(FOLDER.glob("*.json")):
            adapter = getattr(adapters, f"from_{snake(file.stem)}")
            for case in json.loads(file.read_text("utf-8")):
                if "session" in case["expect"] and "zone" not in case["input"]:
                    with self.subTest(case["name"], provider=file.stem):
                        expected = {name: case["expect"][name] for name in ("session", "sleep")}
                        adapted = as_case(adapter(**without_offsets(options_of(case))))
                        self.assertEqual({name: adapted[name] for name in expected}, expected)

    def _check(self, adapter: Any, case: dict[str, Any]) -> None:
        options, expected = options_of(case), case["expect"]
        before = copy.deepcopy(options)
        if "session" in expected:
            self.assertEqual(as_case(adapter(**options)), expected)
        else:
            error: type[Exception] = ERRORS[expected["error"]]
            with self.assertRaises(error) as caught:
                adapter(**options)
            message = str(caught.exception)
            self.assertIn(expected["has"], message)
            if isinstance(caught.exception, adapters.AdapterError):
                self.assertTrue(message.startswith(f"{caught.exception.field}: "), message)
            told = [value for value in values_of(case["input"]) if value in message]
            self.assertEqual(told, [], "no error holds a value")
        self.assertEqual(options, before)


if __name__ == "__main__":
    unittest.main()
