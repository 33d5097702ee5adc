"""The forms with which the staff set up the ordering page."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ConflictCheckForm
from orders.menu.translation_widget import TranslationsWidget
from orders.models import ChargeRule, Fulfilment, OrderingSettings
from orders.ordering_page.checkout import FULFILMENTS
from orders.pricing import find_decimals_error

FULFILMENT_LABELS = {
    Fulfilment.PICKUP: gettext_lazy("Pick-up"),
    Fulfilment.DINE_IN: gettext_lazy("At the table"),
    Fulfilment.DELIVERY: gettext_lazy("Delivery"),
}
# One USDC is one of them.
USD = "USD"
SLOT_MINUTES = (5, 10, 15, 20, 30, 60)
MAX_CODES = 200
RANGE = re.compile(r"(\D*?)(\d{1,4})\s*-\s*(\d{1,4})")


def list_slot_lengths() -> list[tuple[int, str]]:
    return [
        (minutes, ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes})
        for minutes in SLOT_MINUTES
    ]


class OrderingSettingsForm(ConflictCheckForm):
    """Whether the page is open, what it offers, and how fast the kitchen is."""

    page_fulfilments = forms.MultipleChoiceField(
        label=gettext_lazy("Guests can order"),
        choices=[(each.value, FULFILMENT_LABELS[each]) for each in FULFILMENTS],
        widget=forms.CheckboxSelectMultiple,
    )
    slot_minutes = forms.TypedChoiceField(
        label=gettext_lazy("Length of a slot"),
        coerce=int,
        choices=list_slot_lengths,
        help_text=gettext_lazy("Later pick-up times are offered in these steps"),
    )

    class Meta:
        model = OrderingSettings
        fields = [
            *("is_page_open", "page_fulfilments", "prep_minutes", "slot_minutes", "orders_per_slot"),
            "max_waiting_orders",
            *("takes_usdc", "usdc_price"),
        ]
        labels = {
            "is_page_open": gettext_lazy("Guests can order on the ordering page"),
            "prep_minutes": gettext_lazy("Preparation time in minutes"),
            "orders_per_slot": gettext_lazy("Orders in a slot"),
            "max_waiting_orders": gettext_lazy("Waiting orders, at most"),
            "takes_usdc": gettext_lazy("Guests can pay in USDC after the order"),
            "usdc_price": gettext_lazy("Price of one USDC"),
        }
        help_texts = {
            "is_page_open": "",
            "prep_minutes": gettext_lazy("From an order to its handover. A dish on the menu may take longer"),
            "orders_per_slot": gettext_lazy("That the kitchen can finish. Leave this empty for any number"),
            "max_waiting_orders": gettext_lazy("The page accepts further orders when you have accepted some"),
            "takes_usdc": gettext_lazy("The operator of this installation gets the money, and owes it to you"),
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
            message = _("In %(currency)s. It stays until you change it here")
            self.fields["usdc_price"].help_text = message % {"currency": currency}

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if "takes_usdc" in self.fields:
            if self.instance.venue.currency == USD:
                self.instance.usdc_price = Decimal(1) if values.get("takes_usdc") else None
                self.changed_data.append("usdc_price")
            elif values.get("takes_usdc") and values.get("usdc_price") is None and "usdc_price" not in self.errors:
                self.add_error("usdc_price", _("State the price of one USDC."))
        return values


class ChargeRuleForm(ValidatesUniqueness, ConflictCheckForm):
    """A charge that is added to orders."""

    # Names are unique at a venue.
    unique_with = frozenset({"venue"})
    fulfilments = forms.MultipleChoiceField(
        label=gettext_lazy("Orders"),
        required=False,
        choices=[(each.value, FULFILMENT_LABELS[each]) for each in Fulfilment],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen: all orders"),
    )

    class Meta:
        model = ChargeRule
        fields = [
            *("name", "type", "percent", "amount", "tax_percent", "free_from", "fulfilments", "position"),
            "translations",
        ]
        widgets = {"translations": TranslationsWidget({"name": gettext_lazy("Name")})}
        labels = {
            "name": gettext_lazy("Name"),
            "type": gettext_lazy("Type"),
            "percent": gettext_lazy("Percentage"),
            "amount": gettext_lazy("Amount"),
            "tax_percent": gettext_lazy("Tax in percent"),
            "free_from": gettext_lazy("Free from"),
            "position": gettext_lazy("Position"),
            "translations": gettext_lazy("Translations"),
        }
        help_texts = {
            "name": gettext_lazy("Shown to guests"),
            "percent": gettext_lazy("Of the sum of the lines; or an amount"),
            "amount": gettext_lazy("In the venue's currency; or a percentage"),
            "free_from": gettext_lazy("No charge from this sum of the lines on"),
            "position": gettext_lazy("Charges are sorted by this number"),
            "translations": gettext_lazy("By language: da, de, de-AT"),
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("percent") is None and values.get("amount") is None and not self.errors:
            # PostgreSQL accepts a row of which the condition is null.
            self.add_error("percent", _("Enter either a percentage up to 100 or an amount."))
        currency = self.instance.venue.currency
        for name in ("amount", "free_from"):
            if message := find_decimals_error(values.get(name), currency):
                self.add_error(name, message)
        return values


class TablesForm(forms.Form):
    """The tables for which QR codes are printed."""

    tables = forms.CharField(
        label=gettext_lazy("Tables"),
        max_length=2000,
        help_text=gettext_lazy("For example: 1-20, Bar"),
        error_messages={"required": gettext_lazy("Enter at least one table.")},
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
                raise forms.ValidationError(_("Print at most %(most)s tables together.") % {"most": MAX_CODES})
        if any(len(name) > 40 for name in names):
            raise forms.ValidationError(_("The name of a table has at most 40 characters."))
        return list(names)
