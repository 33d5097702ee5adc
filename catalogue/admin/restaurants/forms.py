"""The admin's forms: what staff write is as well made as what importers read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django import forms
from django.forms.fields import InvalidJSONInput
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from catalogue.hours import Hours, InvalidHoursError
from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import COLUMNS
from catalogue.importers.row_errors import RowRejected, clean_content
from catalogue.models import Cuisine, Restaurant

Value = TypeVar("Value")

WEEKDAYS = [(0, "Mon"), (1, "Tue"), (2, "Wed"), (3, "Thu"), (4, "Fri"), (5, "Sat"), (6, "Sun")]
# What importers and owners write, and staff can therefore lock.
LOCKABLE = (*(column.removesuffix("_id") for column in COLUMNS), "menu_url", "description")


@contextmanager
def _form_errors() -> Iterator[None]:
    """Raise ValidationError for what an import would reject."""
    try:
        yield
    except RowRejected as error:
        raise forms.ValidationError(str(error)) from error


class JSONBox(forms.JSONField):
    """JSON that the database can hold; what was typed is shown again as it was typed."""

    def to_python(self, value: Any) -> Any:
        """Read it. Raises ValidationError for broken, endless or bottomless JSON too."""
        try:
            with _form_errors():
                content = super().to_python(value)
                content = clean_content(content)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError("This JSON cannot be parsed: a number or the nesting is too large.") from error
        return content

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial if self.disabled else InvalidJSONInput("" if data is None else data)


class RestaurantForm(forms.ModelForm[Restaurant]):
    """A restaurant whose parts make sense, written only over the version that was shown.

    Validate it in the transaction that saves it: the row stays locked until then.
    """

    website = forms.URLField(required=False, max_length=500, empty_value=None, assume_scheme="https")
    menu_url = forms.URLField(required=False, max_length=500, empty_value=None, assume_scheme="https")
    hours = JSONBox(required=False, help_text="In the format of the API; empty if unknown")
    attributes = JSONBox(required=False, help_text="An object of true, false and short texts")
    external_ids = JSONBox(required=False, help_text="An object of short texts")
    locked_fields = forms.MultipleChoiceField(
        choices=[(name, name) for name in LOCKABLE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Imports and owners do not change locked fields. Changes by staff lock a field. Clear a checkbox to"
        " unlock it.",
    )
    shown_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The row as it is while this form is saved; None for a new one.
        self.before: Restaurant | None = None
        # The field is put below the others by hand, so the model does not give it.
        self.initial.setdefault("locked_fields", self.instance.locked_fields)
        self.add_locks()
        if not self.instance._state.adding:
            self.initial["shown_version"] = self.instance.version

    def add_locks(self) -> None:
        checked = self["locked_fields"].value() or []
        for name in LOCKABLE:
            if name in self.fields:
                field = self.fields[name]
                field.help_text = format_html(
                    '<label class="lock"><input type="checkbox" name="{}" value="{}"{}> Locked<span class="visually-'
                    'hidden"> {}: imports do not change it</span></label> {}',
                    self.add_prefix("locked_fields"),
                    name,
                    mark_safe(" checked") if name in checked else "",
                    field.label or name.replace("_", " "),
                    field.help_text,
                )

    def clean_hours(self) -> dict[str, Any] | None:
        hours = self.cleaned_data["hours"]
        if hours is None:
            return None
        try:
            return Hours.from_json(hours).to_json()
        except (InvalidHoursError, AttributeError, TypeError) as error:
            raise forms.ValidationError(f"Invalid opening hours: {error}") from error

    def clean_attributes(self) -> dict[str, bool | str]:
        return self._clean_object(lambda form: form.flag_map("attributes"))

    def clean_external_ids(self) -> dict[str, str]:
        return self._clean_object(lambda form: form.text_map("external_ids"))

    def _clean_object(self, read: Callable[[JsonObject], Value]) -> Value:
        """Read as importers do, but refuse the values that they skip."""
        form = JsonObject(self.cleaned_data)
        with _form_errors():
            content = read(form)
        if form.problems:
            raise forms.ValidationError(form.problems)
        return content

    def clean_cuisines(self) -> list[str]:
        slugs: list[str] = list(dict.fromkeys(self.cleaned_data["cuisines"] or []))
        known = set(Cuisine.objects.filter(slug__in=slugs).values_list("slug", flat=True))
        if unknown := [slug for slug in slugs if slug not in known]:
            raise forms.ValidationError(f"No such cuisine: {', '.join(unknown)}.")
        return slugs

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        cuisines: list[str] = cleaned.get("cuisines", [])
        if cleaned.get("cuisine"):
            cleaned["cuisines"] = list(dict.fromkeys([cleaned["cuisine"].pk, *cuisines]))
        elif cuisines and "cuisine" in cleaned:
            cleaned["cuisine"] = Cuisine.objects.get(pk=cuisines[0])
        if not self.instance._state.adding:
            self.before = Restaurant.objects.select_for_update().get(pk=self.instance.pk)
            if cleaned.get("shown_version") != self.before.version:
                raise forms.ValidationError(
                    "Another user or an import has changed this restaurant since you opened it. "
                    "Reload the page and make your changes again."
                )
        return cleaned

    def changed_fields(self) -> set[str]:
        """The columns that staff gave another value, pairs whole. Call it on a valid form."""
        fields = {field.name: field.attname for field in Restaurant._meta.concrete_fields}
        changed = Restaurant.with_pairs(name for name in self.changed_data if name in fields) - {"locked_fields"}
        if self.before is None:
            return changed
        return {name for name in changed if getattr(self.before, fields[name]) != getattr(self.instance, fields[name])}

    def locks(self) -> list[str]:
        """What imports have to leave alone: what staff ticked, and what they changed. Call it on a valid form."""
        wanted = Restaurant.with_pairs({*self.cleaned_data["locked_fields"], *self.changed_fields()})
        return [name for name in LOCKABLE if name in wanted]
