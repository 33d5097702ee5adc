"""Forms for tables and hours, of the back office and of the dashboard."""

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrPromise

from accounts.models import Venue
from framework.db.natural_sort import natural
from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ConflictCheckForm
from reservations.models import Area, CancellationTerms, Closure, Combination, ServicePeriod, Table

AREA, NAME, TABLES = gettext_lazy("Area"), gettext_lazy("Name"), gettext_lazy("Tables")
SMALLEST, LARGEST = gettext_lazy("Smallest party"), gettext_lazy("Largest party")
FIRST_DAY, LAST_DAY = gettext_lazy("First day"), gettext_lazy("Last day")
# The labels of a table and of a combination.
SEATS = {
    "name": NAME,
    "tables": TABLES,
    "area": AREA,
    "seats_min": SMALLEST,
    "seats_max": LARGEST,
    "priority": gettext_lazy("Priority"),
    "is_active": gettext_lazy("Active"),
}


def format_weekdays(row: ServicePeriod | CancellationTerms) -> str:
    """Return the weekdays of the row: `Mon, Tue`."""
    return ", ".join(str(WEEKDAYS_ABBR[day]) for day in sorted(set(row.weekdays)))


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
            self.add_error("area", _("This area belongs to another venue."))
        return values


class CombinationForm(forms.ModelForm[Combination]):
    """Two or more tables of one venue."""

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        venue, tables = venue_id_of(self, values), values.get("tables")
        if venue and tables:
            foreign = [table.name for table in tables if table.venue_id != venue]
            if foreign:
                message = _("These tables belong to another venue: %(names)s.")
                self.add_error("tables", message % {"names": ", ".join(foreign)})
            elif len(tables) == 1:
                self.add_error("tables", _("Select at least two tables."))
        return values


class ServicePeriodForm(forms.ModelForm[ServicePeriod]):
    """A service period, with checkboxes for the weekdays."""

    weekdays = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Weekdays"),
        choices=list(WEEKDAYS.items()),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("The days on which the period starts"),
    )


# The error for a duplicate name within a venue.
DUPLICATE_NAME: dict[str, dict[str, StrPromise]] = {
    NON_FIELD_ERRORS: {"unique_together": gettext_lazy("This name is already used.")}
}


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
        labels = SEATS
        help_texts = {
            "name": gettext_lazy("As on your floor plan, for example T4"),
            "seats_min": "",
            "seats_max": "",
            "priority": gettext_lazy("Among tables of the same size, the lowest is assigned first"),
            "is_active": gettext_lazy("If off, the table is not assigned to new reservations"),
        }


class VenueAreaForm(VenueForm, ConflictCheckForm):
    class Meta:
        model = Area
        error_messages = DUPLICATE_NAME
        fields = ["name", "position"]
        labels = {"name": NAME, "position": gettext_lazy("Position")}
        help_texts = {
            "name": gettext_lazy("For example: Terrace, Bar"),
            "position": gettext_lazy("Areas are sorted by this number"),
        }


class VenueCombinationForm(VenueForm, CombinationForm):
    """A combination, on the dashboard. It has many related tables, so all fields are always saved."""

    class Meta:
        model = Combination
        error_messages = DUPLICATE_NAME
        fields = ["name", "tables", "seats_min", "seats_max", "priority", "is_active"]
        widgets = {"tables": forms.CheckboxSelectMultiple}
        labels = SEATS
        help_texts = {
            "name": "T3+T4",
            "tables": gettext_lazy("Select two or more tables"),
            "priority": gettext_lazy("Among combinations of the same size, the lowest is assigned first"),
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
            "name": NAME,
            "first_seating": gettext_lazy("First seating"),
            "last_seating": gettext_lazy("Last seating"),
            "slot_min": gettext_lazy("Minutes between seatings"),
            "pacing_covers": gettext_lazy("Guests per slot, maximum"),
            "turn_2_min": gettext_lazy("Seating duration for 1 or 2 guests, minutes"),
            "turn_4_min": gettext_lazy("Seating duration for 3 or 4 guests, minutes"),
            "turn_6_min": gettext_lazy("Seating duration for 5 or 6 guests, minutes"),
            "turn_more_min": gettext_lazy("Seating duration for larger parties, minutes"),
        }
        help_texts = {
            **dict.fromkeys(("slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"), ""),
            "first_seating": gettext_lazy("In the venue's time zone"),
            "last_seating": gettext_lazy("In the venue's time zone; if earlier than the first, on the next day"),
            "pacing_covers": gettext_lazy("Maximum guests per slot; empty: no limit"),
        }


class VenueClosureForm(VenueForm, ConflictCheckForm):
    class Meta:
        model = Closure
        fields = ["first_date", "last_date", "reason"]
        widgets = {"first_date": DAY, "last_date": DAY}
        labels = {"first_date": FIRST_DAY, "last_date": LAST_DAY, "reason": gettext_lazy("Reason")}
        help_texts = {
            "first_date": gettext_lazy("In the venue's time zone"),
            "last_date": gettext_lazy("Included"),
            "reason": gettext_lazy("Shown to guests, for example: Closed for Easter"),
        }


class CancellationTermsForm(forms.ModelForm[CancellationTerms]):
    """Cancellation terms, with checkboxes for the weekdays."""

    weekdays = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Weekdays"),
        choices=list(WEEKDAYS.items()),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("The days of the reservations that they apply to"),
    )


class VenueTermsForm(VenueForm, CancellationTermsForm, ConflictCheckForm):
    class Meta:
        model = CancellationTerms
        fields = ["party_from", "weekdays", "first_date", "last_date", "free_hours", "deposit_usdc"]
        widgets = {"first_date": DAY, "last_date": DAY}
        labels = {
            "party_from": SMALLEST,
            "first_date": FIRST_DAY,
            "last_date": LAST_DAY,
            "free_hours": gettext_lazy("Free cancellation until, hours before"),
            "deposit_usdc": gettext_lazy("Deposit for each guest, USDC"),
        }
        help_texts = {
            "party_from": gettext_lazy("Number of guests"),
            "first_date": gettext_lazy("Empty: no limit"),
            "last_date": gettext_lazy("Included; empty: no limit"),
            "free_hours": gettext_lazy("0 to 168; empty: always free"),
            "deposit_usdc": gettext_lazy("0.01 to 1000; empty: no deposit"),
        }


class TableRangeForm(forms.Form):
    names = forms.CharField(max_length=300, label=TABLES, help_text=gettext_lazy("T1-T12, or T1, T2, E1-E4"))
    seats_min = forms.IntegerField(label=SMALLEST, min_value=1, max_value=500, initial=1)
    seats_max = forms.IntegerField(label=LARGEST, min_value=1, max_value=500, initial=2)
    area = forms.ModelChoiceField(Area.objects.none(), required=False, label=AREA)

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["area"]
        field.queryset = Area.objects.filter(venue=venue).order_by("position", "name")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("seats_min", 1) > values.get("seats_max", 500):
            self.add_error("seats_max", _("The largest party must not be smaller than the smallest party."))
        return values
