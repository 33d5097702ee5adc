"""Set-up steps of a new venue, shown on its overview. Apps above this one add theirs to STEPS in AppConfig.ready."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from accounts.demo.rows import IS_DEMO
from accounts.models import ApiKey, WebhookEndpoint
from accounts.tenancy.permissions import Access, Right


@dataclass(frozen=True, slots=True)
class Step:
    """An open set-up step with the page that completes it."""

    label: str
    why: str
    url: str


def find_first_call_step(access: Access) -> Step | None:
    """Return the step to call the API, until a key of the venue was used. One query."""
    if not access.may(Right.DEVELOPERS):
        return None
    if ApiKey.objects.filter(~IS_DEMO, venue=access.venue).exclude(last_used_at=None).exists():
        return None
    return Step("Make the first call", "Create a key and send a request.", build_venue_url("keys", access))


def find_webhook_step(access: Access) -> Step | None:
    """Return the step to add a webhook endpoint, until there is one. One query."""
    if not access.may(Right.DEVELOPERS) or WebhookEndpoint.objects.filter(venue=access.venue).exists():
        return None
    return Step("Add a webhook", "Your server is notified of each order.", build_venue_url("webhooks", access))


def build_venue_url(name: str, access: Access, **kwargs: str) -> str:
    """Return the URL of a page of the venue."""
    return reverse(name, kwargs={"venue": access.venue.public_id, **kwargs})


# Each returns its step, or None if it is done or the user lacks the right.
STEPS: list[Callable[[Access], Step | None]] = [find_first_call_step, find_webhook_step]
