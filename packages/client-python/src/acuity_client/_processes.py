"""Processes of `acuity score` that stay for one table after the other: a start costs more than a thousand nights."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from ._bulk import BulkError, ScoreCommand

_ATTEMPTS = 3
_STDERR_CHARS = 500
# So long may a process that has closed its output take to end.
_END_SECONDS = 10


class _KilledError(BulkError):
    """It was ended by a signal, which another attempt may be spared."""


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
