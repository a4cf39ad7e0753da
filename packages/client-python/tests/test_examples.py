"""The examples and the notebook run, against the service of the environment where it can read what they send."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import KEY, PACKAGE, REPOSITORY
from .scripted_server import SCORES, ScriptedServer

EXAMPLES = PACKAGE / "examples"
_DOCUMENT = json.loads((REPOSITORY / "docs/openapi.json").read_text("utf-8"))
_READS_RECORDINGS = "recording" in _DOCUMENT["components"]["schemas"]["Session"]["properties"]


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of the service, else of a server that gives constant scores."""
    with ScriptedServer() as server:
        if "ACUITY_URL" not in os.environ or not _READS_RECORDINGS:
            monkeypatch.setenv("ACUITY_URL", server.url)
            monkeypatch.setenv("ACUITY_API_KEY", KEY)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE / "src"), *filter(None, sys.path)]))
        yield


def run(name: str, *arguments: str) -> str:
    """What an example prints; it says nothing beside."""
    command = [sys.executable, "-B", "-W", "error", str(EXAMPLES / name), *arguments]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_every_example_has_a_test() -> None:
    tested = {"oura_morning.py", "many.py", "measured.py"}
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix == ".py"} == tested


def test_examples(tmp_path: Path) -> None:
    morning = run("oura_morning.py", str(EXAMPLES / "oura.json"), str(tmp_path / "morning.db"))
    assert "2026-03-02" in morning
    for name in SCORES:
        assert f"'{name}': " in morning and f"'{name}': " in run("many.py")
    assert "'stress': " in run("measured.py")


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
