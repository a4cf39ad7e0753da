"""`acuity score` as Ray and Spark keep it, without either: they only call what is called here."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .nights import KEEP, REPOSITORY, Program, nights

_IS_HERE = importlib.util.find_spec("pyarrow") is not None and (REPOSITORY / "dist/main.js").exists()
_WAIT_SECONDS = 20


def _ended(program: Program) -> bool:
    """Whether everything that was started ends by itself."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while program.running() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not program.running()


@unittest.skipUnless(_IS_HERE, "without pyarrow, or without the service")
class Processes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def processes(self, program: Program, *, cores: int = 1, history: bool = True, late: str = "bad") -> Any:
        from acuity_client._bulk import ScoreCommand
        from acuity_client._processes import ScoreProcesses

        past: dict[str, Any] = {"person": "person", "order": "at"} if history else {}
        processes = ScoreProcesses(ScoreCommand(command=(program.path,), keep=KEEP, late=late, **past), cores)
        self.addCleanup(processes.close)
        return processes

    def test_each_of_two_actors_has_one_process_for_all_of_its_parts(self) -> None:
        """Two of them are killed: what they had begun is scored again, and it is the table of one process."""
        import pyarrow as pa

        table = nights()
        whole = self.processes(Program(self.folder)).table(table)
        self.assertEqual(whole.column("id"), table.column("id"))
        program = Program(self.folder, kills=2)
        parts = [
            table.filter(pa.array([int(str(name)[1:]) % 6 == part for name in table.column("person").to_pylist()]))
            for part in range(6)
        ]

        def actor(share: list[Any]) -> list[Any]:
            processes = self.processes(program)
            return [processes.table(part) for part in share]

        with ThreadPoolExecutor(2) as actors:
            scored = [part for share in actors.map(actor, (parts[:3], parts[3:])) for part in share]
        rows = sorted(pa.concat_tables(scored).to_pylist(), key=lambda row: str(row["id"]))
        expected = sorted(whole.to_pylist(), key=lambda row: str(row["id"]))
        for row in (*rows, *expected):
            row["error"] = row["error"] is not None
        self.assertEqual(rows, expected)
        self.assertEqual([row["id"] for row in rows if row["error"]], ["3-2"])
        self.assertEqual(len(program.started()), 2 + 2)

    def test_the_error_of_a_table_is_its_own(self) -> None:
        from acuity_client._bulk import BulkError

        table = nights()
        program = Program(self.folder)
        processes = self.processes(program, late="fail")
        first = processes.table(table)
        for bad, said in (
            (table.take(list(range(table.num_rows - 1, -1, -1))), "row 13 is earlier than one of the same person"),
            (table.select(["id", "person", "at"]), "no column is named as a field"),
        ):
            with self.assertRaisesRegex(BulkError, said):
                processes.table(bad)
            self.assertEqual(processes.table(table), first)
        self.assertEqual(len(program.started()), 3)
        killed = self.processes(Program(self.folder, kills=9, kill_bytes=0))
        with self.assertRaisesRegex(BulkError, f"ended with -{int(signal.SIGKILL)}"):
            killed.table(table)

    def score(self, table: Any, **options: Any) -> Any:
        from acuity_client._bulk import ScoreCommand
        from acuity_client._processes import ScoreProcesses

        processes = ScoreProcesses(ScoreCommand(command=(Program(self.folder).path,), **options), 1)
        self.addCleanup(processes.close)
        return processes.table(table)

    def test_scores_say_whose_they_are(self) -> None:
        from acuity_client import FieldNameWarning
        from acuity_client._bulk import BulkError, ScoreCommand

        given = nights()
        with self.assertRaisesRegex(ValueError, "there is no column 'usr'"):
            self.score(given, keep=("usr",))
        with self.assertRaisesRegex(ValueError, "nothing would say whose the scores are"):
            self.score(given.drop_columns(["id"]))
        for wrong in ({"keep": "id"}, {"late": "last"}, {"person": "person"}):
            with self.assertRaises((TypeError, ValueError)):
                ScoreCommand(**wrong)  # type: ignore[arg-type]
        plain = self.score(given)
        self.assertEqual(plain.column_names[:2], ["id", "C_SCORE"])
        past = {"person": "person", "order": "at"}
        table = self.score(given.drop_columns(["id"]), **past)
        self.assertEqual(table.column_names[:3], ["person", "at", "C_SCORE"])
        self.assertEqual(table.column("at").to_pylist(), given.column("at").to_pylist())
        # As Hive and Athena name them.
        small = given.rename_columns([name.lower() for name in given.column_names])
        self.assertEqual(self.score(small), plain)
        slip = given.rename_columns([name.replace("HR_night", "HR_nigth") for name in given.column_names])
        with self.assertWarnsRegex(FieldNameWarning, "HR_nigth .*did you mean HR_night"):
            ScoreCommand().kept(slip.column_names)
        late = self.score(given.take(list(range(given.num_rows - 1, -1, -1))), **past).to_pylist()
        # Each person's last night comes first, and is the one that is scored.
        self.assertEqual(sum(row["error"] is None for row in late), len(set(given.column("person").to_pylist())))
        self.assertIn("earlier than one of the same person", late[-1]["error"])

    def test_a_partition_is_a_stream_that_may_be_left(self) -> None:
        """Spark gives a partition as an iterator; a limit stops in the middle, and the input may raise."""
        table = nights()
        program = Program(self.folder)
        processes = self.processes(program)
        expected = processes.table(table)
        self.assertEqual(list(processes.batches([])), [])
        left = processes.batches(table.to_batches(max_chunksize=10))
        next(left)
        left.close()
        # Two at once, as where scores are scored again: a process each.
        pair = [processes.batches(table.to_batches(max_chunksize=10)) for _ in range(2)]
        both = [[one, other] for one, other in zip(*pair, strict=True)]
        self.assertEqual([batch for batch, _ in both], [batch for _, batch in both])
        self.assertEqual(sum(batch.num_rows for batch, _ in both), table.num_rows)

        def broken() -> Iterator[Any]:
            yield from table.to_batches(max_chunksize=10)
            raise LookupError("of the input")

        with self.assertRaisesRegex(LookupError, "of the input"):
            list(processes.batches(broken()))
        self.assertEqual(processes.table(table), expected)
        processes.close()
        self.assertTrue(_ended(program))

    def test_workers_follow_the_cores_unless_they_are_set(self) -> None:
        from acuity_client._bulk import ScoreCommand
        from acuity_client._processes import ScoreProcesses

        shown = Path(self.folder) / "workers"
        program = Path(self.folder) / "show"
        program.write_text(f'#!/bin/sh\necho "$ACUITY_WORKERS" >> "{shown}"\nexit 3\n')
        program.chmod(0o700)
        for cores, env in ((0, {}), (1, {}), (2, {}), (4, {}), (4, {"ACUITY_WORKERS": "9"})):
            command = ScoreCommand(command=(str(program),), env=env)
            with self.assertRaisesRegex(Exception, "ended with 3"):
                ScoreProcesses(command, cores).table(nights(1, 1))
        self.assertEqual(shown.read_text().split(), ["1", "1", "1", "3", "9"])

    def test_a_killed_actor_leaves_no_process_even_where_it_had_forked(self) -> None:
        program = Program(self.folder)
        code = (
            "import os, sys, time\n"
            "from acuity_client._bulk import ScoreCommand\n"
            "from acuity_client._processes import ScoreProcesses\n"
            "from tests.nights import KEEP, nights\n"
            "processes = ScoreProcesses(ScoreCommand(command=(sys.argv[1],), keep=KEEP), 1)\n"
            "first = processes.table(nights())\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    again = processes.table(nights())\n"
            "    processes.close()\n"
            "    print('forked', again == first, flush=True)\n"
            "    time.sleep(60)\n"
            "print(child, flush=True)\n"
            "time.sleep(60)\n"
        )
        actor = subprocess.Popen(
            [sys.executable, "-B", "-c", code, program.path],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        self.addCleanup(actor.wait)
        self.addCleanup(actor.kill)
        if actor.stdout is None:
            raise AssertionError("it is a pipe")
        self.addCleanup(actor.stdout.close)
        lines = sorted([actor.stdout.readline(), actor.stdout.readline()])
        child = int(lines[0])
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertEqual(lines[1], "forked True\n")
        self.assertEqual(len(program.started()), 2)
        self.assertEqual(len(program.running()), 1)
        actor.kill()
        self.assertTrue(_ended(program))


if __name__ == "__main__":
    unittest.main()
