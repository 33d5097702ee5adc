"""How a booking is decided where the venue has tables: every row of the table of set-ups, over HTTP."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, Venue
from reservations.models import Closure, GuestMail, Reservation, Seating
from tests.support import builders
from tests.support.query_counts import costing

RESERVATIONS = "/api/v1/reservations"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with a table for two, one for four, and dinner on Saturdays from 18:00 to 21:00."""
    builders.table(venue, "T2", seats_max=2)
    builders.table(venue, "T4", seats_max=4)
    builders.period(venue, first="18:00", last="21:00", slot_min=30, weekdays=[5])
    return venue


def post(api: Client, **changes: Any) -> Any:
    """What is answered to a wish for Saturday, 19:30, in a week."""
    with time_machine.travel(NOON, tick=False):
        body = builders.reservation_body(**({"date": "2026-11-28"} | changes))
        return api.post(RESERVATIONS, body, content_type="application/json")


def events() -> list[str]:
    """What has been told, in its order."""
    return list(Event.objects.order_by("id").values_list("type", flat=True))


def guest_mails() -> list[str]:
    """What guests are written."""
    return list(GuestMail.objects.order_by("created_at", "id").values_list("kind", flat=True))


def refused(response: Any, code: str, message: str, alternatives: list[str]) -> None:
    """Nothing was stored, and the body is exactly this."""
    assert response.status_code == 400
    error = response.json()["error"]
    assert error == {
        "code": code,
        "message": message,
        "param": "time",
        "request_id": error["request_id"],
        "details": [{"param": "time", "message": message}],
        "alternatives": alternatives,
    }


# The table of set-ups
def test_no_time_is_named_to_a_party_that_the_staff_confirm(dinner: Venue, api: Client) -> None:
    message = "No guests are seated at 03:00 on 2026-11-28."
    refused(post(api, time="03:00", party_size=12), "outside_service_hours", message, [])


def test_without_tables_the_staff_confirm_each_one_whatever_the_hours(venue: Venue, api: Client) -> None:
    builders.period(venue, first="12:00", last="14:00", weekdays=[0])
    builders.table(venue, is_active=False)
    record = post(api, time="03:07", party_size=500).json()
    assert (record["status"], record["pending_reason"], record["tables"]) == ("pending", "manual", [])
    assert (record["starts_at"], record["ends_at"]) == ("2026-11-28T02:07:00Z", "2026-11-28T04:37:00Z")
    assert (events(), guest_mails()) == (["reservation.created"], ["requested"])


def test_a_guest_for_whom_there_is_room_is_confirmed_with_the_table(dinner: Venue, api: Client) -> None:
    response = post(api, party_size=3)
    record = response.json()
    assert response.status_code == 201
    assert record == record | {
        "status": "confirmed",
        "pending_reason": None,
        "tables": ["T4"],
        "starts_at": "2026-11-28T18:30:00Z",
        "ends_at": "2026-11-28T20:15:00Z",
        "version": 1,
    }
    with time_machine.travel(NOON, tick=False):
        assert api.get(RESERVATIONS).json()["data"] == [record]
    assert (events(), guest_mails()) == (["reservation.created", "reservation.confirmed"], ["confirmed"])
    records = [event.record for event in Event.objects.all()]
    assert records == [record, record]


def test_the_service_period_sets_the_length_of_the_stay(dinner: Venue, api: Client) -> None:
    builders.period(dinner, "Lunch", first="12:00", last="14:00", turn_2_min=60)
    assert post(api, time="12:30", party_size=2).json()["ends_at"] == "2026-11-28T12:30:00Z"
    assert post(api, time="19:30", party_size=2).json()["ends_at"] == "2026-11-28T20:00:00Z"


def test_a_large_party_waits_for_the_staff_and_takes_no_table(dinner: Venue, api: Client) -> None:
    dinner.auto_confirm_max_party = 3
    dinner.save()
    record = post(api, party_size=4).json()
    assert (record["status"], record["pending_reason"], record["tables"]) == ("pending", "large_party", [])
    assert record["ends_at"] == "2026-11-28T20:15:00Z"
    assert (events(), guest_mails()) == (["reservation.created"], ["requested"])
    assert not Seating.objects.exists()


