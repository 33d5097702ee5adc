"""What the importers did, for staff."""

from django.contrib import admin

from catalogue.models import (
    ImportRun,
)
from framework.admin.read_only import ReadOnlyAdmin

COUNTED = ("created", "merged", "changed", "unchanged", "skipped", "refused", "queued", "closed")


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    """What the importers did."""

    list_display = ["started_at", "source", "market", "state", "rows", "forced"]
    list_select_related = ["source", "market"]
    list_filter = ["state", "source"]
    search_fields = ["file"]
    nothing_yet = "Each run of `manage.py catalogue_import` leaves a line."

    @admin.display(description="Rows")
    def rows(self, run: ImportRun) -> str:
        """Those read, and what became of them; what did not happen is left out."""
        told = [f"{getattr(run, name):,} {name}" for name in COUNTED if getattr(run, name)]
        return f"{run.read:,} read" + (f": {', '.join(told)}" if told else "")
