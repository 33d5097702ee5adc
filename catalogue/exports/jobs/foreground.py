"""Works on one export in a process that is no worker, beside workers or without any, until it has ended."""

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep

from django.db.models import Sum

from catalogue.exports.jobs import shared_snapshot, worker
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNDER_WAY

# While others hold all parts, or what broke is given time to heal.
PAUSE_S = 0.3
# From one part to the next the snapshot is kept; each is a step of its own, so that who is told to stop soon does.
KEPT_S = 30


@dataclass(frozen=True, slots=True)
class Look:
    """How far an export is: `rows` of about `total` are written, which is None before it is known."""

    export: Export
    rows: int
    total: int | None


def work(export: Export, *, is_stopped: Callable[[], bool]) -> None:
    """Do the steps of an export until it has ended, or one is told to stop: that is looked at between two parts.

    Any number of processes may. What breaks is written on the export's row, as workers do.
    """
    try:
        while not is_stopped():
            export.refresh_from_db()
            if export.status not in UNDER_WAY:
                return
            if not worker.step(export, goes_on_s=0, kept_s=KEPT_S):
                sleep(PAUSE_S)
    finally:
        shared_snapshot.let_go(export)


def look(export: Export) -> Look:
    """How far it is now. Two queries."""
    found = Export.objects.get(pk=export.pk)
    written = ExportPart.objects.filter(export=found, kind=ExportPart.Kind.ROWS).aggregate(rows=Sum("rows"))["rows"]
    return Look(export=found, rows=written or 0, total=found.rows_total)
