"""Slots of offers, and the seats that come back to them."""

from typing import Any

from django.utils import timezone

from catalogue import flow
from config.celery import app


@app.task(name="catalogue.tasks.lay_out_slots")
def lay_out_slots(**_: Any) -> None:
    """Make the slots of the next two weeks what the rules and the opening hours say."""
    flow.lay_out(now=timezone.now())


@app.task(name="catalogue.tasks.release_seats")
def release_seats(**_: Any) -> None:
    """Give slots the seats back whose reservations were cancelled in the venue's book."""
    flow.release(now=timezone.now())
