"""Reservation forms for staff."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from accounts.models import Venue
from framework.admin.domain_error_forms import DomainErrorForm
from framework.api.fields import EmailField, PhoneField, TextField
from framework.errors import ApiError
from framework.forms.optimistic_concurrency import ChangedFieldsForm
from framework.phone_numbers import add_country_code, country_of_zone
from reservations.booking.venue_time import to_utc
from reservations.models import Reservation

MAX_QUOTED_MINUTES = 600
EDITABLE = ["customer_name", "customer_email", "customer_phone", "date", "time", "party_size", "special_requests"]

# The order in which staff ask for it.
FIELD_ORDER = ("party_size", "date", "time", "customer_name", "customer_phone", "customer_email", "special_requests")
PHONE_HELP = gettext_lazy("Begin numbers of other countries with + and the country code.")


class GuestFieldsMixin:
    """Validates the guest's fields like the API, but reads national phone numbers of the venue's country, too."""

    cleaned_data: dict[str, Any]

    def get_venue(self) -> Venue | None:
        """The venue that is booked; None if the form was submitted without one."""
        raise NotImplementedError

    def clean_customer_name(self) -> str:
        return validate_with(TextField(min_length=1, max_length=200), self.cleaned_data["customer_name"])

    def clean_customer_email(self) -> str | None:
        address = self.cleaned_data["customer_email"]
        return validate_with(EmailField(), address) if address else None

    def clean_customer_phone(self) -> str | None:
        number = self.cleaned_data["customer_phone"]
        if not number:
            return None
        venue = self.get_venue()
        country = country_of_zone(venue.timezone) if venue else None
        try:
            return validate_with(PhoneField(), add_country_code(number, country=country))
        except forms.ValidationError as error:
            hint = PHONE_HELP if country else _("Begin it with + and the country code.")
            message = _("This is not a phone number.")
            raise forms.ValidationError(f"{message} {hint}") from error

    def clean_special_requests(self) -> str:
        return validate_requests(self.cleaned_data["special_requests"])


class ReservationForm(GuestFieldsMixin, DomainErrorForm, ChangedFieldsForm):
    """A reservation entered by staff, validated like in the API."""

    customer_phone = forms.CharField(required=False, max_length=40, help_text=PHONE_HELP)

    class Meta:
        model = Reservation
        fields = ["venue", *EDITABLE, "tables"]

    def get_venue(self) -> Venue | None:
        """The selected venue of a new reservation; an existing one keeps its venue."""
        if self.instance._state.adding and "venue" in self.fields:
            selected: Venue | None = self.cleaned_data.get("venue")
            return selected
        venue: Venue = self.instance.venue
        return venue

    def clean_time(self) -> time:
        at: time = self.cleaned_data["time"]
        return at.replace(second=0, microsecond=0)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        values["customer_email"] = values.get("customer_email") or None
        values["customer_phone"] = values.get("customer_phone") or None
        has_contact = values["customer_email"] or values["customer_phone"]
        if self.instance.needs_contact and not (has_contact or self.errors):
            self.add_error("customer_email", _("Enter an email address or a phone number."))
        venue = self.get_venue()
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
        label=gettext_lazy("Confirmed"),
        help_text=gettext_lazy("The guest is notified by email. If off, the reservation is pending."),
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
            "customer_name": gettext_lazy("Name"),
            "customer_email": gettext_lazy("Email"),
            "date": gettext_lazy("Date"),
            "time": gettext_lazy("Time"),
            "party_size": gettext_lazy("Guests"),
            "special_requests": gettext_lazy("Notes"),
            "tables": gettext_lazy("Tables"),
        }
        help_texts: ClassVar = {"date": "", "time": "", "tables": ""}

    field_order = FIELD_ORDER
    customer_phone = forms.CharField(
        label=gettext_lazy("Phone"),
        required=False,
        max_length=40,
        help_text=PHONE_HELP,
        widget=forms.TextInput({"type": "tel"}),
    )
    tables_help = gettext_lazy("If none is selected, the reservation has no table.")

    def __init__(self, *args: Any, tables: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        tables_field = self.fields["tables"]
        if tables:
            # In the given order, with tables that the reservation has but that are no longer active.
            known = dict.fromkeys([*tables, *self.instance.tables])
            chosen = forms.MultipleChoiceField(
                label=gettext_lazy("Tables"),
                choices=[(name, name) for name in known],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=self.tables_help,
            )
            chosen.show_hidden_initial = tables_field.show_hidden_initial
            self.fields["tables"] = chosen
        else:
            tables_field.help_text = _("Free text, separated by commas")


class LastTimeInput(forms.TimeInput):
    """A time, or one of the listed times of the same name, which stand before it: the last one with a value counts."""

    def __init__(self, attrs: Any = None) -> None:
        super().__init__({"type": "time"} | (attrs or {}), format="%H:%M")

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        sent = data.getlist(name) if hasattr(data, "getlist") else [data.get(name)]
        return next((value for value in reversed(sent) if value), "")


class NewStaffReservationForm(StaffReservationForm):
    """A new reservation on the dashboard, in the order in which it is made on the phone."""

    class Meta(StaffReservationForm.Meta):
        widgets: ClassVar = StaffReservationForm.Meta.widgets | {"time": LastTimeInput()}
        error_messages: ClassVar = {"time": {"required": gettext_lazy("Choose a time.")}}

    tables_help = gettext_lazy("If none is selected, the best free table is assigned.")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("customer_phone", "customer_email", "special_requests"):
            field = self.fields[name]
            field.label = _("%(label)s (optional)") % {"label": field.label}

    is_confirmed = forms.BooleanField(
        required=False,
        label=gettext_lazy("Confirmed"),
        help_text=gettext_lazy(
            "Guests with an email address are notified. If off, the reservation awaits your approval."
        ),
    )


def validate_requests(text: str) -> str:
    """Validate special requests like the API. Raises ValidationError of django.forms."""
    return validate_with(TextField(max_length=2000, allow_blank=True, lines=True), text.replace("\r\n", "\n"))


class WaitlistForm(ReservationForm):
    """A party for the waiting list. Without a time, it wants a table when the quoted wait ends."""

    class Meta(ReservationForm.Meta):
        fields = EDITABLE
        widgets = StaffReservationForm.Meta.widgets
        labels = StaffReservationForm.Meta.labels
        help_texts: ClassVar = {
            "date": "",
            "customer_email": gettext_lazy("Without email and phone, call the party by its name."),
        }

    field_order = ("party_size", "quoted_minutes", *FIELD_ORDER[1:])
    quoted_minutes = forms.IntegerField(
        label=gettext_lazy("Quoted wait"),
        min_value=1,
        max_value=MAX_QUOTED_MINUTES,
        required=False,
        widget=forms.NumberInput({"inputmode": "numeric", "step": 5}),
        help_text=gettext_lazy("Minutes"),
    )
    customer_phone = forms.CharField(
        label=gettext_lazy("Phone"),
        required=False,
        max_length=40,
        help_text=PHONE_HELP,
        widget=forms.TextInput({"type": "tel"}),
    )

    def __init__(self, *args: Any, now: datetime, **options: Any) -> None:
        super().__init__(*args, **options)
        self.now = now
        self.fields["time"].required = False
        help_text = _("If empty, when the quoted wait ends.")
        self.fields["time"].help_text = help_text

    def clean_time(self) -> time | None:  # type: ignore[override]
        return super().clean_time() if self.cleaned_data["time"] else None

    def clean(self) -> dict[str, Any]:
        values, venue = self.cleaned_data, self.instance.venue
        if values.get("time") is None and "time" not in self.errors:
            local_now = self.now.astimezone(ZoneInfo(venue.timezone))
            if values.get("quoted_minutes") is None or values.get("date") not in (None, local_now.date()):
                self.add_error("time", _("Enter a time."))
            else:
                wanted = self.now + timedelta(minutes=values["quoted_minutes"])
                local = wanted.astimezone(ZoneInfo(venue.timezone))
                values |= {"date": local.date(), "time": local.time().replace(second=0, microsecond=0)}
        # A party that waits at the door needs no contact data.
        self.instance.is_walk_in = not (values.get("customer_email") or values.get("customer_phone"))
        self.instance.quoted_minutes = values.get("quoted_minutes")
        return super().clean()


def validate_with(field: serializers.Field[Any, Any, Any, Any], value: str) -> str:
    """Validate a value with a serializer field. Raises ValidationError of django.forms."""
    try:
        return str(field.to_internal_value(value))
    except serializers.ValidationError as error:
        raise forms.ValidationError([str(detail) for detail in error.detail]) from error
