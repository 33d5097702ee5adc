"""Insights that are missing or stale."""

from typing import Any

from django.utils import timezone

from catalogue import insights
from config import bell
from config.celery import app

# Reviews that one task reads at most: a second or two of work, so that a worker that is asked to stop soon does.
SLICE = 6_000


@app.task(name="catalogue.tasks.refresh_insights")
def refresh_insights(**_: Any) -> None:
    """Write a slice of the insights that are due, and ring again until nothing is."""
    if insights.refresh(now=timezone.now(), at_most=SLICE):
        ring_for_insights()


def ring_for_insights() -> None:
    """Ask a worker to write insights; call it after the commit. Without a broker the beat asks within the hour."""
    bell.ring(refresh_insights, otherwise="insights are written at the next beat")
