"""Slots of offers."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from catalogue import offers
from framework.tasks.dispatch import enqueue


@shared_task(name="catalogue.tasks.generate_slots")
def generate_slots(restaurant: str | None = None, **_: Any) -> None:
    """Generate the slots of the next two weeks from rules and opening hours, for one restaurant or all."""
    offers.materialize_slots(now=timezone.now(), restaurants=[UUID(restaurant)] if restaurant else None)


@shared_task(name="catalogue.tasks.release_seats")
def release_seats(**_: Any) -> None:
    """Return the seats of cancelled reservations to their slots."""
    offers.release_cancelled_bookings(now=timezone.now())


def enqueue_slot_generation(restaurant: UUID) -> None:
    """Enqueue the generation for a restaurant; call it after the commit. All are generated each hour."""
    enqueue(generate_slots, restaurant=str(restaurant))
