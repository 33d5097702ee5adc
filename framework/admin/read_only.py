"""History in the back office: what grows with every order and is read only."""

import json
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from framework.admin.large_tables import LongTableAdmin


class History(LongTableAdmin):
    """What happened, newest first: looked at, never edited; actions of the list may stand beside that."""

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """All of it."""
        return [str(name) for name in self.fields or ()]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """It happens elsewhere."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """By the actions of the list."""
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """History goes when its time is over."""
        return False


def pretty(content: Any) -> SafeString:
    """JSON as people read it."""
    return format_html("<pre>{}</pre>", json.dumps(content, indent=2, ensure_ascii=False))
