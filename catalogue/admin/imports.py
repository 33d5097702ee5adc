"""What the importers did, for staff."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from catalogue.models import (
    ImportRun,
)
from framework.admin.large_tables import LongTableAdmin

COUNTED = ("created", "merged", "changed", "unchanged", "skipped", "refused", "queued", "closed")


@admin.register(ImportRun)
class ImportRunAdmin(LongTableAdmin):
    """What the importers did; for reading only."""

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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Importers write these."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Importers write these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A log keeps its lines."""
        return False
