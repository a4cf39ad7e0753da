"""
Ray and Spark, as they run on one machine, give the table that `acuity score` gives by itself.

`npm run python -- engines` installs both and runs this; elsewhere it is skipped, since each takes a while to start.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from .nights import KEEP, Program, nights

_WANTED = os.environ.get("TEST_ENGINES") == "1"
# Of 50 for each person; two are killed of what works on them.
_NIGHTS = int(os.environ.get("TEST_ENGINES_NIGHTS", "3000"))
_PARTS = 16


def _missing(*modules: str) -> str | None:
    if not _WANTED:
        return "npm run python -- engines runs the engines"
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"without {', '.join(absent)}" if absent else None


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By id; where a row stood when it was refused depends on the partition."""
    return sorted(({**row, "error": row["error"] is not None} for row in rows), key=lambda row: str(row["id"]))


def _command(program: Program, *, history: bool, explain: bool = False) -> Any:
    from acuity_client._bulk import ScoreCommand

    past: dict[str, Any] = {"person": "person", "order": "at"} if history else {}
    return ScoreCommand(command=(program.path,), keep=KEEP, explain=explain, **past)


class Engines(unittest.TestCase):
    """Each against the same rows in one process."""

    folder = ""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def plain(self, table: Any, *, history: bool, explain: bool = False) -> list[dict[str, Any]]:
        from acuity_client._processes import ScoreProcesses

        processes = ScoreProcesses(_command(Program(self.folder), history=history, explain=explain), 1)
        rows: list[dict[str, Any]] = processes.table(table).to_pylist()
        processes.close()
        self.assertEqual([row["id"] for row in rows], table.column("id").to_pylist())
        self.assertEqual([row["id"] for row in rows if row["error"] is not None], ["3-2"])
        self.assertEqual(["explanation" in row for row in rows], [explain] * len(rows))
        return _sorted(rows)

    def at_length(self) -> tuple[Any, list[dict[str, Any]], Program]:
        """Many nights, their scores, and a program that kills two of those that start it, each after some parts."""
        table = nights(_NIGHTS // 50, 50)
        expected = self.plain(table, history=True)
        kill_bytes = table.nbytes * 3 // (2 * _PARTS)
        return table, expected, Program(self.folder, kills=2, victim="$PPID", kill_bytes=kill_bytes)

    def told(self, engine: str, began: float, program: Program) -> None:
        seconds = time.monotonic() - began
        print(f"{engine}: {_NIGHTS} nights, {seconds:.1f} s, {len(program.started())} processes", file=sys.stderr)

    @unittest.skipIf(_missing("pyarrow"), str(_missing("pyarrow")))
    def test_each_row_with_scores_has_its_explanation(self) -> None:
        import pyarrow as pa

        from acuity_client import Explanation, describe_score
        from acuity_client._bulk import ScoreCommand
        from acuity_client._processes import ScoreProcesses

        with self.assertRaisesRegex(TypeError, "explain"):
            ScoreCommand(explain="false")  # type: ignore[arg-type]
        given = nights()
        # As pandas and Polars have text that recurs.
        coded = given.set_column(1, "person", given.column("person").dictionary_encode())
        processes = ScoreProcesses(_command(Program(self.folder), history=True, explain=True), 1)
        self.addCleanup(processes.close)
        table = processes.table(coded)
        self.assertEqual(table.schema.field("explanation").type, pa.string())
        self.assertEqual(table.column("person").to_pylist(), given.column("person").to_pylist())
        rows = table.to_pylist()
        self.assertEqual([row["explanation"] is None for row in rows], [row["error"] is not None for row in rows])
        for night, row in enumerate(row for row in rows if row["person"] == "p1"):
            explanation: Explanation = json.loads(row["explanation"])
            self.assertEqual(explanation["quality"]["sessions"], min(night, 5))
            said = explanation["scores"]["stress"]
            self.assertAlmostEqual(said["reference"] + said["change"], row["stress"])
            self.assertEqual(len(describe_score(row, explanation, "stress").sentences), 2)

    @unittest.skipIf(_missing("pyarrow", "ray"), str(_missing("pyarrow", "ray")))
    def test_ray_gives_the_same_table(self) -> None:
        import ray

        from acuity_client.ray import score

        ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
        self.addCleanup(ray.shutdown)
        # The scoring process is killed, then the actor itself.
        for history, explain, victim in ((False, False, "$$"), (True, True, "$$"), (False, True, "$PPID")):
            given = ray.data.from_arrow(nights()).repartition(3)
            expected = self.plain(nights(), history=history, explain=explain)
            program = Program(self.folder, kills=1, victim=victim)
            command = _command(program, history=history, explain=explain)
            scored = score(given, command, concurrency=1, batch_size=40, parts=3)
            self.assertEqual(_sorted(scored.take_all()), expected)
            self.assertEqual(len(program.started()), 2)

    @unittest.skipIf(_missing("pyarrow", "ray"), str(_missing("pyarrow", "ray")))
    def test_ray_with_two_actors_killed(self) -> None:
        import ray

        from acuity_client.ray import score

        ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
        self.addCleanup(ray.shutdown)
        table, expected, program = self.at_length()
        began = time.monotonic()
        scored = score(
            ray.data.from_arrow(table), _command(program, history=True), concurrency=2, parts=_PARTS, num_cpus=1
        )
        self.assertEqual(_sorted(scored.take_all()), expected)
        self.told("Ray", began, program)
        self.assertEqual(len(program.started()), 2 + 2)

    @unittest.skipIf(_missing("pyarrow", "ray"), str(_missing("pyarrow", "ray")))
    def test_ray_groups_may_be_people(self) -> None:
        import ray

        from acuity_client.ray import Scorer

        ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
        self.addCleanup(ray.shutdown)
        # As users of map_groups write it: a group is a person.
        program = Program(self.folder)
        people = ray.data.from_arrow(nights()).groupby("person")
        scored = people.map_groups(
            Scorer,
            fn_constructor_args=(_command(program, history=True),),
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=1),
        )
        self.assertEqual(_sorted(scored.take_all()), self.plain(nights(), history=True))

    def spark(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        self.addCleanup(spark.stop)
        spark.sparkContext.setLogLevel("OFF")
        return spark

    @unittest.skipIf(_missing("pyarrow", "pyspark"), str(_missing("pyarrow", "pyspark")))
    @unittest.skipIf(shutil.which("java") is None, "without Java")
    def test_spark_gives_the_same_table(self) -> None:
        from acuity_client.spark import score

        spark = self.spark()
        import pyarrow.parquet

        path = str(Path(self.folder) / "nights.parquet")
        pyarrow.parquet.write_table(nights(), path)
        # The scoring process is killed, then the Python worker itself.
        for history, explain, victim in ((False, True, "$$"), (True, False, "$$"), (True, True, "$PPID")):
            expected = self.plain(nights(), history=history, explain=explain)
            command = _command(Program(self.folder, kills=1, victim=victim), history=history, explain=explain)
            scored = score(spark.read.parquet(path), command, parts=3)
            self.assertEqual(_sorted([row.asDict() for row in scored.collect()]), expected)

    @unittest.skipIf(_missing("pyarrow", "pyspark"), str(_missing("pyarrow", "pyspark")))
    @unittest.skipIf(shutil.which("java") is None, "without Java")
    def test_spark_with_two_workers_killed(self) -> None:
        import pyarrow.parquet

        from acuity_client.spark import score

        spark = self.spark()
        path = str(Path(self.folder) / "nights.parquet")
        table, expected, program = self.at_length()
        pyarrow.parquet.write_table(table, path)
        began = time.monotonic()
        scored = score(spark.read.parquet(path), _command(program, history=True), parts=_PARTS)
        self.assertEqual(_sorted([row.asDict() for row in scored.collect()]), expected)
        self.told("Spark", began, program)
        # Python workers that have failed are not used again.
        self.assertLessEqual(len(program.started()), 2 + 2)


if __name__ == "__main__":
    unittest.main()
