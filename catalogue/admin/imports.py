"""Import runs in the back office."""

from django.contrib import admin

from catalogue.models import (
    ImportRun,
)
from framework.admin.read_only import ReadOnlyAdmin

COUNTERS = ("created", "merged", "changed", "unchanged", "skipped", "rejected", "queued", "closed")


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    """Import runs, read-only."""

    list_display = ["started_at", "source", "market", "state", "rows", "forced"]
    list_select_related = ["source", "market"]
    list_filter = ["state", "source"]
    search_fields = ["file"]
    empty_hint = "Each run of `manage.py catalogue_import` adds a row."

    @admin.display(description="Rows")
    def rows(self, run: ImportRun) -> str:
        counts = [f"{getattr(run, name):,} {name}" for name in COUNTERS if getattr(run, name)]
        return f"{run.read:,} read" + (f": {', '.join(counts)}" if counts else "")
