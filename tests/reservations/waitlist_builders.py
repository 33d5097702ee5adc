"""Parties on a waiting list, and what has come to them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Event, Venue
from reservations.booking import waitlist
from reservations.models import GuestMail, InvalidTransition, Reservation
from tests.support import builders

# The reservations of tests/support/builders.py begin on 2031-05-03 at 17:30 UTC, which is 19:30 in Rome.
NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
STARTS_AT = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def filled(venue: Venue) -> Venue:
    """Give the venue a table, dinner, and a waiting list."""
    builders.table(venue)
    builders.period(venue)
    venue.when_full = "waitlist"
    venue.save()
    return venue


def waits(venue: Venue, code: str, **fields: Any) -> Reservation:
    """A party on the waiting list; each that is made comes after the one before."""
    offer_count = fields.pop("offer_count", 0)
    reservation = builders.reservation(venue, code=code, **fields)
    minute = Reservation.objects.filter(venue=venue).count()
    Reservation.objects.filter(pk=reservation.pk).update(
        pending_reason="waitlist", offer_count=offer_count, created_at=NOW - timedelta(days=9) + minute * MINUTE
    )
    reservation.refresh_from_db()
    return reservation


def held_for(venue: Venue) -> list[str]:
    """The codes of the parties that a table is held for."""
    found = Reservation.objects.filter(venue=venue, offered_until__isnull=False)
    return list(found.order_by("code").values_list("code", flat=True))


def list_events(reservation: Reservation) -> list[tuple[str, str]]:
    """The events of a reservation, with who did it, since it was made."""
    events = Event.objects.filter(subject=reservation.pk, created_at__gte=NOW).order_by("created_at", "id")
    return list(events.values_list("type", "actor"))


def mailed(reservation: Reservation) -> list[str]:
    """The kinds of mail to a guest since the reservation was made."""
    written = GuestMail.objects.filter(reservation=reservation, created_at__gte=NOW).order_by("created_at", "id")
    return list(written.values_list("kind", flat=True))


def refusal_of(verb: Callable[..., Any], reservation: Reservation, *, now: datetime) -> str:
    """The message with which it is refused; nothing is changed."""
    before = Reservation.objects.values().get(pk=reservation.pk)
    with pytest.raises(
        (waitlist.TableOfferExpired, waitlist.NotOnWaitlist, waitlist.NoTableFree, InvalidTransition)
    ) as refused:
        verb(reservation, actor="guest", now=now)
    assert Reservation.objects.values().get(pk=reservation.pk) == before
    return refused.value.message
