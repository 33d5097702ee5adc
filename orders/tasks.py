"""Celery tasks of orders."""

from typing import Any

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from orders import capacity, contact_retention, ticket_printing
from orders.menu import photos


@shared_task(name="orders.tasks.delete_unused_photos")
def delete_unused_photos(**_: Any) -> None:
    photos.delete_unused(now=timezone.now())


@shared_task(name="orders.tasks.erase_expired_contacts")
def erase_expired_contacts(**_: Any) -> None:
    contact_retention.erase_expired_contacts(now=timezone.now())


@shared_task(name="orders.tasks.delete_past_slots")
def delete_past_slots(**_: Any) -> None:
    capacity.delete_past_slots(now=timezone.now())


@shared_task(name="orders.tasks.print_tickets")
def print_tickets(**_: Any) -> None:
    if settings.PRINTER_NETWORKS:
        ticket_printing.print_new_tickets(now=timezone.now())
