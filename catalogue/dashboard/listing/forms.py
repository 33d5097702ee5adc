"""Forms of the listing pages."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from PIL import Image

from accounts.models import Venue
from catalogue.claims import weekly_hours
from catalogue.hours import InvalidHoursError
from catalogue.models import Market, Photo, Restaurant
from catalogue.places.phones import read_phone
from framework.images.uploads import ACCEPT, InvalidImage, read_image

WEEKDAYS = tuple(
    map(
        gettext_lazy,
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    )
)
TIMES = gettext_lazy("Such as 12:00-14:30, 18:00-02:00. Empty: closed.")


class SearchForm(forms.Form):
    """What is known of a restaurant, to find its record."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=300,
        required=False,
        widget=forms.TextInput({"placeholder": "Via Urbana 118, Roma"}),
    )
    phone = forms.CharField(label=gettext_lazy("Phone"), max_length=40, required=False)
    market = forms.ModelChoiceField(
        Market.objects.order_by("name"), label=gettext_lazy("City"), required=False, empty_label=gettext_lazy("Any")
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("name") and not any(values.get(name) for name in ("address", "phone", "market")):
            self.add_error("address", _("Enter the address, the phone number or the city too."))
        return values


class ClaimForm(forms.Form):
    """The address to which the code goes, or what our staff should know."""

    address = forms.ChoiceField(label=gettext_lazy("Proof"), widget=forms.RadioSelect, required=False)
    note = forms.CharField(
        label=gettext_lazy("Note for our staff"),
        max_length=500,
        required=False,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Who should we ask for when we call the restaurant, and when?"),
    )

    def __init__(self, *args: Any, addresses: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [(address, _("Code to %(address)s") % {"address": address}) for address in addresses]
        field: Any = self.fields["address"]
        field.choices = [*choices, ("", _("Our staff call the restaurant"))]
        field.initial = addresses[0] if addresses else ""


class CodeForm(forms.Form):
    code = forms.RegexField(
        r"^\s*(\d\s*){8}$",
        label=gettext_lazy("Code"),
        widget=forms.TextInput({"inputmode": "numeric", "autocomplete": "one-time-code"}),
        error_messages={"invalid": gettext_lazy("The code has eight digits.")},
    )

    def clean_code(self) -> str:
        return "".join(self.cleaned_data["code"].split())


class LockedFieldsForm(forms.Form):
    """A form of a restaurant's fields: those that our staff have locked cannot be changed."""

    shown_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, restaurant: Restaurant, **options: Any) -> None:
        super().__init__(*args, **options)
        self.restaurant = restaurant
        self.initial.setdefault("shown_version", restaurant.version)
        for name in set(restaurant.locked_fields) & set(self.fields):
            self.fields[name].disabled = True
            self.fields[name].help_text = _("Our staff have set this. Ask them to change it.")


class DetailsForm(LockedFieldsForm):
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=1000,
        required=False,
        empty_value=None,
        widget=forms.Textarea({"rows": 5}),
        help_text=gettext_lazy("A few sentences for guests."),
    )
    phone = forms.CharField(
        label=gettext_lazy("Phone"),
        max_length=40,
        required=False,
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel"}),
    )
    website = forms.URLField(
        label=gettext_lazy("Website"), max_length=500, required=False, empty_value=None, assume_scheme="https"
    )
    menu_url = forms.URLField(
        label=gettext_lazy("Page with the menu"),
        max_length=500,
        required=False,
        empty_value=None,
        assume_scheme="https",
    )

    def __init__(self, *args: Any, restaurant: Restaurant, **options: Any) -> None:
        initial = {name: getattr(restaurant, name) for name in ("description", "phone", "website", "menu_url")}
        super().__init__(*args, restaurant=restaurant, initial=initial, **options)

    def clean_phone(self) -> str | None:
        text: str = self.cleaned_data["phone"] or ""
        if not text:
            return None
        number = read_phone(text, country=self.restaurant.country)
        if number is None:
            raise forms.ValidationError(_("This is not a valid number."))
        return number

    @property
    def values(self) -> dict[str, Any]:
        """The columns. Requires a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if name != "shown_version"}


def _clean_times(text: str) -> list[dict[str, str]]:
    try:
        return weekly_hours.read_times(text)
    except InvalidHoursError as error:
        raise forms.ValidationError(str(error)) from error


def _check_times(text: str) -> None:
    _clean_times(text)


class WeekForm(LockedFieldsForm):
    """The times of each weekday: day_0 is Monday."""

    def __init__(self, *args: Any, restaurant: Restaurant, **options: Any) -> None:
        week = weekly_hours.list_week(restaurant.hours)
        initial = {f"day_{day}": text for day, text in enumerate(week)}
        super().__init__(*args, restaurant=restaurant, initial=initial, **options)
        is_locked = "hours" in restaurant.locked_fields
        for day, name in enumerate(WEEKDAYS):
            self.fields[f"day_{day}"] = forms.CharField(
                label=name, max_length=200, required=False, validators=[_check_times], disabled=is_locked
            )

    @property
    def week(self) -> list[str]:
        """The texts, from Monday. Requires a valid form."""
        return [self.cleaned_data[f"day_{day}"] for day in range(7)]


class SpecialDaysForm(forms.Form):
    first = forms.DateField(label=gettext_lazy("First day"), widget=forms.DateInput({"type": "date"}))
    last = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        widget=forms.DateInput({"type": "date"}),
        help_text=gettext_lazy("Empty: the first day only."),
    )
    times = forms.CharField(label=gettext_lazy("Opening hours"), max_length=200, required=False, help_text=TIMES)

    def clean_times(self) -> list[dict[str, str]]:
        return _clean_times(self.cleaned_data["times"])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        first: date | None = values.get("first")
        if "last" in values:
            values["last"] = values["last"] or first
        return values


class PhotoForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("Photo"), widget=forms.FileInput({"accept": ACCEPT}))
    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=Photo.Kind.choices)
    alt = forms.CharField(
        label=gettext_lazy("What it shows"), max_length=300, help_text=gettext_lazy("For people who cannot see it.")
    )
    caption = forms.CharField(label=gettext_lazy("Caption"), max_length=300, required=False)

    def clean_file(self) -> Image.Image:
        upload = self.cleaned_data["file"]
        try:
            return read_image(upload.file, length=upload.size)
        except InvalidImage as error:
            raise forms.ValidationError(error.message) from error


class ReplyForm(forms.Form):
    reply = forms.CharField(
        label=gettext_lazy("Your reply"), max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )


def search_values(venue: Venue) -> dict[str, str]:
    """Return what the search starts with: the venue's name, address and phone. At most one query.

    Without address and phone also the city, if the catalogue covers one city of the venue's time zone.
    """
    values = {"name": venue.name, "address": venue.address, "phone": venue.phone}
    if not venue.address and not venue.phone:
        cities = Market.objects.filter(timezone=venue.timezone).values_list("pk", flat=True)[:2]
        values["market"] = cities[0] if len(cities) == 1 else ""
    return values
