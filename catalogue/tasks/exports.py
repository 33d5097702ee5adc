"""Steps of exports, and their periodic maintenance."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue.exports.jobs import cleanup, worker
from catalogue.exports.requests import payment_state
from catalogue.models import Export
from framework.tasks.dispatch import enqueue

# Long enough for the next task of this process, even if it is of another export.
KEPT_S = 50
# If the queue is longer than this, the next sweep must not add to it.
SWEEP_EXPIRES_S = 20


@shared_task(name="catalogue.tasks.write_export")
def write_export(*, export: str, **_: Any) -> None:
    """Do one step of an export, and enqueue the next steps."""
    found = Export.objects.get(pk=export)
    for _step in range(worker.run_step(found, keep_snapshot_s=KEPT_S)):
        enqueue_export_step(found)


@shared_task(name="catalogue.tasks.enqueue_stalled_exports")
def enqueue_stalled_exports(**_: Any) -> None:
    """Enqueue a step of each export that waits for a worker."""
    for export in cleanup.list_stalled(now=timezone.now()):
        enqueue_export_step(export, expires_s=SWEEP_EXPIRES_S)


@shared_task(name="catalogue.tasks.clean_up_exports")
def clean_up_exports(**_: Any) -> None:
    """Reconcile payments, enqueue stalled exports, then delete orphaned files."""
    payment_state.reconcile(now=timezone.now())
    enqueue_stalled_exports()
    cleanup.remove_orphaned_files()


@shared_task(name="catalogue.tasks.delete_expired_removals")
def delete_expired_removals(**_: Any) -> None:
    """Delete the removals that no delta needs any more."""
    cleanup.delete_expired_removals(now=timezone.now())


def enqueue_export_step(export: Export, *, expires_s: int | None = None) -> None:
    """Enqueue a step in the export's queue; call it after the commit. The periodic task enqueues lost steps."""
    enqueue(write_export, queue=export.queue, expires_s=expires_s, export=str(export.pk))
