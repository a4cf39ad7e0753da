"""
Ray and Spark, as they run on one machine, give the table that `acuity score` gives by itself.

`npm run python -- engines` installs both and runs this; elsewhere it is skipped, since each takes a while to start.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

_REPOSITORY = Path(__file__).resolve().parents[3]
_WANTED = os.environ.get("TEST_ENGINES") == "1"
_PEOPLE = 12
_NIGHTS = 8


def _missing(*modules: str) -> str | None:
    if not _WANTED:
        return "npm run python -- engines runs the engines"
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"without {', '.join(absent)}" if absent else None


def _nights() -> Any:
    import pyarrow as pa

    draw = random.Random(7)
    start = datetime(2025, 1, 1, 7, tzinfo=timezone.utc)
    rows = [
        {
            "id": f"{person}-{night}",
            "person": f"p{person}",
            "at": start + timedelta(days=night, seconds=person),
            "age": 131.0 if person == 3 and night == 2 else 20.0 + person,
            "sex": "M" if person % 2 else "F",
            "HR_night": [float(draw.randint(50, 70)) for _ in range(40)],
            "RR_night": [float(draw.randint(12, 18)) for _ in range(40)],
        }
        for night in range(_NIGHTS)
        for person in range(_PEOPLE)
    ]
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("person", pa.string()),
            ("at", pa.timestamp("us", tz="UTC")),
            ("age", pa.float64()),
            ("sex", pa.string()),
            ("HR_night", pa.list_(pa.float32())),
            ("RR_night", pa.list_(pa.float32())),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def _killer(folder: str, times: int, victim: str) -> str:
    """
    A program in front of the service's own. At its first `times` starts it kills `victim` in the middle of its input:
    `$$` itself, or `$PPID`, the engine's process that started it.
    """
    path = Path(folder) / "acuity"
    service = f"{shutil.which('node')} {_REPOSITORY / 'dist/main.js'}"
    path.write_text(
        "#!/bin/sh\n"
        f"for n in $(seq {times}); do\n"
        f'  if mkdir "{folder}/killed-$n" 2>/dev/null; then head -c 4000 >/dev/null; kill -9 {victim}; exit 1; fi\n'
        "done\n"
        f'exec {service} "$@"\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By id; where a row stood when it was refused depends on the partition."""
    return sorted(({**row, "error": row["error"] is not None} for row in rows), key=lambda row: str(row["id"]))


class Engines(unittest.TestCase):
    """Each against the same rows in one process."""

    folder = ""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def command(self, *, history: bool, explain: bool = False, kills: int = 0, victim: str = "$$") -> Any:
        from acuity_client._bulk import ScoreCommand

        program = _killer(self.folder, kills, victim)
        env = {"ACUITY_WORKERS": "1"}
        past = {"person": "person", "order": "at"} if history else {}
        return ScoreCommand(command=(program,), keep=("id", "person"), env=env, explain=explain, **past)

    def plain(self, *, history: bool, explain: bool) -> list[dict[str, Any]]:
        from acuity_client._bulk import score_table

        command = self.command(history=history, explain=explain)
        rows: list[dict[str, Any]] = score_table(_nights(), command).to_pylist()
        self.assertEqual([row["id"] for row in rows], _nights().column("id").to_pylist())
        self.assertEqual([row["id"] for row in rows if row["error"] is not None], ["3-2"])
        self.assertEqual(["explanation" in row for row in rows], [explain] * len(rows))
        return _sorted(rows)

    @unittest.skipIf(_missing("pyarrow"), str(_missing("pyarrow")))
    def test_a_failure_says_why(self) -> None:
        from acuity_client._bulk import BulkError, ScoreCommand, score_table

        table = _nights()
        unsorted = table.take(list(range(table.num_rows - 1, -1, -1)))
        with self.assertRaisesRegex(BulkError, "row 13 is earlier than one of the same person"):
            score_table(unsorted, self.command(history=True))
        with self.assertRaisesRegex(BulkError, "no column is named as a field"):
            score_table(table.select(["id"]), self.command(history=False))
        with self.assertRaises(ValueError):
            ScoreCommand(person="person")
        with self.assertRaisesRegex(BulkError, f"ended with -{int(signal.SIGKILL)}"):
            score_table(table, self.command(history=False, kills=9))

    @unittest.skipIf(_missing("pyarrow"), str(_missing("pyarrow")))
    def test_each_row_with_scores_has_its_explanation(self) -> None:
        import pyarrow as pa

        from acuity_client import Explanation, describe_score
        from acuity_client._bulk import ScoreCommand, score_table

        with self.assertRaisesRegex(TypeError, "explain"):
            ScoreCommand(explain="false")  # type: ignore[arg-type]
        given = _nights()
        # As pandas and Polars have text that recurs.
        coded = given.set_column(1, "person", given.column("person").dictionary_encode())
        table = score_table(coded, self.command(history=True, explain=True))
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
            given = ray.data.from_arrow(_nights()).repartition(3)
            expected = self.plain(history=history, explain=explain)
            command = self.command(history=history, explain=explain, kills=1, victim=victim)
            scored = score(given, command, actors=1, batch_rows=40, parts=3)
            self.assertEqual(_sorted(scored.take_all()), expected)
            shutil.rmtree(Path(self.folder) / "killed-1")

    @unittest.skipIf(_missing("pyarrow", "pyspark"), str(_missing("pyarrow", "pyspark")))
    @unittest.skipIf(shutil.which("java") is None, "without Java")
    def test_spark_gives_the_same_table(self) -> None:
        from pyspark.sql import SparkSession

        from acuity_client.spark import score

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        self.addCleanup(spark.stop)
        spark.sparkContext.setLogLevel("OFF")
        path = str(Path(self.folder) / "nights.parquet")
        import pyarrow.parquet

        pyarrow.parquet.write_table(_nights(), path)
        # The scoring process is killed, then the Python worker itself.
        for history, explain, victim in ((False, True, "$$"), (True, False, "$$"), (True, True, "$PPID")):
            expected = self.plain(history=history, explain=explain)
            command = self.command(history=history, explain=explain, kills=1, victim=victim)
            scored = score(spark.read.parquet(path), command, parts=3)
            self.assertEqual(_sorted([row.asDict() for row in scored.collect()]), expected)
            shutil.rmtree(Path(self.folder) / "killed-1")


if __name__ == "__main__":
    unittest.main()
