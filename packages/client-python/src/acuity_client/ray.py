"""
Scores of a Ray dataset, by `acuity score` on each machine of the cluster (`pip install acuity-client ray pyarrow`).

    from acuity_client.ray import ScoreCommand, score
    scores = score(ray.data.read_parquet("nights/"), ScoreCommand(person="user_id", order="night"))
"""

from __future__ import annotations

import zlib
from typing import Any

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy

from ._bulk import BulkError, ScoreCommand, ScoreProcesses

__all__ = ["BulkError", "ScoreCommand", "Scorer", "score"]

_PART = "__acuity_part"
_BATCH_ROWS = 32_768


class Scorer:
    """
    For `Dataset.map_batches` and `GroupedData.map_groups` with `batch_format="pyarrow"`: an actor that keeps its
    process of `acuity score`, with as many workers as the actor's `num_cpus` allow.

        nights.map_batches(Scorer, fn_constructor_args=(command,), batch_format="pyarrow", num_cpus=2, concurrency=4)

    With a history each table must hold all nights of its people, as the groups of `map_groups` do; it is sorted here.
    """

    def __init__(self, command: ScoreCommand = ScoreCommand()) -> None:
        assigned = ray.get_runtime_context().get_assigned_resources()
        self._processes = ScoreProcesses(command, int(assigned.get("CPU", 1)))

    def __call__(self, table: Any) -> Any:
        if _PART in table.column_names:
            table = table.drop_columns([_PART])
        order = self._processes.command.order
        if order is not None:
            table = table.combine_chunks().sort_by(order)
        return self._processes.table(table)


def score(
    dataset: Any,
    command: ScoreCommand = ScoreCommand(),
    *,
    concurrency: int | tuple[int, int] = 2,
    batch_size: int = _BATCH_ROWS,
    parts: int = 16,
    **options: Any,
) -> Any:
    """
    A dataset with the kept columns, `person` and `order`, and the scores of `dataset`, which has a column for each
    field of a session.

    `concurrency` is the number of actors, or the least and the most, each with one process; `options` are those of
    `map_batches`, such as `num_cpus` and `runtime_env`. Without a history each actor takes `batch_size` rows at a time.
    With one, the people are divided into `parts`, and an actor sorts and holds each part as a whole: choose enough
    parts for one to fit into its memory. An actor that dies is replaced, and its part is scored again.
    """
    known = dataset.schema(fetch_if_missing=False)
    if known is not None:
        command.kept(known.names)  # else an actor says it
    least, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
    actors = ActorPoolStrategy(min_size=least, max_size=most)  # Ray advises against its own `concurrency`
    called = {"fn_constructor_args": (command,), "batch_format": "pyarrow", "compute": actors, **options}
    if command.person is None:
        return dataset.map_batches(Scorer, batch_size=batch_size, **called)
    divided = dataset.map_batches(
        _with_part, fn_kwargs={"person": command.person, "parts": parts}, batch_format="pyarrow"
    )
    return divided.groupby(_PART, num_partitions=parts).map_groups(Scorer, **called)


def _with_part(table: Any, person: str, parts: int) -> Any:
    """Says to which part of the people each row belongs."""
    people = table.column(person).to_pylist()
    return table.append_column(_PART, pa.array([zlib.crc32(str(one).encode()) % parts for one in people], pa.int32()))
