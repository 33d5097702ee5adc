"""Celery tasks of orders."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounts.models import Venue
from framework.tasks.dispatch import enqueue
from orders import capacity, checkout_retention, contact_retention, ticket_printing
from orders.menu import photos

# Of the periodic task print_tickets
PRINT_INTERVAL_S = 5


@shared_task(name="orders.tasks.delete_unused_photos")
def delete_unused_photos(**_: Any) -> None:
    photos.delete_unused(now=timezone.now())


@shared_task(name="orders.tasks.erase_expired_contacts")
def erase_expired_contacts(**_: Any) -> None:
    contact_retention.erase_expired_contacts(now=timezone.now())


@shared_task(name="orders.tasks.delete_past_slots")
def delete_past_slots(**_: Any) -> None:
    capacity.delete_past_slots(now=timezone.now())


@shared_task(name="orders.tasks.delete_past_checkouts")
def delete_past_checkouts(**_: Any) -> None:
    checkout_retention.delete_past(now=timezone.now())


@shared_task(name="orders.tasks.print_tickets")
def print_tickets(**_: Any) -> None:
    """Enqueue each venue with tickets to print: a printer that is away does not delay the others."""
    if settings.PRINTER_NETWORKS:
        for venue in ticket_printing.find_venues_to_print(now=timezone.now()):
            enqueue(print_tickets_of_venue, expires_s=PRINT_INTERVAL_S, venue=str(venue))


@shared_task(name="orders.tasks.print_tickets_of_venue")
def print_tickets_of_venue(*, venue: str, **_: Any) -> None:
    ticket_printing.print_tickets(UUID(venue), now=Venue.objects.get(pk=venue).now())
