"""Generates the typed part of the package when it is built, so that it is never older than the documents."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DOCUMENTS = ("management-v2.json", "data.json")


class GeneratedPart(BuildHookInterface[Any]):
    """Adds the generated packages to a wheel, and the documents to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate into a temporary folder, which the builder copies from."""
        root = Path(self.root)
        if self.target_name == "sdist":
            documents = root.parents[1] / "docs" / "openapi"
            build_data["force_include"] |= {str(documents / name): f"openapi/{name}" for name in DOCUMENTS}
            return
        self.scratch = tempfile.TemporaryDirectory()
        subprocess.run([sys.executable, str(root / "generate.py"), self.scratch.name], check=True)
        build_data["force_include"][self.scratch.name] = "tablewire_client"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if self.target_name != "sdist":
            self.scratch.cleanup()
