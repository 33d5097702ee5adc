"""The checkout form of the ordering page."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from accounts.models import Venue
from framework.api.fields import PhoneField
from framework.languages import format_clock_or_date, format_money, format_number
from framework.phone_numbers import add_country_code, country_of_zone
from orders import capacity
from orders.models import Fulfilment, OrderingSettings
from orders.ordering_page import online_orders
from orders.pricing import format_amount, round_amount

TIP_PERCENTS = (5, 10, 15)
# The labels of what guests pay with at the counter.
AT_THE_COUNTER = {"cash": _("Cash"), "card": _("Card")}
FULFILMENTS = {Fulfilment.PICKUP: _("Pick-up"), Fulfilment.DINE_IN: _("At the table")}
# Fields of the form by the parameter of the API that they set.
FIELDS = {
    "payment_method": "payment",
    "tip": "tip",
    "fulfilment.requested_at": "when",
    "fulfilment.table": "table",
    "fulfilment.contact.name": "name",
    "fulfilment.contact.phone": "phone",
}


def list_fulfilments(settings: OrderingSettings) -> list[str]:
    """Return the fulfilments that the page offers."""
    asked = settings.page_fulfilments
    return [each for each in FULFILMENTS if each in asked] or list(FULFILMENTS)


def list_payments(venue: Venue) -> dict[str, Any]:
    """Return the payment labels with their texts: cash and card, or the venue's own if it takes neither."""
    taken = venue.payment_methods or list(AT_THE_COUNTER)
    counter = {label: text for label, text in AT_THE_COUNTER.items() if label in taken}
    return counter or {label: label.replace("_", " ").capitalize() for label in taken}


