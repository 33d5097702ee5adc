"""Data files: TOML beside the module that reads them."""

import tomllib
from pathlib import Path
from typing import Any


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file, which is UTF-8 whatever the locale is."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
