"""Open intervals of the next days."""

from typing import Any

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from catalogue.hours import open_intervals
from catalogue.models import SearchRow
from framework.tasks.dispatch import enqueue

# The rows that one task updates at most: about 15 s of work, far from its time limit.
SLICE = 50_000


class RowsLockedError(Exception):
    """Other transactions held restaurants whose intervals are missing, so they were skipped."""


# Timeouts and held rows are retried within a minute, not by the next beat.
@shared_task(
    name="catalogue.tasks.refresh_open_intervals",
    autoretry_for=(OperationalError, RowsLockedError),
    retry_backoff=2,
    max_retries=5,
)
def refresh_open_intervals(**_: Any) -> None:
    """Compute the open intervals that are due, and enqueue another task if that was only a slice of them."""
    if open_intervals.refresh_open_intervals(now=timezone.now(), at_most=SLICE) == SLICE:
        enqueue_open_intervals()
    elif SearchRow.objects.filter(intervals_missing=True).exists():
        raise RowsLockedError


def enqueue_open_intervals() -> None:
    """Enqueue the task; call it after the commit. Otherwise it runs within the hour."""
    enqueue(refresh_open_intervals)
