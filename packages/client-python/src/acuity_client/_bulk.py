"""
Scoring of tables by `acuity score`, for the engines that distribute them: `acuity_client.ray`, `acuity_client.spark`. Its
processes stay for one table after the other: a start costs more than a thousand nights.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ._checks import FieldNameWarning, column_slips

SCORES = ("C_SCORE", "attention", "memory", "reasoning", "stress")
TEXTS = ("valence", "arousal", "model", "model_version")
KEPT = ("id", "custom_id")
_ATTEMPTS = 3
_STDERR_CHARS = 500
# So long may a process that has closed its output take to end.
_END_SECONDS = 10


class BulkError(Exception):
    """`acuity score` could not score a part of a table; the message is the last line that it printed."""


class _KilledError(BulkError):
    """It was ended by a signal, which another attempt may be spared."""


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
        return (*TEXTS, "explanation", "error") if self.explain else (*TEXTS, "error")

    def output_schema(self, given: Any) -> Any:
        """The columns of the output: those that are kept, the scores, and `error` where a row has none."""
        kept = [given.field(name) for name in self.kept(given.names)]
        scores = [pa.field(name, pa.float64()) for name in SCORES]
        return pa.schema([*kept, *scores, *(pa.field(name, pa.string()) for name in self.texts())])


class ScoreProcesses:
    """
    Scores tables in a process that is kept for the next one, with as many workers as `cores` allow: its main thread has
    one core, its workers the others. Tables that are scored at the same time have a process each. A process ends with
    its standard input, so also with the process that holds this object, in any case.
    """

    def __init__(self, command: ScoreCommand, cores: int) -> None:
        self.command = command
        self._env = {"ACUITY_WORKERS": str(max(1, cores - 1)), **os.environ, **command.env}
        self._idle: list[_Process] = []

    def table(self, table: Any) -> Any:
        """
        Scores a `pyarrow.Table`, again if the process is killed; rows come back in their order. Raises `BulkError` if
        it fails.
        """
        schema = self.command.output_schema(table.schema)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return pa.Table.from_batches(list(self.batches(table.to_batches())), schema)
            except _KilledError:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """
        Scores a table that comes as `pyarrow.RecordBatch`es; holds no more of them than the pipes do. Raises
        `BulkError` if the process fails.
        """
        source = iter(batches)
        first = next(source, None)
        if first is None:
            return
        schema = self.command.output_schema(first.schema)
        process = self._take()
        try:
            for batch in process.score(first, source):
                if batch.num_rows > 0:
                    columns = [batch.column(name).cast(schema.field(name).type) for name in schema.names]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except BaseException:
            process.kill()
            raise
        self._idle.append(process)

    def close(self) -> None:
        """Ends the idle processes."""
        while self._idle:
            self._idle.pop().kill()

    def _take(self) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if process.is_alive():
                return process
            process.kill()
        return _Process(self.command.arguments(), self._env)


class _Process:
    """One of them: an Arrow stream in, an Arrow stream out, and again."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=env
        )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def score(self, first: Any, rest: Iterator[Any]) -> Iterator[Any]:
        """Raises `BulkError`, or what `rest` raises; the process is of no use then."""
        self._sent = -1  # rows, once all of them are
        self._fault: BaseException | None = None
        feeder = threading.Thread(target=self._feed, args=(first, rest), daemon=True)
        feeder.start()
        rows, failure, is_over = 0, None, False
        try:
            for batch in pa.ipc.open_stream(self._process.stdout):
                rows += batch.num_rows
                yield batch
            is_over = True
        except (pa.ArrowInvalid, OSError):
            failure = self._failure()
        finally:
            if not is_over:
                self._process.kill()  # frees the feeder
            feeder.join()
        if self._fault is not None:
            raise self._fault
        if failure is not None or rows != self._sent:
            raise failure or self._failure()

    def _feed(self, first: Any, rest: Iterator[Any]) -> None:
        """Writes a table to the process while its output is read."""
        pipe: Any = self._process.stdin
        try:
            rows = first.num_rows
            with pa.ipc.new_stream(pipe, first.schema) as writer:
                writer.write_batch(first)
                for batch in rest:
                    writer.write_batch(batch)
                    rows += batch.num_rows
            pipe.flush()
            self._sent = rows
        except (OSError, pa.ArrowInvalid):
            pass  # the process has ended: its exit code says why
        except BaseException as error:
            self._fault = error
            self._process.kill()  # it would wait for the rest

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._said):
            with suppress(OSError):
                file.close()  # type: ignore[union-attr]

    def _failure(self) -> BulkError:
        """Why it has ended. 65 is input that could not be read on, 64 its names, which the last line tells."""
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return BulkError("acuity score answered what is no table of scores")
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()
        lines = [line for line in words.splitlines() if line.startswith("acuity score: ")]
        if code in (64, 65) and lines:
            return BulkError(lines[-1])
        error = _KilledError if code < 0 else BulkError
        return error(f"acuity score ended with {code}: {words[-_STDERR_CHARS:]}")
