"""Insights that are missing or stale."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue import insights
from framework.tasks.dispatch import enqueue

# Reviews that one task reads at most: some ten seconds of work, as to find what is due takes a quarter of one over
# 356,000 restaurants. A worker that has to stop meanwhile loses one batch of them.
SLICE = 30_000


@shared_task(name="catalogue.tasks.refresh_insights")
def refresh_insights(*, requested_only: bool = False, **_: Any) -> None:
    """Write a slice of the insights that are due, of all or of those requested; enqueue more until none is."""
    now = timezone.now()
    if insights.refresh(now=now, max_reviews=SLICE, requested_only=requested_only):
        (enqueue_demanded_insights if requested_only else enqueue_insights)()
    elif requested_only:
        insights.delete_old_requests(now=now)


def enqueue_insights() -> None:
    """Ask a worker to write insights; call it after the commit. Else the nightly task writes them."""
    enqueue(refresh_insights)


def enqueue_demanded_insights() -> None:
    """Ask a worker to write the insights that were requested; call it after the commit."""
    enqueue(refresh_insights, requested_only=True)
