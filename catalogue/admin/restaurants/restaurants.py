"""Restaurants in the back office."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from catalogue.admin.offers import FlowRuleInline, GeneratesSlots
from catalogue.admin.restaurant_rows import search_restaurants
from catalogue.admin.restaurants.forms import RestaurantForm
from catalogue.admin.restaurants.identity_actions import IdentityActions
from catalogue.admin.restaurants.mini_map import render_map
from catalogue.admin.restaurants.versions import readable
from catalogue.history import publish
from catalogue.hours import Hours
from catalogue.models import Restaurant, SourceRecord
from catalogue.tasks import enqueue_open_intervals
from framework.admin.action_confirmation import render_confirmation
from framework.admin.badges import COLOURS, badge
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.list_filters import SentenceCaseFilter
from framework.admin.read_only import ReadOnlyInline

# A shorter text has no trigram, so the search would scan the whole table.
# Versions on the page of a restaurant.
MAX_VERSIONS = 20


# Hours of permanently closed, merged and erased restaurants are not needed.
IS_NEEDED = Q(merged_into=None, erased_at=None) & ~Q(
    status__in=(Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED)
)
IS_UNKNOWN = Q(hours__contains={"known": False})
HAS_TEXT = ~Q(hours__osm=None)


class UnparsedHoursFilter(admin.SimpleListFilter):
    """Filters restaurants whose source has an opening hours text that could not be parsed completely.

    Staff enter these hours manually; the field is then locked and the restaurant leaves this list. The index
    restaurant_with_unparsed_hours serves both choices.
    """

    title = "hours"
    parameter_name = "hours"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [("unread", "not parsed"), ("partly", "partly parsed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> QuerySet[Restaurant]:
        if self.value() == "unread":
            return queryset.filter(IS_NEEDED, IS_UNKNOWN, HAS_TEXT)
        if self.value() == "partly":
            return queryset.filter(IS_NEEDED, ~IS_UNKNOWN, Q(hours__has_key="notes"))
        return queryset


class SourceRecordInline(ReadOnlyInline):
    model = SourceRecord
    fields = ["source", "record", "fields", "updated_at"]
    ordering = ["source", "record"]


def _status_action(name: str, status: Restaurant.Status) -> Callable[..., HttpResponse | None]:
    """Return the list action that asks for confirmation, then sets the status."""

    @admin.action(description=f"Mark the selected restaurants as {status.label.lower()}", permissions=["change"])
    def action(
        model_admin: "RestaurantAdmin", request: HttpRequest, queryset: QuerySet[Restaurant]
    ) -> HttpResponse | None:
        return model_admin.set_status(request, queryset, status, name)

    return action


@admin.register(Restaurant)
class RestaurantAdmin(IdentityActions, GeneratesSlots, LargeTableAdmin):
    """Restaurants. They are closed, never deleted, because clients store their slugs."""

    form = RestaurantForm
    change_form_template = "catalogue/restaurant.html"
    list_display = ["name", "exception", "place", "cuisine", "rating_shown", "updated"]
    ordering = ["-updated_at", "-id"]
    sortable_by = ["updated"]
    list_select_related = ["market", "cuisine"]
    list_filter = [("status", SentenceCaseFilter), "market", UnparsedHoursFilter]
    shows_first_filter = True
    search_fields = ["slug"]
    is_in_site_search = True
    search_help_text = "Name (3 letters) or slug"
    autocomplete_fields = ["cuisine"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [FlowRuleInline, SourceRecordInline]
    actions = ["reopen", "close_temporarily", "close_permanently", "rename", "merge", "erase"]
    reopen = _status_action("reopen", Restaurant.Status.OPEN)
    close_temporarily = _status_action("close_temporarily", Restaurant.Status.TEMPORARILY_CLOSED)
    close_permanently = _status_action("close_permanently", Restaurant.Status.PERMANENTLY_CLOSED)
    readonly_fields = [
        *("status_shown", "rating_shown", "related", "surroundings", "opening_hours"),
        *("rating", "review_count", "star_counts", "newest_versions"),
        *("version", "created_at", "updated_at"),
    ]
    fieldsets = [
        (
            None,
            {"fields": ["status_shown", "rating_shown", "updated_at", "related"]},
        ),
        (
            "Restaurant",
            {
                "fields": ["name", "slug", "alt_names", "status", ("market", "neighborhood"), ("cuisine", "cuisines")],
                "description": "Imports do not change a locked field.",
            },
        ),
        (
            "Address",
            {
                "fields": [
                    "line1",
                    ("postal_code", "locality", "region", "country"),
                    ("latitude", "longitude"),
                    "surroundings",
                ]
            },
        ),
        ("Contact", {"fields": [("phone", "phone_verified_at"), "website", "menu_url", "description"]}),
        ("Hours", {"fields": ["opening_hours", "hours", "shown_version"]}),
        ("Guests", {"fields": ["price_level", ("rating", "review_count", "star_counts")]}),
        ("More", {"classes": ["collapse"], "fields": ["attributes", "external_ids", "verified_at"]}),
        ("Record", {"classes": ["collapse"], "fields": [("version", "created_at"), "newest_versions"]}),
    ]

    @admin.display(description="Status", ordering="status")
    def status_shown(self, restaurant: Restaurant) -> SafeString:
        if restaurant.erased_at:
            return badge("Erased", "soft")
        if restaurant.merged_into_id:
            return badge("Merged", "soft")
        return badge(restaurant.get_status_display().capitalize(), COLOURS.get(restaurant.status, ""))

    @admin.display(description="Status", empty_value="")
    def exception(self, restaurant: Restaurant) -> SafeString | None:
        """The status of those that are not open, or are merged or erased: most are open."""
        is_open = restaurant.status == Restaurant.Status.OPEN
        is_gone = restaurant.erased_at or restaurant.merged_into_id
        return None if is_open and not is_gone else self.status_shown(restaurant)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, restaurant: Restaurant) -> str:
        """The day: most rows are updated by imports, at one time of it."""
        return f"{restaurant.updated_at:%Y-%m-%d}"

    @admin.display(description="Area", ordering="market")
    def place(self, restaurant: Restaurant) -> str:
        return ", ".join(filter(None, (restaurant.neighborhood, str(restaurant.market))))

    @admin.display(description="Lists")
    def related(self, restaurant: Restaurant) -> SafeString:
        """Links to the lists of the rows that belong to it. The count is a column: no query."""
        lists = (
            (f"Reviews ({restaurant.review_count:,})", "catalogue_review"),
            *(("Photos", "catalogue_photo"), ("Insight calls", "catalogue_insightcall")),
            *(("Reports", "catalogue_report"), ("Versions", "catalogue_version")),
        )
        query = urlencode({"q": restaurant.slug})
        links = ((reverse(f"admin:{name}_changelist"), query, label) for label, name in lists)
        return format_html_join(" · ", '<a href="{}?{}">{}</a>', links)

    @admin.display(description="Rating", ordering="rating")
    def rating_shown(self, restaurant: Restaurant) -> str:
        return f"★ {restaurant.rating} ({restaurant.review_count:,})" if restaurant.rating is not None else ""

    @admin.display(description="Surroundings")
    def surroundings(self, restaurant: Restaurant) -> SafeString | str:
        return render_map(restaurant) or "No location yet. Enter latitude and longitude, and save."

    @admin.display(description="Opening hours")
    def opening_hours(self, restaurant: Restaurant) -> SafeString | str:
        if not restaurant.hours:
            return "unknown"
        hours = Hours.from_json(restaurant.hours)
        lines = [*hours.display, *(f"{special.date:%d %b %Y}: special" for special in hours.special_days)]
        return format_html_join("", "{}<br>", ((line,) for line in lines)) or "unknown"

    @admin.display(description="Versions")
    def newest_versions(self, restaurant: Restaurant) -> SafeString | str:
        found = restaurant.versions.order_by("-version")[:MAX_VERSIONS]
        lines = (
            (version.version, f"{version.at:%d %b %Y %H:%M}", version.actor, version.kind, readable(version))
            for version in found
        )
        return format_html_join("", "<p><b>{}</b> {} by {}: {}<br>{}</p>", lines) or "none"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Restaurant], search_term: str
    ) -> tuple[QuerySet[Restaurant], bool]:
        term = search_term.strip()
        return search_restaurants(queryset, term) if term else queryset, False

    def save_model(self, request: HttpRequest, obj: Restaurant, form: RestaurantForm, change: bool) -> None:
        """Save only the changed fields, because the worker writes the same rows, and lock them against imports.

        An unlocked field gets its source's value with the next import.
        """
        now = timezone.now()
        changed = form.changed_fields()
        obj.locked_fields = form.locks()
        if form.before is None:
            obj.created_at = obj.updated_at = now
            publish.set_actor(f"staff:{request.user.pk}")
            obj.save(force_insert=True)
            transaction.on_commit(enqueue_open_intervals)
            return
        if set(form.before.locked_fields) - set(obj.locked_fields):
            # An empty digest matches no record, so the next import reads the row again.
            obj.source_records.update(digest="")
        obj.updated_at = now
        publish.set_actor(f"staff:{request.user.pk}")
        obj.save(update_fields=changed | {"updated_at", "locked_fields"})
        if changed & Restaurant.BEHIND_SPANS:
            transaction.on_commit(enqueue_open_intervals)

    def has_delete_permission(self, request: HttpRequest, obj: Restaurant | None = None) -> bool:
        return False

    def set_status(
        self, request: HttpRequest, queryset: QuerySet[Restaurant], status: Restaurant.Status, action: str
    ) -> HttpResponse | None:
        """Show the confirmation page; after confirmation set the status in one statement."""
        present = queryset.filter(merged_into=None, erased_at=None)
        if "confirmed" in request.POST:
            skipped = queryset.count() - present.count()
            chosen = Restaurant.objects.filter(pk__in=queryset.order_by().values("pk"))
            with transaction.atomic():
                publish.set_actor(f"staff:{request.user.pk}")
                changed = chosen.set_status(status, now=timezone.now())
                transaction.on_commit(enqueue_open_intervals)
            self.message_user(request, f"{changed} restaurants are now {status.label.lower()}.", messages.SUCCESS)
            if skipped:
                text = f"{skipped} merged or erased restaurants were skipped."
                self.message_user(request, text, messages.WARNING)
            return None
        others = present.exclude(status=status)
        label, template = status.label.lower(), "catalogue/confirm_status.html"
        context = {"count": others.count(), "examples": others[:20], "status": label}
        return render_confirmation(self, request, template, title=f"Mark as {label}?", action=action, **context)


@admin.register(SourceRecord)
class SourceRecordAdmin(LargeTableAdmin):
    list_display = ["record", "source", "restaurant", "updated_at"]
    list_select_related = ["source", "restaurant"]
    search_fields = ["record__exact"]
    search_help_text = "Complete id of the source"
    autocomplete_fields = ["restaurant"]
