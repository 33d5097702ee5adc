"""Forms for tables and hours, of the back office and of the dashboard."""

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from accounts.models import Venue
from framework.db.natural_sort import natural
from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ConflictCheckForm
from reservations.models import Area, CancellationTerms, Closure, Combination, ServicePeriod, Table

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def format_weekdays(row: ServicePeriod | CancellationTerms) -> str:
    """Return the weekdays of the row: `Mon, Tue`."""
    return ", ".join(WEEKDAYS[day][:3] for day in sorted(set(row.weekdays)))


def venue_id_of(form: forms.ModelForm[Any], values: dict[str, Any]) -> Any:
    """Return the id of the selected venue or of the row's venue; None if neither is set."""
    venue = values.get("venue")
    return venue.pk if venue else form.instance.venue_id


class TableForm(forms.ModelForm[Table]):
    """A table with an area of the same venue."""

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        venue, area = venue_id_of(self, values), values.get("area")
        if venue and area and area.venue_id != venue:
            self.add_error("area", "This area belongs to another venue.")
        return values


class CombinationForm(forms.ModelForm[Combination]):
    """Two or more tables of one venue."""

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        venue, tables = venue_id_of(self, values), values.get("tables")
        if venue and tables:
            foreign = [table.name for table in tables if table.venue_id != venue]
            if foreign:
                self.add_error("tables", f"These tables belong to another venue: {', '.join(foreign)}.")
            elif len(tables) == 1:
                self.add_error("tables", "Select at least two tables.")
        return values


class ServicePeriodForm(forms.ModelForm[ServicePeriod]):
    """A service period, with checkboxes for the weekdays."""

    weekdays = forms.TypedMultipleChoiceField(
        choices=list(enumerate(WEEKDAYS)),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text="The days on which the period starts",
    )


# The error for a duplicate name within a venue.
DUPLICATE_NAME: dict[str, dict[str, str]] = {NON_FIELD_ERRORS: {"unique_together": "This name is already used."}}


class VenueForm(ValidatesUniqueness, forms.ModelForm[Any]):
    """Base form for rows of one venue, without a venue field."""

    # Names are unique at a venue.
    unique_with = frozenset({"venue"})

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        self.instance.venue = venue
        for name, rows in (
            ("area", Area.objects.filter(venue=venue).order_by("position", "name")),
            ("tables", Table.objects.filter(venue=venue).order_by(natural("name"), "name")),
        ):
            if name in self.fields:
                field: Any = self.fields[name]
                field.queryset = rows


class VenueTableForm(VenueForm, TableForm, ConflictCheckForm):
    class Meta:
        model = Table
        error_messages = DUPLICATE_NAME
        fields = ["name", "area", "seats_min", "seats_max", "priority", "is_active"]
        labels = {"seats_min": "Smallest party", "seats_max": "Largest party", "is_active": "Active"}
        help_texts = {"name": "As on your floor plan, for example T4"}


class VenueAreaForm(VenueForm, ConflictCheckForm):
    class Meta:
        model = Area
        error_messages = DUPLICATE_NAME
        fields = ["name", "position"]
        help_texts = {"name": "For example: Terrace, Bar", "position": "Areas are sorted by this number"}


class VenueCombinationForm(VenueForm, CombinationForm):
    """A combination, on the dashboard. It has many related tables, so all fields are always saved."""

    class Meta:
        model = Combination
        error_messages = DUPLICATE_NAME
        fields = ["name", "tables", "seats_min", "seats_max", "priority", "is_active"]
        widgets = {"tables": forms.CheckboxSelectMultiple}
        labels = {"seats_min": "Smallest party", "seats_max": "Largest party", "is_active": "Active"}
        help_texts = {
            "name": "T3+T4",
            "tables": "Select two or more tables",
            "priority": "Among combinations of the same size, the lowest is assigned first",
        }


CLOCK = forms.TimeInput(format="%H:%M", attrs={"type": "time"})
DAY = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class VenuePeriodForm(VenueForm, ServicePeriodForm, ConflictCheckForm):
    class Meta:
        model = ServicePeriod
        fields = [
            *("name", "weekdays", "first_seating", "last_seating", "slot_min", "pacing_covers"),
            *("turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"),
        ]
        widgets = {"first_seating": CLOCK, "last_seating": CLOCK}
        labels = {
            "slot_min": "Minutes between seatings",
            "pacing_covers": "Guests per slot, maximum",
            "turn_2_min": "Seating duration for 1 or 2 guests, minutes",
            "turn_4_min": "Seating duration for 3 or 4 guests, minutes",
            "turn_6_min": "Seating duration for 5 or 6 guests, minutes",
            "turn_more_min": "Seating duration for larger parties, minutes",
        }
        help_texts = dict.fromkeys(("slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"), "")


class VenueClosureForm(VenueForm, ConflictCheckForm):
    class Meta:
        model = Closure
        fields = ["first_date", "last_date", "reason"]
        widgets = {"first_date": DAY, "last_date": DAY}
        labels = {"first_date": "First day", "last_date": "Last day"}


class CancellationTermsForm(forms.ModelForm[CancellationTerms]):
    """Cancellation terms, with checkboxes for the weekdays."""

    weekdays = forms.TypedMultipleChoiceField(
        choices=list(enumerate(WEEKDAYS)),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text="The days of the reservations that they apply to",
    )


class VenueTermsForm(VenueForm, CancellationTermsForm, ConflictCheckForm):
    class Meta:
        model = CancellationTerms
        fields = ["party_from", "weekdays", "first_date", "last_date", "free_hours", "deposit_usdc"]
        widgets = {"first_date": DAY, "last_date": DAY}
        labels = {
            "party_from": "Smallest party",
            "first_date": "First day",
            "last_date": "Last day",
            "free_hours": "Free cancellation until, hours before",
            "deposit_usdc": "Deposit for each guest, USDC",
        }
        help_texts = {
            "party_from": "Number of guests",
            "first_date": "Empty: no limit",
            "last_date": "Included; empty: no limit",
            "free_hours": "0 to 168; empty: always free",
            "deposit_usdc": "0.01 to 1000; empty: no deposit",
        }


class TableRangeForm(forms.Form):
    names = forms.CharField(max_length=300, label="Tables", help_text="T1-T12, or T1, T2, E1-E4")
    seats_min = forms.IntegerField(label="Smallest party", min_value=1, max_value=500, initial=1)
    seats_max = forms.IntegerField(label="Largest party", min_value=1, max_value=500, initial=2)
    area = forms.ModelChoiceField(Area.objects.none(), required=False)

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["area"]
        field.queryset = Area.objects.filter(venue=venue).order_by("position", "name")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("seats_min", 1) > values.get("seats_max", 500):
            self.add_error("seats_max", "The largest party must not be smaller than the smallest party.")
        return values
