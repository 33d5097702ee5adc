"""The navigation menu of the dashboard: the entries that the user's rights allow, with the current one marked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import Venue
from accounts.tenancy.permissions import Access, Right


@dataclass(frozen=True, slots=True)
class Entry:
    """A menu entry; `name` is the URL name."""

    section: str
    label: str
    icon: str
    name: str
    rights: tuple[Right, ...] = ()


MENU: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Today",
        (
            Entry("overview", "Overview", "home", "overview"),
            Entry("board", "Order board", "board", "order-board", (Right.ORDERS,)),
            Entry("day", "Reservations", "calendar", "reservation-day", (Right.RESERVATIONS,)),
        ),
    ),
    (
        "Restaurant",
        (
            Entry("orders", "All orders", "list", "orders", (Right.ORDERS,)),
            Entry("guests", "Guests", "people", "guests", (Right.GUESTS,)),
            Entry("menu", "Menu", "menu", "menu", (Right.MENU, Right.SOLD_OUT)),
            Entry("venue", "Settings", "settings", "venue-settings", (Right.VENUE,)),
        ),
    ),
    (
        "Developers",
        (
            Entry("keys", "API keys", "key", "keys", (Right.DEVELOPERS,)),
            Entry("requests", "Requests", "log", "requests", (Right.DEVELOPERS,)),
            Entry("webhooks", "Webhooks", "webhook", "webhooks", (Right.DEVELOPERS,)),
        ),
    ),
    (
        "Account",
        (
            Entry("data", "Data service", "coin", "data-service", (Right.DATA,)),
            Entry("exports", "Exports", "download", "data-exports", (Right.DATA,)),
            Entry("team", "Team", "team", "team", (Right.TEAM,)),
            Entry("account", "Account", "account", "account", (Right.ACCOUNT,)),
        ),
    ),
)


def layout(request: HttpRequest) -> dict[str, Any]:
    """Context of the dashboard layout, for requests that passed the `page` decorator.

    One query, for the other venues, when the template lists them.
    """
    access: Access | None = getattr(request, "access", None)
    if access is None:
        return {}
    return {
        "access": access,
        "venue": access.venue,
        "menu_groups": list(list_groups(access, getattr(request, "section", ""))),
        "other_venues": Venue.objects.for_member(access.user).exclude(pk=access.venue.pk).by_name()[:50],
    }


def list_groups(access: Access, section: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the menu groups that have an entry for this user."""
    for title, entries in MENU:
        allowed = [
            {
                "label": entry.label,
                "icon": entry.icon,
                "url": reverse(entry.name, kwargs={"venue": access.venue.public_id}),
                "is_current": entry.section == section,
            }
            for entry in entries
            if not entry.rights or any(access.may(right) for right in entry.rights)
        ]
        if allowed:
            yield title, allowed
