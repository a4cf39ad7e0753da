"""
`acuity score` as Ray and Spark keep it, here without either; then both, as they run on one machine, give the table that
it gives by itself. `npm run python -- engines` installs and runs them; elsewhere they are skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from .conftest import PACKAGE, REPOSITORY

pa = pytest.importorskip("pyarrow")
if not (REPOSITORY / "dist/main.js").exists():
    pytest.skip("the service is not built", allow_module_level=True)

from acuity_client import FieldNameWarning
from acuity_client._bulk import BulkError, ScoreCommand, ScoreProcesses

PAST = {"person": "person", "order": "at"}
_NIGHTS = int(os.environ.get("TEST_ENGINES_NIGHTS", "3000"))
_PARTS = 16


def nights(people: int = 12, each: int = 8) -> Any:
    """By time; one of them is refused."""
    draw = random.Random(7)
    start = datetime(2025, 1, 1, 7, tzinfo=timezone.utc)
    rows = [
        {
            **{"id": f"{person}-{night}", "person": f"p{person}", "sex": "M" if person % 2 else "F"},
            "at": start + timedelta(days=night, seconds=person),
            "age": 131.0 if (person, night) == (3, 2) else 20.0 + person % 60,
            "HR_night": [float(draw.randint(50, 70)) for _ in range(40)],
        }
        for night in range(each)
        for person in range(people)
    ]
    return pa.Table.from_pylist(rows)


# As `head -c`, which keeps back what it has read while more may come.
_SOME = """
import os, sys
left = int(sys.argv[1])
while left > 0 and (piece := os.read(0, min(left, 65536))):
    os.write(1, piece)
    left -= len(piece)
"""


class Program:
    """
    A program in front of the service's own, which counts its starts. At its first `kills` of them it kills `victim`
    after `kill_bytes` of its input: `$$` itself, or `$PPID`, the engine's process that started it.
    """

    def __init__(self, folder: Path, *, kills: int = 0, victim: str = "$$", kill_bytes: int = 4000) -> None:
        folder.mkdir(exist_ok=True)
        self._started = folder / "started"
        self._started.write_text("")
        self.path = str(folder / "acuity")
        (folder / "some.py").write_text(_SOME)
        service = f"{shutil.which('node')} {REPOSITORY / 'dist/main.js'}"
        part = f"{sys.executable} {folder / 'some.py'} {kill_bytes} | {service}" if kill_bytes else ":"
        Path(self.path).write_text(
            f'#!/bin/sh\necho $$ >> "{self._started}"\n'
            f'for n in $(seq {kills}); do if mkdir "{folder}/killed-$n" 2>/dev/null; then\n'
            f'  {part} "$@"; kill -9 {victim}; exit 1\nfi; done\nexec {service} "$@"\n'
        )
        Path(self.path).chmod(0o700)

    def started(self) -> list[int]:
        """The numbers of the processes that were started."""
        return [int(line) for line in self._started.read_text().split()]

    def are_ended(self) -> bool:
        """Whether all of them end by themselves."""
        until = time.monotonic() + 20
        while any(Path(f"/proc/{number}").exists() for number in self.started()) and time.monotonic() < until:
            time.sleep(0.05)
        return time.monotonic() < until


def processes(program: Program, **options: Any) -> ScoreProcesses:
    """Those of a worker with one core, which keep the id."""
    return ScoreProcesses(ScoreCommand(command=(program.path,), **{"keep": ("id", "person"), **options}), 1)


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where a row stood when it was refused depends on the partition; Spark gives times without their zone."""
    plain = [{**row, "at": str(row.get("at"))[:19], "error": row["error"] is not None} for row in rows]
    return sorted(plain, key=lambda row: str(row["id"]))


def test_killed_processes_are_replaced_and_the_others_kept(tmp_path: Path) -> None:
    table = nights()
    whole = processes(Program(tmp_path / "whole"), **PAST).table(table)
    assert whole.column("id") == table.column("id")
    assert [row["id"] for row in whole.to_pylist() if row["error"] is not None] == ["3-2"]
    program = Program(tmp_path / "parts", kills=2)
    kept = processes(program, **PAST)
    parts = [table.filter(pa.array([int(name[1:]) % 3 == n for name in table["person"].to_pylist()])) for n in range(3)]
    scored = [row for part in parts for row in kept.table(part).to_pylist()]
    assert by_id(scored) == by_id(whole.to_pylist())
    assert len(program.started()) == 2 + 1
    kept.close()
    assert program.are_ended()
    with pytest.raises(BulkError, match=f"ended with -{int(signal.SIGKILL)}"):
        processes(Program(tmp_path / "none", kills=9, kill_bytes=0)).table(table)


