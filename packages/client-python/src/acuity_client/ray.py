"""
Scores of a Ray dataset, by `acuity score` on each machine of the cluster (`pip install acuity-client ray pyarrow`).

    from acuity_client.ray import ScoreCommand, score
    scores = score(ray.data.read_parquet("nights/"), ScoreCommand(person="user_id", order="night"))
"""

from __future__ import annotations

import zlib
from typing import Any

import pyarrow as pa
from ray.data import ActorPoolStrategy

from ._bulk import BulkError, ScoreCommand, score_table

__all__ = ["BulkError", "ScoreCommand", "score"]

_PART = "__acuity_part"
_BATCH_ROWS = 32_768


def score(
    dataset: Any,
    command: ScoreCommand | None = None,
    *,
    actors: int = 2,
    batch_rows: int = _BATCH_ROWS,
    parts: int = 16,
) -> Any:
    """
    A dataset of the kept columns and the scores of `dataset`, which has a column for each field of a session.

    `actors` work at once, each with a process. Without a history each takes `batch_rows` rows at a time. With one, the
    people are divided into `parts`, and each part is sorted and held as a whole by an actor: choose as many that one
    fits its memory. An actor that dies is replaced, and what it had begun is scored again.
    `ScoreCommand(explain=True)` adds the column `explanation`, JSON as text.
    """
    wanted = command if command is not None else ScoreCommand()
    pool = ActorPoolStrategy(size=actors)
    given = (wanted,)
    if wanted.person is None:
        return dataset.map_batches(
            _Scorer, fn_constructor_args=given, batch_format="pyarrow", batch_size=batch_rows, compute=pool
        )
    divided = dataset.map_batches(
        _with_part, fn_kwargs={"person": wanted.person, "parts": parts}, batch_format="pyarrow"
    )
    people = divided.groupby(_PART, num_partitions=parts)
    return people.map_groups(_PartScorer, fn_constructor_args=given, batch_format="pyarrow", compute=pool)


def _with_part(table: Any, person: str, parts: int) -> Any:
    """Says to which part of the people each row belongs."""
    people = table.column(person).to_pylist()
    return table.append_column(_PART, pa.array([zlib.crc32(str(one).encode()) % parts for one in people], pa.int32()))


class _Scorer:
    def __init__(self, command: ScoreCommand) -> None:
        self._command = command

    def __call__(self, table: Any) -> Any:
        return score_table(table, self._command)


class _PartScorer(_Scorer):
    """Scores some people, all nights of each."""

    def __call__(self, table: Any) -> Any:
        whole = table.drop_columns([_PART]).combine_chunks()
        return score_table(whole.sort_by(str(self._command.order)), self._command)
