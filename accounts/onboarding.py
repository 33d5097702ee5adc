"""What a new venue has yet to do, as its overview shows it.

Apps above this one add their steps to STEPS in AppConfig.ready.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from accounts.models import ApiKey, WebhookEndpoint
from accounts.tenancy.permissions import Access, Right


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and the page for it."""

    label: str
    why: str
    url: str


def first_call(mine: Access) -> Step | None:
    """A key, and a call with it. One query."""
    if not mine.may(Right.DEVELOPERS):
        return None
    keys = ApiKey.objects.filter(venue=mine.venue)
    if keys.exclude(last_used_at=None).exists():
        return None
    return Step("Make the first call", "Create a key, and ask the API something.", url_of("keys", mine))


def first_endpoint(mine: Access) -> Step | None:
    """A webhook endpoint. One query."""
    if not mine.may(Right.DEVELOPERS) or WebhookEndpoint.objects.filter(venue=mine.venue).exists():
        return None
    return Step("Add a webhook", "A server of yours hears of each order at once.", url_of("webhooks", mine))


def url_of(name: str, mine: Access, **named: str) -> str:
    """The address of a page of the venue."""
    return reverse(name, kwargs={"venue": mine.venue.public_id, **named})


# Each returns its step, or None where it is done or not for this person.
STEPS: list[Callable[[Access], Step | None]] = [first_call, first_endpoint]
