"""Who may read what SqliteStorage writes, and what it reads of before."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from acuity_client import AcuityClient, History, SqliteStorage

from .scripted_server import SCORES, ScriptedServer, scored
from .support import KEY


@unittest.skipIf(os.name == "nt", "Windows has no modes")
class Modes(unittest.TestCase):
    """The file is its owner's alone."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.umask, os.umask(0o022))
        self.file = Path(folder.name) / "histories.db"

    def _mode(self) -> int:
        return stat.S_IMODE(self.file.stat().st_mode)

    def test_new(self) -> None:
        SqliteStorage(self.file).close()
        self.assertEqual(self._mode(), 0o600)

    def test_of_before(self) -> None:
        self.file.touch(0o644)
        SqliteStorage(str(self.file)).close()
        self.assertEqual(self._mode(), 0o600)

    def test_link_that_leads_nowhere(self) -> None:
        elsewhere = self.file.with_name("elsewhere")
        self.file.symlink_to(elsewhere)
        with self.assertRaises(FileExistsError):
            SqliteStorage(self.file)
        self.assertFalse(elsewhere.exists())


class Contents(unittest.TestCase):
    """Rows of before, and of others."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "histories.db"

    def test_a_row_of_the_former_client_is_moved_over(self) -> None:
        at, session = "2025-01-01T07:00:00.000Z", {"HR_night": [60]}
        entry = {"at": at, "modelVersion": "1", "session": session, "scores": SCORES}
        database = sqlite3.connect(self.file)
        with database:
            database.execute("CREATE TABLE acuity_history (person TEXT PRIMARY KEY, entries TEXT NOT NULL)")
            database.execute("INSERT INTO acuity_history VALUES (?, ?)", ("a", json.dumps([entry])))
        database.close()
        storage = SqliteStorage(self.file)
        self.addCleanup(storage.close)
        with ScriptedServer(scored) as server, AcuityClient(base_url=server.url, api_key=KEY) as client:
            History(client, storage).score("a", "2025-01-02T07:00:00Z", {"HR_night": [61]}, night="2025-01-02")
        body = server.received[0][1]
        self.assertEqual((body["history"], body["past_sessions"], body["past_targets"]), ("", [session], [SCORES]))
        self.assertEqual(storage.load("a"), "acu1.opaque")

    def test_processes_lose_nothing_of_each_other(self) -> None:
        processes = [
            subprocess.Popen([sys.executable, "-B", "-c", _APPEND, str(self.file), str(number)]) for number in range(3)
        ]
        for process in processes:
            self.assertEqual(process.wait(), 0)
        storage = SqliteStorage(self.file)
        self.addCleanup(storage.close)
        self.assertEqual(sorted(str(storage.load("a")).split()), sorted(["0", "1", "2"] * 20))


_APPEND = """
import sys
from acuity_client import SqliteStorage
storage = SqliteStorage(sys.argv[1])
for _ in range(20):
    while True:
        stored = storage.load("a")
        if storage.save("a", f"{stored or ''} {sys.argv[2]}", stored):
            break
"""
