"""The programs of the pages and the notebook run, against the service of the environment where there is one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import KEY, PACKAGE, REPOSITORY
from .scripted_server import SCORES, ScriptedServer

ORDER = ("packages/client-python/README.md", "docs/MEASURED.md")
MORNING, MANY, MEASURED = (
    program for page in ORDER for program in re.findall(r"```python\n(.*?)```\n", (REPOSITORY / page).read_text("utf-8"), re.S)
)


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of the service, else of a server that gives constant scores."""
    with ScriptedServer() as server:
        if "ACUITY_URL" not in os.environ:
            monkeypatch.setenv("ACUITY_URL", server.url)
            monkeypatch.setenv("ACUITY_API_KEY", KEY)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE / "src"), *filter(None, sys.path)]))
        yield


def run(program: str, *arguments: str) -> str:
    """What a program prints; it says nothing beside."""
    command = [sys.executable, "-B", "-W", "error", "-c", program, *arguments]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_the_programs_of_the_pages(tmp_path: Path) -> None:
    morning = run(MORNING, str(PACKAGE / "tests/oura.json"), str(tmp_path / "morning.db"))
    assert "2026-03-02" in morning
    many = run(MANY)
    assert all(f"'{name}': " in morning and f"'{name}': " in many for name in SCORES)
    assert "'stress': " in run(MEASURED)


def test_the_notebook_runs_and_draws() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for module in ("ipykernel", "matplotlib"):
        pytest.importorskip(module)
    notebook = nbformat.read(REPOSITORY / "examples/notebook/nights.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(REPOSITORY)}}).execute()
    outputs = [output for cell in cells for output in cell.outputs]
    said = [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"]
    assert "20 nights scored by " in "".join(said)
    plots = [output.data for output in outputs if output.output_type == "display_data"]
    assert len(said) + len(plots) == len(outputs) and ["image/png" in plot for plot in plots] == [True, True]
