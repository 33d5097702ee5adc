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
def refresh_insights(*, demanded: bool = False, **_: Any) -> None:
    """Write a slice of the insights that are due, of all or of those requested; enqueue more until none is."""
    now = timezone.now()
    if insights.refresh(now=now, at_most=SLICE, demanded=demanded):
        (enqueue_demanded_insights if demanded else enqueue_insights)()
    elif demanded:
        insights.forget_demand(now=now)


def enqueue_insights() -> None:
    """Ask a worker to write insights; call it after the commit. Else the nightly task writes them."""
    enqueue(refresh_insights)


def enqueue_demanded_insights() -> None:
    """Ask a worker to write the insights that were requested; call it after the commit."""
    enqueue(refresh_insights, demanded=True)
