"""Insights that are missing or stale."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue import insights
from framework.tasks import dispatch

# Reviews that one task reads at most: some ten seconds of work, as to find what is due takes a quarter of one over
# 356,000 restaurants. A worker that has to stop meanwhile loses one batch of them.
SLICE = 30_000


@shared_task(name="catalogue.tasks.refresh_insights")
def refresh_insights(*, demanded: bool = False, **_: Any) -> None:
    """Write a slice of the insights that are due, of all or of those that somebody wants, and ring until none is."""
    now = timezone.now()
    if insights.refresh(now=now, at_most=SLICE, demanded=demanded):
        (ring_for_demand if demanded else ring_for_insights)()
    elif demanded:
        insights.forget_demand(now=now)


def ring_for_insights() -> None:
    """Ask a worker to write insights; call it after the commit. Without a broker the beat asks at night."""
    dispatch.ring(refresh_insights, otherwise="insights are written at the next beat")


def ring_for_demand() -> None:
    """Ask a worker to write the insights that somebody wants; call it after the commit."""
    dispatch.ring(refresh_insights, otherwise="insights that are wanted are written at the next beat", demanded=True)
