"""The navigation menu of the dashboard (menu.toml): the entries that the user's rights allow."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import pgettext

from accounts.dashboard.demo_data import get_state
from accounts.models import Venue
from accounts.tenancy.permissions import Access
from framework.data_files import read_toml

MENU = read_toml(Path(__file__).with_name("menu.toml"))["groups"]


def layout(request: HttpRequest) -> dict[str, Any]:
    """Context of the dashboard layout, for requests that passed the `page` decorator.

    One query, for the other venues, when the template lists them; and one each time that it reads `demo_data`.
    """
    access: Access | None = getattr(request, "access", None)
    if access is None:
        return {}
    return {
        "access": access,
        "venue": access.venue,
        "menu_groups": list(list_groups(access, getattr(request, "section", ""))),
        "other_venues": Venue.objects.for_member(access.user).exclude(pk=access.venue.pk).by_name()[:50],
        "demo_data": partial(get_state, access),
    }


def list_groups(access: Access, section: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the menu groups that have an entry for this user, with the current entry marked."""
    kwargs = {"venue": access.venue.public_id}
    for group in MENU:
        entries = [
            entry
            | {"label": pgettext("menu", entry["label"])}
            | {"url": reverse(entry["url_name"], kwargs=kwargs), "is_current": entry["section"] == section}
            for entry in group["entries"]
            if not entry["rights"] or access.visible.intersection(entry["rights"])
        ]
        if entries:
            yield pgettext("menu", group["title"]), entries
