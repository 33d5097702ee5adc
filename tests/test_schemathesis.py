"""The OpenAPI documents are true: schemathesis, which none of us wrote, asks all that they allow and more.

A short profile; the whole of the management API, as two venues that must not see each other, is `pytest -m deep`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.seed import FURNISHED, LOAD_TEST_ALLOWANCE
from framework.api.openapi import schema
from tests.catalogue.exports import export_builders
from tests.support.live_stack import Up, manage

EXAMPLES = 15
DEEP = 100
DATA = 40
CONFIG = Path(settings.BASE_DIR) / "schemathesis.toml"


@pytest.mark.stack
@pytest.mark.parametrize("name", ["management-v2", "data"])
def test_every_answer_is_as_the_document_says(up: Up, name: str) -> None:
    # Version 2 has all operations of version 1, by the same viewsets.
    # A key gives its account's rate in the data API, where a stranger has one at each of their addresses.
    done = st(up, name, bearer="" if name == "data" else up.record["management"]["wide_api_key"])
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.stack
def test_every_answer_about_exports_is_as_the_document_says_to_a_wallet_that_may_order_them(up: Up) -> None:
    done = st(up, "data", "--include-path-regex", "^/v1/exports", bearer=export_builders.create_session(up))
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.deep
@pytest.mark.parametrize("who", ["a stranger", "a wallet that has signed in"])
def test_every_answer_of_the_data_api_is_as_the_document_says(up: Up, who: str) -> None:
    bearer = "" if who == "a stranger" else export_builders.create_session(up)
    # Who signs out has no session for what is asked next.
    done = st(up, "data", "--exclude-operation-id", "close_session", bearer=bearer, examples=DATA)
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.deep
@pytest.mark.parametrize("name", ["management", "management-v2"])
def test_every_answer_of_the_management_api_is_as_the_document_says_to_venues_that_are_strangers(
    up: Up, tmp_path: Path, name: str
) -> None:
    keys = {name: key for name, key in up.record["management"].items() if name.startswith("wide_")}
    options = ("--name", "schemathesis", "--allowance", str(LOAD_TEST_ALLOWANCE), "--json")
    made = manage(up.state_dir, "apikey", "create", "--venue", FURNISHED, *options)
    keys["with_menu_and_tables"] = json.loads(made.stdout)["text"]
    assert len(keys) == 3
    done = st(up, name, config=as_peers(tmp_path, keys), examples=DEEP, phases="examples,coverage,fuzzing,stateful")
    assert done.returncode == 0, done.stdout[-6000:]
    # Each asks for what another has made, and must not get it.
    assert "object_level_authorization` will not run" not in done.stdout


def as_peers(folder: Path, keys: Mapping[str, str]) -> Path:
    """Our configuration of schemathesis with callers, by name, who must not see what is another's."""
    accounts = folder / "wfc.json"
    headers = {name: [{"name": "Authorization", "value": f"Bearer {key}"}] for name, key in keys.items()}
    accounts.write_text(json.dumps({"auth": [{"name": name, "fixedHeaders": its} for name, its in headers.items()]}))
    config = folder / "schemathesis.toml"
    peers = f"[auth.wfc]\npath = {json.dumps(str(accounts))}\npeers = {json.dumps([*keys])}\n"
    config.write_text(f"{CONFIG.read_text()}\n{peers}")
    return config


def st(
    up: Up,
    name: str,
    *more: str,
    bearer: str = "",
    config: Path = CONFIG,
    examples: int = EXAMPLES,
    phases: str = "examples,fuzzing,stateful",
) -> subprocess.CompletedProcess[str]:
    """A run of schemathesis on a document."""
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("st")), "--no-color", "--config-file", str(config)),
            *("run", f"{up.record['base_url']}/docs/openapi/{name}.json", "--url", up.record["base_url"]),
            *(("--header", f"Authorization: Bearer {bearer}") if bearer else ()),
            *("--max-examples", str(examples), "--phases", phases, *more),
        ],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "tests.support.schemathesis_hooks",
            "PYTHONPATH": str(settings.BASE_DIR),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.django_db
def test_each_operation_that_refuses_a_closed_session_says_so() -> None:
    document = json.loads((schema.FOLDER / "data.json").read_text())
    caller = Client(HTTP_AUTHORIZATION="Bearer ws_closed")
    silent = [
        operation["operationId"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if caller.generic(method.upper(), re.sub("{.*?}", "x", path)).status_code == 401
        and not {"401", "security"} <= {*operation["responses"], *operation}
    ]
    assert silent == []
