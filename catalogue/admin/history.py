"""What restaurants were, for reading."""

import json
from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from catalogue.history import operations
from catalogue.models import FormerSlug, Restaurant, Version
from framework.admin.read_only import ReadOnlyAdmin

# On the page of a restaurant.
SHOWN = 20
LONGEST = 60


def readable(version: Version) -> SafeString | str:
    """A line for each change: `/phone: null → "+4532155656"`."""
    lines = (
        (operation["path"], _brief(operation.get("old")), _brief(operation.get("value")))
        for operation in operations(version.patch)
    )
    return format_html_join("", "<code>{}</code>: {} → {}<br>", lines)


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    """Versions of restaurants, the newest first."""

    list_display = ["restaurant", "version", "kind", "actor", "at", "what"]
    list_select_related = ["restaurant"]
    list_filter = ["kind"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    fields = ["restaurant", "version", "kind", "actor", "at", "what", "seq"]
    readonly_fields = ["what"]

    @admin.display(description="What changed")
    def what(self, version: Version) -> SafeString | str:
        """The patch, readable."""
        return readable(version) or "-"


@admin.register(FormerSlug)
class FormerSlugAdmin(ReadOnlyAdmin):
    """Slugs that lead to another one now."""

    list_display = ["slug", "restaurant", "until"]
    list_select_related = ["restaurant"]
    search_fields = ["slug__exact", "restaurant__slug__exact"]
    search_help_text = "The former or the present slug, whole"
    ordering = ["slug"]


class ShowsVersions:
    """The newest versions, on the page of a restaurant."""

    @admin.display(description="Versions")
    def newest_versions(self, restaurant: Restaurant) -> SafeString | str:
        """The newest, each with who made it and what changed."""
        found = restaurant.versions.order_by("-version")[:SHOWN]
        lines = (
            (version.version, f"{version.at:%d %b %Y %H:%M}", version.actor, version.kind, readable(version))
            for version in found
        )
        return format_html_join("", "<p><b>{}</b> {} by {}: {}<br>{}</p>", lines) or "none"
