"""The `webhooks` section of the management API's OpenAPI document: event types with headers and bodies."""

from typing import Any

from accounts.models import EventType
from accounts.webhooks.delivery_queue import MAX_ATTEMPTS
from accounts.webhooks.http_client import TIMEOUT_S
from framework.public_ids import pattern

DESCRIPTIONS = {
    EventType.ORDER_CREATED: "An order was placed.",
    EventType.ORDER_UPDATED: "Staff changed an order, such as its address.",
    EventType.ORDER_COMPLETED: "An order was completed.",
    EventType.ORDER_CANCELLED: "An order was cancelled.",
    EventType.ORDER_REOPENED: "Staff reopened an order that was completed.",
    EventType.RESERVATION_CREATED: "A reservation was made; its status says whether it is confirmed.",
    EventType.RESERVATION_UPDATED: "A reservation was changed: its time, its party or its tables.",
    EventType.RESERVATION_CONFIRMED: "A reservation was confirmed: when it was made, or later while it was pending.",
    EventType.RESERVATION_CANCELLED: "A reservation was cancelled.",
    EventType.EXPORT_FINISHED: "An export of a wallet of the account has succeeded, failed or been cancelled.",
    EventType.WEBHOOK_PING: "A test event.",
}
HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "webhook-id": ("The id of the event, the same on each attempt.", {"type": "string", "pattern": pattern("evt")}),
    "webhook-timestamp": ("The time of this attempt, in Unix seconds.", {"type": "string", "pattern": "^[0-9]+$"}),
    "webhook-signature": (
        "Standard Webhooks 1.0: `v1,` and base64; two, separated by a space, while the secret rotates.",
        {"type": "string"},
    ),
}
ANSWERS = {
    "2XX": f"The event was received. Answer within {TIMEOUT_S:g} seconds; the body is ignored.",
    "410": "The endpoint no longer wants events: it is disabled.",
    "default": f"The delivery is retried, {MAX_ATTEMPTS} attempts in all. Redirects are not followed.",
}
PING = {
    "type": "object",
    "required": ["id", "object", "url", "types"],
    "properties": {
        "id": {"type": "string", "pattern": pattern("whk")},
        "object": {"const": "webhook_endpoint"},
        "url": {"type": "string", "format": "uri"},
        "types": {"type": "array", "items": {"type": "string"}},
    },
}

# The schema is in the document of the data API, which this document cannot reference.
EXPORT = {
    "type": "object",
    "description": "ExportRecord of the data API: what `GET /v1/exports/{id}` answers.",
    "required": ["id", "status"],
    "properties": {
        "id": {"type": "string", "pattern": pattern("ex")},
        "status": {"enum": ["succeeded", "failed", "cancelled"]},
    },
}
SCHEMAS = {"webhook": PING, "export": EXPORT}


def build_webhooks_section() -> dict[str, Any]:
    """Return `webhooks` of a document that has the schemas OrderRecord and ReservationRecord."""
    return {kind.value: {"post": build_operation(kind, description)} for kind, description in DESCRIPTIONS.items()}


def build_operation(kind: EventType, description: str) -> dict[str, Any]:
    """Return the operation of one event type. `data` is the whole record as the API returns it."""
    noun = kind.value.partition(".")[0]
    body = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"const": kind.value},
            "timestamp": {"type": "string", "format": "date-time", "description": "The time of the event, UTC."},
            "data": SCHEMAS.get(noun, {"$ref": f"#/components/schemas/{noun.capitalize()}Record"}),
        },
    }
    return {
        "operationId": f"on_{kind.value.replace('.', '_')}",
        "summary": description,
        "tags": ["webhooks"],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": about, "schema": schema}
            for name, (about, schema) in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {status: {"description": about} for status, about in ANSWERS.items()},
    }
