"""Exports: their steps, and the sweeper that finds those which nobody works on."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue.exports.jobs import cleanup, tombstones, worker
from catalogue.exports.requests import payment_state
from catalogue.models import Export
from framework.tasks.dispatch import enqueue

# Until the next task of this process: with one process and a few exports, theirs come before.
KEPT_S = 50
# A message that waits longer than a task takes has others before it, so the next sweep need not add to them.
SWEEP_EXPIRES_S = 20


@shared_task(name="catalogue.tasks.write_export")
def write_export(*, export: str, **_: Any) -> None:
    """Do one step of an export, and enqueue the steps that can be done next."""
    found = Export.objects.get(pk=export)
    for _step in range(worker.step(found, kept_s=KEPT_S)):
        enqueue_export_step(found)


@shared_task(name="catalogue.tasks.wake_exports")
def wake_exports(**_: Any) -> None:
    """Enqueue the exports that wait for a worker."""
    for export in cleanup.waiting(now=timezone.now()):
        enqueue_export_step(export, expires_s=SWEEP_EXPIRES_S)


@shared_task(name="catalogue.tasks.sweep_exports")
def sweep_exports(**_: Any) -> None:
    """Put right what was paid, enqueue the exports that wait for a worker, then clear up."""
    payment_state.put_right(now=timezone.now())
    wake_exports()
    cleanup.remove_leftovers()


@shared_task(name="catalogue.tasks.forget_removals")
def forget_removals(**_: Any) -> None:
    """Forget what is gone from the datasets for longer than deltas reach back."""
    tombstones.forget(now=timezone.now())


def enqueue_export_step(export: Export, *, expires_s: int | None = None) -> None:
    """Ask a worker of the export's queue for a step; call it after the commit. The sweep asks again."""
    enqueue(write_export, queue=export.queue, expires_s=expires_s, export=str(export.pk))
