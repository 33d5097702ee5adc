"""The part of reservations in the demo data."""

from datetime import datetime

from accounts.demo.commands import Counts, DemoPart
from accounts.models import Venue
from reservations.demo import bookings, floor, guests


def set_up(venue: Venue, now: datetime) -> Counts:
    return {"tables": floor.add_floor(venue), "notes about guests": guests.add_notes(venue, now=now)}


def replace(venue: Venue, now: datetime) -> Counts:
    return {"reservations": bookings.replace_reservations(venue, now=now)}


def remove(venue: Venue, now: datetime) -> Counts:
    del now
    return {
        "reservations": bookings.remove_reservations(venue),
        "notes about guests": guests.remove_notes(venue),
        "tables": floor.remove_floor(venue),
    }


PART = DemoPart(set_up=set_up, replace=replace, remove=remove)
