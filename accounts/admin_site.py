"""The back office: Django's admin with its own front page, for our own staff."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import update_wrapper
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite, autodiscover
from django.core.checks import CheckMessage
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from accounts import saved_filters
from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Account
from framework.admin import search
from framework.admin.pending_counts import HasPendingCounts, PendingCount, count_bounded, format_bounded
from framework.data_files import read_toml
from framework.db import actor
from framework.db.row_estimates import estimate_rows

MIN_TERM_LENGTH, MAX_TERM_LENGTH = 2, 200
MAX_NEWEST_ACCOUNTS = 5
NEVER = datetime.max.replace(tzinfo=UTC)
_LISTS = read_toml(Path(__file__).with_name("admin_groups.toml"))
INDEX_GROUPS, MOST_USED = _LISTS["groups"], _LISTS["most_used"]


# Pages of allauth that would show the secrets of second factors. The user page replaces them.
UNREGISTERED_MODELS = ("account.EmailAddress", "mfa.Authenticator", "usersessions.UserSession")


class TablewireAdminSite(AdminSite):
    """Open to our staff. Members of accounts work on the dashboard."""

    site_header = "Tablewire"
    site_title = "Tablewire back office"
    index_title = "Back office"
    site_url = "/dashboard/"
    index_template = "admin/index.html"
    # The class lets narrow lists leave out empty cells.
    empty_value_display = '<span class="none">-</span>'

    def load(self) -> None:
        """Import the admin modules of all apps, a fifth of all modules, which most processes do not need."""
        autodiscover()
        for model in map(apps.get_model, UNREGISTERED_MODELS):
            if self.is_registered(model):
                self.unregister(model)

    def check(self, app_configs: Any) -> list[CheckMessage]:
        self.load()
        return super().check(app_configs)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap the view so that changes are recorded with the signed-in user as actor.

        Users who are not our staff are redirected to the dashboard; their POST is 403.
        """
        checked_view: Callable[..., HttpResponse] = super().admin_view(view, cacheable)

        def view_with_actor(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
            is_read = request.method in ("GET", "HEAD")
            if request.user.is_authenticated and not self.has_permission(request):
                if is_read:
                    return redirect("dashboard")
                raise PermissionDenied
            if is_read or not request.user.is_authenticated:
                return checked_view(request, *args, **options)
            with actor.acting_as(get_staff_actor(request)):
                return checked_view(request, *args, **options)

        return update_wrapper(view_with_actor, checked_view)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        counts = sorted(self.pending_counts(request), key=lambda count: (count.since is None, count.since or NEVER))
        found = {each["model"]._meta.label: each for group in self.get_app_list(request) for each in group["models"]}
        most_used = [found[model] for model in MOST_USED if model in found]
        estimates = estimate_rows(each["model"] for each in most_used)
        accounts = Account.objects.order_by("-pk")[:MAX_NEWEST_ACCOUNTS] if Account._meta.label in found else []
        context = {
            "most_used": [{**each, "rows": format_rows(each["model"], estimates)} for each in most_used],
            "newest_accounts": accounts,
            "waiting": [count for count in counts if count.number],
            "clear": [count for count in counts if not count.number],
            "saved_filters": list(saved_filters.list_all(self, request)),
        }
        return super().index(request, {**context, **(extra_context or {})})

    def get_urls(self) -> list[Any]:
        self.load()
        return [
            path("search/", self.admin_view(self.search), name="search"),
            path("saved/<str:list_name>", self.admin_view(require_POST(self.save_filter)), name="save_filter"),
            path("saved/<uuid:key>/delete", self.admin_view(require_POST(saved_filters.delete)), name="delete_filter"),
            *super().get_urls(),
        ]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """The saved filters are only read by the template of lists."""
        return {"saved_filters": saved_filters.list_of_page(request), **super().each_context(request)}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The models by task (admin_groups.toml); on the page of an app, those of the app."""
        apps_of_site = super().get_app_list(request, app_label)
        if app_label:
            return apps_of_site
        found = {each["model"]._meta.label: each for app in apps_of_site for each in app["models"]}
        groups = (
            {**group, "app_label": slugify(group["name"]), "models": [found[m] for m in group["models"] if m in found]}
            for group in INDEX_GROUPS
        )
        return [group for group in groups if group["models"]]

    def save_filter(self, request: HttpRequest, list_name: str) -> HttpResponse:
        return saved_filters.save(self, request, list_name)

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


def format_rows(model: type[Model], estimates: Mapping[type[Model], int | None]) -> str:
    """Return about how many rows a table has. One bounded query if there is no estimate."""
    estimate = estimates[model]
    return format_bounded(count_bounded(model._default_manager.all())) if estimate is None else f"{estimate:,}"
