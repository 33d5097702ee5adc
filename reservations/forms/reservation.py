"""Reservation forms for staff."""

from collections.abc import Sequence
from datetime import time
from typing import Any, ClassVar

from django import forms
from rest_framework import serializers

from framework.admin.domain_error_forms import DomainErrorForm
from framework.api.fields import EmailField, PhoneField, TextField
from framework.errors import ApiError
from framework.forms.optimistic_concurrency import ChangedFieldsForm
from reservations.booking.venue_time import moment_of
from reservations.models import Reservation

EDITABLE = ["customer_name", "customer_email", "customer_phone", "date", "time", "party_size", "special_requests"]


class ReservationForm(DomainErrorForm, ChangedFieldsForm):
    """A reservation entered by staff, validated like in the API."""

    customer_phone = forms.CharField(
        required=False, max_length=40, help_text="In international format, for example +39 06 1234567"
    )

    class Meta:
        model = Reservation
        fields = ["venue", *EDITABLE, "tables"]

    def clean_customer_name(self) -> str:
        """Validate like the API: one line of text."""
        return judged(TextField(min_length=1, max_length=200), self.cleaned_data["customer_name"])

    def clean_customer_email(self) -> str | None:
        """Validate like the API: an email address."""
        address = self.cleaned_data["customer_email"]
        return judged(EmailField(), address) if address else None

    def clean_customer_phone(self) -> str | None:
        """Validate and normalise like the API: a phone number."""
        number = self.cleaned_data["customer_phone"]
        return judged(PhoneField(), number) if number else None

    def clean_time(self) -> time:
        """Drop the seconds."""
        at: time = self.cleaned_data["time"]
        return at.replace(second=0, microsecond=0)

    def clean_special_requests(self) -> str:
        """Normalise line endings like the API."""
        text: str = self.cleaned_data["special_requests"]
        return text.replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        """Require a contact, and a time that exists in the venue's time zone."""
        wanted = super().clean()
        wanted["customer_email"] = wanted.get("customer_email") or None
        wanted["customer_phone"] = wanted.get("customer_phone") or None
        has_contact = wanted["customer_email"] or wanted["customer_phone"]
        if self.instance.needs_contact and not (has_contact or self.errors):
            self.add_error("customer_email", "Enter an email address or a phone number.")
        # A new reservation has the selected venue, unless the selection was invalid; an existing one keeps its venue.
        venue = wanted.get("venue") if self.instance._state.adding else self.instance.venue
        if venue and wanted.get("date") and wanted.get("time"):
            try:
                moment_of(venue, day=wanted["date"], at=wanted["time"])
            except ApiError as refusal:
                self.add_domain_error(refusal)
        return wanted


class NewReservationForm(ReservationForm):
    """A new reservation entered in the back office."""

    is_confirmed = forms.BooleanField(
        required=False,
        label="Confirmed",
        help_text="The guest is notified by email. If off, the reservation is pending.",
    )


class StaffReservationForm(ReservationForm):
    """A reservation on the dashboard, with a choice of tables."""

    class Meta(ReservationForm.Meta):
        fields = [*EDITABLE, "tables"]
        widgets: ClassVar = {
            "date": forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
            "time": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "party_size": forms.NumberInput({"min": 1, "max": 500, "inputmode": "numeric"}),
            "special_requests": forms.Textarea({"rows": 3}),
        }
        labels: ClassVar = {
            "customer_name": "Name",
            "customer_email": "Email",
            "date": "Date",
            "party_size": "Guests",
            "special_requests": "Notes",
        }
        help_texts: ClassVar = {"date": "", "time": "In the restaurant's time zone", "tables": ""}

    customer_phone = forms.CharField(
        label="Phone", required=False, max_length=40, help_text="In international format, for example +39 06 1234567"
    )
    tables_help = "If none is selected, the reservation has no table."

    def __init__(self, *args: Any, tables: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        tables_field = self.fields["tables"]
        if tables:
            known = sorted({*tables, *self.instance.tables})
            chosen = forms.MultipleChoiceField(
                choices=[(name, name) for name in known],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=self.tables_help,
            )
            chosen.show_hidden_initial = tables_field.show_hidden_initial
            self.fields["tables"] = chosen
        else:
            tables_field.help_text = "Free text, separated by commas"


class NewStaffReservationForm(StaffReservationForm):
    """A new reservation entered on the dashboard."""

    tables_help = "If none is selected, the best free table is assigned."
    is_confirmed = forms.BooleanField(
        required=False,
        label="Confirmed",
        help_text="The guest is notified by email. If off, the reservation awaits your approval.",
    )


def judged(field: serializers.Field[Any, Any, Any, Any], value: str) -> str:
    """Validate a value with a serializer field. Raises ValidationError of django.forms."""
    try:
        return str(field.to_internal_value(value))
    except serializers.ValidationError as error:
        raise forms.ValidationError([str(detail) for detail in error.detail]) from error
