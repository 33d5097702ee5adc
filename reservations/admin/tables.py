"""Tables, areas and combinations in the back office."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from accounts.admin.venue_scoping import VenueScopedAdmin
from accounts.api_keys.authentication import get_staff_actor
from reservations.floor import rename_table
from reservations.forms.setup import CombinationForm, TableForm
from reservations.models import Area, Combination, Table


class WithinOneVenue:
    """The venue of an existing row is fixed."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """The venue is read-only for existing rows, because reservations reference them."""
        return ["venue"] if obj else []


@admin.register(Area)
class AreaAdmin(WithinOneVenue, VenueScopedAdmin, admin.ModelAdmin[Area]):
    """Areas, such as the terrace or the bar."""

    list_display = ["name", "venue", "position"]
    list_select_related = ["venue"]
    search_fields = ["name", "venue__name"]
    ordering = ["venue_id", "position", "id"]
    autocomplete_fields = ["venue"]
    fields = ["venue", "name", "position"]


@admin.register(Table)
class TableAdmin(WithinOneVenue, VenueScopedAdmin, admin.ModelAdmin[Table]):
    """Tables, in the order of assignment."""

    form = TableForm
    list_display = ["name", "venue", "area", "seats_min", "seats_max", "priority", "is_active"]
    list_select_related = ["venue", "area"]
    list_filter = ["is_active"]
    search_fields = ["name", "venue__name"]
    ordering = ["venue_id", "seats_max", "priority", "name", "id"]
    show_full_result_count = False
    list_per_page = 50
    autocomplete_fields = ["venue", "area"]
    fields = ["venue", "area", "name", ("seats_min", "seats_max"), "priority", "is_active"]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List what would be deleted; a table that is part of a combination is protected."""
        gone, counts, forbidden, protected = super().get_deleted_objects(objs, request)
        combinations = Combination.objects.filter(tables__in=[table.pk for table in objs]).distinct().order_by("name")
        return gone, counts, forbidden, [*protected, *(f"Combination: {one.name}" for one in combinations)]

    def save_model(self, request: HttpRequest, obj: Table, form: Any, change: bool) -> None:
        """Save the table; renaming it updates its reservations."""
        if change and "name" in form.changed_data:
            rename_table.rename(obj, now=timezone.now(), actor=get_staff_actor(request))
            return
        super().save_model(request, obj, form, change)


@admin.register(Combination)
class CombinationAdmin(WithinOneVenue, VenueScopedAdmin, admin.ModelAdmin[Combination]):
    """Combinations of tables."""

    form = CombinationForm
    list_display = ["name", "venue", "seats_min", "seats_max", "priority", "is_active"]
    list_select_related = ["venue"]
    list_filter = ["is_active"]
    search_fields = ["name", "venue__name"]
    ordering = ["venue_id", "seats_max", "priority", "name", "id"]
    show_full_result_count = False
    list_per_page = 50
    autocomplete_fields = ["venue", "tables"]
    fields = ["venue", "name", "tables", ("seats_min", "seats_max"), "priority", "is_active"]
