"""Periodic maintenance: stalled exports, expired exports, orphaned files, expired removals."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from catalogue.exports.jobs.claims import IS_UNLEASED
from catalogue.exports.requests.spec import MAX_DELTA_AGE
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart, Removal
from catalogue.models.exports import PREFIX, UNFINISHED
from framework.db.locks import AdvisoryLock
from framework.public_ids import decode

CLEANUP_LOCK = AdvisoryLock("export cleanup")
# No late worker writes to an export this long after its end.
SETTLED_AFTER = timedelta(hours=1)
# A delta may be paid for, or restarted, some time after it was ordered.
REMOVAL_MARGIN = timedelta(days=10)


def list_stalled(*, now: datetime) -> Sequence[Export]:
    """Expire old exports, and return those to enqueue a step for; none while another sweep runs."""
    with transaction.atomic():
        if not CLEANUP_LOCK.try_acquire():
            return []
        Export.objects.filter(status=Export.Status.SUCCEEDED, expires_at__lt=now).update(status=Export.Status.EXPIRED)
        return list(filter_runnable())


def filter_runnable() -> "QuerySet[Export]":
    """Return the exports that a worker can do a step of: not started, with an unleased part, or to be finalized."""
    is_done = Q(state=ExportPart.State.DONE, generation=OuterRef("generation"), horizon__isnull=False)
    unfinished = ExportPart.objects.filter(export=OuterRef("pk")).exclude(is_done)
    return (
        Export.objects.under_way().filter(Exists(unfinished.filter(IS_UNLEASED)) | ~Exists(unfinished)).order_by("pk")
    )


def remove_orphaned_files() -> None:
    """Delete the files that belong to no export. Raises OSError if the storage is unavailable.

    Folders of exports that succeeded long ago are skipped: a bucket needs a call for each.
    """
    succeeded = Export.objects.filter(status=Export.Status.SUCCEEDED, finished_at__lt=Now() - SETTLED_AFTER)
    settled = set(succeeded.values_list("pk", flat=True))
    for folder in files.list_folders():
        if decode(PREFIX, folder) not in settled:
            clean_folder(folder)


def clean_folder(folder: str) -> None:
    """Delete the files in a folder that no row names, and the folder itself if its export has no files."""
    # Files are listed before the rows are read: each listed file of a running export has its row by then. Files that
    # are written later are not in the list, as they may belong to an export that was just restarted.
    names = files.list_names(folder)
    key = decode(PREFIX, folder)
    export = Export.objects.filter(pk=key, status__in=[*UNFINISHED, Export.Status.SUCCEEDED]).first() if key else None
    if export is None:
        files.remove_all(folder, only=names)
        return
    parts = list(export.parts.all())
    expected = {files.path_of(export, part) for part in parts}
    if export.status in UNFINISHED:
        # A draft lies beside its target path, and a manifest is stored before its row names it.
        drafts = {files.name_file(export, part) for part in parts}
        expected |= {f"{folder}/{name}{suffix}" for name in drafts for suffix in ("", ".part")}
        expected |= {f"{folder}/{name}" for name in names if name.startswith("manifest-")}
    else:
        expected.add(files.path_of_manifest(export, export.manifest_sha256))
    files.remove(folder, [name for name in names if f"{folder}/{name}" not in expected])


def delete_expired_removals(*, now: datetime) -> int:
    """Delete the removals that no delta needs any more, and return their number. Two statements.

    Those that an unfinished delta needs stay.
    """
    deltas = Export.objects.unfinished().filter(since_export__changes_from__isnull=False)
    oldest = deltas.order_by("since_export__changes_from").values_list("since_export__changes_from", flat=True).first()
    limit = now - MAX_DELTA_AGE - REMOVAL_MARGIN
    count, _ = Removal.objects.filter(at__lt=min(limit, oldest or limit)).delete()
    return count
