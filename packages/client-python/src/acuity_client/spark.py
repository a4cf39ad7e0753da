"""
Scores of a Spark data frame, by `acuity score` on each executor (`pip install acuity-client pyspark pyarrow`).

    from acuity_client.spark import ScoreCommand, score
    scores = score(spark.read.parquet("nights/"), ScoreCommand(person="user_id", order="night"))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark import TaskContext
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from ._bulk import BulkError, ScoreCommand, ScoreProcesses

__all__ = ["BulkError", "ScoreCommand", "score"]


def score(frame: Any, command: ScoreCommand = ScoreCommand(), *, parts: int | None = None) -> Any:
    """
    A data frame with the kept columns, `person` and `order`, and the scores of `frame`, which has a column for each
    field of a session.

    Each Python worker of Spark keeps a process for one partition after another, with as many workers as the cores of a
    task allow (`spark.task.cpus`). With a history the rows are first divided by person, into `parts` partitions if
    given, and sorted by time within each. If a task fails, Spark runs it again.
    """
    if command.person is not None:
        by = (command.person,) if parts is None else (parts, command.person)
        frame = frame.repartition(*by).sortWithinPartitions(command.order)
    elif parts is not None:
        frame = frame.repartition(parts)
    kept = [frame.schema[name] for name in command.kept(frame.columns)]
    types = {int: LongType(), float: DoubleType(), str: StringType()}
    scores = [StructField(name, types[kind]) for name, kind in command.columns().items()]
    return frame.mapInArrow(_Scorer(command), StructType([*kept, *scores]))


class _Scorer:
    def __init__(self, command: ScoreCommand) -> None:
        self._command = command

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        task = TaskContext.get()
        return _processes(self._command, 1 if task is None else task.cpus()).batches(batches)


# Spark makes a scorer for each task, but may use the Python worker again.
_kept: ScoreProcesses | None = None


def _processes(command: ScoreCommand, cores: int) -> ScoreProcesses:
    global _kept
    if _kept is None or _kept.command != command:
        if _kept is not None:
            _kept.close()
        _kept = ScoreProcesses(command, cores)
    return _kept
