"""Optimistic concurrency of admin forms: only changed fields are written, and conflicting changes are shown."""

from typing import Any

from django.contrib import admin
from django.forms import BoundField, ModelForm, Widget
from django.http import HttpRequest
from django.utils.translation import gettext as _


class InitialValueField(BoundField):
    """A bound field that preserves the initially rendered value when the form is shown again after an error."""

    def as_widget(self, widget: Widget | None = None, attrs: Any = None, only_initial: bool = False) -> Any:
        """Render the hidden initial value from its own inputs.

        Django reads the field's name instead, which does not exist for a field of several inputs or an unchecked box:
        it would then render the new value as the initial one.
        """
        if not only_initial or not self.form.is_bound:
            return super().as_widget(widget, attrs, only_initial)
        hidden = widget or self.field.hidden_widget()
        name = self.html_initial_name
        initial = hidden.value_from_datadict(self.form.data, self.form.files, name)
        if self.name in getattr(self.form, "conflicts", ()):
            initial = self.field.prepare_value(self.initial)
        return hidden.render(name, initial, attrs={"id": self.html_initial_id}, renderer=self.form.renderer)


class ChangedFieldsForm(ModelForm[Any]):
    """Renders the initial values in hidden inputs, and writes only the fields that differ from them.

    If two users change the same field, the last one wins.
    """

    bound_field_class = InitialValueField

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance._state.adding:
            for field in self.fields.values():
                # Django sets it for columns whose default is a function.
                field.show_hidden_initial = False
            return
        # A POST without a rendered form has no hidden values; it is compared with the row.
        has_hidden_values = any(name.startswith(self.add_initial_prefix("")) for name in self.data)
        for field in self.fields.values():
            field.show_hidden_initial = has_hidden_values or not self.is_bound

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            if field.show_hidden_initial and name in values and name not in self.changed_data:
                values[name] = getattr(self.instance, name)
        return values

    def save(self, commit: bool = True) -> Any:
        row = super().save(commit=False)
        if commit:
            self.save_changes()
            self.save_m2m()
        return row

    def save_changes(self) -> None:
        """Update the changed columns, or insert a new row."""
        columns = {field.name for field in self.instance._meta.concrete_fields}
        changed = [name for name in self.changed_data if name in columns]
        self.instance.save(update_fields=None if self.instance._state.adding else changed)


class ConflictCheckForm(ChangedFieldsForm):
    """Also reports a field that another user changed since the form was rendered; saving again overwrites it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conflicts: list[str] = []

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        self.conflicts = [name for name in values if self.has_conflict(name)]
        for name in self.conflicts:
            message = _("Another user has changed this to %(value)s. Save again to overwrite it.")
            self.add_error(name, message % {"value": self.display_value(name)})
        return values

    def has_conflict(self, name: str) -> bool:
        """Whether the row's value differs both from the rendered one and from the submitted one."""
        field = self.fields.get(name)
        if field is None or not field.show_hidden_initial or name not in self.changed_data:
            return False
        bound = self[name]
        initial = field.hidden_widget().value_from_datadict(self.data, self.files, bound.html_initial_name)
        return field.has_changed(bound.initial, initial) and field.has_changed(bound.initial, bound.data)

    def display_value(self, name: str) -> str:
        """The row's value as text."""
        value = self[name].initial
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        labels = dict(getattr(self.fields[name], "choices", None) or {})
        if value in (None, "", []):
            return _("(empty)")
        items = value if isinstance(value, list) else [value]
        text = ", ".join(str(labels.get(item, item) if labels else item) for item in items)
        return f"“{text}”"


class ChangedFieldsAdmin(admin.ModelAdmin[Any]):
    """Writes only changed fields, from the page of a row and from the list."""

    form = ChangedFieldsForm

    def get_changelist_form(self, request: HttpRequest, **options: Any) -> Any:
        return super().get_changelist_form(request, **{"form": self.form} | options)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        form.save_changes()
