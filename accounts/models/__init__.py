"""Who calls, and what is theirs: people, accounts, venues, API keys, and what happens at a venue."""

from accounts.models.api_keys import (
    BASE62,
    OVERLAPS,
    ApiKey,
    CannotProlong,
    CannotRotate,
    IssuedKey,
    KeyChange,
    Scope,
    checksum,
    digest,
    every_scope,
    looks_like_a_key,
)
from accounts.models.counters import Tally
from accounts.models.idempotency import IdempotentCall
from accounts.models.outgoing_mail import Letter
from accounts.models.request_log import ApiCall, ApiHour
from accounts.models.users import Account, Invitation, Membership, Role, User
from accounts.models.venues import Venue
from accounts.models.webhooks import Event, EventType, WebhookDelivery, WebhookEndpoint, WebhookLetter

__all__ = [
    "BASE62",
    "OVERLAPS",
    "Account",
    "ApiCall",
    "ApiHour",
    "ApiKey",
    "CannotProlong",
    "CannotRotate",
    "Event",
    "EventType",
    "IdempotentCall",
    "Invitation",
    "IssuedKey",
    "KeyChange",
    "Letter",
    "Membership",
    "Role",
    "Scope",
    "Tally",
    "User",
    "Venue",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookLetter",
    "checksum",
    "digest",
    "every_scope",
    "looks_like_a_key",
]
