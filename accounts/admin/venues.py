"""Venues in the back office."""

from datetime import timedelta
from typing import Any, Literal

from django.contrib import admin
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.admin.row_history import RowHistoryAdmin
from accounts.forms.venue import VenueForm
from accounts.models import Account, Event, Venue
from accounts.tenancy import staff_access
from framework.admin.badges import badge
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin
from framework.timezones import zone


def get_dashboard_url(venue: Venue) -> str:
    """Return the URL of the venue's dashboard; empty if its account is closed."""
    return "" if venue.account.closed_at else reverse("overview", kwargs={"venue": venue.public_id})


class DashboardLink:
    """The column `dashboard_link` of venues."""

    @admin.display(description="Dashboard")
    def dashboard_link(self, venue: Venue) -> SafeString | None:
        url = None if venue._state.adding else get_dashboard_url(venue)
        if not url:
            return None
        return format_html('<a href="{}">Open dashboard<span class="visually-hidden"> of {}</span></a>', url, venue)


class VenueInline(DashboardLink, admin.TabularInline[Venue, Account]):
    """The account's venues."""

    model = Venue
    form = VenueForm
    extra = 0
    fields = ["name", "timezone", "currency", "is_sandbox", "dashboard_link"]
    readonly_fields = ["dashboard_link"]
    show_change_link = True


class VenueList(ChangeList):
    """Marks the column that orders the list at first, which `ordering` of a model admin cannot name."""

    def get_ordering_field_columns(self) -> dict[int, Literal["desc", "asc"]]:
        if ORDER_VAR in self.params:
            return super().get_ordering_field_columns()
        return {list(self.list_display).index("last_activity"): "desc"}


@admin.register(Venue)
class VenueAdmin(RowHistoryAdmin, ChangedFieldsAdmin, DashboardLink):
    """Restaurants of accounts."""

    form = VenueForm
    list_display = ["name", "kind", "account", "orders_of_7_days", "last_activity", "short_dashboard_link"]
    list_select_related = ["account"]
    object_history_template = "admin/venue_history.html"
    list_filter = ["is_sandbox"]
    search_fields = ["name__unaccent", "account__name__unaccent"]
    ordering = ["name", "id"]
    search_help_text = "Venue, account or id"
    is_in_site_search = True
    autocomplete_fields = ["account"]
    readonly_fields = ["id", "created_at", "dashboard_link", "clock"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "dashboard_link",
                    "account",
                    "name",
                    ("address", "phone"),
                    ("timezone", "currency"),
                    "is_sandbox",
                    "clock",
                ]
            },
        ),
        ("Orders", {"fields": ["prices_include_tax", "payment_methods"]}),
        (
            "Reservations",
            {
                "fields": [
                    ("max_days_ahead", "auto_confirm_max_party"),
                    "when_full",
                    "mails_guests",
                    "forgets_guests_after_days",
                ]
            },
        ),
        ("Booking page", {"fields": ["is_bookable_online", "proves_guests"]}),
        ("Record", {"classes": ["collapse"], "fields": ["id", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Venue]:
        events = Event.objects.filter(venue=OuterRef("pk"))
        newest = events.order_by("-created_at", "-id").values("created_at")[:1]
        placed = events.filter(type="order.created", created_at__gte=timezone.now() - timedelta(days=7)).order_by()
        venues: QuerySet[Venue] = super().get_queryset(request)
        return venues.annotate(
            last_event_at=Subquery(newest),
            placed_orders=Subquery(placed.values("venue").annotate(number=Count("pk")).values("number")),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Venue | None = None) -> list[str]:
        # Its members, keys, grants and endpoints are of its account: a restaurant that changes hands is a new venue.
        fields = [str(name) for name in self.readonly_fields]
        return [*fields, "account"] if obj else fields

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return VenueList

    def get_ordering(self, request: HttpRequest) -> Any:
        """The latest activity first in the list; by name in the selects of other pages, which have no such column."""
        match = request.resolver_match
        if match and match.url_name == "accounts_venue_changelist":
            return [F("last_event_at").desc(nulls_last=True), "name", "id"]
        return super().get_ordering(request)

    @admin.display(description="Orders, 7 days")
    def orders_of_7_days(self, venue: Any) -> int | None:
        number: int | None = venue.placed_orders
        return number

    @admin.display(description="Last activity", ordering="last_event_at")
    def last_activity(self, venue: Any) -> str | None:
        """The day of its newest event; None without one."""
        at = venue.last_event_at
        return f"{at.astimezone(zone(venue.timezone)):%Y-%m-%d}" if at else None

    @admin.display(description="Dashboard")
    def short_dashboard_link(self, venue: Venue) -> SafeString | None:
        url = get_dashboard_url(venue)
        return (
            format_html(
                '<a class="to-dashboard" href="{}"><span class="on-phone">Dashboard</span>'
                '<span class="on-desk">Open</span><span class="visually-hidden"> {}</span></a>',
                url,
                venue,
            )
            if url
            else None
        )

    @admin.display(description="Kind", ordering="is_sandbox")
    def kind(self, venue: Venue) -> SafeString:
        return badge("sandbox", "info") if venue.is_sandbox else badge("live", "good")

    @admin.display(description="Clock")
    def clock(self, venue: Venue) -> str | None:
        """What the clock of a sandbox shows that a test has advanced."""
        ahead = venue.clock_offset()
        return f"{venue.now():%Y-%m-%d %H:%M} UTC, {ahead.days} days ahead" if ahead else None

    def get_search_links(self, row: Venue) -> list[tuple[str, str]]:
        url = get_dashboard_url(row)
        return [("Open dashboard", url)] if url else []

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Render the page with our staff who opened the dashboard."""
        if venue := self.get_object(request, object_id):
            accesses = staff_access.list_newest(venue.staff_accesses.all())
            extra_context = {"staff_accesses": accesses, **(extra_context or {})}
        return super().history_view(request, object_id, extra_context)

    def get_form(self, request: HttpRequest, obj: Venue | None = None, change: bool = False, **kwargs: Any) -> Any:
        sandbox = "For testing: its API keys begin with rk_test_, and its email is only written to the worker's log"
        return super().get_form(request, obj, change, help_texts={"is_sandbox": sandbox}, **kwargs)
