"""The back office: Django's admin with its own front page, open to staff and to members of accounts."""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import Any, cast

from django.apps import apps
from django.contrib.admin import AdminSite, autodiscover
from django.core.checks import CheckMessage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from accounts.api_keys.authentication import get_staff_actor
from accounts.models import User, Venue
from accounts.tenancy.auth_backends import get_permitted_venues, get_venue_roles
from framework.admin import search
from framework.admin.pending_counts import HasPendingCounts, PendingCount
from framework.db import actor

# Links to at most so many venues on the front page.
MAX_VENUES = 12
MIN_TERM_LENGTH, MAX_TERM_LENGTH = 2, 200


# Pages of allauth that would show the secrets of second factors. The user page replaces them.
UNREGISTERED_MODELS = ("account.EmailAddress", "mfa.Authenticator", "usersessions.UserSession")


class TablewireAdminSite(AdminSite):
    """Open to our staff, and to members of accounts, who see only the rows of their venues."""

    site_header = "Tablewire"
    site_title = "Tablewire back office"
    index_title = "Back office"
    site_url = "/dashboard/"
    index_template = "admin/index.html"
    empty_value_display = "-"

    def load(self) -> None:
        """Import the admin modules of all apps, a fifth of all modules, which most processes do not need."""
        autodiscover()
        for model in map(apps.get_model, UNREGISTERED_MODELS):
            if self.is_registered(model):
                self.unregister(model)

    def check(self, app_configs: Any) -> list[CheckMessage]:
        self.load()
        return super().check(app_configs)

    def has_permission(self, request: HttpRequest) -> bool:
        """Allow staff and members of a venue. Two queries for a user who is not staff."""
        user = cast("User", request.user)
        if not user.is_active:
            return False
        return user.is_staff or user.is_superuser or any(at.venues for at in get_venue_roles(user))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap the view so that changes are recorded with the signed-in user as actor."""
        checked_view: Callable[..., HttpResponse] = super().admin_view(view, cacheable)

        def view_with_actor(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
            if request.method in ("GET", "HEAD") or not request.user.is_authenticated:
                return checked_view(request, *args, **options)
            with actor.acting_as(get_staff_actor(request)):
                return checked_view(request, *args, **options)

        return update_wrapper(view_with_actor, checked_view)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        context = {"pending_counts": list(self.pending_counts(request)), "venues": list(list_venue_links(request))}
        return super().index(request, {**context, **(extra_context or {})})

    def get_urls(self) -> list[Any]:
        self.load()
        return [path("search/", self.admin_view(self.search), name="search"), *super().get_urls()]

    def search(self, request: HttpRequest) -> HttpResponse:
        """Search all lists: a public id leads to its row, a text to the first rows of each list."""
        term = request.GET.get("q", "").strip()[:MAX_TERM_LENGTH]
        if url := search.find_by_id(self, request, term):
            return redirect(url)
        found = list(search.search_all(self, request, term)) if len(term) >= MIN_TERM_LENGTH else []
        context = {
            **self.each_context(request),
            "title": "Search",
            "term": term,
            "found": found,
            "min_length": MIN_TERM_LENGTH,
            "is_too_short": len(term) < MIN_TERM_LENGTH,
        }
        return TemplateResponse(request, "admin/search.html", context)

    def pending_counts(self, request: HttpRequest) -> Iterator[PendingCount]:
        """Yield the pending counts of each model admin that the user may view; each count is bounded."""
        for model_admin in self._registry.values():
            if model_admin.has_view_or_change_permission(request) and isinstance(model_admin, HasPendingCounts):
                yield from model_admin.pending_counts(request)


def list_venue_links(request: HttpRequest) -> Iterator[dict[str, str]]:
    """Yield links to the order board and the day view of the user's venues. One query."""
    user = cast("User", request.user)
    venues = frozenset().union(*(at.venues for at in get_venue_roles(user)))
    readable = get_permitted_venues(user, "reservations.view_reservation")
    for venue in Venue.objects.filter(pk__in=venues).by_name()[:MAX_VENUES] if venues else ():
        kwargs = {"venue": venue.public_id}
        day = reverse("reservation-day", kwargs=kwargs) if readable is None or venue.pk in readable else ""
        yield {"name": venue.name, "board": reverse("order-board", kwargs=kwargs), "day": day}
