"""Admin forms that may be older than their row: what nobody changed in them is not written."""

from typing import Any

from django.contrib import admin
from django.forms import BoundField, ModelForm, Widget
from django.http import HttpRequest


class InitialValueField(BoundField):
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
        if self.name in getattr(self.form, "overtaken", ()):
            shown = self.field.prepare_value(self.initial)
        return hidden.render(name, shown, attrs={"id": self.html_initial_id}, renderer=self.form.renderer)


class ChangedFieldsForm(ModelForm[Any]):
    """Holds what it was shown with in hidden fields; what nobody changed stays as it is in the row by now.

    Where two change the same field, the later wins.
    """

    bound_field_class = InitialValueField

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance._state.adding:
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
        columns = {field.name for field in self.instance._meta.concrete_fields}
        changed = [name for name in self.changed_data if name in columns]
        self.instance.save(update_fields=None if self.instance._state.adding else changed)


class ConflictCheckForm(ChangedFieldsForm):
    """Also tells who changes what somebody else has changed meanwhile; sent once more, the form is meant so."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.overtaken: list[str] = []

    def clean(self) -> dict[str, Any]:
        """Refuse what was written over a value that its writer has not seen, and show that value."""
        values = super().clean()
        self.overtaken = [name for name in values if self.is_overtaken(name)]
        for name in self.overtaken:
            self.add_error(name, f"Another user has changed this to {self.spoken(name)}. Save again to overwrite it.")
        return values

    def is_overtaken(self, name: str) -> bool:
        """Whether the row has another value by now than the one that was shown, and than the one that is wanted."""
        field = self.fields.get(name)
        if field is None or not field.show_hidden_initial or name not in self.changed_data:
            return False
        bound = self[name]
        shown = field.hidden_widget().value_from_datadict(self.data, self.files, bound.html_initial_name)
        return field.has_changed(bound.initial, shown) and field.has_changed(bound.initial, bound.data)

    def spoken(self, name: str) -> str:
        """The value in the row, in words."""
        now = self[name].initial
        if isinstance(now, bool):
            return "yes" if now else "no"
        names = dict(getattr(self.fields[name], "choices", None) or {})
        words = ", ".join(str(names.get(one, one)) for one in (now if isinstance(now, list) else [now]))
        return "(empty)" if now in (None, "", []) else f"“{words}”"


class ChangedFieldsAdmin(admin.ModelAdmin[Any]):
    """Writes what was changed alone, from the page of one row and from the list."""

    form = ChangedFieldsForm

    def get_changelist_form(self, request: HttpRequest, **options: Any) -> Any:
        """The list's rows are such forms too."""
        return super().get_changelist_form(request, **{"form": self.form} | options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store what was changed."""
        form.write()
