"""Exports: their steps, and the sweeper that finds those which nobody works on."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue.exports.jobs import cleanup, tombstones, worker
from catalogue.exports.requests import payment_state
from catalogue.models import Export
from framework.tasks import dispatch

# Until the next task of this process: with one process and a few exports, theirs come before.
KEPT_S = 50
# A bell that waits for longer than a task takes has others before it, of that export or of others: so they are few.
HEARD_WITHIN_S = 20


@shared_task(name="catalogue.tasks.write_export")
def write_export(*, export: str, **_: Any) -> None:
    """Do one step of an export, and ring for those that can be done next."""
    found = Export.objects.get(pk=export)
    for _bell in range(worker.step(found, kept_s=KEPT_S)):
        ring_for_export(found)


@shared_task(name="catalogue.tasks.wake_exports")
def wake_exports(**_: Any) -> None:
    """Ring for the exports that wait for a worker, as the beat does most often (config/celery.py)."""
    for export in cleanup.waiting(now=timezone.now()):
        ring_for_export(export, expires_s=HEARD_WITHIN_S)


@shared_task(name="catalogue.tasks.sweep_exports")
def sweep_exports(**_: Any) -> None:
    """Put right what was paid, ring for the exports that wait for a worker, then clear up."""
    payment_state.put_right(now=timezone.now())
    wake_exports()
    cleanup.remove_leftovers()


@shared_task(name="catalogue.tasks.forget_removals")
def forget_removals(**_: Any) -> None:
    """Forget what is gone from the datasets for longer than deltas reach back."""
    tombstones.forget(now=timezone.now())


def ring_for_export(export: Export, *, expires_s: int | None = None) -> None:
    """Ask a worker of the export's queue for a step; call it after the commit. The sweeper asks again."""
    dispatch.ring(
        write_export,
        otherwise=f"export {export.public_id} waits for the next sweep",
        queue=export.queue,
        expires_s=expires_s,
        export=str(export.pk),
    )
