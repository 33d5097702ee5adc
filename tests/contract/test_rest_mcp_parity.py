"""What makes no difference to any operation of the management API: slashes, Accept, HEAD, how a type is written."""

from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Venue
from tests.support import openapi_operations
from tests.support.openapi_operations import Operation

pytestmark = pytest.mark.django_db

EACH_ITS_OWN = {"X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "X-Request-Id"}


def named(operation: Operation) -> str:
    return operation.name


every_operation = pytest.mark.parametrize("operation", openapi_operations.ALL, ids=named)
every_body = pytest.mark.parametrize("operation", openapi_operations.WITH_BODY, ids=named)


@pytest.fixture
def path(operation: Operation, venue: Venue) -> str:
    """Where the operation is called: of one record, a new one."""
    return operation.path_of(venue)


def assert_served(operation: Operation, response: Any) -> None:
    assert (response.status_code, response["Content-Type"]) == (operation.status, "application/json")
    assert response["X-RateLimit-Limit"] == "1000"
    assert "error" not in response.json()


@every_operation
def test_the_example_of_the_document_is_served(operation: Operation, path: str, api: Client) -> None:
    assert_served(operation, operation.send(api, path))


@every_operation
def test_both_slash_forms_are_served_without_a_redirect(operation: Operation, path: str, api: Client) -> None:
    assert_served(operation, operation.send(api, f"{path}/"))


@pytest.mark.exhaustive
@every_operation
def test_accept_is_ignored_for_there_is_only_json(operation: Operation, venue: Venue, api: Client) -> None:
    assert_served(operation, operation.send(api, operation.path_of(venue), accept="application/xml"))
    for accept in ("text/html", "image/png", "nonsense", "*/*;q=0"):
        response = operation.send(api, operation.path_of(venue), accept=accept)
        assert (response.status_code, response["Content-Type"]) == (operation.status, "application/json")


@pytest.mark.exhaustive
@every_body
def test_utf_8_json_is_read_however_its_type_is_written(operation: Operation, venue: Venue, api: Client) -> None:
    for kind in (
        "",
        "application/json",
        "application/json; charset=utf-8",
        'Application/JSON;charset="UTF-8"',
        "application/json; version=1",
    ):
        assert_served(operation, operation.send(api, operation.path_of(venue), content_type=kind))


@every_body
def test_a_body_of_just_the_limit_is_read(operation: Operation, path: str, api: Client) -> None:
    raw = operation.raw().ljust(1024 * 1024)
    assert_served(operation, operation.send(api, path, raw, content_type="application/json"))


@pytest.mark.parametrize(
    "operation", [operation for operation in openapi_operations.ALL if operation.method == "GET"], ids=named
)
def test_head_is_get_without_its_body(operation: Operation, path: str, api: Client) -> None:
    query = openapi_operations.QUERIES.get(operation.name, "")
    # Cursors of events have the second in which they were made.
    with time_machine.travel(timezone.now(), tick=False):
        whole, head = operation.send(api, path), api.head(f"{path}?{query}".rstrip("?"))
    assert (head.status_code, head.content) == (200, b"")
    for response in (whole, head):
        assert {*response.headers} >= EACH_ITS_OWN
    assert {name: value for name, value in head.headers.items() if name not in EACH_ITS_OWN} == {
        name: value for name, value in whole.headers.items() if name not in EACH_ITS_OWN
    }
    missing = api.head("/api/v1/orders/nothing")
    assert (missing.status_code, missing.content, missing["Content-Type"]) == (404, b"", "application/json")
