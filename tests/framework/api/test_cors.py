"""Calls from web pages of other origins."""

import pytest
from django.test import Client

from payments.pricing import default_products
from tests.catalogue import builders as catalogue

PREFLIGHT = {"origin": "https://shop.example", "access-control-request-method": "PUT"}


@pytest.mark.parametrize("path", ["/api/v1/orders", "/v1/restaurants"])
def test_preflight_request_needs_no_key_and_is_not_counted(path: str) -> None:
    response = Client().options(path, headers=PREFLIGHT | {"access-control-request-headers": "authorization"})
    assert (response.status_code, response.content) == (204, b"")
    assert response["Access-Control-Allow-Origin"] == "*"
    assert "PUT" in response["Access-Control-Allow-Methods"]
    assert "authorization" in response["Access-Control-Allow-Headers"]
    assert "Content-Type" not in response
    assert "X-RateLimit-Remaining" not in response


@pytest.mark.django_db
def test_a_page_may_read_answers_and_refusals_with_their_headers(api: Client) -> None:
    for client, status in ((api, 200), (Client(), 401)):
        response = client.get("/api/v1/orders", headers={"origin": "https://shop.example"})
        assert (response.status_code, response["Access-Control-Allow-Origin"]) == (status, "*")
        exposed = {name.strip() for name in response["Access-Control-Expose-Headers"].split(",")}
        assert {"X-RateLimit-Remaining", "Retry-After", "ETag", "Location"} <= exposed


def test_the_back_office_is_not_for_pages_of_others() -> None:
    response = Client().get("/admin/login/", headers={"origin": "https://shop.example"})
    assert "Access-Control-Allow-Origin" not in response


def test_options_without_a_preflight_is_no_method_of_ours(api: Client) -> None:
    response = api.options("/api/v1/orders")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


def test_a_page_may_show_the_key_to_a_booking() -> None:
    asked = {"origin": "https://shop.example", "access-control-request-headers": "x-manage-token"}
    response = Client().options("/v1/flow/bookings/fb_1", headers=asked | {"access-control-request-method": "GET"})
    assert "x-manage-token" in response["Access-Control-Allow-Headers"]


SENT = [
    *("PAYMENT-SIGNATURE", "X-PAYMENT", "X-Receipt", "SIGN-IN-WITH-X", "Authorization", "Idempotency-Key"),
    # Clients in JavaScript send it with a payment, although it is a header of answers.
    "Access-Control-Expose-Headers",
]
READ = [
    *("x402", "PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt", "X-Tier", "Retry-After"),
    *("RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("WWW-Authenticate", "Allow"),
]
SOLD = "/v1/restaurants/noma?fields=context"


@pytest.mark.parametrize("header", SENT)
@pytest.mark.parametrize("path", [SOLD, "/.well-known/x402"])
def test_a_page_may_send_what_a_payment_needs(path: str, header: str) -> None:
    asked = {"access-control-request-method": "GET", "access-control-request-headers": header.lower()}
    response = Client().options(path, headers={"origin": "https://shop.example"} | asked)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (204, "*")
    assert header.lower() in response["Access-Control-Allow-Headers"].split(", ")
    assert "GET" in response["Access-Control-Allow-Methods"]


@pytest.mark.django_db
def test_a_page_may_read_what_a_402_says() -> None:
    default_products.create_missing()
    catalogue.restaurant(slug="noma")
    catalogue.landmark("Tivoli Gardens")
    response = Client().get(SOLD, headers={"origin": "https://shop.example", "access-control-expose-headers": "*"})
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (402, "*")
    exposed = response["Access-Control-Expose-Headers"].split(", ")
    assert {*READ} <= {*exposed}
    assert {"x402", "PAYMENT-REQUIRED", "X-Tier", "RateLimit"} <= {*response.headers}
