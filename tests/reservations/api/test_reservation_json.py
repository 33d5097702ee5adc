"""What is told of a reservation: without its serializer, and the very same."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Venue
from framework.api.pagination.page_number import Page
from reservations.models import Reservation
from reservations.serializers import ReservationRecord, list_page, read_records, to_json
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, 0, 999_999, tzinfo=UTC)


@pytest.mark.django_db
def test_records_from_rows_equal_the_serializer(venue: Venue, other_venue: Venue) -> None:
    for number, status in enumerate(Reservation.Status.values):
        builders.reservation(venue, status=status, starts_at=NOON + timedelta(days=number), metadata={"a": "é\n🙂"})
    builders.reservation(
        venue, starts_at=NOON, tables=["T 1", 'the "nook"'], special_requests="A\nB", customer_email="ada@example.com"
    )
    builders.reservation(other_venue)

    booked = list(Reservation.objects.filter(venue=venue).order_by("starts_at", "id"))
    expected = [dict(ReservationRecord(row).data) for row in booked]
    assert len(expected) == 4
    assert [to_json(row) for row in booked] == expected
    assert list(to_json(booked[0])) == list(expected[0])
    assert list_page(venue, Page(number=1, limit=1000)) == (4, expected, None)
    assert list_page(venue, Page(number=2, limit=3)) == (4, expected[3:], None)
    assert list_page(venue, Page(number=3, limit=3)) == (4, [], None)
    third = booked[2].starts_at, booked[2].pk
    assert list_page(venue, Page(number=1, limit=3)) == (4, expected[:3], third)
    assert read_records([row.pk for row in reversed(booked)]) == expected[::-1]
    pending = [each for each in expected if each["status"] == "pending"]
    assert list_page(venue, Page(number=1, limit=9), status="pending") == (len(pending), pending, None)
    of_day = [each for each in expected if each["date"] == "2026-11-21"]
    assert list_page(venue, Page(number=1, limit=9), day=NOON.date()) == (len(of_day), of_day, None)
