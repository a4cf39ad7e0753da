"""The shared cases of adapters: what a provider sent, and the session of it."""

from __future__ import annotations

import copy
import json
import re
import unittest
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

    def _check(self, adapter: Any, case: dict[str, Any]) -> None:
        options, expected = options_of(case), case["expect"]
        before = copy.deepcopy(options)
        if "session" in expected:
            at, session = adapter(**options)
            self.assertEqual({"at": at, "session": session}, expected)
        else:
            error: type[Exception] = ERRORS[expected["error"]]
            with self.assertRaises(error) as caught:
                adapter(**options)
            self.assertIn(expected["has"], str(caught.exception))
        self.assertEqual(options, before)


if __name__ == "__main__":
    unittest.main()
