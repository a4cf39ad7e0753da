"""What hatchling runs before it packs a wheel or a source archive."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Adds the client for threads, which is no part of the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        runpy.run_path(str(Path(self.root) / "unasync.py"), run_name="__main__")
        build_data["artifacts"].append("src/acuity_client/_sync/*.py")
