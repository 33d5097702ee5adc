"""What a key may do: every operation with every scope."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Scope, Venue
from config.urls import management
from framework.api.openapi import schema
from orders.models import Order
from reservations.models import Reservation
from tests.support import builders, openapi_operations

NEEDED = {
    ("GET", "/api/v1/orders"): "orders:read",
    ("HEAD", "/api/v1/orders"): "orders:read",
    ("POST", "/api/v1/orders"): "orders:write",
    ("GET", "/api/v1/orders/{id}"): "orders:read",
    ("HEAD", "/api/v1/orders/{id}"): "orders:read",
    ("PUT", "/api/v1/orders/{id}/status"): "orders:write",
    ("PUT", "/api/v1/orders/{id}/stage"): "orders:write",
    ("GET", "/api/v1/menu"): "orders:read",
    ("HEAD", "/api/v1/menu"): "orders:read",
    ("PUT", "/api/v1/menu"): "menu:write",
    ("PATCH", "/api/v1/menu/items/{id}"): "menu:write",
    ("GET", "/api/v1/reservations"): "reservations:read",
    ("HEAD", "/api/v1/reservations"): "reservations:read",
    ("POST", "/api/v1/reservations"): "reservations:write",
    ("GET", "/api/v1/availability"): "reservations:read",
    ("HEAD", "/api/v1/availability"): "reservations:read",
    ("GET", "/api/v1/holds"): "reservations:read",
    ("HEAD", "/api/v1/holds"): "reservations:read",
    ("POST", "/api/v1/holds"): "reservations:write",
    ("GET", "/api/v1/holds/{id}"): "reservations:read",
    ("HEAD", "/api/v1/holds/{id}"): "reservations:read",
    ("DELETE", "/api/v1/holds/{id}"): "reservations:write",
    ("GET", "/api/v1/test/clock"): "reservations:read",
    ("HEAD", "/api/v1/test/clock"): "reservations:read",
    ("POST", "/api/v1/test/clock"): "reservations:write",
}
WRITING = ("POST", "PUT", "PATCH")


def client_with(venue: Venue, *scopes: str) -> Client:
    return builders.client_with(builders.key(venue, scopes=scopes).text)


def ask(api: Client, method: str, path: str) -> Any:
    return api.generic(method, path, "{}" if method in WRITING else "", content_type="application/json")


@pytest.mark.parametrize(("operation", "needed"), NEEDED.items(), ids=lambda part: str(part))
def test_an_operation_needs_one_scope_and_no_other(venue: Venue, operation: tuple[str, str], needed: str) -> None:
    method, path = operation
    order = builders.order(venue)
    if "clock" in path:
        Venue.objects.update(is_sandbox=True)
    made = builders.hold(venue) if "holds" in path else order
    made = openapi_operations.make_menu_item(venue) if "items" in path else made
    path = path.format(id=made.public_id)
    path += f"?{openapi_operations.QUERIES['get_availability']}" if path.endswith("availability") else ""
    others = [scope for scope in Scope.values if scope != needed]
    refused = ask(client_with(venue, *others), method, path)
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == f'Bearer realm="tablewire", error="insufficient_scope", scope="{needed}"'
    if method != "HEAD":
        error = refused.json()["error"]
        assert (error["code"], error["param"]) == ("insufficient_scope", None)
        assert error["message"] == f"This API key lacks the scope `{needed}`."
    assert ask(client_with(venue, needed), method, path).status_code == (400 if method in WRITING else 200)
    assert Order.objects.get().status == "pending"
    assert Reservation.objects.count() == 0


def test_a_refusal_says_nothing_of_what_is_there(venue: Venue) -> None:
    api = client_with(venue, "reservations:read")
    there = f"/api/v1/orders/{builders.order(venue).public_id}"
    nowhere = "/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z"
    bodies = [ask(api, "GET", path).json()["error"] | {"request_id": ""} for path in (there, nowhere)]
    assert bodies[0] == bodies[1]


def test_authorization_is_checked_before_validation(venue: Venue) -> None:
    refused = client_with(venue).get("/api/v1/orders?what=ever")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "insufficient_scope")


def test_what_an_address_does_not_have_is_405_or_404_for_any_key(venue: Venue) -> None:
    api = client_with(venue)
    assert api.delete("/api/v1/orders").status_code == 405
    assert api.options("/api/v1/reservations").status_code == 405
    assert api.get("/api/v1/menus").status_code == 404


def test_a_refused_scope_is_counted(venue: Venue) -> None:
    refused = client_with(venue).get("/api/v1/orders")
    assert refused["X-RateLimit-Remaining"] == "999"


@pytest.mark.exhaustive
def test_the_openapi_document_names_the_scope_of_each_operation() -> None:
    document = schema.generate("Management", "", management)
    named = {
        (method.upper(), path): operation["security"][0]["ApiKey"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("get", "post", "put", "patch", "delete")
    }
    needed = {operation: [scope] for operation, scope in NEEDED.items() if operation[0] != "HEAD"}
    # One of two scopes is enough for events (tests/accounts/test_events_api.py), and webhooks need those of their
    # records besides (tests/accounts/webhooks/test_api.py).
    webhooks = {operation for operation in named if operation[1].startswith("/api/v1/webhooks")}
    assert len(webhooks) == 10
    needed |= {each: ["webhooks:read" if each[0] == "GET" else "webhooks:write"] for each in webhooks}
    assert named == needed | {("GET", "/api/v1/events"): ["orders:read"]}
    security = document["paths"]["/api/v1/events"]["get"]["security"]
    assert security == [
        {name: [scope]} for name in ("ApiKey", "OAuth") for scope in ("orders:read", "reservations:read")
    ]
