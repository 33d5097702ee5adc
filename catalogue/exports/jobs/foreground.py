"""Runs one export in the process of a management command, with or without workers, until it has ended."""

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep

from django.db.models import Sum

from catalogue.exports.jobs import shared_snapshot, worker
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNDER_WAY

# While workers hold all parts, or after an error.
RETRY_DELAY_S = 0.3
# From one part to the next the snapshot stays open; each part is a step, so that a stop takes effect soon.
KEEP_SNAPSHOT_S = 30


@dataclass(frozen=True, slots=True)
class Progress:
    """`rows` of about `total` are written; `total` is None until it is known."""

    export: Export
    rows: int
    total: int | None


def run_export(export: Export, *, is_stopped: Callable[[], bool]) -> None:
    """Do the steps of an export until it has ended or `is_stopped` between two parts.

    Any number of processes may. Errors are recorded on the export's row.
    """
    try:
        while not is_stopped():
            export.refresh_from_db()
            if export.status not in UNDER_WAY:
                return
            if not worker.run_step(export, max_step_s=0, keep_snapshot_s=KEEP_SNAPSHOT_S):
                sleep(RETRY_DELAY_S)
    finally:
        shared_snapshot.release(export)


def read_progress(export: Export) -> Progress:
    """Return the progress of an export. Two queries."""
    fresh = Export.objects.get(pk=export.pk)
    written = ExportPart.objects.filter(export=fresh, kind=ExportPart.Kind.ROWS).aggregate(rows=Sum("rows"))["rows"]
    return Progress(export=fresh, rows=written or 0, total=fresh.rows_total)
