"""Every way by which an error becomes the one error body, and nothing under an API is ever a page."""

import json
import logging
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from pytest_django import Settings
from rest_framework.exceptions import ErrorDetail

from accounts.models import Venue
from framework.api import error_handler
from framework.errors import Problem
from framework.observability import logging as log_config
from tests.framework.api.failing_urls import SECRET
from tests.support import builders, openapi_operations, users
from tests.support.openapi_operations import Operation


@pytest.fixture
def _breaking(settings: Settings) -> None:
    """Serve paths that break too."""
    settings.ROOT_URLCONF = "tests.framework.api.failing_urls"


@pytest.fixture
def lenient(venue: Venue) -> Client:
    """A caller to whom a broken view is answered instead of raised."""
    return builders.client(venue, raise_request_exception=False)


@pytest.mark.parametrize("path", ["/api/v1/breaks", "/api/v1/breaks-plainly", "/v1/breaks"])
@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.usefixtures("_breaking")
def test_what_breaks_is_500_with_nothing_of_the_inside(
    lenient: Client, path: str, settings: Settings, debug: bool
) -> None:
    settings.DEBUG = debug
    response = lenient.get(path)
    assert (response.status_code, response["Content-Type"]) == (500, "application/json")
    assert response.json() == {
        "error": {
            "code": "internal_error",
            "message": "This is an error on our side. Contact us with the request_id.",
            "param": None,
            "request_id": response["X-Request-Id"],
            "details": [],
        }
    }
    assert response["X-RateLimit-Limit"] in ("1000", "10")


@pytest.mark.parametrize("path", ["/api/v1/breaks", "/api/v1/breaks-plainly", "/v1/breaks"])
@pytest.mark.usefixtures("_breaking")
def test_what_breaks_is_logged_once_with_its_request_id(
    lenient: Client, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = lenient.get(path)
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == f"Internal Server Error: {path}"
    written = logging.Formatter().format(record)
    assert f"ZeroDivisionError: {SECRET}" in written
    log_config.add_request_id(record)
    assert response["X-Request-Id"] in vars(record)["request_suffix"]


@pytest.mark.parametrize("operation", openapi_operations.ALL, ids=lambda operation: operation.name)
@pytest.mark.django_db
def test_every_operation_of_the_management_api_breaks_like_that(
    operation: Operation, lenient: Client, venue: Venue
) -> None:
    path = operation.path_of(venue)
    # Of an empty list the tally knows already that there is nothing to be read.
    builders.order(venue)
    builders.reservation(venue)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {openapi_operations.TABLES[operation.noun]} RENAME TO elsewhere")
    response = operation.send(lenient, path)
    assert (response.status_code, response["Content-Type"]) == (500, "application/json")
    assert response.json()["error"]["code"] == "internal_error"
    assert b"elsewhere" not in response.content
    assert [response[name].isdigit() for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining")] == [True, True]


@pytest.mark.django_db
def test_each_request_has_an_id_of_its_own_in_header_and_body(api: Client) -> None:
    answers = [api.get("/api/v1/nothing") for _ in range(3)]
    ids = [response["X-Request-Id"] for response in answers]
    assert ids == [response.json()["error"]["request_id"] for response in answers]
    assert len({*ids}) == 3
    assert all(len(request_id) == 30 and request_id.startswith("req_") for request_id in ids)


def test_outside_the_apis_django_answers_with_pages(client: Client) -> None:
    for path in ("/nothing", "/apis", "/v10/x"):
        response = client.get(path)
        assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert "X-RateLimit-Limit" not in response


@pytest.mark.django_db
def test_an_unknown_page_has_the_logo_and_offers_the_dashboard_to_who_has_signed_in(venue: Venue) -> None:
    for client, offered in ((Client(), 0), (users.member(venue), 1)):
        page = client.get("/nothing").content.decode()
        assert 'class="brand" href="/"' in page
        assert "tablewire/mark" in page
        assert page.count('href="/dashboard/"') == offered


# Parts of the module
def test_a_parameter_is_named_as_a_caller_writes_it() -> None:
    def output(text: str) -> list[ErrorDetail]:
        return [ErrorDetail(text)]

    detail: dict[str, Any] = {
        "customer_id": output("one"),
        "items": {0: {"quantity": output("two")}, 2: output("three")},
        "address": {"street": {"non_field_errors": output("four")}},
        "non_field_errors": output("five"),
    }
    assert list(error_handler.flatten_detail(detail)) == [
        Problem("customer_id", "one"),
        Problem("items[0].quantity", "two"),
        Problem("items[2]", "three"),
        Problem("address.street", "four"),
        Problem(None, "five"),
    ]


@pytest.mark.parametrize(
    ("status", "code"), [(403, "invalid_request"), (413, "invalid_request"), (502, "internal_error")]
)
def test_a_bare_status_is_folded_into_those_of_the_contract(status: int, code: str) -> None:
    response = error_handler.status_response(status, RequestFactory().get("/"))
    assert json.loads(response.content)["error"]["code"] == code
    assert response.status_code == (400 if status < 500 else 500)


def test_a_database_that_goes_away_within_a_view_is_503() -> None:
    response = error_handler.handle_exception(
        OperationalError("server closed the connection"), {"request": RequestFactory().get("/")}
    )
    assert response is not None
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert "server closed" not in str(response.data)
