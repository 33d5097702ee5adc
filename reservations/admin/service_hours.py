"""Service periods and closed days in the back office."""

from django.contrib import admin

from reservations.admin.tables import VenueRowAdmin
from reservations.forms.setup import ServicePeriodForm, format_weekdays
from reservations.models import Closure, ServicePeriod


@admin.register(ServicePeriod)
class ServicePeriodAdmin(VenueRowAdmin):
    """Service periods, such as lunch and dinner."""

    form = ServicePeriodForm
    list_display = ["name", "venue", "days", "first_seating", "last_seating", "slot_min", "pacing_covers"]
    ordering = ["venue_id", "first_seating", "id"]
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
        return format_weekdays(period)


@admin.register(Closure)
class ClosureAdmin(VenueRowAdmin):
    """Closed days, such as holidays."""

    list_display = ["venue", "first_date", "last_date", "reason"]
    search_fields = ["reason", "venue__name"]
    ordering = ["-first_date", "-id"]
    fields = ["venue", ("first_date", "last_date"), "reason"]
