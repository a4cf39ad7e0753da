"""Each example runs as a file; the storages of the examples pass the cases of histories, on real servers."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from . import servers
from .scripted_server import ScriptedServer, scored
from .support import FACES, HAS_HTTPX, KEY, cases
from .test_cases import check_history

PACKAGE = Path(__file__).resolve().parents[1]
EXAMPLES = PACKAGE / "examples"
REPOSITORY = PACKAGE.parents[1]
_Test = TypeVar("_Test", bound=Callable[..., None])
FIELDS = ("C_SCORE", "attention", "memory", "reasoning", "stress", "valence", "arousal")


def has(module: str) -> bool:
    """Whether a package is installed."""
    return importlib.util.find_spec(module) is not None


def needs(*modules: str) -> Callable[[_Test], _Test]:
    """Skips without them."""
    missing = [module for module in modules if not has(module)]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Examples(unittest.TestCase):
    """As files, against the service of the environment, else a server that gives constant scores."""

    def run_example(self, name: str, *arguments: str, **variables: str) -> str:
        with ScriptedServer(scored) as server:
            environment = {
                "ACUITY_URL": server.url,
                "ACUITY_API_KEY": KEY,
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                "PYTHONWARNINGS": "error",
                **variables,
            }
            ended = subprocess.run(
                [sys.executable, "-B", str(EXAMPLES / name), *arguments],
                cwd=REPOSITORY,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(ended.stderr, "")
        self.assertEqual(ended.returncode, 0)
        return ended.stdout

    def test_every_example_has_a_test(self) -> None:
        tested = {
            "score_night.py",
            "oura_night.py",
            "many.py",
            "backend.py",
            "async_backend.py",
            "pandas_series.py",
            "redis_history.py",
            "postgres_history.py",
            "measured.py",
        }
        self.assertEqual({path.name for path in EXAMPLES.iterdir() if path.suffix == ".py"}, tested)

    def test_a_night(self) -> None:
        for name in ("score_night.py", "oura_night.py", "many.py"):
            printed = self.run_example(name)
            for field in FIELDS:
                self.assertIn(f"'{field}': ", printed)

    def test_a_measurement(self) -> None:
        self.assertRegex(self.run_example("measured.py"), r"'stress': 5\d.*'unmeasured': 4\d")

    def test_a_backend_twice(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/histories.db"
            first = self.run_example("backend.py", path)
            self.assertIn('"person": "person-1"', first)
            self.assertEqual(self.run_example("backend.py", path), first)

    def test_an_event_loop(self) -> None:
        self.assertIn("20 scored by model", self.run_example("async_backend.py"))

    @needs("pandas")
    def test_series_of_pandas(self) -> None:
        self.assertIn("C_SCORE", self.run_example("pandas_series.py"))

    @needs("redis")
    @unittest.skipUnless(servers.redis_command(), "there is no Redis here")
    def test_redis(self) -> None:
        with servers.redis_server() as url:
            self._twice("redis_history.py", REDIS_URL=url)
            server = importlib.import_module("redis").Redis.from_url(url)
            self._cases("redis_history", "RedisStorage", server, lambda: server.flushdb())
            server.close()

    @needs("psycopg")
    @unittest.skipUnless(servers.postgres_folder(), "there is no PostgreSQL here")
    @unittest.skipIf(servers.unprivileged() is None, "PostgreSQL does not run as root")
    def test_postgres(self) -> None:
        with servers.postgres_server() as url:
            psycopg = importlib.import_module("psycopg")
            with psycopg.connect(url, autocommit=True) as database:
                # As the example before this one made it.
                database.execute("CREATE TABLE acuity_history (person text PRIMARY KEY, entries jsonb NOT NULL)")
                database.execute("INSERT INTO acuity_history VALUES ('person-1', '[]')")
                self._twice("postgres_history.py", DATABASE_URL=url)
                forget = lambda: database.execute("DELETE FROM acuity_history")
                self._cases("postgres_history", "PostgresStorage", database, forget)

    def _twice(self, name: str, **variables: str) -> None:
        first = self.run_example(name, **variables)
        self.assertRegex(first, r"^acu1\.[\w-]+\n$")
        self.assertEqual(self.run_example(name, **variables), first)

    def _cases(self, module: str, storage: str, server: Any, forget: Any) -> None:
        sys.path.insert(0, str(EXAMPLES))
        self.addCleanup(sys.path.remove, str(EXAMPLES))
        make = getattr(importlib.import_module(module), storage)
        maker = FACES["threads, httpx" if HAS_HTTPX else "threads, standard library"]
        for case in cases("history"):
            with self.subTest(case["name"]):
                made = make(server)
                forget()
                check_history(self, maker, case, made)


if __name__ == "__main__":
    unittest.main()
