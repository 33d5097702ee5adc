"""Examples of events and webhook endpoints for the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import OpenApiExample

from framework.api.openapi.schema import EXAMPLE_DAY

EVENT = {
    "id": "evt_01m8fnwywmet1vgb1eajpvcaa3",
    "type": "menu.item_sold_out",
    "timestamp": "2026-11-21T19:30:00Z",
    "data": {"id": "tiramisu", "object": "menu_item", "name": "Tiramisù", "price": "6.50", "sold_out": True},
}
WEBHOOK_ID = "whk_01m8fnwywmet1vgb1eajpvc9zz"
NEW_ENDPOINT: dict[str, Any] = {
    "url": "https://hooks.example.com/tablewire",
    "description": "Kitchen screen",
    "types": ["order.cancelled", "order.created"],
}
ENDPOINT = {
    "id": WEBHOOK_ID,
    "object": "webhook_endpoint",
    **NEW_ENDPOINT,
    "status": "enabled",
    "disabled_reason": None,
    "disabled_at": None,
    "failing_since": None,
    "previous_secret_expires_at": None,
    "created_at": "2026-11-21T18:04:05Z",
}
# A secret is base64 of 32 bytes; this one is "An example of a secret, no more.".
SECRET = {"secret": "whsec_QW4gZXhhbXBsZSBvZiBhIHNlY3JldCwgbm8gbW9yZS4="}
PENDING = {
    "event_id": "evt_01m8fnwywmet1vgb1eajpvcaa3",
    "object": "webhook_delivery",
    "type": "webhook.ping",
    "state": "pending",
    "attempts": 0,
    "last_status": None,
    "last_response": "",
    "last_error": "",
    "created_at": "2026-11-21T19:30:00Z",
    "last_attempt_at": None,
    "next_attempt_at": "2026-11-21T19:30:00Z",
    "delivered_at": None,
    "failed_at": None,
}
DELIVERED = PENDING | {
    "type": "order.created",
    "state": "delivered",
    "attempts": 1,
    "last_status": 204,
    "last_attempt_at": "2026-11-21T19:30:00Z",
    "next_attempt_at": None,
    "delivered_at": "2026-11-21T19:30:01Z",
}


def answer(name: str, value: Any, status: int = 200) -> OpenApiExample:
    return OpenApiExample(name, value=value, response_only=True, status_codes=[str(status)])


def body(name: str, value: Any) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


EVENTS = [
    answer(
        "The only one",
        {"data": [EVENT], "pagination": {"limit": 100, "has_more": False, "next_cursor": "eyJ2IjoxfQ"}},
    )
]
WEBHOOKS = [answer("The only one", {"data": [ENDPOINT]})]
WEBHOOK = [answer("An endpoint for orders", ENDPOINT)]
CREATE_WEBHOOK = [body("For orders", NEW_ENDPOINT), answer("With its secret", ENDPOINT | SECRET, 201)]
CHANGE_WEBHOOK = [
    body("All events of orders that end", {"types": ["order.cancelled", "order.completed"]}),
    answer("The endpoint", ENDPOINT | {"types": ["order.cancelled", "order.completed"]}),
]
ROTATE_WEBHOOK = [
    answer("With its new secret", ENDPOINT | {"previous_secret_expires_at": "2026-11-22T18:04:05Z"} | SECRET)
]
TEST_WEBHOOK = [answer("A test event that waits", PENDING)]
DELIVERIES = [
    answer(
        "One that has arrived",
        {"data": [DELIVERED], "pagination": {"limit": 20, "has_more": False, "next_cursor": None}},
    )
]
RESEND_DELIVERY = [answer("It waits again", PENDING | {"type": "order.created"})]
RESEND_FAILED = [
    body("Those of a night", {"since": "2026-11-21T20:00:00Z"}),
    answer("Two deliveries", {"resent": 2, "has_more": False}),
]
CLOCK_RECORD = {"object": "clock", "now": "2026-11-21T19:30:00Z", "ahead_s": 0}
CLOCK = [answer("Not advanced", CLOCK_RECORD)]
ADVANCE_CLOCK = [
    body("To a day in three weeks", {"to": f"{EXAMPLE_DAY}T19:30:00Z"}),
    answer("Advanced", CLOCK_RECORD | {"now": f"{EXAMPLE_DAY}T19:30:00Z", "ahead_s": 1814400}),
]
