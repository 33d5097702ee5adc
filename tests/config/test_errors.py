"""Every way by which an error becomes the one error body, and nothing under an API is ever a page."""

import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory
from pytest_django import Settings
from rest_framework.exceptions import ErrorDetail

from accounts.models import Venue
from config.api import errors
from config.api.refusal import Problem
from tests import make
from tests.config.breaking_urls import SECRET


@pytest.fixture
def _breaking(settings: Settings) -> None:
    """Serve paths that break too."""
    settings.ROOT_URLCONF = "tests.config.breaking_urls"


@pytest.fixture
def lenient(venue: Venue) -> Client:
    """A caller to whom a broken view is answered instead of raised."""
    return make.client(venue, raise_request_exception=False)


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
            "message": "Something broke on our side. Tell us the request_id.",
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
    assert response["X-Request-Id"] in written


@pytest.mark.parametrize("host", ["evil.example", "a_b", "127.0.0.1:port", ""])
@pytest.mark.django_db
def test_a_host_that_is_not_ours_is_400(api: Client, host: str) -> None:
    response = api.get("/api/v1/orders", headers={"host": host})
    assert (response.status_code, response["Content-Type"]) == (400, "application/json")
    assert response.json()["error"] | {"request_id": ""} == {
        "code": "invalid_request",
        "message": "The request is malformed.",
        "param": None,
        "request_id": "",
        "details": [],
    }


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/orders",
        "/api/v1/menus",
        "/api/v1//orders",
        "/api/v1/orders//",
        "/api/v1/orders/a/b/c",
        "/api/v1/orders/%00",
        "/api/v1/orders/%ff%fe",
        "/api/v1/orders/..%2f..",
        "/api/v1/orders.json",
        "/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z.json",
        "/api/v1/reservations/res_01jd5k3v8rf8hb2m0c9t6w4y7z",
    ],
)
@pytest.mark.django_db
def test_an_unknown_path_is_401_without_a_key_and_404_with_one(api: Client, client: Client, path: str) -> None:
    stranger, known = client.get(path), api.get(path)
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (401, "missing_credentials")
    assert (known.status_code, known.json()["error"]["code"]) == (404, "not_found")
    assert {stranger["Content-Type"], known["Content-Type"]} == {"application/json"}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/orders", "GET, POST, HEAD"),
        ("/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z", "GET, HEAD"),
        ("/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z/status", "PUT"),
        ("/api/v1/reservations", "GET, POST, HEAD"),
    ],
)
@pytest.mark.django_db
def test_a_method_that_a_path_does_not_have_is_405_with_those_that_it_has(
    api: Client, path: str, allowed: str
) -> None:
    methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
    for method in sorted(methods - set(allowed.split(", "))):
        response = api.generic(method, path)
        assert (method, response.status_code, response["Allow"]) == (method, 405, allowed)
        if method != "HEAD":
            assert response.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.django_db
def test_head_is_get_without_its_body(api: Client, venue: Venue) -> None:
    order = make.order(venue)
    for path in ("/api/v1/orders", f"/api/v1/orders/{order.public_id}", "/api/v1/reservations"):
        response = api.head(path)
        assert (response.status_code, response.content, response["Content-Type"]) == (200, b"", "application/json")


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


# Parts of the module -----------------------------------------------------------------------------------------------
def test_a_parameter_is_named_as_a_caller_writes_it() -> None:
    def said(text: str) -> list[ErrorDetail]:
        return [ErrorDetail(text)]

    detail: dict[str, Any] = {
        "customer_id": said("one"),
        "items": {0: {"quantity": said("two")}, 2: said("three")},
        "address": {"street": {"non_field_errors": said("four")}},
        "non_field_errors": said("five"),
    }
    assert list(errors.problems(detail)) == [
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
    refusal = errors.plain(status)
    assert (refusal.code, refusal.status) == (code, 400 if status < 500 else 500)


def test_a_database_that_goes_away_within_a_view_is_503() -> None:
    response = errors.handle(OperationalError("server closed the connection"), {"request": RequestFactory().get("/")})
    assert response is not None
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert "server closed" not in str(response.data)
