"""Slots of offers, and the seats that come back to them."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from catalogue import offers
from framework.tasks.dispatch import enqueue


@shared_task(name="catalogue.tasks.lay_out_slots")
def lay_out_slots(restaurant: str | None = None, **_: Any) -> None:
    """Make the slots of the next two weeks what the rules and the opening hours say, of one restaurant or of all."""
    offers.materialize_slots(now=timezone.now(), restaurants=[UUID(restaurant)] if restaurant else None)


@shared_task(name="catalogue.tasks.release_seats")
def release_seats(**_: Any) -> None:
    """Give slots the seats back whose reservations were cancelled in the venue's book."""
    offers.release_cancelled_bookings(now=timezone.now())


def enqueue_slot_layout(restaurant: UUID) -> None:
    """Ask a worker to lay out a restaurant's slots; call it after the commit. Each hour all are laid out."""
    enqueue(lay_out_slots, restaurant=str(restaurant))
