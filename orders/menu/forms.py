"""Dashboard forms for dishes and categories."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ConflictCheckForm
from orders import pricing
from orders.models import Menu, MenuCategory, MenuItem

CLOCK = forms.TimeInput(format="%H:%M", attrs={"type": "time"})


class MenuRowForm(ValidatesUniqueness, ConflictCheckForm):
    # Ids and names are unique on a menu.
    unique_with = frozenset({"menu"})

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        super().__init__(*args, **options)
        self.menu = menu
        self.instance.menu = menu


class CategoryForm(MenuRowForm):
    class Meta:
        model = MenuCategory
        error_messages = {NON_FIELD_ERRORS: {"unique_together": "A category with this name already exists."}}
        fields = ["name", "served_from", "served_until"]
        widgets = {"served_from": CLOCK, "served_until": CLOCK}
        help_texts = {
            "name": "For example: Pizza, Desserts, Lunch",
            "served_from": "Leave empty if always served",
            "served_until": "End time. If it is earlier than the start, it is on the next day",
        }


class ItemForm(MenuRowForm):
    class Meta:
        model = MenuItem
        error_messages = {NON_FIELD_ERRORS: {"unique_together": "A dish with this id already exists."}}
        fields = ["name", "ref", "category", "price", "tax_percent", "description", "is_available"]
        widgets = {
            "price": forms.TextInput(attrs={"inputmode": "decimal"}),
            "tax_percent": forms.TextInput(attrs={"inputmode": "decimal"}),
        }
        labels = {"ref": "Id", "tax_percent": "Tax in percent", "is_available": "Available"}
        help_texts = {
            "ref": "The menu_item_id that API clients use, for example margherita",
            "is_available": "If off, the dish cannot be ordered",
        }

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        super().__init__(*args, menu=menu, **options)
        currency = menu.venue.currency
        categories: Any = self.fields["category"]
        categories.queryset = MenuCategory.objects.filter(menu=menu).order_by("position", "name")
        categories.empty_label = None
        self.fields["price"].help_text = f"In {currency}, with at most {pricing.get_decimals(currency)} decimals"
        if not self.instance._state.adding:
            # Decimals: strings would not equal the parsed values, and every save would count as a change.
            self.initial["price"] = pricing.round_amount(self.instance.price, currency)
            self.initial["tax_percent"] = Decimal(f"{self.instance.tax_percent.normalize():f}")
        elif not self.is_bound:
            self.initial["tax_percent"] = "0"
