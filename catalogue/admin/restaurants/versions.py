"""Versions and former slugs of restaurants in the back office, read-only."""

import json
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from catalogue.admin.restaurant_rows import RestaurantRowsAdmin
from catalogue.history import to_json_patch
from catalogue.history.undo import undo_version
from catalogue.models import FormerSlug, Restaurant, Version
from catalogue.tasks import enqueue_open_intervals
from framework.admin.action_confirmation import confirmed_action
from framework.admin.read_only import ReadOnlyAdmin
from framework.errors import ApiError

MAX_VALUE_LENGTH = 60


def readable(version: Version) -> SafeString | str:
    """Return one line for each change: `/phone: null → "+4532155656"`."""
    lines = (
        (operation["path"], _brief(operation.get("old")), _brief(operation.get("value")))
        for operation in to_json_patch(version.patch)
    )
    return format_html_join("", "<code>{}</code>: {} → {}<br>", lines)


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"


@admin.register(Version)
class VersionAdmin(RestaurantRowsAdmin, ReadOnlyAdmin):
    list_display = ["restaurant", "version", "kind", "actor", "at", "what"]
    list_filter = ["kind"]
    fields = ["restaurant", "version", "kind", "actor", "at", "what", "seq"]
    actions = ["undo"]

    def has_undo_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalogue.change_restaurant")

    @confirmed_action(
        "Undo the selected versions, and lock their fields",
        message="The fields of these versions get their former values, and are locked against imports.",
        confirm_label="Undo versions",
        permissions=["undo"],
    )
    def undo(self, request: HttpRequest, queryset: QuerySet[Version]) -> None:
        for version in queryset.select_related("restaurant").order_by("-pk"):
            try:
                columns = undo_version(version, actor=f"staff:{request.user.pk}", now=timezone.now())
            except ApiError as refusal:
                text = f"{version.restaurant}, version {version.version}: {refusal.message}"
                self.message_user(request, text, messages.ERROR)
                continue
            if columns & Restaurant.BEHIND_SPANS:
                transaction.on_commit(enqueue_open_intervals)
            text = f"Version {version.version} of {version.restaurant} was undone: {', '.join(sorted(columns))}."
            self.message_user(request, text, messages.SUCCESS)

    @admin.display(description="What changed")
    def what(self, version: Version) -> SafeString | str:
        return readable(version) or "-"


@admin.register(FormerSlug)
class FormerSlugAdmin(ReadOnlyAdmin):
    """Slugs that redirect to the current one."""

    list_display = ["slug", "restaurant", "until"]
    list_select_related = ["restaurant"]
    search_fields = ["slug__exact", "restaurant__slug__exact"]
    search_help_text = "Complete former or current slug"
    ordering = ["slug"]
