"""Who may read what SqliteStorage writes."""

from __future__ import annotations

import os
import stat
import tempfile
import unittest
from pathlib import Path

from acuity_client import SqliteStorage


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
