"""The `webhooks` section of the management API's OpenAPI document (openapi.toml): event types, headers and bodies."""

from pathlib import Path
from typing import Any

from accounts.models import EventType
from accounts.webhooks.delivery_queue import MAX_ATTEMPTS
from accounts.webhooks.http_client import TIMEOUT_S
from framework.data_files import read_toml

TEXTS = read_toml(Path(__file__).with_name("openapi.toml"))
DESCRIPTIONS: dict[str, str] = TEXTS["descriptions"]


def build_webhooks_section() -> dict[str, Any]:
    """Return `webhooks` of a document that has the schemas OrderRecord, ReservationRecord and MenuItemRecord."""
    return {kind.value: {"post": build_operation(kind)} for kind in EventType}


def build_operation(kind: EventType) -> dict[str, Any]:
    """Return the operation of one event type. `data` is the whole record as the API returns it."""
    noun = kind.value.partition(".")[0]
    schemas = TEXTS["schemas"]
    record = {"$ref": f"#/components/schemas/{noun.capitalize()}Record"}
    body = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"const": kind.value},
            "timestamp": {"type": "string", "format": "date-time", "description": "The time of the event, UTC."},
            "data": schemas.get(kind.value) or schemas.get(noun, record),
        },
    }
    return {
        "operationId": f"on_{kind.value.replace('.', '_')}",
        "summary": DESCRIPTIONS[kind],
        # The operations on endpoints have the tag of their path, "webhooks".
        "tags": ["webhook-events"],
        "parameters": [
            {"name": header["name"], "in": "header", "required": True, **header} for header in TEXTS["headers"]
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            status: {"description": text.format(timeout_s=TIMEOUT_S, max_attempts=MAX_ATTEMPTS)}
            for status, text in TEXTS["responses"].items()
        },
    }
