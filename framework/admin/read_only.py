"""Base class of read-only history tables in the back office."""

import json
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from framework.admin.large_tables import LongTableAdmin


class History(LongTableAdmin):
    """A read-only list, newest first; list actions are allowed."""

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """All fields."""
        return [str(name) for name in self.fields or ()]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """The application writes these rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Only through list actions."""
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """History is deleted when its retention ends."""
        return False


def pretty(content: Any) -> SafeString:
    """Return indented JSON in a pre element."""
    return format_html("<pre>{}</pre>", json.dumps(content, indent=2, ensure_ascii=False))
