"""One step of a worker on an export: start it, write some of its parts, or finalize it."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

import psycopg
from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error
from django.db.models.functions import Now
from django.utils import timezone

from catalogue.exports.jobs import claims, shared_snapshot
from catalogue.exports.jobs.claims import LeaseLostError
from catalogue.exports.jobs.finalize import fail_export, finalize_export
from catalogue.exports.jobs.partitioning import ROWS_PER_PART, start_export
from catalogue.exports.jobs.parts import reuse_file, write_part
from catalogue.exports.jobs.shared_snapshot import ExportEndedError, Snapshot, SnapshotRaceError
from catalogue.models import Export, ExportPart
from framework.db.retry import retry_on_disconnect

logger = logging.getLogger(__name__)

# Parts of one export that are written in parallel, if there are as many workers.
MAX_PARALLEL_PARTS = 4
# Delay of the next attempt after an error.
RETRY_DELAY = timedelta(seconds=20)
# A task goes on with parts for this long, then enqueues the next: its queue may have a lower priority than others.
MAX_STEP_S = 20
# Comparing a part with its earlier file is cheap, and lost with the snapshot: such a task runs longer.
MAX_REUSE_STEP_S = 40


def run_step(
    export: Export,
    *,
    rows_per_part: int = ROWS_PER_PART,
    max_step_s: float = MAX_STEP_S,
    keep_snapshot_s: float = 0,
) -> int:
    """Do the next step of an export; return the number of tasks to enqueue.

    Call it outside of a transaction; any number of workers may run it at once. This process keeps the snapshot open
    for `keep_snapshot_s` seconds afterwards. Errors are recorded on the export's row.
    """
    if export.status == Export.Status.QUEUED:
        return min(start_export(export, now=timezone.now(), rows_per_part=rows_per_part), MAX_PARALLEL_PARTS)
    if export.status != Export.Status.RUNNING:
        return 0
    started_at = monotonic()
    part = claims.claim_part(export)
    if part is not None:
        try:
            with shared_snapshot.join_snapshot(export, keep_s=keep_snapshot_s) as snapshot:
                while part is not None:
                    previous_file = part.file
                    if not process_part(export, part, snapshot):
                        return 0
                    is_reused = previous_file and part.file == previous_file
                    limit_s = max(max_step_s, MAX_REUSE_STEP_S) if is_reused else max_step_s
                    if monotonic() - started_at >= limit_s:
                        return 1
                    # If the claim raises, there is no part to release.
                    part = None
                    part = claims.claim_part(export)
        except (SnapshotRaceError, psycopg.Error, Error) as error:
            logger.warning("Export %s could not join a snapshot: %s", export.public_id, error)
            if part is not None:
                save_state(partial(claims.release_part, part))
            return 0
        except ExportEndedError:
            return 0
    finalize_export(export, now=timezone.now())
    return 0


def process_part(export: Export, part: ExportPart, snapshot: Snapshot) -> bool:
    """Write a claimed part, or reuse its earlier file. False after an error, which is recorded on the export's row."""
    try:
        if not reuse_file(export, part, snapshot):
            write_part(export, part, snapshot)
    except LeaseLostError:
        logger.info("The lease of %s of export %s is lost", part, export.public_id)
        export.refresh_from_db(fields=["status"])
        return export.status == Export.Status.RUNNING
    except Exception as error:  # noqa: BLE001  # every error has to count as an attempt
        save_state(partial(record_failed_attempt, export, part, error, now=timezone.now()))
        return False
    return True


def record_failed_attempt(export: Export, part: ExportPart, error: Exception, *, now: datetime) -> None:
    """Queue the part for its next attempt and record the reason; fail the export after the last attempt."""
    cause = "an internal error"
    if isinstance(error, OSError):
        cause = "the storage did not accept it"
    elif isinstance(error, SoftTimeLimitExceeded):
        cause = "it took too long"
    elif isinstance(error, (Error, psycopg.Error)):
        cause = "the database query failed"
    reason = f"Part {part.seq} could not be written: {cause}."
    logger.warning("Export %s: %s", export.public_id, reason, exc_info=error)
    if part.attempts >= claims.MAX_ATTEMPTS:
        fail_export(export, f"{reason} It was tried {part.attempts} times.", now=now)
        return
    claimed = claims.filter_claimed(part)
    if claimed.update(state=ExportPart.State.QUEUED, lease_until=Now() + RETRY_DELAY):
        Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING).update(error=f"{reason} It will be retried.")


def save_state(write: Callable[[], None]) -> None:
    """Run `write`, retrying while PostgreSQL restarts."""
    if not retry_on_disconnect(write):
        logger.warning("The database is unavailable: the part stays claimed until its lease of %s ends.", claims.LEASE)
