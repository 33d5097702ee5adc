"""The list of what is installed, as SECURITY.md says to make it, and that what it promises is there."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def plain(requirement: str) -> str:
    """The name of a package in a requirement."""
    return re.split(r"[\[<>=~! ]", requirement)[0].lower()


@pytest.mark.exhaustive
def test_the_list_of_packages_names_each_that_we_ask_for_at_the_version_that_is_locked() -> None:
    (line,) = re.findall(r"^(uv export .*) > sbom\.json$", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    done = subprocess.run(shlex.split(line), cwd=ROOT, capture_output=True, text=True, check=True)
    payload = {one["name"]: one["version"] for one in json.loads(done.stdout)["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {plain(one) for one in project["dependencies"]}
    asked |= {plain(one) for extra in project["optional-dependencies"].values() for one in extra}
    locked = {one["name"]: one["version"] for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    assert asked - payload.keys() == set()
    assert {name: version for name, version in payload.items() if name in asked} == {
        name: locked[name] for name in asked
    }
    # Tools of ours are nobody's risk but ours.
    assert {"pytest", "moto", "schemathesis"} & payload.keys() == set()


def test_every_test_that_the_threat_model_leans_on_is_there() -> None:
    page = (ROOT / "SECURITY.md").read_text()
    named = set(re.findall(r"`((?:\w+/)+(?:test_\w+\.py)?)`", page)) - {"deploy/"}
    assert len(named) > 25
    assert {name for name in named if not (ROOT / "tests" / name).exists()} == set()
