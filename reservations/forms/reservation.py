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
from reservations.booking.venue_time import to_utc
from reservations.models import Reservation

EDITABLE = ["customer_name", "customer_email", "customer_phone", "date", "time", "party_size", "special_requests"]


class GuestFieldsMixin:
    """Validates the guest's fields like the API."""

    cleaned_data: dict[str, Any]

    def clean_customer_name(self) -> str:
        return validate_with(TextField(min_length=1, max_length=200), self.cleaned_data["customer_name"])

    def clean_customer_email(self) -> str | None:
        address = self.cleaned_data["customer_email"]
        return validate_with(EmailField(), address) if address else None

    def clean_customer_phone(self) -> str | None:
        number = self.cleaned_data["customer_phone"]
        return validate_with(PhoneField(), number) if number else None

    def clean_special_requests(self) -> str:
        text = self.cleaned_data["special_requests"].replace("\r\n", "\n")
        return validate_with(TextField(max_length=2000, allow_blank=True, lines=True), text)


class ReservationForm(GuestFieldsMixin, DomainErrorForm, ChangedFieldsForm):
    """A reservation entered by staff, validated like in the API."""

    customer_phone = forms.CharField(
        required=False, max_length=40, help_text="In international format, for example +39 06 1234567"
    )

    class Meta:
        model = Reservation
        fields = ["venue", *EDITABLE, "tables"]

    def clean_time(self) -> time:
        at: time = self.cleaned_data["time"]
        return at.replace(second=0, microsecond=0)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        values["customer_email"] = values.get("customer_email") or None
        values["customer_phone"] = values.get("customer_phone") or None
        has_contact = values["customer_email"] or values["customer_phone"]
        if self.instance.needs_contact and not (has_contact or self.errors):
            self.add_error("customer_email", "Enter an email address or a phone number.")
        # A new reservation has the selected venue, unless the selection was invalid; an existing one keeps its venue.
        venue = values.get("venue") if self.instance._state.adding else self.instance.venue
        if venue and values.get("date") and values.get("time"):
            try:
                to_utc(venue, day=values["date"], at=values["time"])
            except ApiError as refusal:
                self.add_domain_error(refusal)
        return values

    def changes(self) -> dict[str, Any]:
        """Return the changed fields as arguments of commands.update; other users may have changed the others."""
        new = {name: self.cleaned_data[name] for name in self.changed_data}
        names = {"date": "day", "time": "at", "party_size": "party_size", "tables": "tables"}
        return {names[name]: new.pop(name) for name in names if name in new} | {"guest": new}


class NewReservationForm(ReservationForm):
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
    tables_help = "If none is selected, the best free table is assigned."
    is_confirmed = forms.BooleanField(
        required=False,
        label="Confirmed",
        help_text="The guest is notified by email. If off, the reservation awaits your approval.",
    )


def validate_with(field: serializers.Field[Any, Any, Any, Any], value: str) -> str:
    """Validate a value with a serializer field. Raises ValidationError of django.forms."""
    try:
        return str(field.to_internal_value(value))
    except serializers.ValidationError as error:
        raise forms.ValidationError([str(detail) for detail in error.detail]) from error
