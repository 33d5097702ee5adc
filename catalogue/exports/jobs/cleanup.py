"""Puts right what was left undone: lost messages, parts of dead workers, files of no export."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart
from catalogue.models.exports import PREFIX, UNFINISHED
from framework.db.locks import AdvisoryLock
from framework.public_ids import decode

CLEANUP_LOCK = AdvisoryLock("export cleanup")
# No writer that was late is left by then.
SETTLED = timedelta(hours=1)


def waiting(*, now: datetime) -> Sequence[Export]:
    """Expire what is old, and return the exports to enqueue a step for; none where another sweep does it."""
    with transaction.atomic():
        if not CLEANUP_LOCK.try_acquire():
            return []
        Export.objects.filter(status=Export.Status.SUCCEEDED, expires_at__lt=now).update(status=Export.Status.EXPIRED)
        return list(undone())


def undone() -> "QuerySet[Export]":
    """Exports for which a step can be taken: not begun, or with a part that nobody holds, or only to be finished."""
    counts = Q(state=ExportPart.State.DONE, generation=OuterRef("generation"), horizon__isnull=False)
    parts = ExportPart.objects.filter(export=OuterRef("pk")).exclude(counts)
    free = parts.filter(Q(lease_until=None) | Q(lease_until__lt=Now()))
    return Export.objects.under_way().filter(Exists(free) | ~Exists(parts)).order_by("pk")


def remove_leftovers() -> None:
    """Remove the files that no export has. Raises OSError where the storage is broken.

    The folders of exports that were done long ago are not looked into: of a bucket each would be a call.
    """
    done = Export.objects.filter(status=Export.Status.SUCCEEDED, finished_at__lt=Now() - SETTLED)
    settled = set(done.values_list("pk", flat=True))
    for folder in files.folders():
        if decode(PREFIX, folder) not in settled:
            clear(folder)


def clear(folder: str) -> None:
    """Remove the files in a folder that no row names; the folder too, where its export keeps nothing."""
    # Listed before the rows are read: a file that is there then has its row. What comes later is not looked at: it
    # may be of an export that was just begun anew.
    found = files.names(folder)
    key = decode(PREFIX, folder)
    kept = Export.objects.filter(pk=key, status__in=[*UNFINISHED, Export.Status.SUCCEEDED]).first() if key else None
    if kept is None:
        files.remove_all(folder, only=found)
        return
    parts = list(kept.parts.all())
    places = {files.path_of(kept, part) for part in parts}
    if kept.status in UNFINISHED:
        # What is being written stands beside its place, and a manifest is there before its row says so.
        names = {files.name_of(kept, part) for part in parts}
        places |= {f"{folder}/{name}{end}" for name in names for end in ("", ".part")}
        places |= {f"{folder}/{name}" for name in found if name.startswith("manifest-")}
    else:
        places.add(files.path_of_manifest(kept, kept.manifest_sha256))
    files.remove(folder, [name for name in found if f"{folder}/{name}" not in places])
