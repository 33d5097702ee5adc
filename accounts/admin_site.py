"""The back office: Django's admin under our name, with its own front page and its own door."""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.api_keys.authentication import staff
from accounts.models import User, Venue
from accounts.tenancy.auth_backends import parts_of, venues_where
from framework.admin.pending_counts import HasPendingCounts, PendingCount
from framework.db import actor

# More venues than this are found through their list.
MOST_VENUES = 12


class BackOffice(AdminSite):
    """Open to our own staff, and to members of accounts, who see the rows of their venues alone."""

    site_header = "Tablewire"
    site_title = "Tablewire back office"
    index_title = "Back office"
    site_url = "/dashboard/"
    index_template = "admin/index.html"
    empty_value_display = "-"

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, and who works at a venue. Two queries, of who is not of our staff."""
        user = cast("User", request.user)
        if not user.is_active:
            return False
        return user.is_staff or user.is_superuser or any(part.venues for part in parts_of(user))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap the view: what it writes is recorded with the signed-in user as actor."""
        guarded: Callable[..., HttpResponse] = super().admin_view(view, cacheable)

        def named(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
            if request.method in ("GET", "HEAD") or not request.user.is_authenticated:
                return guarded(request, *args, **options)
            with actor.acting_as(staff(request)):
                return guarded(request, *args, **options)

        return update_wrapper(named, guarded)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Render the front page: pending work, links to the user's venues, and the model list."""
        context = {"pending_counts": list(self.pending_counts(request)), "venues": list(venue_links(request))}
        return super().index(request, {**context, **(extra_context or {})})

    def pending_counts(self, request: HttpRequest) -> Iterator[PendingCount]:
        """What the parts of the back office say is waiting, for who may see it; each count is bounded."""
        for part in self._registry.values():
            if part.has_view_or_change_permission(request) and isinstance(part, HasPendingCounts):
                yield from part.pending_counts(request)


def venue_links(request: HttpRequest) -> Iterator[dict[str, str]]:
    """Yield links to the order board and the day view of the user's venues. One query."""
    user = cast("User", request.user)
    theirs = frozenset().union(*(part.venues for part in parts_of(user)))
    readable = venues_where(user, "reservations.view_reservation")
    for venue in Venue.objects.filter(pk__in=theirs).by_name()[:MOST_VENUES] if theirs else ():
        named = {"venue": venue.public_id}
        day = reverse("reservation-day", kwargs=named) if readable is None or venue.pk in readable else ""
        yield {"name": venue.name, "board": reverse("order-board", kwargs=named), "day": day}
