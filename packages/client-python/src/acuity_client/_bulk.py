"""Arrow record batches through `acuity score`, for the engines that move them: `acuity_client.ray`, `acuity_client.spark`."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa

SCORES = ("C_SCORE", "attention", "memory", "reasoning", "stress")
TEXTS = ("valence", "arousal", "model", "model_version", "error")
EXPLANATION = "explanation"
KEPT = ("id", "custom_id")
_ATTEMPTS = 3
_STDERR_CHARS = 500


class BulkError(Exception):
    """`acuity score` could not score a part of a table; its own last words are the message."""


class _KilledError(BulkError):
    """It was ended by a signal, which another attempt may be spared."""


@dataclass(frozen=True)
class ScoreCommand:
    """
    How `acuity score` is started on each machine that works.

    `command` is the program with its first arguments, such as `("node", "/opt/acuity/dist/main.js")`; `keep` are the
    columns that go through to the output. With `person` and `order` the rows of a person, sorted by `order`, have
    those before them as their past. `env` is added to the environment (`ACUITY_WORKERS`, `ACUITY_MODEL`).
    """

    command: Sequence[str] = ("acuity",)
    keep: Sequence[str] = KEPT
    person: str | None = None
    order: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    explain: bool = False

    def __post_init__(self) -> None:
        if (self.person is None) != (self.order is None):
            raise ValueError("person and order need each other")
        if not isinstance(self.explain, bool):
            raise TypeError("explain is True or False")

    def arguments(self) -> list[str]:
        """The whole command line."""
        past = [] if self.person is None else ["--person", self.person, "--order", str(self.order)]
        why = ["--explain"] if self.explain else []
        return [*self.command, "score", "--format", "arrow", "--keep", ",".join(self.keep), *past, *why]

    def texts(self) -> tuple[str, ...]:
        """The columns of text behind the scores."""
        *others, error = TEXTS
        return (*others, EXPLANATION, error) if self.explain else TEXTS

    def output_schema(self, given: Any) -> Any:
        """The columns of the output: those that are kept, the scores, and `error` where a row has none."""
        kept = [given.field(name) for name in self.keep if name in given.names]
        scores = [pa.field(name, pa.float64()) for name in SCORES]
        return pa.schema([*kept, *scores, *(pa.field(name, pa.string()) for name in self.texts())])


def score_table(table: Any, command: ScoreCommand) -> Any:
    """
    Scores a `pyarrow.Table` in a process of its own, again where that is killed.

    Raises `BulkError` where it fails.
    """
    for attempt in range(_ATTEMPTS):
        try:
            batches = list(score_batches(iter(table.to_batches()), command))
            return pa.Table.from_batches(batches, command.output_schema(table.schema))
        except _KilledError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def score_batches(batches: Iterable[Any], command: ScoreCommand) -> Iterator[Any]:
    """
    Pipes `pyarrow.RecordBatch`es of one schema through `acuity score`; each comes back with its rows in their order.
    No more of them is held than the pipes do.

    Raises `BulkError` where the process fails.
    """
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return
    schema = command.output_schema(first.schema)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command.arguments(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**os.environ, **command.env},
        )
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        feeder = _Feeder(process.stdin, first, source)
        feeder.start()
        is_whole = False
        try:
            try:
                for batch in pa.ipc.open_stream(process.stdout):
                    if batch.num_rows > 0:
                        yield pa.RecordBatch.from_arrays(
                            [batch.column(name).cast(schema.field(name).type) for name in schema.names], schema=schema
                        )
                is_whole = True
            except (pa.ArrowInvalid, OSError):
                pass  # the process ended in the middle of a batch: its exit code says more
        finally:
            if not is_whole:
                process.kill()
            code = process.wait()
            process.stdout.close()
            feeder.join()
        if feeder.failure is not None:
            raise feeder.failure
        _check(code, is_whole, said)


def _check(code: int, is_whole: bool, said: IO[bytes]) -> None:
    """65 is a table with bad rows, which say so in `error`, or input that could not be read on."""
    if is_whole and code in (0, 65):
        said.seek(0)
        text = said.read().decode(errors="replace")
        lines = [line for line in text.splitlines() if line.startswith("acuity score: ")]
        if code == 0 or len(lines) == 1:
            return
        raise BulkError(lines[-1])
    said.seek(0)
    words = said.read().decode(errors="replace").strip()[-_STDERR_CHARS:]
    error = _KilledError if code < 0 else BulkError
    raise error(f"acuity score ended with {code}: {words}")


class _Feeder(threading.Thread):
    """Writes batches to the process while its output is read."""

    def __init__(self, pipe: IO[bytes], first: Any, rest: Iterator[Any]) -> None:
        super().__init__(daemon=True)
        self.failure: BaseException | None = None
        self._pipe = pipe
        self._first = first
        self._rest = rest

    def run(self) -> None:
        try:
            with pa.ipc.new_stream(self._pipe, self._first.schema) as writer:
                writer.write_batch(self._first)
                for batch in self._rest:
                    writer.write_batch(batch)
        except (BrokenPipeError, OSError, pa.ArrowInvalid):
            pass  # the process has ended: whoever reads its output tells why
        except BaseException as error:
            self.failure = error
        finally:
            with suppress(OSError):
                self._pipe.close()
