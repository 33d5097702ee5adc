"""Tables, areas, combinations and service hours in the back office."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.row_history import RowHistoryAdmin
from accounts.api_keys.authentication import get_staff_actor
from reservations.floor import tables as floor
from reservations.forms.setup import (
    CancellationTermsForm,
    CombinationForm,
    ServicePeriodForm,
    TableForm,
    format_weekdays,
)
from reservations.models import Area, CancellationTerms, Closure, Combination, ServicePeriod, Table


class VenueRowAdmin(RowHistoryAdmin):
    """Rows of venues. The venue of an existing row is fixed, because reservations reference the row."""

    list_select_related: ClassVar[Any] = ["venue"]
    search_fields = ["name__unaccent", "venue__name__unaccent"]
    autocomplete_fields: ClassVar[Any] = ["venue"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["venue"] if obj else []


@admin.register(Area)
class AreaAdmin(VenueRowAdmin):
    list_display = ["name", "venue", "position"]
    ordering = ["venue_id", "position", "id"]
    fields = ["venue", "name", "position"]


@admin.register(Table)
class TableAdmin(VenueRowAdmin):
    """Tables, in the order of assignment."""

    form = TableForm
    list_display = ["name", "venue", "area", "seats_min", "seats_max", "priority", "is_active"]
    list_select_related = ["venue", "area"]
    list_filter = ["is_active"]
    ordering = ["venue_id", "seats_max", "priority", "name", "id"]
    show_full_result_count = False
    list_per_page = 50
    autocomplete_fields = ["venue", "area"]
    fields = ["venue", "area", "name", ("seats_min", "seats_max"), "priority", "is_active"]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A table that is part of a combination is protected.
        deleted, counts, forbidden, protected = super().get_deleted_objects(objs, request)
        combinations = Combination.objects.filter(tables__in=[table.pk for table in objs]).distinct().order_by("name")
        return deleted, counts, forbidden, [*protected, *(f"Combination: {row.name}" for row in combinations)]

    def save_model(self, request: HttpRequest, obj: Table, form: Any, change: bool) -> None:
        if change and "name" in form.changed_data:
            floor.rename(obj, now=obj.venue.now(), actor=get_staff_actor(request))
            return
        super().save_model(request, obj, form, change)


@admin.register(Combination)
class CombinationAdmin(VenueRowAdmin):
    form = CombinationForm
    list_display = ["name", "venue", "seats_min", "seats_max", "priority", "is_active"]
    list_filter = ["is_active"]
    ordering = ["venue_id", "seats_max", "priority", "name", "id"]
    show_full_result_count = False
    list_per_page = 50
    autocomplete_fields = ["venue", "tables"]
    fields = ["venue", "name", "tables", ("seats_min", "seats_max"), "priority", "is_active"]


@admin.register(ServicePeriod)
class ServicePeriodAdmin(VenueRowAdmin):
    form = ServicePeriodForm
    list_display = ["name", "venue", "days", "first_seating", "last_seating", "slot_min"]
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


@admin.register(CancellationTerms)
class CancellationTermsAdmin(VenueRowAdmin):
    """Rules of cancellation and deposits; reservations keep the terms that they were made on."""

    form = CancellationTermsForm
    list_display = ["__str__", "venue", "days", "first_date", "last_date"]
    search_fields = ["venue__name__unaccent"]
    ordering = ["venue_id", "party_from", "id"]
    fields = ["venue", "party_from", "weekdays", ("first_date", "last_date"), "free_hours", "deposit_usdc"]

    @admin.display(description="weekdays")
    def days(self, row: CancellationTerms) -> str:
        return format_weekdays(row)


@admin.register(Closure)
class ClosureAdmin(VenueRowAdmin):
    list_display = ["venue", "first_date", "last_date", "reason"]
    search_fields = ["reason", "venue__name__unaccent"]
    ordering = ["-first_date", "-id"]
    fields = ["venue", ("first_date", "last_date"), "reason"]
