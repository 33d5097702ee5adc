"""The end of an export: manifest and success, or failure."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from catalogue.exports.jobs import events, shared_snapshot
from catalogue.exports.jobs.claims import IS_UNLEASED, MAX_ATTEMPTS
from catalogue.exports.requests import payment_state
from catalogue.exports.storage import files, manifest
from catalogue.models import Export, ExportPart

logger = logging.getLogger(__name__)

# Each sweep retries the start and the manifest of an export up to this age.
RETRY_PERIOD = timedelta(days=1)
RETENTION = timedelta(days=7)


def finalize_export(export: Export, *, now: datetime) -> None:
    """Write the manifest and mark the export as succeeded when all its parts are done.

    The export fails if a part has no attempts left. Parts whose files are missing from the storage are queued again.
    """
    export.refresh_from_db()
    parts = list(export.parts.order_by("seq"))
    unfinished = [part.pk for part in parts if not is_done(part, export)]
    if unfinished or not parts:
        dead = export.parts.filter(IS_UNLEASED, pk__in=unfinished, attempts__gte=MAX_ATTEMPTS).order_by("seq").first()
        if dead is not None:
            reason = f"Part {dead.seq} could not be written: its worker ended {dead.attempts} times."
            fail_export(export, reason, now=now)
        return
    running = Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING, generation=export.generation)
    content = manifest.render(export, parts)
    try:
        if lost := files.list_lost(export, parts):
            requeue_lost(export, lost, now=now)
            return
        sha256 = store_manifest(export, content)
    except OSError as error:
        reason = "The manifest could not be written: the storage did not accept it."
        logger.warning("Export %s: %s", export.public_id, reason, exc_info=error)
        if export.snapshot_at and now - export.snapshot_at > RETRY_PERIOD:
            fail_export(export, reason, now=now)
        else:
            running.update(error=f"{reason} It will be retried.")
        return
    with transaction.atomic():
        if running.update(
            status=Export.Status.SUCCEEDED,
            rows=manifest.count_rows(parts, ExportPart.Kind.ROWS),
            manifest_sha256=sha256,
            error="",
            finished_at=now,
            expires_at=now + RETENTION,
            snapshots=[],
        ):
            events.record_finished(export, actor="system", now=now)
    shared_snapshot.release(export)


def is_done(part: ExportPart, export: Export) -> bool:
    """Whether a part is written, and of the current snapshot of its export."""
    return part.state == part.State.DONE and part.generation == export.generation and part.horizon is not None


def requeue_lost(export: Export, lost: list[ExportPart], *, now: datetime) -> None:
    """Queue parts whose files are missing; fail the export if one of them has no attempts left."""
    for part in lost:
        if part.attempts >= MAX_ATTEMPTS:
            reason = f"Part {part.seq} was written {part.attempts + 1} times, and its file disappeared each time."
            fail_export(export, reason, now=now)
            return
    message = f"{len(lost)} of its files are missing: they are being written again."
    logger.warning("Export %s: %s", export.public_id, message)
    with transaction.atomic():
        for part in lost:
            unchanged = export.parts.filter(pk=part.pk, token=part.token, generation=part.generation, file=part.file)
            unchanged.update(state=ExportPart.State.QUEUED, file="")
        Export.objects.filter(pk=export.pk, status=Export.Status.RUNNING).update(error=message)


def store_manifest(export: Export, content: bytes) -> str:
    """Store the manifest and return its SHA-256. Two workers at once store the same file. Raises OSError."""
    sha256 = manifest.digest(content)
    path = files.path_of_manifest(export, sha256)
    if not files.storage().exists(path):
        with files.open_draft(path) as draft:
            draft.write(content)
            draft.publish(path)
    return sha256


def fail_export(export: Export, reason: str, *, now: datetime, status: str = Export.Status.RUNNING) -> None:
    """Mark an export with this status as failed and its payment as refund due. The cleanup task deletes its files."""
    with transaction.atomic():
        has_failed = Export.objects.filter(pk=export.pk, status=status).update(
            status=Export.Status.FAILED, error=reason[:500], finished_at=now, snapshots=[]
        )
        if has_failed:
            payment_state.refund_export(export, message=reason, actor="system")
            events.record_finished(export, actor="system", now=now)
    if has_failed:
        logger.error("Export %s has failed: %s", export.public_id, reason)
        shared_snapshot.release(export)
