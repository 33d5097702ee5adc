"""Admin forms that may be older than their row: what nobody changed in them is not written."""

from typing import Any

from django.contrib import admin
from django.forms import BoundField, ModelForm, Widget
from django.http import HttpRequest


class ShownField(BoundField):
    """A field that goes on to tell what was shown first, however often the form is refused and shown again."""

    def as_widget(self, widget: Widget | None = None, attrs: Any = None, only_initial: bool = False) -> Any:
        """Django looks for a hidden value of the field's own name, and finds none where the field is of several
        inputs, or of none ticked; then it would take the new value for what was shown.
        """
        if not only_initial or not self.form.is_bound:
            return super().as_widget(widget, attrs, only_initial)
        hidden = widget or self.field.hidden_widget()
        name = self.html_initial_name
        shown = hidden.value_from_datadict(self.form.data, self.form.files, name)
        return hidden.render(name, shown, attrs={"id": self.html_initial_id}, renderer=self.form.renderer)


class StaleForm(ModelForm[Any]):
    """Holds what it was shown with in hidden fields; what nobody changed stays as it is in the row by now.

    Where two change the same field, the later wins.
    """

    bound_field_class = ShownField

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance._state.adding:  # noqa: SLF001  # documented by Django, underscore and all
            return
        # What was sent without being shown is all meant; it is compared with the row.
        was_shown = any(name.startswith(self.add_initial_prefix("")) for name in self.data)
        for field in self.fields.values():
            field.show_hidden_initial = was_shown or not self.is_bound

    def clean(self) -> dict[str, Any]:
        """Judge the row as it will be."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            if field.show_hidden_initial and name in values and name not in self.changed_data:
                values[name] = getattr(self.instance, name)
        return values

    def save(self, commit: bool = True) -> Any:
        """Store what was changed alone."""
        row = super().save(commit=False)
        if commit:
            self.write()
            self.save_m2m()
        return row

    def write(self) -> None:
        """Store the columns that were changed; those of a new row all."""
        columns = {field.name for field in self.instance._meta.concrete_fields}  # noqa: SLF001  # documented by Django, underscore and all
        changed = [name for name in self.changed_data if name in columns]
        self.instance.save(update_fields=None if self.instance._state.adding else changed)  # noqa: SLF001  # the same


class StaleFormAdmin(admin.ModelAdmin[Any]):
    """Writes what was changed alone, from the page of one row and from the list."""

    form = StaleForm

    def get_changelist_form(self, request: HttpRequest, **options: Any) -> Any:
        """The list's rows are such forms too."""
        return super().get_changelist_form(request, **{"form": self.form} | options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store what was changed."""
        form.write()
