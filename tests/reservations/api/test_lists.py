"""Lists of reservations, and what each call costs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import Venue
from reservations.models import Reservation
from tests.support import builders
from tests.support.query_counts import costing

RESERVATIONS = "/api/v1/reservations"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.django_db
def test_the_soonest_is_first_also_within_a_moment(api: Client, venue: Venue) -> None:
    late = builders.reservation(venue, starts_at=NOON + timedelta(days=2))
    twins = [builders.reservation(venue, starts_at=NOON) for _ in range(3)]
    expected = [reservation.public_id for reservation in (*twins, late)]
    assert [record["id"] for record in api.get(RESERVATIONS).json()["data"]] == expected


@pytest.mark.django_db
def test_the_date_of_the_list_is_the_day_at_the_venue(api: Client, venue: Venue) -> None:
    # An hour after midnight in Rome, when in UTC it is still the day before.
    night = builders.reservation(venue, starts_at=datetime(2026, 11, 28, 23, 30, tzinfo=UTC))
    assert api.get(RESERVATIONS, {"date": "2026-11-28"}).json()["data"] == []
    found = api.get(RESERVATIONS, {"date": "2026-11-29"}).json()["data"]
    assert [(record["id"], record["time"]) for record in found] == [(night.public_id, "00:30")]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_date_and_status_narrow_together(api: Client, venue: Venue) -> None:
    made = {
        (day, status): builders.reservation(venue, status=status, starts_at=NOON + timedelta(days=day))
        for day in (0, 1)
        for status in ("pending", "confirmed", "cancelled")
    }
    answer = api.get(RESERVATIONS, {"date": "2026-11-22", "status": "confirmed"}).json()
    assert [record["id"] for record in answer["data"]] == [made[1, "confirmed"].public_id]
    assert answer["pagination"]["total"] == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "date",
    ["2026-2-3", "20260203", "tomorrow", "2027-02-30", "0000-01-01", "2027-01-0\u0661", "2027-01-01T00:00:00Z", ""],
)
@pytest.mark.django_db
def test_a_date_that_is_none_is_refused_by_name(api: Client, date: str) -> None:
    response = api.get(RESERVATIONS, {"date": date})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", "date")


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.django_db
def test_a_list_costs_two_queries_however_long(api: Client, venue: Venue, count: int) -> None:
    for _ in range(count):
        builders.reservation(venue)
    # The count, the reservations.
    with costing(2):
        assert len(api.get(RESERVATIONS).json()["data"]) == count


@pytest.mark.django_db
def test_what_a_reservation_costs_where_there_are_no_tables(api: Client) -> None:
    # Whether there are tables; the reservation, in a savepoint, the event and the mail, in one transaction.
    with costing(9):
        api.post(RESERVATIONS, builders.reservation_body(), content_type="application/json")


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_without_a_limit_1000_are_returned_and_has_more_is_true(api: Client, venue: Venue) -> None:
    first = builders.reservation(venue)
    Reservation.objects.bulk_create(
        Reservation(
            venue=venue,
            code=f"{number:06}",
            status="pending",
            pending_reason="manual",
            customer_name="Ada",
            customer_phone="+15550100999",
            date=first.date,
            time=first.time,
            starts_at=first.starts_at + timedelta(minutes=1),
            ends_at=first.ends_at,
            party_size=2,
            created_at=NOON,
            updated_at=NOON,
        )
        for number in range(1001)
    )
    answer = api.get(RESERVATIONS).json()
    assert (len(answer["data"]), answer["data"][0]["id"]) == (1000, first.public_id)
    assert answer["pagination"].pop("next_cursor")
    assert answer["pagination"] == {"page": 1, "limit": 1000, "total": 1002, "total_pages": 2, "has_more": True}
    rest = api.get(RESERVATIONS, {"page": "2"}).json()
    assert (len(rest["data"]), rest["pagination"]["has_more"]) == (2, False)


@pytest.mark.django_db
def test_limit_and_page_are_accepted_too(api: Client, venue: Venue) -> None:
    made = [builders.reservation(venue) for _ in range(5)]
    answer = api.get(RESERVATIONS, {"limit": "2", "page": "2"}).json()
    assert [record["id"] for record in answer["data"]] == [made[2].public_id, made[3].public_id]
    assert answer["pagination"].pop("next_cursor")
    assert answer["pagination"] == {"page": 2, "limit": 2, "total": 5, "total_pages": 3, "has_more": True}
