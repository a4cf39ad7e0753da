"""Nights for the tests of `acuity score` in engines, and the program in front of it that counts and kills."""

from __future__ import annotations

import os
import random
import shutil
import stat
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
# Sessions and people that the program may keep.
KEEP = ("id", "person")


def nights(people: int = 12, nights_each: int = 8) -> Any:
    """By time; one of them is refused."""
    import pyarrow as pa

    draw = random.Random(7)
    start = datetime(2025, 1, 1, 7, tzinfo=timezone.utc)
    rows = [
        {
            "id": f"{person}-{night}",
            "person": f"p{person}",
            "at": start + timedelta(days=night, seconds=person),
            "age": 131.0 if person == 3 and night == 2 else 20.0 + person % 60,
            "sex": "M" if person % 2 else "F",
            "HR_night": [float(draw.randint(50, 70)) for _ in range(40)],
            "RR_night": [float(draw.randint(12, 18)) for _ in range(40)],
        }
        for night in range(nights_each)
        for person in range(people)
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

    def __init__(self, folder: str, *, kills: int = 0, victim: str = "$$", kill_bytes: int = 4000) -> None:
        self._started = Path(folder) / "started"
        self._started.write_text("")
        self.path = str(Path(folder) / "acuity")
        for name in Path(folder).glob("killed-*"):
            name.rmdir()
        some = Path(folder) / "some.py"
        some.write_text(_SOME)
        service = f"{shutil.which('node')} {REPOSITORY / 'dist/main.js'}"
        Path(self.path).write_text(
            "#!/bin/sh\n"
            f'echo $$ >> "{self._started}"\n'
            f"for n in $(seq {kills}); do\n"
            f'  if mkdir "{folder}/killed-$n" 2>/dev/null; then\n'
            f'    {f"{sys.executable} {some} {kill_bytes} | {service}" if kill_bytes else ":"} "$@"; kill -9 {victim}; exit 1\n'
            "  fi\n"
            "done\n"
            f'exec {service} "$@"\n'
        )
        Path(self.path).chmod(Path(self.path).stat().st_mode | stat.S_IXUSR)

    def started(self) -> list[int]:
        """The numbers of the processes that were started."""
        return [int(line) for line in self._started.read_text().split()]

    def running(self) -> list[int]:
        """Those of them that have not ended."""
        return [number for number in self.started() if _is_alive(number)]


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{number}/stat").exists() or ") Z " not in Path(f"/proc/{number}/stat").read_text()
