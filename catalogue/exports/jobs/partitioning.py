"""The start of an export: its keys are split into parts, the same rows always in the same way."""

import logging
import re
from datetime import datetime

from django.db import DatabaseError, connection, transaction

from catalogue.exports import datasets
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.jobs.finalize import RETRY_PERIOD, fail_export
from catalogue.exports.jobs.shared_snapshot import STATEMENT_TIMEOUT_S
from catalogue.models import Export, ExportPart
from framework.db.locks import AdvisoryLock
from framework.db.retry import retry_on_disconnect
from framework.db.sql_files import read_sql

logger = logging.getLogger(__name__)

# About 4 MB compressed: a file is sent in one piece, which stays in memory until the client has it.
ROWS_PER_PART = 50_000
START_LOCK = AdvisoryLock("export start")
# The table of the key, if the statement can do without the joins.
TABLE = re.compile(r"\s*(\w+ AS \w+)(?:\s+(?:LEFT |INNER )?JOIN\b|\s*$)")
EXACT_BOUNDS = read_sql("catalogue", "export_bounds")
INDEX_BOUNDS = read_sql("catalogue", "export_bounds_of_table")


def start_export(export: Export, *, now: datetime, rows_per_part: int = ROWS_PER_PART) -> int:
    """Split a queued export into parts and return their number; 0 if another worker starts it.

    A delta has one more part with the ids of removed rows. Errors are recorded on the export's row and retried for a
    day.
    """
    queued = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
    try:
        with transaction.atomic():
            if not START_LOCK.try_acquire(export.pk):
                return 0
            bounds, total = find_bounds(export, rows_per_part=rows_per_part)
            # Not earlier: a cancellation must not wait for the count. Snapshots of an earlier start do not fit.
            if not queued.update(
                status=Export.Status.RUNNING, snapshots=[], error="", rows_total=total, snapshot_at=now
            ):
                return 0
            ranges = zip([None, *bounds], [*bounds, None], strict=True)
            parts = [ExportPart(export=export, seq=seq, lo=lo, hi=hi) for seq, (lo, hi) in enumerate(ranges, start=1)]
            if export.since_export_id is not None and datasets.get_dataset(export).removed is not None:
                parts.append(ExportPart(export=export, seq=len(parts) + 1, kind=ExportPart.Kind.REMOVED))
            ExportPart.objects.bulk_create(parts)
    except DatabaseError as error:
        reason = "The database could not count its rows."
        logger.warning("Export %s: %s", export.public_id, reason, exc_info=error)
        retry_on_disconnect(lambda: record_failed_start(export, reason, now=now))
        return 0
    return len(parts)


def record_failed_start(export: Export, reason: str, *, now: datetime) -> None:
    """Record why an export could not be started; fail it after a day."""
    if now - export.requested_at > RETRY_PERIOD:
        fail_export(export, reason, now=now, status=Export.Status.QUEUED)
    else:
        queued = Export.objects.filter(pk=export.pk, status=Export.Status.QUEUED)
        queued.update(error=f"{reason} It will be retried.")


def find_bounds(export: Export, *, rows_per_part: int) -> tuple[list[str], int]:
    """Return the last key of each part but the last, and the approximate row count. Call it in a transaction."""
    dataset = datasets.get_dataset(export)
    arguments = query_parameters(export)
    table = TABLE.match(dataset.rows)
    is_unfiltered = table is not None and arguments["since"] is None and not any(export.filter.values())
    statement = INDEX_BOUNDS if is_unfiltered else EXACT_BOUNDS
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_TIMEOUT_S}s"])
        cursor.execute(
            statement.format(
                key=dataset.key, rows=dataset.rows, condition=dataset.condition, table=table and table[1]
            ),
            arguments | {"rows_per_part": rows_per_part},
        )
        bounds, total = cursor.fetchone()
    return bounds, total
