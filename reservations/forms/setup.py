"""Forms in which a venue's tables and hours are written down, in the back office and on the dashboard."""

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from accounts.models import Venue
from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ToldForm
from reservations.models import Area, Closure, Combination, ServicePeriod, Table

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def venue_of(form: forms.ModelForm[Any], wanted: dict[str, Any]) -> Any:
    """Key of the venue: the one that is chosen, or the row's own; None where neither is there yet."""
    chosen = wanted.get("venue")
    return chosen.pk if chosen else form.instance.venue_id


class TableForm(forms.ModelForm[Table]):
    """A table and the part of the same venue that it stands in."""

    def clean(self) -> dict[str, Any]:
        """Refuse an area of another venue."""
        wanted: dict[str, Any] = super().clean() or self.cleaned_data
        venue, area = venue_of(self, wanted), wanted.get("area")
        if venue and area and area.venue_id != venue:
            self.add_error("area", "This area is of another venue.")
        return wanted


class CombinationForm(forms.ModelForm[Combination]):
    """Two tables or more of one venue."""

    def clean(self) -> dict[str, Any]:
        """Refuse a table of another venue, and one alone."""
        wanted: dict[str, Any] = super().clean() or self.cleaned_data
        venue, tables = venue_of(self, wanted), wanted.get("tables")
        if venue and tables:
            strangers = [table.name for table in tables if table.venue_id != venue]
            if strangers:
                self.add_error("tables", f"Of another venue: {', '.join(strangers)}.")
            elif len(tables) == 1:
                self.add_error("tables", "A combination has two tables or more.")
        return wanted


class ServicePeriodForm(forms.ModelForm[ServicePeriod]):
    """A service period, its weekdays ticked."""

    weekdays = forms.TypedMultipleChoiceField(
        choices=list(enumerate(WEEKDAYS)),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text="The days on which it begins",
    )


# Said where two of a venue would have one name.
TAKEN: dict[str, dict[str, str]] = {NON_FIELD_ERRORS: {"unique_together": "Another one has this name already."}}


class OfVenue(ValidatesUniqueness, forms.ModelForm[Any]):
    """A row of one venue, which is not asked for."""

    # Names are unique at a venue.
    unique_with = frozenset({"venue"})

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        self.instance.venue = venue
        for name, rows in (
            ("area", Area.objects.filter(venue=venue).order_by("position", "name")),
            ("tables", Table.objects.filter(venue=venue).order_by("name")),
        ):
            if name in self.fields:
                field: Any = self.fields[name]
                field.queryset = rows


class OwnTableForm(OfVenue, TableForm, ToldForm):
    """A table, as the people of the venue write it."""

    class Meta:
        model = Table
        error_messages = TAKEN
        fields = ["name", "area", "seats_min", "seats_max", "priority", "is_active"]
        labels = {"seats_min": "Smallest party", "seats_max": "Largest party", "is_active": "Given to guests"}
        help_texts = {"name": "What is on the plan: T4"}


class OwnAreaForm(OfVenue, ToldForm):
    """A part of the venue."""

    class Meta:
        model = Area
        error_messages = TAKEN
        fields = ["name", "position"]
        help_texts = {"name": "Terrace, bar", "position": "The lowest comes first"}


class OwnCombinationForm(OfVenue, CombinationForm):
    """Tables that are pushed together. Its tables are many rows, so the whole of it is written."""

    class Meta:
        model = Combination
        error_messages = TAKEN
        fields = ["name", "tables", "seats_min", "seats_max", "priority", "is_active"]
        widgets = {"tables": forms.CheckboxSelectMultiple}
        labels = {"seats_min": "Smallest party", "seats_max": "Largest party", "is_active": "Given to guests"}
        help_texts = {
            "name": "T3+T4",
            "tables": "Two or more that can be pushed together",
            "priority": "Of combinations of one size, the lowest is given first",
        }


CLOCK = forms.TimeInput(format="%H:%M", attrs={"type": "time"})
DAY = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class OwnPeriodForm(OfVenue, ServicePeriodForm, ToldForm):
    """Lunch, dinner."""

    class Meta:
        model = ServicePeriod
        fields = [
            *("name", "weekdays", "first_seating", "last_seating", "slot_min", "pacing_covers"),
            *("turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"),
        ]
        widgets = {"first_seating": CLOCK, "last_seating": CLOCK}
        labels = {
            "slot_min": "Minutes between seatings",
            "pacing_covers": "Most guests at one time",
            "turn_2_min": "1 or 2 guests stay, minutes",
            "turn_4_min": "3 or 4 guests stay, minutes",
            "turn_6_min": "5 or 6 guests stay, minutes",
            "turn_more_min": "More guests stay, minutes",
        }
        help_texts = dict.fromkeys(("slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min"), "")


class OwnClosureForm(OfVenue, ToldForm):
    """Days on which nobody is seated."""

    class Meta:
        model = Closure
        fields = ["first_date", "last_date", "reason"]
        widgets = {"first_date": DAY, "last_date": DAY}
        labels = {"first_date": "First day", "last_date": "Last day"}


class RowForm(forms.Form):
    """Several tables of one size at once."""

    names = forms.CharField(max_length=300, label="Tables", help_text="T1-T12, or T1, T2, E1-E4")
    seats_min = forms.IntegerField(label="Smallest party", min_value=1, max_value=500, initial=1)
    seats_max = forms.IntegerField(label="Largest party", min_value=1, max_value=500, initial=2)
    area = forms.ModelChoiceField(Area.objects.none(), required=False)

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["area"]
        field.queryset = Area.objects.filter(venue=venue).order_by("position", "name")

    def clean(self) -> dict[str, Any]:
        """Ask for sizes in their order."""
        wanted: dict[str, Any] = super().clean() or self.cleaned_data
        if wanted.get("seats_min", 1) > wanted.get("seats_max", 500):
            self.add_error("seats_max", "The most is below the least.")
        return wanted
