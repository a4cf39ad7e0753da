"""The notebook of examples/ runs from its first cell to its last, and draws."""

from __future__ import annotations

import importlib
import os
import sys
import unittest
from typing import Any
from unittest import mock

from .scripted_server import ScriptedServer, scored
from .support import KEY
from .test_examples import PACKAGE, REPOSITORY, needs

NOTEBOOK = REPOSITORY / "examples" / "notebook" / "nights.ipynb"


class Notebook(unittest.TestCase):
    """Against the service of the environment, else a server that gives constant scores."""

    @needs("nbclient", "nbformat", "ipykernel", "matplotlib")
    def test_it_runs(self) -> None:
        nbformat: Any = importlib.import_module("nbformat")
        nbclient: Any = importlib.import_module("nbclient")
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        self.assertEqual([cell["outputs"] for cell in notebook.cells if cell.cell_type == "code" and cell.outputs], [])
        with ScriptedServer(scored) as server:
            environment = {
                "ACUITY_URL": server.url,
                "ACUITY_API_KEY": KEY,
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(PACKAGE / "src"), *(path for path in sys.path if path)]),
            }
            with mock.patch.dict(os.environ, environment):
                client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(REPOSITORY)}})
                client.execute()
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        texts = "".join(output.text for output in outputs if output.output_type == "stream")
        self.assertIn("20 nights scored by ", texts)
        self.assertEqual([output.name for output in outputs if output.output_type == "stream"], ["stdout"] * 3)
        plots = [output for output in outputs if output.output_type == "display_data"]
        self.assertEqual(["image/png" in plot.data for plot in plots], [True, True])


if __name__ == "__main__":
    unittest.main()
