"""The form in which staff write a reservation down."""

from collections.abc import Sequence
from datetime import time
from typing import Any, ClassVar

from django import forms
from rest_framework import serializers

from framework.admin.domain_error_forms import RefusedForm
from framework.api.fields import Email, Phone, Text
from framework.errors import Refusal
from framework.forms.optimistic_concurrency import StaleForm
from reservations.booking.venue_time import moment_of
from reservations.models import Reservation

ASKED = ["customer_name", "customer_email", "customer_phone", "date", "time", "party_size", "special_requests"]


class ReservationForm(RefusedForm, StaleForm):
    """A reservation as staff write it down: the rules of time are those of the API."""

    customer_phone = forms.CharField(required=False, max_length=40, help_text="International, with a plus")

    class Meta:
        model = Reservation
        fields = ["venue", *ASKED, "tables"]

    def clean_customer_name(self) -> str:
        """One line of text, as the API asks for it."""
        return judged(Text(min_length=1, max_length=200), self.cleaned_data["customer_name"])

    def clean_customer_email(self) -> str | None:
        """An address that mail can be sent to, as the API asks for it."""
        address = self.cleaned_data["customer_email"]
        return judged(Email(), address) if address else None

    def clean_customer_phone(self) -> str | None:
        """The number without what people write between its digits, as the API keeps it."""
        number = self.cleaned_data["customer_phone"]
        return judged(Phone(), number) if number else None

    def clean_time(self) -> time:
        """Hours and minutes, as the API tells them."""
        at: time = self.cleaned_data["time"]
        return at.replace(second=0, microsecond=0)

    def clean_special_requests(self) -> str:
        """The text with the ends of lines that the API keeps."""
        text: str = self.cleaned_data["special_requests"]
        return text.replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        """Ask for a contact, and for a moment that the venue's clock knows."""
        wanted = super().clean()
        wanted["customer_email"] = wanted.get("customer_email") or None
        wanted["customer_phone"] = wanted.get("customer_phone") or None
        has_contact = wanted["customer_email"] or wanted["customer_phone"]
        if self.instance.needs_contact and not (has_contact or self.errors):
            self.add_error("customer_email", "Give an e-mail address or a phone number.")
        # Chosen for a new reservation, unless the choice was wrong; fixed for an old one.
        venue = wanted.get("venue") if self.instance._state.adding else self.instance.venue
        if venue and wanted.get("date") and wanted.get("time"):
            try:
                moment_of(venue, day=wanted["date"], at=wanted["time"])
            except Refusal as refusal:
                self.blame(refusal)
        return wanted


class NewReservationForm(ReservationForm):
    """A reservation that is taken on the phone or at the door."""

    is_confirmed = forms.BooleanField(
        required=False, label="Confirmed", help_text="The guest gets a mail. Otherwise it is pending."
    )


class StaffReservationForm(ReservationForm):
    """A reservation on the pages of its venue, which names its tables to choose from."""

    class Meta(ReservationForm.Meta):
        fields = [*ASKED, "tables"]
        widgets: ClassVar = {
            "date": forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
            "time": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "party_size": forms.NumberInput({"min": 1, "max": 500, "inputmode": "numeric"}),
            "special_requests": forms.Textarea({"rows": 3}),
        }
        labels: ClassVar = {
            "customer_name": "Name",
            "customer_email": "Email",
            "date": "Day",
            "party_size": "Guests",
            "special_requests": "Notes",
        }
        help_texts: ClassVar = {"date": "", "time": "By the clock of the venue", "tables": ""}

    customer_phone = forms.CharField(
        label="Phone", required=False, max_length=40, help_text="International, with a plus: +39 06 1234567"
    )
    tables_help = "None ticked: it has no table."

    def __init__(self, *args: Any, tables: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        its = self.fields["tables"]
        if tables:
            known = sorted({*tables, *self.instance.tables})
            chosen = forms.MultipleChoiceField(
                choices=[(name, name) for name in known],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=self.tables_help,
            )
            chosen.show_hidden_initial = its.show_hidden_initial
            self.fields["tables"] = chosen
        else:
            its.help_text = "In your own words, separated by commas"


class NewStaffReservationForm(StaffReservationForm):
    """A reservation that is taken on the phone or at the door of the venue."""

    tables_help = "None ticked: the best that is free."
    is_confirmed = forms.BooleanField(
        required=False, label="Confirmed", help_text="The guest gets a mail. Otherwise it waits for your word."
    )


def judged(field: serializers.Field[Any, Any, Any, Any], value: str) -> str:
    """The value as a field of the API reads it. Raises ValidationError of forms."""
    try:
        return str(field.to_internal_value(value))
    except serializers.ValidationError as error:
        raise forms.ValidationError([str(detail) for detail in error.detail]) from error
