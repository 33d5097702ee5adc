"""The forms with which the staff set up the ordering page."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings

from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ConflictCheckForm
from orders.menu.translation_widget import TranslationsWidget
from orders.models import ChargeRule, Fulfilment, OrderingSettings
from orders.ordering_page.checkout import FULFILMENTS
from orders.pricing import find_decimals_error

FULFILMENT_LABELS = {
    Fulfilment.PICKUP: "Pick-up",
    Fulfilment.DINE_IN: "At the table",
    Fulfilment.DELIVERY: "Delivery",
}
# One USDC is one of them.
USD = "USD"
SLOT_MINUTES = (5, 10, 15, 20, 30, 60)
MAX_CODES = 200
RANGE = re.compile(r"(\D*?)(\d{1,4})\s*-\s*(\d{1,4})")


class OrderingSettingsForm(ConflictCheckForm):
    """Whether the page is open, what it offers, and how fast the kitchen is."""

    page_fulfilments = forms.MultipleChoiceField(
        label="Guests can order",
        choices=[(each.value, FULFILMENT_LABELS[each]) for each in FULFILMENTS],
        widget=forms.CheckboxSelectMultiple,
    )
    slot_minutes = forms.TypedChoiceField(
        label="Length of a slot",
        coerce=int,
        choices=[(minutes, f"{minutes} minutes") for minutes in SLOT_MINUTES],
        help_text="Later pick-up times are offered in these steps",
    )

    class Meta:
        model = OrderingSettings
        fields = [
            *("is_page_open", "page_fulfilments", "prep_minutes", "slot_minutes", "orders_per_slot"),
            "max_waiting_orders",
            *("takes_usdc", "usdc_price"),
        ]
        labels = {
            "is_page_open": "Guests can order on the ordering page",
            "prep_minutes": "Preparation time in minutes",
            "orders_per_slot": "Orders in a slot",
            "max_waiting_orders": "Orders that wait to be accepted, at most",
            "takes_usdc": "Guests can pay in USDC after the order",
            "usdc_price": "Price of one USDC",
        }
        help_texts = {
            "is_page_open": "",
            "prep_minutes": "From an order to its handover. A dish on the menu may take longer",
            "orders_per_slot": "That the kitchen can finish. Leave this empty for any number",
            "max_waiting_orders": "The page accepts further orders when you have accepted some",
            "takes_usdc": "The operator of this installation gets the money, and owes it to you",
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.initial.get("page_fulfilments"):
            self.initial["page_fulfilments"] = [each.value for each in FULFILMENTS]
        currency = self.instance.venue.currency
        if not settings.PAY_TO:
            del self.fields["takes_usdc"], self.fields["usdc_price"]
        elif currency == USD:
            del self.fields["usdc_price"]
        else:
            self.fields["usdc_price"].help_text = f"In {currency}. It stays until you change it here"

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if "takes_usdc" in self.fields:
            if self.instance.venue.currency == USD:
                self.instance.usdc_price = Decimal(1) if values.get("takes_usdc") else None
                self.changed_data.append("usdc_price")
            elif values.get("takes_usdc") and values.get("usdc_price") is None and "usdc_price" not in self.errors:
                self.add_error("usdc_price", "State the price of one USDC.")
        return values


class ChargeRuleForm(ValidatesUniqueness, ConflictCheckForm):
    """A charge that is added to orders."""

    # Names are unique at a venue.
    unique_with = frozenset({"venue"})
    fulfilments = forms.MultipleChoiceField(
        label="Orders",
        required=False,
        choices=[(each.value, FULFILMENT_LABELS[each]) for each in Fulfilment],
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all orders",
    )

    class Meta:
        model = ChargeRule
        fields = [
            *("name", "type", "percent", "amount", "tax_percent", "free_from", "fulfilments", "position"),
            "translations",
        ]
        widgets = {"translations": TranslationsWidget({"name": "Name"})}
        labels = {"percent": "Percentage", "tax_percent": "Tax in percent", "free_from": "Free from"}
        help_texts = {
            "position": "Charges are sorted by this number",
            "translations": "By language: da, de, de-AT",
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("percent") is None and values.get("amount") is None and not self.errors:
            # PostgreSQL accepts a row of which the condition is null.
            self.add_error("percent", "Enter either a percentage up to 100 or an amount.")
        currency = self.instance.venue.currency
        for name in ("amount", "free_from"):
            if message := find_decimals_error(values.get(name), currency):
                self.add_error(name, message)
        return values


class TablesForm(forms.Form):
    """The tables for which QR codes are printed."""

    tables = forms.CharField(
        label="Tables",
        max_length=2000,
        help_text="For example: 1-20, Bar",
        error_messages={"required": "Enter at least one table."},
    )

    def clean_tables(self) -> list[str]:
        """Return the names, each once: `1-3, Bar` is 1, 2, 3 and Bar, and `T1-3` is T1, T2 and T3."""
        names: dict[str, None] = {}
        for part in (part.strip() for part in self.cleaned_data["tables"].split(",")):
            found = RANGE.fullmatch(part)
            first, last = (int(found[2]), int(found[3])) if found else (1, 0)
            if found and first <= last:
                names |= dict.fromkeys(f"{found[1]}{number}" for number in range(first, last + 1))
            elif part:
                names[part] = None
            if len(names) > MAX_CODES:
                raise forms.ValidationError(f"Print at most {MAX_CODES} tables at a time.")
        if any(len(name) > 40 for name in names):
            raise forms.ValidationError("The name of a table has at most 40 characters.")
        return list(names)