@pytest.mark.parametrize(
    ("time", "alternatives", "named"),
    [
        ("17:30", ["18:00", "18:30", "19:00", "19:30"], "18:00, 18:30, 19:00, 19:30"),
        ("19:45", ["19:00", "19:30", "20:00", "20:30"], "19:00, 19:30, 20:00, 20:30"),
        ("21:30", ["19:30", "20:00", "20:30", "21:00"], "19:30, 20:00, 20:30, 21:00"),
        ("00:00", ["18:00", "18:30", "19:00", "19:30"], "18:00, 18:30, 19:00, 19:30"),
    ],
)
def test_times_outside_service_hours_and_between_slots_are_refused(
    dinner: Venue, api: Client, time: str, alternatives: list[str], named: str
) -> None:
    message = f"No guests are seated at {time} on 2026-11-28. There is room at {named}."
    refused(post(api, time=time), "outside_service_hours", message, alternatives)
    assert not Reservation.objects.exists()


def test_a_day_without_service_has_no_other_times(dinner: Venue, api: Client) -> None:
    message = "No guests are seated at 19:30 on 2026-11-29."
    refused(post(api, date="2026-11-29"), "outside_service_hours", message, [])


def test_a_venue_with_tables_and_no_period_refuses_bookings(venue: Venue, api: Client) -> None:
    builders.table(venue)
    message = "No guests are seated at 19:30 on 2026-11-28."
    refused(post(api), "outside_service_hours", message, [])


def test_a_closed_day_is_refused_with_its_reason(dinner: Venue, api: Client) -> None:
    Closure.objects.create(venue=dinner, first_date="2026-11-27", last_date="2026-11-28", reason="a family feast")
    message = "No guests are seated on 2026-11-28: a family feast."
    refused(post(api), "outside_service_hours", message, [])
    refused(post(api, time="03:00"), "outside_service_hours", message, [])


def test_after_midnight_the_closure_of_the_evening_counts(dinner: Venue, api: Client) -> None:
    builders.period(dinner, "Late", first="23:00", last="01:00", weekdays=[5], slot_min=30)
    assert post(api, date="2026-11-29", time="00:30").json()["tables"] == ["T4"]
    Closure.objects.create(venue=dinner, first_date="2026-11-29", last_date="2026-11-29", reason="Sunday")
    assert post(api, date="2026-11-29", time="00:30", party_size=2).status_code == 201
    Closure.objects.create(venue=dinner, first_date="2026-11-28", last_date="2026-11-28", reason="Saturday")
    message = "No guests are seated on 2026-11-28: Saturday."
    refused(post(api, date="2026-11-29", time="00:00"), "outside_service_hours", message, [])


def test_when_no_table_is_free_the_nearest_times_with_room_are_named(dinner: Venue, api: Client) -> None:
    post(api)
    message = "There is no table for 4 at 19:30 on 2026-11-28. There is room at 21:30."
    builders.period(dinner, "Late", first="21:30", last="21:30")
    before = (Reservation.objects.count(), Seating.objects.count(), events())
    refused(post(api), "slot_unavailable", message, ["21:30"])
    assert (Reservation.objects.count(), Seating.objects.count(), events()) == before


def test_when_nothing_is_free_all_day_no_time_is_named(dinner: Venue, api: Client) -> None:
    dinner.service_periods.update(last_seating="19:30")
    post(api)
    message = "There is no table for 4 at 19:30 on 2026-11-28."
    refused(post(api), "slot_unavailable", message, [])


def test_times_that_are_over_are_not_named(dinner: Venue, api: Client) -> None:
    message = "No guests are seated at 18:45 on 2026-11-21. There is room at 18:30, 19:00, 19:30."
    with time_machine.travel(datetime(2026, 11, 21, 17, 0, tzinfo=UTC), tick=False):
        builders.reservation(dinner, starts_at=datetime(2026, 11, 21, 20, 0, tzinfo=UTC), tables=["T4"])
        body = builders.reservation_body(date="2026-11-21", time="18:45")
        response = api.post(RESERVATIONS, body, content_type="application/json")
    # From 18:00 on, which is now, to 19:15, when the next party needs the table; 19:30 needs it too.
    refused(response, "outside_service_hours", message.replace(", 19:30", ""), ["18:30", "19:00"])