class CheckoutForm(forms.Form):
    """How the order reaches the guest, whom to call, the tip and the payment."""

    fulfilment = forms.ChoiceField(label=_("How do you want your order?"), widget=forms.RadioSelect)
    table = forms.CharField(
        label=_("Table"), required=False, max_length=40, widget=forms.TextInput({"autocomplete": "off"})
    )
    when = forms.CharField(label=_("Pick-up time"), required=False, max_length=40, widget=forms.Select)
    name = forms.CharField(label=_("Your name"), max_length=200, widget=forms.TextInput({"autocomplete": "name"}))
    phone = forms.CharField(
        label=_("Phone"),
        max_length=40,
        help_text=_("Begin numbers of other countries with + and the country code."),
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel", "inputmode": "tel"}),
    )
    tip = forms.TypedChoiceField(
        label=_("Tip"), required=False, coerce=int, empty_value=None, widget=forms.RadioSelect
    )
    payment = forms.ChoiceField(label=_("Payment"), widget=forms.RadioSelect)
    # A honeypot: hidden from people, filled in by bots.
    website = forms.CharField(
        label=_("Leave this empty"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "tabindex": "-1"}),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        venue: Venue,
        fulfilments: Collection[str],
        total: Decimal | None,
        times: tuple[Mapping[str, datetime | None], Sequence[datetime]],
        is_open: bool,
        now: datetime,
        **options: Any,
    ) -> None:
        super().__init__(data, label_suffix="", **options)
        self.venue = venue
        self.total = total
        self.now = now.astimezone(ZoneInfo(venue.timezone))
        self.is_open = is_open
        self.set_choices("fulfilment", [(each, FULFILMENTS[Fulfilment(each)]) for each in fulfilments])
        self.set_choices("payment", list(list_payments(venue).items()))
        self.set_choices("tip", [(0, _("No tip")), *((percent, self.label_tip(percent)) for percent in TIP_PERCENTS)])
        soonest, self.later = times
        soon = gettext("Choose a time")
        if earliest := soonest[Fulfilment.PICKUP]:
            soon = gettext("As soon as possible, about %(time)s") % {"time": self.format_time(earliest)}
        if earliest := soonest[Fulfilment.DINE_IN]:
            self.fields["table"].help_text = gettext("Expected at %(promised)s") % {
                "promised": self.format_time(earliest)
            }
        choices = [(at.isoformat(), self.format_time(at)) for at in self.later]
        self.fields["when"].widget.choices = [("", soon), *choices]
        if Fulfilment.DINE_IN not in fulfilments:
            del self.fields["table"]
        if Fulfilment.PICKUP not in fulfilments:
            del self.fields["when"]
        if not total:
            del self.fields["tip"]

    def format_time(self, at: datetime) -> str:
        return format_clock_or_date(at, today=self.now.date())

    def set_choices(self, name: str, choices: Sequence[tuple[Any, Any]]) -> None:
        """Set the choices; the first is the default."""
        self.fields[name].choices = choices  # type: ignore[attr-defined]
        if str(self.initial.get(name)) not in [str(value) for value, _label in choices]:
            self.initial[name] = choices[0][0]

    def label_tip(self, percent: int) -> str:
        amount = format_money(self.calculate_tip(percent), self.venue.currency)
        return f"{format_number(percent)} % ({amount})"

    @property
    def chosen_tip(self) -> Decimal:
        """The tip that is chosen in the form."""
        value = str(self["tip"].value()) if "tip" in self.fields else ""
        return self.calculate_tip(int(value)) if value in map(str, TIP_PERCENTS) else Decimal(0)

    def calculate_tip(self, percent: int) -> Decimal:
        return round_amount((self.total or Decimal(0)) * percent / 100, self.venue.currency)

    @property
    def chosen_time(self) -> datetime:
        """The time that is chosen in the form, or the first that can be."""
        if "when" not in self.fields or self["fulfilment"].value() != Fulfilment.PICKUP:
            return self.now
        chosen = (at for at in self.later if at.isoformat() == self["when"].value())
        return next(chosen, self.now if self.is_open or not self.later else self.later[0])

    def clean_phone(self) -> str:
        country = country_of_zone(self.venue.timezone)
        try:
            return str(PhoneField().run_validation(add_country_code(self.cleaned_data["phone"], country=country)))
        except serializers.ValidationError as error:
            raise forms.ValidationError(_("This is not a phone number.")) from error

    def clean_when(self) -> datetime | None:
        text = self.cleaned_data["when"]
        try:
            at = datetime.fromisoformat(text) if text else None
        except ValueError as error:
            raise forms.ValidationError(_("Choose a time.")) from error
        if at and (at.tzinfo is None or abs(at - self.now) > capacity.HORIZON):
            raise forms.ValidationError(_("Choose a time."))
        return at

    def clean_website(self) -> str:
        if self.cleaned_data["website"]:
            raise forms.ValidationError(_("Leave this field empty. It protects the form against bots."))
        return ""

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("fulfilment") == Fulfilment.DINE_IN and not values.get("table") and "table" not in self.errors:
            self.add_error("table", _("Enter the number of your table."))
        is_for_now = values.get("when") is None and "when" not in self.errors
        if values.get("fulfilment") == Fulfilment.PICKUP and is_for_now and not self.is_open:
            self.add_error("when", _("Choose a time."))
        return values

    def build_body(self, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body of the equivalent `POST /orders`. Requires a valid form."""
        values = self.cleaned_data
        fulfilment: dict[str, Any] = {
            "type": values["fulfilment"],
            "contact": {"name": values["name"], "phone": values["phone"]},
        }
        if values["fulfilment"] == Fulfilment.DINE_IN:
            fulfilment["table"] = values["table"]
        elif values.get("when"):
            fulfilment["requested_at"] = values["when"].isoformat()
        body = {
            "customer_id": online_orders.identify_customer(self.venue, values["phone"]),
            "items": items,
            "payment_method": values["payment"],
            "fulfilment": fulfilment,
            "channel": online_orders.CHANNEL,
        }
        if values.get("tip"):
            body["tip"] = format_amount(self.calculate_tip(values["tip"]), self.venue.currency)
        return body

    def add_refusal(self, param: str) -> bool:
        """Show at its field that the order was refused because of this parameter; return whether there is one."""
        messages = {
            "when": gettext("The kitchen cannot take more orders for this time. Choose another time."),
            "payment": gettext("The restaurant does not take this payment. Choose another one."),
            "phone": gettext(
                "You have %(count)s open orders, the maximum for one phone. Please order from the restaurant's staff."
            )
            % {"count": online_orders.MAX_OPEN},
        }
        name = next((field for start, field in FIELDS.items() if param.startswith(start)), "")
        if name not in self.fields:
            return False
        self.add_error(name, messages.get(name, gettext("Please check this.")))
        return True
