"""
Scoring of tables by `acuity score`, for the engines that distribute them: `acuity_client.ray`, `acuity_client.spark`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ._checks import FieldNameWarning, column_slips

SCORES = ("C_SCORE", "attention", "memory", "reasoning", "stress")
TEXTS = ("valence", "arousal", "model", "model_version", "error")
EXPLANATION = "explanation"
KEPT = ("id", "custom_id")


class BulkError(Exception):
    """`acuity score` could not score a part of a table; the message is the last line that it printed."""


@dataclass(frozen=True)
class ScoreCommand:
    """
    How to start `acuity score` on each machine.

    `command` is the program with its first arguments, such as `("node", "/opt/acuity/dist/main.js")`. `keep` are the
    columns that the output has too, by default `id` and `custom_id` if present. With `person` and `order`, which the
    output has too, the rows of a person, sorted by `order`, have the earlier ones as their past. A `late` row, of an
    earlier night than a row before it, has an error (`"bad"`), ends the run (`"fail"`) or gets its place (`"place"`).
    `explain` adds the column `explanation`, JSON as text. Names of columns count in any case of their letters. `env` is
    added to the environment (`ACUITY_MODEL`, `ACUITY_WORKERS`).
    """

    command: Sequence[str] = ("acuity",)
    keep: Sequence[str] | None = None
    person: str | None = None
    order: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    explain: bool = False
    late: str = "bad"

    def __post_init__(self) -> None:
        if (self.person is None) != (self.order is None):
            raise ValueError("person and order need each other")
        if isinstance(self.keep, str):
            raise TypeError("keep is a sequence of names")

    def arguments(self) -> list[str]:
        """The whole command line."""
        past = [] if self.person is None else ["--person", self.person, "--order", str(self.order)]
        why = ["--explain"] if self.explain else []
        kept = [] if self.keep is None else ["--keep", ",".join(self.keep)]
        return [*self.command, "score", "--format", "arrow", "--tables", *kept, "--late", self.late, *past, *why]

    def kept(self, columns: Sequence[str]) -> list[str]:
        """
        Those of the `columns` of a table that go through to the output. Raises `ValueError` where one is missing, or
        nothing would say whose the scores are: an engine has its rows in no order.
        """
        history = [name for name in (self.person, self.order) if name is not None]
        asked = [*(self.keep or ()), *history]
        missing = [name for name in asked if name not in columns]
        if missing:
            raise ValueError(f"there is no column {', '.join(map(repr, missing))}, only {', '.join(columns)}")
        usual = [name for name in KEPT if name in columns] if self.keep is None else []
        kept = list(dict.fromkeys([*usual, *asked]))
        if not kept:
            raise ValueError("nothing would say whose the scores are: keep=(…) names the columns that do")
        for slip in column_slips(name for name in columns if name not in kept):
            warnings.warn(slip, FieldNameWarning, stacklevel=3)
        return kept

    def texts(self) -> tuple[str, ...]:
        """The columns of text after the scores."""
        *others, error = TEXTS
        return (*others, EXPLANATION, error) if self.explain else TEXTS

    def output_schema(self, given: Any) -> Any:
        """The columns of the output: those that are kept, the scores, and `error` where a row has none."""
        kept = [given.field(name) for name in self.kept(given.names)]
        scores = [pa.field(name, pa.float64()) for name in SCORES]
        return pa.schema([*kept, *scores, *(pa.field(name, pa.string()) for name in self.texts())])
