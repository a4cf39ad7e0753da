"""
Scores of a Ray dataset, by `acuity score` on each machine of the cluster (`pip install acuity-client ray pyarrow`).

    from acuity_client.ray import ScoreCommand, score
    scores = score(ray.data.read_parquet("nights/"), ScoreCommand(person="user_id", order="night"))
"""

from __future__ import annotations

import zlib
from typing import Any

import pyarrow as pa

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
    """
    wanted = command if command is not None else ScoreCommand()
    if wanted.person is None:
        return dataset.map_batches(
            _Scorer,
            fn_constructor_args=(wanted,),
            batch_format="pyarrow",
            batch_size=batch_rows,
            concurrency=actors,
        )
    divided = dataset.map_batches(_Divider, fn_constructor_args=(wanted.person, parts), batch_format="pyarrow", concurrency=1)
    return divided.groupby(_PART).map_groups(
        _PartScorer, fn_constructor_args=(wanted,), batch_format="pyarrow", concurrency=actors
    )


class _Scorer:
    def __init__(self, command: ScoreCommand) -> None:
        self._command = command

    def __call__(self, table: Any) -> Any:
        return score_table(table, self._command)


class _Divider:
    """Says to which part of the people each row belongs."""

    def __init__(self, person: str, parts: int) -> None:
        self._person = person
        self._parts = parts

    def __call__(self, table: Any) -> Any:
        people = table.column(self._person).to_pylist()
        parts = pa.array([zlib.crc32(str(person).encode()) % self._parts for person in people], pa.int32())
        return table.append_column(_PART, parts)


class _PartScorer(_Scorer):
    """Scores some people, all nights of each."""

    def __call__(self, table: Any) -> Any:
        whole = table.drop_columns([_PART]).combine_chunks()
        return score_table(whole.sort_by(str(self._command.order)), self._command)
