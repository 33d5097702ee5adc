"""Exports: their steps, and the sweeper that finds those which nobody works on."""

from typing import Any

from django.utils import timezone

from catalogue.exports import sweep, write
from catalogue.models import Export
from config import bell
from config.celery import app

# As often as the beat rings for the sweeper (config/celery.py).
SWEEP_S = 30


@app.task(name="catalogue.tasks.write_export")
def write_export(*, export: str, **_: Any) -> None:
    """Do one step of an export, and ring for those that can be done next."""
    found = Export.objects.get(pk=export)
    for _bell in range(write.step(found)):
        ring_for_export(found)


@app.task(name="catalogue.tasks.sweep_exports")
def sweep_exports(**_: Any) -> None:
    """Ring for the exports that wait for a worker, then clear up."""
    for export in sweep.waiting(now=timezone.now()):
        # A bell that no worker has heard when the next sweep rings is one too many.
        ring_for_export(export, expires_s=SWEEP_S)
    sweep.remove_leftovers()


def ring_for_export(export: Export, *, expires_s: int | None = None) -> None:
    """Ask a worker of the export's queue for a step; call it after the commit. The sweeper asks again."""
    bell.ring(
        write_export,
        otherwise=f"export {export.public_id} waits for the next sweep",
        queue=export.queue,
        expires_s=expires_s,
        export=str(export.pk),
    )
