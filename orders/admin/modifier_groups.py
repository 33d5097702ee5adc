"""Modifier groups in the back office."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest

from accounts.admin.row_history import RowHistoryAdmin
from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin, ChangedFieldsForm
from orders.admin.events import MenuEventsAdmin, parse_uuid
from orders.menu.forms import check_group
from orders.models import MenuItem, Modifier, ModifierGroup


class ModifierRows(forms.BaseInlineFormSet[Any, Any, Any]):
    """The modifiers of a group are on its menu, and follow the rules of groups."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        form.instance.menu_id = self.instance.menu_id

    def clean(self) -> None:
        super().clean()
        if any(self.errors):
            return
        kept = [form for form in self.forms if form.has_changed() or not form.instance._state.adding]
        check_group(self, [form.instance for form in kept if form not in self.deleted_forms])


class ModifierForm(ValidatesUniqueness, ChangedFieldsForm):
    # Ids are unique on a menu.
    unique_with = frozenset({"menu"})


class ModifierGroupForm(ModifierForm):
    """The page of a group, whose menu cannot change."""


class ModifierInline(admin.TabularInline[Modifier, ModifierGroup]):
    model = Modifier
    form = ModifierForm
    formset = ModifierRows
    fk_name = "group"
    fields = [
        *("position", "ref", "name", "price_delta", "is_default", "is_available", "allergens", "item", "nested_group"),
        "translations",
    ]
    ordering = ["position", "name"]
    extra = 1

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **options: Any) -> Any:
        """Offer the dishes and the other groups of the menu; on the page of a new group, none."""
        key = request.resolver_match.kwargs.get("object_id", "") if request.resolver_match else ""
        group = ModifierGroup.objects.filter(pk=parse_uuid(key)).first()
        menu = group.menu_id if group else None
        if db_field.name == "item":
            options["queryset"] = MenuItem.objects.filter(menu=menu).order_by("name", "id")
        elif db_field.name == "nested_group":
            others = ModifierGroup.objects.filter(menu=menu).exclude(pk=parse_uuid(key))
            options["queryset"] = others.order_by("name", "id")
        return super().formfield_for_foreignkey(db_field, request, **options)


@admin.register(ModifierGroup)
class ModifierGroupAdmin(RowHistoryAdmin, MenuEventsAdmin, ChangedFieldsAdmin):
    """Modifier groups with their modifiers. One that a modifier asks for cannot be deleted."""

    form = ModifierGroupForm
    list_display = ["name", "ref", "venue", "min_choices", "max_choices"]
    search_fields = ["name__unaccent", "ref", "menu__venue__name__unaccent"]
    search_help_text = "Name or id of the group, or name of the venue"
    ordering = ["menu_id", "ref"]
    autocomplete_fields = ["menu"]
    inlines = [ModifierInline]
    related_history = ((Modifier, "group_id"),)
    fields = ["menu", ("ref", "name"), ("min_choices", "max_choices"), "translations"]
    show_full_result_count = False
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModifierGroup]:
        groups: QuerySet[ModifierGroup] = super().get_queryset(request)
        return groups.select_related("menu__venue")

    def get_readonly_fields(self, request: HttpRequest, obj: ModifierGroup | None = None) -> list[str]:
        return ["menu"] if obj else []

    @admin.display(description="Venue", ordering="menu__venue__name")
    def venue(self, group: ModifierGroup) -> str:
        return group.menu.venue.name
