"""Celery tasks of orders."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from orders.menu import photos


@shared_task(name="orders.tasks.delete_unused_photos")
def delete_unused_photos(**_: Any) -> None:
    photos.delete_unused(now=timezone.now())
