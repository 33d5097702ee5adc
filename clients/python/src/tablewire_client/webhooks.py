"""Verification of webhooks, by the library of Standard Webhooks."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

__all__ = ["Event", "WebhookVerificationError", "verify_webhook"]


@dataclass(frozen=True)
class Event:
    """A verified event. It can arrive twice and after later ones: skip known ids, and records of a lower version."""

    id: str
    type: str
    timestamp: datetime.datetime
    # The record at that time, as the API returns it: `OrderRecord.from_dict(event.data)` for the types `order.*`.
    data: dict[str, Any]


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> Event:
    """The event of a delivery; `body` is what came, byte for byte, and `secret` the endpoint's (`whsec_...`).

    Raises WebhookVerificationError if the signature is missing, of another secret or body, or five minutes old.
    """
    try:
        content = Webhook(secret).verify(body, dict(headers))
    except ValueError as error:
        # A signature that is no base64, or has no version.
        raise WebhookVerificationError(str(error)) from error
    named = {name.lower(): value for name, value in headers.items()}
    timestamp = datetime.datetime.fromisoformat(content["timestamp"])
    return Event(id=named["webhook-id"], type=content["type"], timestamp=timestamp, data=content["data"])
