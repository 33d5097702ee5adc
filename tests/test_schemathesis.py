"""The OpenAPI documents are true: schemathesis, which none of us wrote, asks all that they allow and more.

A short profile; `uv run st run <base_url>/docs/openapi/management.json --url <base_url>` with a wide key is the whole.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.running import Up

EXAMPLES = 15


@pytest.mark.parametrize("name", ["management", "data"])
def test_every_answer_is_as_the_document_says(up: Up, name: str) -> None:
    key = up.said["management"]["wide_api_key"]
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("st")), "run", up.said["docs"][name], "--url", up.said["base_url"]),
            *("--header", f"Authorization: Bearer {key}", "--max-examples", str(EXAMPLES)),
            *("--phases", "examples,fuzzing,stateful", "--no-color"),
        ],
        cwd=settings.BASE_DIR,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.callers", "PYTHONPATH": str(settings.BASE_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
