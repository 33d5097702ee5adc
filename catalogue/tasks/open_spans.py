"""Open spans of the next days."""

from typing import Any

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from catalogue.hours import open_intervals
from catalogue.models import SearchRow
from framework.tasks.dispatch import enqueue

# What one task does at most: some 15 s of work, far from its time limit.
SLICE = 50_000


class StillHeldError(Exception):
    """Somebody else held restaurants whose spans are missing, so they were passed over."""


# What a busy database breaks off, or others hold just then, is tried again within a minute, and not by the next beat.
@shared_task(
    name="catalogue.tasks.refresh_open_spans",
    autoretry_for=(OperationalError, StillHeldError),
    retry_backoff=2,
    max_retries=5,
)
def refresh_open_spans(**_: Any) -> None:
    """Work out the open spans that are due, and enqueue another task when that was only a slice of them."""
    if open_intervals.refresh_open_intervals(now=timezone.now(), at_most=SLICE) == SLICE:
        enqueue_open_spans()
    elif SearchRow.objects.filter(intervals_missing=True).exists():
        raise StillHeldError


def enqueue_open_spans() -> None:
    """Ask a worker to refresh the spans; call it after the commit. Else the periodic task runs within the hour."""
    enqueue(refresh_open_spans)
