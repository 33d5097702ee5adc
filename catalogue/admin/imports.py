"""Import runs in the back office."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from catalogue.models import (
    ImportRun,
)
from framework.admin.large_tables import LongTableAdmin

COUNTERS = ("created", "merged", "changed", "unchanged", "skipped", "refused", "queued", "closed")


@admin.register(ImportRun)
class ImportRunAdmin(LongTableAdmin):
    """Import runs, read-only."""

    list_display = ["started_at", "source", "market", "state", "rows", "forced"]
    list_select_related = ["source", "market"]
    list_filter = ["state", "source"]
    search_fields = ["file"]
    empty_hint = "Each run of `manage.py catalogue_import` adds a row."

    @admin.display(description="Rows")
    def rows(self, run: ImportRun) -> str:
        """The number of rows read, and the non-zero counters."""
        counts = [f"{getattr(run, name):,} {name}" for name in COUNTERS if getattr(run, name)]
        return f"{run.read:,} read" + (f": {', '.join(counts)}" if counts else "")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Importers write these rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Importers write these rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Import runs are kept."""
        return False
