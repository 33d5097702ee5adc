"""Generation of missing and stale insights."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue import insights
from framework.tasks.dispatch import enqueue

# The reviews that one task reads at most: about ten seconds of work; finding what is due takes 0.25 s for 356,000
# restaurants. A worker that is stopped loses one batch.
SLICE = 30_000


@shared_task(name="catalogue.tasks.refresh_insights")
def refresh_insights(*, requested_only: bool = False, **_: Any) -> None:
    """Generate a slice of the insights that are due, of all or of the requested ones; enqueue more if any is left."""
    now = timezone.now()
    if insights.refresh(now=now, max_reviews=SLICE, requested_only=requested_only):
        (enqueue_demanded_insights if requested_only else enqueue_insights)()
    elif requested_only:
        insights.delete_old_requests(now=now)


def enqueue_insights() -> None:
    """Enqueue the task; call it after the commit. Otherwise it runs in the night."""
    enqueue(refresh_insights)


def enqueue_demanded_insights() -> None:
    """Enqueue the generation of requested insights; call it after the commit."""
    enqueue(refresh_insights, requested_only=True)
