"""Webhooks in the OpenAPI document of the management API: each type of event, with its headers and its body."""

from typing import Any

from accounts.models import EventType
from accounts.webhooks.delivery_queue import MOST_TRIES
from accounts.webhooks.http_client import TIMEOUT_S
from framework.public_ids import pattern

WORDS = {
    EventType.ORDER_CREATED: "An order was placed.",
    EventType.ORDER_UPDATED: "An order was changed by the staff: its address, for example.",
    EventType.ORDER_COMPLETED: "An order was completed.",
    EventType.ORDER_CANCELLED: "An order was cancelled.",
    EventType.ORDER_REOPENED: "The staff took back that an order was completed or cancelled.",
    EventType.RESERVATION_CREATED: "A reservation was made; its status says whether it is confirmed.",
    EventType.RESERVATION_UPDATED: "A reservation was changed: its time, its party or its tables.",
    EventType.RESERVATION_CONFIRMED: "A reservation was confirmed: when it was made, or later while it was pending.",
    EventType.RESERVATION_CANCELLED: "A reservation was cancelled.",
    EventType.EXPORT_FINISHED: "An export of a wallet of the account has succeeded, failed or been cancelled.",
    EventType.WEBHOOK_PING: "A test event, asked for by a person.",
}
HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "webhook-id": ("The event, the same on each try.", {"type": "string", "pattern": pattern("evt")}),
    "webhook-timestamp": ("The moment of this try, in Unix seconds.", {"type": "string", "pattern": "^[0-9]+$"}),
    "webhook-signature": (
        "Standard Webhooks 1.0: `v1,` and base64; two, separated by a space, while the secret rotates.",
        {"type": "string"},
    ),
}
ANSWERS = {
    "2XX": f"You have it. Answer within {TIMEOUT_S:g} seconds; what is in the body does not matter.",
    "410": "You want no more: the endpoint is switched off.",
    "default": f"It is tried again, {MOST_TRIES} times in all; a redirect is not followed.",
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

# Its schema is in the document of the data API, which this one does not refer into.
EXPORT = {
    "type": "object",
    "description": "ExportRecord of the data API: what `GET /v1/exports/{id}` answers.",
    "required": ["id", "status"],
    "properties": {
        "id": {"type": "string", "pattern": pattern("ex")},
        "status": {"enum": ["succeeded", "failed", "cancelled"]},
    },
}


def section() -> dict[str, Any]:
    """The `webhooks` of an OpenAPI 3.1 document that has the schemas OrderRecord and ReservationRecord."""
    return {kind.value: {"post": operation(kind, words)} for kind, words in WORDS.items()}


def operation(kind: EventType, words: str) -> dict[str, Any]:
    """How one type of event arrives."""
    body = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"const": kind.value},
            "timestamp": {"type": "string", "format": "date-time", "description": "When it happened, UTC."},
            "data": record(kind),
        },
    }
    return {
        "operationId": f"on_{kind.value.replace('.', '_')}",
        "summary": words,
        "tags": ["webhooks"],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": about, "schema": schema}
            for name, (about, schema) in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {status: {"description": about} for status, about in ANSWERS.items()},
    }


def record(kind: EventType) -> dict[str, Any]:
    """The schema of `data`: the whole record, as the API answers it."""
    noun = kind.value.partition(".")[0]
    if noun == "webhook":
        return PING
    if noun == "export":
        return EXPORT
    return {"$ref": f"#/components/schemas/{noun.capitalize()}Record"}