def test_a_partition_is_a_stream_that_may_be_left(tmp_path: Path) -> None:
    table, program = nights(), Program(tmp_path)
    kept = processes(program)
    expected = kept.table(table)
    left: Any = kept.batches(table.to_batches(max_chunksize=10))
    next(left)
    left.close()

    def broken() -> Iterator[Any]:
        yield from table.to_batches(max_chunksize=10)
        raise LookupError("of the input")

    with pytest.raises(LookupError, match="of the input"):
        list(kept.batches(broken()))
    # Two at once, as where scores are scored again: a process each.
    pair = [kept.batches(table.to_batches(max_chunksize=10)) for _ in range(2)]
    assert all(one == other for one, other in zip(*pair, strict=True))
    assert kept.table(table) == expected
    kept.close()
    assert program.are_ended()


def test_scores_say_whose_they_are(tmp_path: Path) -> None:
    given, program = nights(), Program(tmp_path)
    for keep, table, message in (
        (("usr",), given, "there is no column 'usr'"),
        (None, given.drop_columns(["id"]), "nothing would say whose the scores are"),
    ):
        with pytest.raises(ValueError, match=message):
            processes(program, keep=keep).table(table)
    with pytest.raises(ValueError, match="need each other"):
        ScoreCommand(person="person")
    assert processes(program, keep=None).table(given).column_names[:2] == ["id", "C_SCORE"]
    small = given.rename_columns([name.lower() for name in given.column_names])
    assert processes(program).table(small) == processes(program).table(given)
    with pytest.warns(FieldNameWarning, match="HR_nigth .*did you mean HR_night"):
        ScoreCommand().kept(["id", "HR_nigth"])
    late = processes(program, late="fail", **PAST)
    with pytest.raises(BulkError, match="is earlier than one of the same person"):
        late.table(given.take(list(range(given.num_rows - 1, -1, -1))))
    explained = processes(program, explain=True, **PAST).table(given).to_pylist()
    assert [row["explanation"] is None for row in explained] == [row["error"] is not None for row in explained]
    assert json.loads(explained[0]["explanation"])["scores"]["stress"]["text"]


def test_a_killed_worker_leaves_no_process(tmp_path: Path) -> None:
    program = Program(tmp_path)
    code = """
import sys, time
from tests.test_engines import Program, nights, processes
kept = processes(type("", (), {"path": sys.argv[1]}))
kept.table(nights())
print("scored", flush=True)
time.sleep(60)
"""
    command = [sys.executable, "-B", "-c", code, program.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=PACKAGE) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == b"scored\n"
        worker.kill()
    assert len(program.started()) == 1 and program.are_ended()


def needs(*modules: str) -> pytest.MarkDecorator:
    """Skips without an engine, which takes a while to start."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    reason = f"without {', '.join(missing)}" if missing else "npm run python -- engines runs the engines"
    return pytest.mark.skipif(bool(missing) or os.environ.get("TEST_ENGINES") != "1", reason=reason)


# One of its processes is killed, or the engine's own worker that started it.
KILLS = pytest.mark.parametrize(
    ("victim", "options"), [("$$", {}), ("$$", {**PAST, "explain": True}), ("$PPID", PAST)], ids=str
)


@needs("ray")
@KILLS
def test_ray_gives_the_same_table(tmp_path: Path, victim: str, options: Any) -> None:
    import ray

    from acuity_client.ray import Scorer, score

    ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
    try:
        table = nights(_NIGHTS // 50, 50)
        expected = by_id(processes(Program(tmp_path / "whole"), **options).table(table).to_pylist())
        program = Program(tmp_path / "killed", kills=1, victim=victim, kill_bytes=table.nbytes // 32)
        command = processes(program, **options).command
        scored = score(ray.data.from_arrow(table), command, concurrency=2, parts=_PARTS, num_cpus=1)
        assert by_id(scored.take_all()) == expected
        if "person" in options:  # as users of map_groups write it: a group is a person
            people = ray.data.from_arrow(nights()).groupby("person")
            one = {"fn_constructor_args": (command,), "compute": ray.data.ActorPoolStrategy(size=1)}
            few = people.map_groups(Scorer, batch_format="pyarrow", **one)
            assert by_id(few.take_all()) == by_id(processes(program, **options).table(nights()).to_pylist())
    finally:
        ray.shutdown()


@needs("pyspark")
@KILLS
def test_spark_gives_the_same_table(tmp_path: Path, victim: str, options: Any) -> None:
    if shutil.which("java") is None:
        pytest.skip("without Java")
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    from acuity_client.spark import score

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        table, path = nights(_NIGHTS // 50, 50), str(tmp_path / "nights.parquet")
        pyarrow.parquet.write_table(table, path)
        expected = by_id(processes(Program(tmp_path / "whole"), **options).table(table).to_pylist())
        program = Program(tmp_path / "killed", kills=1, victim=victim, kill_bytes=table.nbytes // 32)
        scored = score(spark.read.parquet(path), processes(program, **options).command, parts=_PARTS)
        assert by_id([row.asDict() for row in scored.collect()]) == expected
    finally:
        spark.stop()
