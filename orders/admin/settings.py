"""How venues take orders, and what they charge, in the back office."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.row_history import RowHistoryAdmin
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin, ChangedFieldsForm
from orders.models import ChargeRule, Fulfilment, OrderingSettings


def fulfilments_field(help_text: str) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=Fulfilment.choices, required=False, widget=forms.CheckboxSelectMultiple, help_text=help_text
    )


class OrderingSettingsForm(ChangedFieldsForm):
    page_fulfilments = fulfilments_field("None: pick-up and at the table")


class ChargeRuleForm(ChangedFieldsForm):
    fulfilments = fulfilments_field("None: all orders")


class VenueSettingsAdmin(RowHistoryAdmin, ChangedFieldsAdmin):
    """Rows of a venue. Its venue is fixed."""

    list_select_related: ClassVar[Any] = ["venue"]
    autocomplete_fields: ClassVar[Any] = ["venue"]
    show_full_result_count = False
    list_per_page = 50

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["venue"] if obj else []


@admin.register(OrderingSettings)
class OrderingSettingsAdmin(VenueSettingsAdmin):
    form = OrderingSettingsForm
    list_display = ["venue", "prep_minutes", "slot_minutes", "orders_per_slot", "is_page_open"]
    search_fields = ["venue__name__unaccent"]
    search_help_text = "Venue"
    ordering = ["venue_id"]
    fields = [
        *("venue", "prep_minutes", ("slot_minutes", "orders_per_slot"), ("warn_minutes", "late_minutes")),
        *("is_page_open", "page_fulfilments"),
    ]


@admin.register(ChargeRule)
class ChargeRuleAdmin(VenueSettingsAdmin):
    form = ChargeRuleForm
    list_display = ["name", "venue", "type", "percent", "amount", "position"]
    list_filter = ["type"]
    search_fields = ["name__unaccent", "venue__name__unaccent"]
    search_help_text = "Name of the charge or of the venue"
    ordering = ["venue_id", "position", "name"]
    fields = [
        "venue",
        "type",
        "name",
        ("percent", "amount"),
        "tax_percent",
        "free_from",
        "fulfilments",
        "position",
        "translations",
    ]