def test_when_full_a_venue_may_put_on_the_waiting_list(dinner: Venue, api: Client) -> None:
    dinner.when_full = Venue.WhenFull.WAITLIST
    dinner.save()
    assert post(api).json()["status"] == "confirmed"
    record = post(api).json()
    assert (record["status"], record["pending_reason"], record["tables"]) == ("pending", "waitlist", [])
    assert events() == ["reservation.created", "reservation.confirmed", "reservation.created"]
    assert guest_mails() == ["confirmed", "waitlisted"]
    assert Seating.objects.count() == 1


def test_a_party_that_no_table_could_ever_seat_does_not_wait_for_one(dinner: Venue, api: Client) -> None:
    dinner.when_full = Venue.WhenFull.WAITLIST
    dinner.save()
    message = "There is no table for 8 here."
    refused(post(api, party_size=8), "slot_unavailable", message, [])
    assert not Reservation.objects.exists()
    tables = [*dinner.tables.all(), builders.table(dinner, "T6", is_active=False)]
    large = builders.combination(dinner, *tables, seats_min=7, seats_max=8)
    refused(post(api, party_size=8), "slot_unavailable", message, [])
    dinner.tables.update(is_active=True)
    assert post(api, party_size=8).json()["status"] == "confirmed"
    assert post(api, party_size=8).json()["pending_reason"] == "waitlist"
    large.delete()
    refused(post(api, party_size=8), "slot_unavailable", message, [])


def test_when_a_slot_takes_no_more_guests_it_has_no_room(dinner: Venue, api: Client) -> None:
    dinner.service_periods.update(pacing_covers=4)
    assert post(api, party_size=2).json()["tables"] == ["T2"]
    message = "There is no table for 4 at 19:30 on 2026-11-28. There is room at 18:30, 19:00, 20:00, 20:30."
    refused(post(api, party_size=4), "slot_unavailable", message, ["18:30", "19:00", "20:00", "20:30"])
    assert post(api, party_size=2).json()["tables"] == ["T4"]


# The order of refusals
def test_shape_is_judged_before_time_and_time_before_hours_and_hours_before_size_and_size_before_room(
    dinner: Venue, api: Client
) -> None:
    full: dict[str, Any] = {"date": "2026-11-28", "time": "19:30", "party_size": 4}
    post(api, **full)
    worse = full | {"party_size": 9}
    asked = [
        ("invalid_request", "party_size", post(api, **worse | {"party_size": 0, "date": "2026-11-20"})),
        ("invalid_request", "date", post(api, **worse | {"date": "2026-11-20", "time": "03:00"})),
        ("invalid_request", "date", post(api, **worse | {"date": "2028-11-20", "time": "03:00"})),
        ("invalid_request", "time", post(api, **worse | {"date": "2027-03-28", "time": "02:30"})),
        ("outside_service_hours", "time", post(api, **worse | {"time": "03:00"})),
        ("slot_unavailable", "time", post(api, **full)),
    ]
    assert [(code, param) for code, param, _ in asked] == [
        (response.json()["error"]["code"], response.json()["error"]["param"]) for _, _, response in asked
    ]
    assert post(api, **worse).json()["pending_reason"] == "large_party"


# What it costs
def test_a_booking_costs_the_same_however_much_is_booked(dinner: Venue, api: Client) -> None:
    # The tables, the periods, the closures, the terms; expired holds; the place with its savepoint; the row with its
    # own; two events, the mail; and BEGIN and COMMIT, which are a savepoint in a test.
    for time in ("18:00", "20:00"):
        with costing(16):
            assert post(api, time=time).status_code == 201
    dinner.service_periods.update(pacing_covers=8)
    # The lock of the moment, and the sum.
    with costing(18):
        assert post(api, time="20:30", party_size=2).status_code == 201
    # Nothing is written; the day is read anew for the alternatives.
    dinner.service_periods.update(pacing_covers=None)
    with costing(15):
        assert post(api, time="20:00").status_code == 400
    # The day is not read twice.
    with costing(6):
        assert post(api, time="20:01").status_code == 400
