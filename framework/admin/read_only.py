"""Admin pages of rows that only the product writes."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.http import HttpRequest

from framework.admin.large_tables import LargeTableAdmin


class ReadOnlyAdmin(LargeTableAdmin):
    """Rows that staff look up, and change by actions of the list only.

    A page shows `fields` or `fieldsets`, or else all columns. A subclass may name `editable_fields`.
    """

    editable_fields: ClassVar[tuple[str, ...]] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For the actions of the list, and for the page of a row that has editable fields."""
        return (obj is None or bool(self.editable_fields)) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return list(self.fields or (field.name for field in self.opts.concrete_fields))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        shown = flatten_fieldsets(self.get_fieldsets(request, obj))
        return [str(name) for name in shown if name not in self.editable_fields]


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    """Rows on the page of another, which only the product writes."""

    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
