"""What guests left, counted anew."""

from typing import Any

from celery import shared_task

from catalogue.reviews import aggregates


@shared_task(name="catalogue.tasks.recount_reviews")
def recount_reviews(**_: Any) -> None:
    """Put right the restaurants whose figures are not those of their reviews, and log them."""
    aggregates.repair_all()
