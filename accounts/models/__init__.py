"""Who calls, and what is theirs: people, accounts, venues, API keys, and what happens at a venue."""

from accounts.models.calls import IdempotentCall
from accounts.models.events import Event, EventType, WebhookDelivery, WebhookEndpoint, WebhookLetter
from accounts.models.keys import (
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
from accounts.models.letters import Letter
from accounts.models.people import Account, Invitation, Membership, Role, User
from accounts.models.requests import ApiCall, ApiHour
from accounts.models.tallies import Tally
from accounts.models.venues import Venue

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
