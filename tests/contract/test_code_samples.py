"""The samples of code in the OpenAPI documents: all compile, and those of the management API and of free calls run."""

import contextlib
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from pytest_django import Settings

from accounts.models import Event, WebhookEndpoint
from framework.api.openapi.code_samples import example_request, python_sample
from framework.api.openapi.schema import EXAMPLE_ADDRESS, FOLDER, read_document
from orders.models import Order
from reservations.models import Hold, Reservation
from tests.support import builders, data_examples
from tests.support.live_server import served

# In an order in which each call finds what it is about.
MANAGEMENT_CALLS = (
    *("create_order", "list_orders", "get_order", "set_order_stage", "set_order_status"),
    *("replace_menu", "get_menu", "change_menu_item"),
    *("get_availability", "create_hold", "list_holds", "get_hold", "release_hold"),
    *("create_reservation", "list_reservations", "get_reservation", "change_reservation", "cancel_reservation"),
    "list_events",
    *("get_clock", "advance_clock"),
    *("create_webhook", "list_webhooks", "get_webhook", "change_webhook", "test_webhook", "list_webhook_deliveries"),
    *("resend_webhook_delivery", "resend_failed_webhook_deliveries", "rotate_webhook_secret", "delete_webhook"),
)
FREE_CALLS = (
    *("list_markets", "list_cuisines", "list_attributes", "search_landmarks", "autocomplete", "match_restaurant"),
    *("search_restaurants", "get_restaurant", "get_restaurant_hours", "get_restaurant_availability"),
)


def samples(document: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The samples of each operation by their label."""
    return {
        operation["operationId"]: {sample["label"]: sample["source"] for sample in operation["x-codeSamples"]}
        for operations in document["paths"].values()
        for operation in operations.values()
    }


def committed(name: str) -> dict[str, dict[str, str]]:
    return samples(json.loads((FOLDER / f"{name}.json").read_text()))


def run_curl(source: str, key: str) -> None:
    done = subprocess.run(["bash", "-euc", source], env=os.environ | {"API_KEY": key}, capture_output=True, check=True)
    assert "error" not in json.loads(done.stdout), done.stdout


def run_python(source: str, key: str) -> None:
    """Run the program in this process: importing httpx anew would take most of the time."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setenv("API_KEY", key)
        exec(compile(source, "sample", "exec"), {})  # noqa: S102  # our own samples


def run_javascript(source: str, key: str) -> None:
    command = ["node", "--input-type=module", "-"]
    subprocess.run(command, input=source.encode(), env=os.environ | {"API_KEY": key}, capture_output=True, check=True)


RUNNERS = {"curl": run_curl, "Python": run_python, "JavaScript": run_javascript}
LABELS = list(RUNNERS)


@pytest.mark.parametrize("name", ["management", "management-v2", "data"])
def test_each_operation_has_a_sample_in_each_language_with_the_values_of_its_example(name: str) -> None:
    for operation, sources in committed(name).items():
        assert list(sources) == LABELS
        for source in sources.values():
            address = re.search(rf"{re.escape(EXAMPLE_ADDRESS)}/[^\s'\"]+", source)
            assert address, operation
            assert not re.search("[{]|%7B", address[0])
        compile(sources["Python"], operation, "exec")


def test_the_shell_compiles_all_curl_commands() -> None:
    commands = [sources["curl"] for name in ("management-v2", "data") for sources in committed(name).values()]
    done = subprocess.run(["bash", "-n"], input="\n".join(commands), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sample_has_any_header_value_path_and_body() -> None:
    answer = {"content": {"application/json": {"examples": {"one": {"value": {"name": "a/b c"}}}}}}
    operation = {"parameters": [{"name": "name", "in": "path", "required": True}], "responses": {"200": answer}}
    request = example_request("http://x", "delete", "/files/{name}", operation, {})
    assert request.url == "http://x/files/a%2Fb%20c"
    request = replace(request, headers={"X-Note": '"it\'s" \\ é'}, body={"why": None})
    with patch("httpx.request") as called:
        run_python(python_sample(request), "")
    called.assert_called_once_with("DELETE", "http://x/files/a%2Fb%20c", headers=request.headers, json={"why": None})


# Compiles each text of a list as the body of an asynchronous function.
COMPILE = """
const { constructor } = Object.getPrototypeOf(async () => {});
for (const source of JSON.parse(require("fs").readFileSync(0))) new constructor(source);
"""


@pytest.mark.outside
def test_node_compiles_all_samples_in_javascript() -> None:
    sources = [source["JavaScript"] for name in ("management-v2", "data") for source in committed(name).values()]
    subprocess.run(["node", "-e", COMPILE], input=json.dumps(sources).encode(), check=True)


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server on the database of the tests."""
    with served(tmp_path_factory.mktemp("web") / "web.log") as base_url:
        yield base_url


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("label", ["curl", "Python", pytest.param("JavaScript", marks=pytest.mark.outside)])
def test_samples_run(web: str, settings: Settings, label: str) -> None:
    settings.PUBLIC_BASE_URL = web
    data_examples.make_restaurant()
    venue = builders.venue(timezone="UTC", currency="EUR", is_sandbox=True)
    builders.floor(venue)
    # Without a menu, the order of the example may have any item.
    key = builders.key(venue).text
    known = samples(json.loads(read_document("management-v2"))) | samples(json.loads(read_document("data")))
    records: Mapping[str, Any] = {
        "ord": Order,
        "hold": Hold,
        "res": Reservation,
        "whk": WebhookEndpoint,
        "evt": Event,
    }
    for operation in (*MANAGEMENT_CALLS, *FREE_CALLS):
        source = known[operation][label]
        for example in re.finditer(rf"\b({'|'.join(records)})_[0-9a-z]{{26}}", source):
            source = source.replace(example[0], records[example[1]].objects.latest("id").public_id)
        RUNNERS[label](source, key)
