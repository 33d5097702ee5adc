"""Review aggregates."""

from typing import Any

from celery import shared_task

from catalogue.reviews import aggregates


@shared_task(name="catalogue.tasks.recount_reviews")
def recount_reviews(**_: Any) -> None:
    """Correct and log restaurants whose aggregates differ from their reviews."""
    aggregates.repair_all()
