"""Covers on the overview: by day and hour beside those of a week before, and no-shows."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import Venue
from reservations.models import Reservation
from tests.support import builders, users

NOW = datetime(2031, 5, 7, 18, 0, tzinfo=UTC)


@pytest.fixture
def osteria(db: None) -> Venue:
    return builders.venue("Osteria", timezone="UTC")


@pytest.mark.exhaustive
def test_covers_are_beside_those_of_a_week_before(osteria: Venue) -> None:
    builders.reservation(osteria, status="confirmed", starts_at=NOW, party_size=4)
    builders.reservation(osteria, status="confirmed", starts_at=NOW + timedelta(hours=2), party_size=2)
    builders.reservation(osteria, status="confirmed", starts_at=NOW - timedelta(days=7), party_size=3)
    missed = builders.reservation(osteria, status="confirmed", starts_at=NOW - timedelta(days=1), party_size=5)
    Reservation.objects.filter(pk=missed.pk).update(arrival="no_show")
    builders.reservation(osteria, status="cancelled", starts_at=NOW - timedelta(days=8), party_size=6)
    builders.reservation(osteria, status="pending", starts_at=NOW, party_size=7)
    with time_machine.travel(NOW, tick=False):
        page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reservations/week").content.decode()
    bars = re.findall("<title>([^<]+)</title>", page)
    assert bars[5:] == [
        "Tuesday 6 May: 0 covers, a week before 0 covers",
        "Wednesday 7 May: 6 covers, a week before 3 covers",
        "18:00: 4 covers, a week before 3 covers",
        "19:00: 0 covers, a week before 0 covers",
        "20:00: 2 covers, a week before 0 covers",
    ]
    tiles = re.findall('"label">([^<]+)</div><div class="value">([0-9]+)</div><div[^>]*>a week before: ([0-9]+)', page)
    assert tiles == [("No-shows", "1", "0"), ("Cancelled reservations", "0", "1")]


def test_a_venue_without_reservations_sees_no_empty_charts(osteria: Venue) -> None:
    page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reservations/week").content.decode()
    assert page.count("Nothing in these two weeks.") == 2
