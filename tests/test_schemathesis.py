"""The OpenAPI documents are true: schemathesis, which none of us wrote, asks all that they allow and more.

A short profile; `uv run st run <base_url>/docs/openapi/management.json --url <base_url>` with a wide key is the whole.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from config.api import openapi
from tests.catalogue import exporting
from tests.running import Up

EXAMPLES = 15


@pytest.mark.parametrize("name", ["management", "data"])
def test_every_answer_is_as_the_document_says(up: Up, name: str) -> None:
    done = st(up, name, bearer=up.said["management"]["wide_api_key"])
    assert done.returncode == 0, done.stdout[-6000:]


def test_every_answer_about_exports_is_as_the_document_says_to_a_wallet_that_may_order_them(up: Up) -> None:
    done = st(up, "data", "--include-path-regex", "^/v1/exports", bearer=exporting.token(up))
    assert done.returncode == 0, done.stdout[-6000:]


def st(up: Up, name: str, *more: str, bearer: str) -> subprocess.CompletedProcess[str]:
    """A run of schemathesis on a document."""
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("st")), "run", up.said["docs"][name], "--url", up.said["base_url"]),
            *("--header", f"Authorization: Bearer {bearer}", "--max-examples", str(EXAMPLES)),
            *("--phases", "examples,fuzzing,stateful", "--no-color", *more),
        ],
        cwd=settings.BASE_DIR,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.callers", "PYTHONPATH": str(settings.BASE_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.django_db
def test_each_operation_that_refuses_a_closed_session_says_so() -> None:
    document = json.loads((openapi.FOLDER / "data.json").read_text())
    caller = Client(HTTP_AUTHORIZATION="Bearer ws_closed")
    silent = [
        operation["operationId"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if caller.generic(method.upper(), re.sub("{.*?}", "x", path)).status_code == 401
        and not {"401", "security"} <= {*operation["responses"], *operation}
    ]
    assert silent == []
