"""Service periods and closed days in the back office."""

from django.contrib import admin

from accounts.admin.venue_scoping import VenueScopedAdmin
from reservations.admin.tables import WithinOneVenue
from reservations.forms.setup import WEEKDAYS, ServicePeriodForm
from reservations.models import Closure, ServicePeriod


@admin.register(ServicePeriod)
class ServicePeriodAdmin(WithinOneVenue, VenueScopedAdmin, admin.ModelAdmin[ServicePeriod]):
    """Service periods, such as lunch and dinner."""

    form = ServicePeriodForm
    list_display = ["name", "venue", "days", "first_seating", "last_seating", "slot_min", "pacing_covers"]
    list_select_related = ["venue"]
    search_fields = ["name", "venue__name"]
    ordering = ["venue_id", "first_seating", "id"]
    autocomplete_fields = ["venue"]
    fields = [
        "venue",
        "name",
        "weekdays",
        ("first_seating", "last_seating", "slot_min"),
        "pacing_covers",
        ("turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"),
    ]

    @admin.display(description="weekdays")
    def days(self, period: ServicePeriod) -> str:
        """Mon, Tue, Wed."""
        return ", ".join(WEEKDAYS[day][:3] for day in sorted(period.weekdays))


@admin.register(Closure)
class ClosureAdmin(WithinOneVenue, VenueScopedAdmin, admin.ModelAdmin[Closure]):
    """Closed days, such as holidays."""

    list_display = ["venue", "first_date", "last_date", "reason"]
    list_select_related = ["venue"]
    search_fields = ["reason", "venue__name"]
    ordering = ["-first_date", "-id"]
    autocomplete_fields = ["venue"]
    fields = ["venue", ("first_date", "last_date"), "reason"]
