"""The back office of reservations: written down, moved and mended by the rules of the API."""

from datetime import UTC, date, datetime, time
from typing import Any

import pytest
import time_machine
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from reservations.models import Reservation
from tests import make

RESERVATIONS = "/admin/reservations/reservation/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)
EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def form(**changes: Any) -> dict[str, str]:
    """What staff fill in, but for the venue."""
    return {
        "customer_name": "Ada Lovelace",
        "customer_email": "",
        "customer_phone": "+15550100999",
        "date": "2026-11-28",
        "time": "19:30",
        "party_size": "4",
        "special_requests": "",
        "tables": "",
    } | changes


def errors_of(response: Any) -> dict[str, list[str]]:
    """What the form says is wrong."""
    assert response.status_code == 200
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return {name: list(said) for name, said in found.items()}


def test_a_list_of_reservations_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            make.reservation(make.venue(), starts_at=EVENING)
        # Session, user, the count, the reservations, and two for the days of the hierarchy.
        with django_assert_num_queries(6):
            assert staff.get(RESERVATIONS).status_code == 200


@pytest.mark.parametrize("query", ["q=K7QX2M", "q=lovelace", "q=ada@example", "status__exact=pending"])
def test_reservations_are_found(staff: Client, venue: Venue, query: str) -> None:
    make.reservation(venue, code="K7QX2M", starts_at=EVENING)
    assert "1 reservation" in staff.get(f"{RESERVATIONS}?{query}").content.decode()


def test_a_reservation_opens(staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    reservation = make.reservation(venue)
    # The model's content type, which a process reads once.
    ContentType.objects.get_for_model(Reservation)
    # Session, user, the reservation, its venue.
    with django_assert_num_queries(4):
        assert staff.get(f"{RESERVATIONS}{reservation.pk}/change/").status_code == 200
    assert staff.get(f"{RESERVATIONS}add/").status_code == 200


def test_staff_write_down_a_reservation_also_one_of_the_past(staff: Client, venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        response = staff.post(
            f"{RESERVATIONS}add/", form(venue=str(venue.pk), date="2020-02-29", tables="T1,T2", party_size="7")
        )
    assert response.status_code == 302
    stored = Reservation.objects.get()
    assert (stored.date, stored.time, stored.tables) == (date(2020, 2, 29), time(19, 30), ["T1", "T2"])
    assert stored.starts_at == datetime(2020, 2, 29, 18, 30, tzinfo=UTC)
    assert stored.ends_at == datetime(2020, 2, 29, 21, 0, tzinfo=UTC)
    assert (stored.status, stored.pending_reason, stored.version) == ("pending", "manual", 1)
    assert (stored.customer_email, stored.customer_phone) == (None, "+15550100999")
    assert (stored.created_at, stored.updated_at) == (NOON, NOON)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"customer_phone": ""}, "customer_email", "Give an e-mail address or a phone number."),
        (
            {"date": "2027-03-28", "time": "02:30"},
            "time",
            "On 2027-03-28 the clocks in Europe/Rome skip 02:30.",
        ),
        ({"party_size": "0"}, "__all__", "Constraint “reservation_party_size_in_1_to_500” is violated."),
        ({"venue": ""}, "venue", "This field is required."),
        ({"venue": "", "date": ""}, "venue", "This field is required."),
    ],
)
def test_what_cannot_be_is_said_at_the_field(
    staff: Client, venue: Venue, changes: dict[str, str], field: str, message: str
) -> None:
    response = staff.post(f"{RESERVATIONS}add/", form(venue=str(venue.pk)) | changes)
    assert errors_of(response)[field] == [message]
    assert not Reservation.objects.exists()


def test_mending_a_reservation_measures_its_stay_anew_and_makes_a_new_version(staff: Client, venue: Venue) -> None:
    reservation = make.reservation(venue, status="confirmed", starts_at=EVENING, metadata={"campaign": "autumn"})
    before = Reservation.objects.values().get(pk=reservation.pk)
    tampered = {"status": "cancelled", "code": "AAAAAA", "venue": str(make.venue().pk), "metadata": "[]"}
    with time_machine.travel(LATER, tick=False):
        response = staff.post(
            f"{RESERVATIONS}{reservation.pk}/change/",
            form(date="2026-11-29", time="20:00", party_size="2", customer_email="ada@example.com") | tampered,
        )
    assert response.status_code == 302
    assert Reservation.objects.values().get(pk=reservation.pk) == before | {
        "customer_phone": "+15550100999",
        "date": date(2026, 11, 29),
        "time": time(20, 0),
        "party_size": 2,
        "starts_at": datetime(2026, 11, 29, 19, 0, tzinfo=UTC),
        "ends_at": datetime(2026, 11, 29, 20, 30, tzinfo=UTC),
        "updated_at": LATER,
        "version": before["version"] + 1,
    }


def test_a_phone_number_is_kept_without_what_people_write_between_its_digits(staff: Client, venue: Venue) -> None:
    staff.post(f"{RESERVATIONS}add/", form(customer_phone="+44 (20) 7946-0958") | {"venue": str(venue.pk)})
    assert Reservation.objects.get().customer_phone == "+442079460958"


def test_a_reservation_cannot_be_mended_into_a_time_that_the_clocks_skip(staff: Client, venue: Venue) -> None:
    reservation = make.reservation(venue, starts_at=EVENING)
    response = staff.post(f"{RESERVATIONS}{reservation.pk}/change/", form(date="2027-03-28", time="02:30"))
    assert list(errors_of(response)) == ["time"]
    reservation.refresh_from_db()
    assert reservation.starts_at == EVENING


def test_actions_move_what_may_move_and_say_what_may_not(staff: Client, venue: Venue) -> None:
    made = {
        status: make.reservation(venue, status=status, code=code)
        for status, code in (("pending", "AAAAAA"), ("confirmed", "BBBBBB"), ("cancelled", "CCCCCC"))
    }
    keys = [str(reservation.pk) for reservation in made.values()]
    response = staff.post(RESERVATIONS, {"action": "confirm", "_selected_action": keys})
    assert sorted(make.messages_of(response)) == [
        "AAAAAA: Ada Lovelace, party of 4 is confirmed.",
        "BBBBBB: Ada Lovelace, party of 4 is confirmed.",
        "CCCCCC: Ada Lovelace, party of 4: This reservation is cancelled and cannot become confirmed.",
    ]
    staff.post(RESERVATIONS, {"action": "cancel", "_selected_action": keys[:1]})
    statuses = [Reservation.objects.get(pk=key).status for key in keys]
    assert statuses == ["cancelled", "confirmed", "cancelled"]


def test_a_reservation_cannot_be_deleted(staff: Client, venue: Venue) -> None:
    reservation = make.reservation(venue)
    assert staff.post(f"{RESERVATIONS}{reservation.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post(RESERVATIONS, {"action": "delete_selected", "_selected_action": [str(reservation.pk)], "post": "yes"})
    assert Reservation.objects.filter(pk=reservation.pk).exists()
