"""Set-up steps of a venue, shown on its overview. Apps above this one add theirs to STEPS in AppConfig.ready."""

from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.demo.rows import IS_DEMO
from accounts.models import ApiKey, Invitation, Membership, Role, Venue, WebhookEndpoint
from accounts.tenancy.permissions import Access, Right


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step: its place in the list, the page that completes it, and a condition on venues that says if it is done."""

    position: int
    label: str | Promise
    why: str | Promise
    page: str
    right: Right
    is_done: Exists | Q
    # A part of the page, such as `#guests`.
    part: str = ""
    # A sandbox is for trying the API.
    is_for_sandbox: bool = False


# The order is that of an owner: menu, tables, hours, booking page, team, key.
STEPS = [
    Step(
        position=40,
        label=gettext_lazy("Open your booking page"),
        why=gettext_lazy("Guests book a table online."),
        page="booking-settings",
        right=Right.VENUE,
        is_done=Q(is_bookable_online=True),
    ),
    Step(
        position=50,
        label=gettext_lazy("Invite your team"),
        why=gettext_lazy("Each person has an own sign-in and role."),
        page="team",
        right=Right.TEAM,
        is_done=Q(
            Exists(Membership.objects.filter(account=OuterRef("account")).exclude(role=Role.OWNER))
            | Exists(Invitation.objects.filter(account=OuterRef("account")))
        ),
    ),
    Step(
        position=60,
        label=gettext_lazy("Make an API call with your key"),
        why=gettext_lazy("Create a key and send a request."),
        page="keys",
        right=Right.DEVELOPERS,
        is_for_sandbox=True,
        is_done=Exists(ApiKey.objects.filter(~IS_DEMO, venue=OuterRef("pk"), last_used_at__isnull=False)),
    ),
    Step(
        position=70,
        label=gettext_lazy("Add a webhook"),
        why=gettext_lazy("Your server is notified of each order."),
        page="webhooks",
        right=Right.DEVELOPERS,
        is_for_sandbox=True,
        is_done=Exists(WebhookEndpoint.objects.filter(venue=OuterRef("pk"))),
    ),
]


def list_steps(access: Access) -> list[dict[str, Any]]:
    """Return the steps that the user may do, in order, with `url` and `is_done`; none if all are done. One query."""
    needed = (
        step for step in STEPS if access.may(step.right) and (step.is_for_sandbox or not access.venue.is_sandbox)
    )
    steps = sorted(needed, key=lambda step: step.position)
    if not steps:
        return []
    conditions = [ExpressionWrapper(Q(step.is_done), BooleanField()) for step in steps]
    done = Venue.objects.values_list(*conditions).get(pk=access.venue.pk)
    if all(done):
        return []
    return [
        {"step": step, "url": build_venue_url(step.page, access) + step.part, "is_done": is_done}
        for step, is_done in zip(steps, done, strict=True)
    ]


def build_venue_url(name: str, access: Access, **kwargs: str) -> str:
    """Return the URL of a page of the venue."""
    return reverse(name, kwargs={"venue": access.venue.public_id, **kwargs})
