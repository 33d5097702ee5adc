"""The waiting list: tables that have become free are offered to who waits."""

from functools import partial

from django.db import transaction

from accounts.models import Venue
from reservations.bells import ring_for_tables


def look_again(venue: Venue) -> None:
    """Have a worker look whether the venue has a table for those who wait.

    Call it inside the transaction in which a table may have become free; the worker is rung after the commit.
    """
    transaction.on_commit(partial(ring_for_tables, venue.pk))
