"""Public holidays."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue.hours import holidays


@shared_task(name="catalogue.tasks.add_holidays")
def add_holidays(**_: Any) -> None:
    """Add the missing holidays of this year and the next two."""
    holidays.add_missing_holidays(now=timezone.now())
