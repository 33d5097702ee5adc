"""Tables booked at offers."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, IdempotentCall
from catalogue import offers
from catalogue.models import FlowBooking, FlowSlot, Listing, Restaurant
from reservations.booking import commands
from reservations.models import GuestMail, Reservation, Table
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support import builders as base

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant."""
    return builders.listing(builders.restaurant(name="Fiskebar")).restaurant


def body(**changes: Any) -> dict[str, Any]:
    return {"party_size": 2, "customer_name": "Ada Lovelace", "customer_email": "ada@example.com"} | changes


def post(slot: FlowSlot, *, key: str | None = "first", **changes: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return Client().post(
        f"/v1/flow/offers/{slot.public_id}/bookings", body(**changes), "application/json", headers=headers
    )


def seats_left(slot: FlowSlot) -> int:
    slot.refresh_from_db()
    return slot.seats_left


def refused(response: Any, slot: FlowSlot, status: int, code: str) -> dict[str, Any]:
    """The error; nothing was stored."""
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    counts = [model.objects.count() for model in (FlowBooking, Reservation, Event, GuestMail, IdempotentCall)]
    assert (counts, seats_left(slot)) == ([0, 0, 0, 0, 0], slot.seats)
    return error


def test_a_booking_is_answered_whole_and_stands_in_the_venues_book(place: Restaurant) -> None:
    slot = builders.slot(place, terms="Not on drinks")
    response = post(slot, special_requests="By the window")
    found, taken = FlowBooking.objects.get(), Reservation.objects.get()
    assert response.status_code == 201
    assert response["Location"] == f"http://127.0.0.1:8000/v1/flow/bookings/{found.public_id}"
    assert response["Cache-Control"] == "private, no-store"
    record = response.json()
    token = record["manage_token"]
    assert record == {
        "id": found.public_id,
        "status": "confirmed",
        "offer": slot.public_id,
        "restaurant": place.slug,
        "date": "2026-11-21",
        "time": "20:00",
        "timezone": "Europe/Copenhagen",
        "party_size": 2,
        "percent": 30,
        "applies_to": "food",
        "terms": "Not on drinks",
        "customer_name": "Ada Lovelace",
        "manage_token": token,
        "manage_url": f"http://127.0.0.1:8000/guest/{token}",
        "reservation_code": taken.code,
        "created_at": "2026-11-21T18:00:00Z",
        "cancelled_at": None,
    }
    assert (taken.status, taken.starts_at, taken.tables) == ("confirmed", slot.starts_at, ["T1"])
    assert (taken.customer_email, taken.special_requests) == ("ada@example.com", "By the window")
    assert taken.metadata == {"offer": slot.public_id, "percent": "30"}
    assert (found.seats, found.reservation, seats_left(slot)) == (2, taken, 6)
    assert "Lovelace" not in found.contact


def test_the_guest_gets_the_venues_mail_and_the_venue_its_events(place: Restaurant) -> None:
    post(builders.slot(place))
    assert list(Event.objects.order_by("id").values_list("type", flat=True)) == [
        "reservation.created",
        "reservation.confirmed",
    ]
    assert GuestMail.objects.get().kind == "confirmed"


def test_without_an_idempotency_key_nothing_is_booked(place: Restaurant) -> None:
    slot = builders.slot(place)
    error = refused(post(slot, key=None), slot, 400, "invalid_request")
    assert error["param"] == "Idempotency-Key"


def test_the_same_call_again_is_the_same_booking_byte_for_byte(place: Restaurant) -> None:
    slot = builders.slot(place)
    first, again = post(slot), post(slot)
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert (again["Idempotent-Replayed"], again["Location"]) == ("true", first["Location"])
    assert (FlowBooking.objects.count(), Reservation.objects.count(), seats_left(slot)) == (1, 1, 6)
    other = post(slot, party_size=3)
    assert (other.status_code, other.json()["error"]["code"]) == (400, "idempotency_key_reused")


def test_strangers_with_the_same_key_do_not_meet(place: Restaurant) -> None:
    base.table(place.listing.venue, "T2")
    slot = builders.slot(place)
    ada, grace = post(slot), post(slot, customer_email="grace@example.com")
    assert (ada.status_code, grace.status_code) == (201, 201)
    assert ada.json()["id"] != grace.json()["id"]
    assert seats_left(slot) == 4


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"customer_email": None}, "customer_email"),
        ({"customer_name": " "}, "customer_name"),
        ({"party_size": 0}, "party_size"),
        ({"party_size": "2"}, "party_size"),
        ({"party_size": 5}, "party_size"),
        ({"customer_phone": "12"}, "customer_phone"),
        ({"seats": 2}, "seats"),
    ],
)
def test_a_wrong_body_is_refused_by_name(place: Restaurant, changes: dict[str, Any], param: str) -> None:
    slot = builders.slot(place, party_max=4)
    assert refused(post(slot, **changes), slot, 400, "invalid_request")["param"] == param


@pytest.mark.parametrize(
    "fields",
    [
        {"withdrawn_at": NOW},
        {"book_before": NOW},
        {"starts_at": NOW, "book_before": NOW + timedelta(hours=1)},
        {"bookable_from": NOW + timedelta(minutes=1)},
    ],
)
def test_what_is_not_on_sale_is_409_offer_expired(place: Restaurant, fields: dict[str, Any]) -> None:
    slot = builders.slot(place, **fields)
    refused(post(slot), slot, 409, "offer_expired")


def test_a_restaurant_that_closed_or_left_takes_no_bookings(place: Restaurant) -> None:
    slot = builders.slot(place)
    Listing.objects.update(is_active=False)
    refused(post(slot), slot, 409, "offer_expired")
    Listing.objects.update(is_active=True)
    Restaurant.objects.update(status="temporarily_closed", updated_at=NOW)
    refused(post(slot), slot, 409, "offer_expired")


def test_an_unknown_offer_is_404() -> None:
    missing = Client().post(
        "/v1/flow/offers/fo_01jd5k3v8rf8hb2m0c9t6w4y7z/bookings",
        body(),
        "application/json",
        headers={"Idempotency-Key": "first"},
    )
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")


def test_too_few_seats_are_409_slot_full(place: Restaurant) -> None:
    slot = builders.slot(place, seats=1)
    refused(post(slot), slot, 409, "slot_full")


def test_no_table_is_409_slot_full_and_the_seats_stay(place: Restaurant) -> None:
    slot = builders.slot(place)
    taken = base.reservation(place.listing.venue, status="confirmed", starts_at=slot.starts_at)
    response = post(slot)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "slot_full")
    assert (FlowBooking.objects.count(), seats_left(slot)) == (0, 8)
    assert Reservation.objects.get() == taken


@pytest.mark.parametrize("set_up", ["no tables", "a large party", "the waiting list", "other hours"])
def test_anything_but_confirmed_is_409_slot_full(place: Restaurant, set_up: str) -> None:
    venue = place.listing.venue
    slot = builders.slot(place)
    if set_up == "no tables":
        Table.objects.update(is_active=False)
    elif set_up == "a large party":
        venue.auto_confirm_max_party = 1
    elif set_up == "the waiting list":
        venue.when_full = "waitlist"
        Table.objects.update(seats_min=3)
        base.table(venue, "T2", seats_max=2, is_active=False)
    else:
        venue.service_periods.update(first_seating="12:00", last_seating="14:00")
    venue.save()
    refused(post(slot), slot, 409, "slot_full")


@pytest.mark.exhaustive
def test_a_contact_holds_three_tables_that_are_still_to_come(place: Restaurant) -> None:
    venue = place.listing.venue
    slots = [builders.slot(place, starts_at=NOW + timedelta(days=day, hours=1)) for day in range(5)]
    assert [post(slot, key=slot.public_id).status_code for slot in slots[:3]] == [201, 201, 201]
    # The same mailbox by another spelling.
    response = post(slots[3], key="fourth", customer_email="Ada+four@Example.com")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "too_many_bookings")
    assert (Reservation.objects.count(), seats_left(slots[3])) == (3, 8)
    assert post(slots[3], key="fifth", customer_email="grace@example.com").status_code == 201
    # What the venue cancels does not count.
    reservation = Reservation.objects.earliest("starts_at")
    commands.set_status(reservation, "cancelled", now=NOW, actor="staff:1")
    assert post(slots[4], key="sixth").status_code == 201
    assert venue.reservations.count() == 5


@pytest.mark.exhaustive
def test_a_guest_has_ten_tries_an_hour(place: Restaurant) -> None:
    slot = builders.slot(place, seats=1)
    tries = [post(slot, key=str(number)) for number in range(11)]
    assert [response.status_code for response in tries] == [409] * 10 + [429]
    assert tries[-1].json()["error"]["code"] == "rate_limit_exceeded"
    assert 0 < int(tries[-1]["Retry-After"]) <= 3600
    # An address may book for sixty guests: agent platforms have one.
    assert tries[0]["X-RateLimit-Limit"] == "60"
    # Other calls are counted apart.
    assert Client().get(f"/v1/flow/offers/{slot.public_id}").status_code == 200


# Afterwards
def manage(method: str, record: dict[str, Any], *, token: str | None = None, of: str | None = None) -> Any:
    sent = record["manage_token"] if token is None else token
    return getattr(Client(), method)(f"/v1/flow/bookings/{of or record['id']}", headers={"X-Manage-Token": sent})


@pytest.mark.exhaustive
def test_a_booking_is_seen_and_cancelled_with_its_token(place: Restaurant) -> None:
    slot = builders.slot(place)
    record = post(slot).json()
    seen = manage("get", record)
    assert (seen.status_code, seen.json(), seen["Cache-Control"]) == (200, record, "private, no-store")
    gone = manage("delete", record)
    assert gone.json() == record | {"status": "cancelled", "cancelled_at": "2026-11-21T18:00:00Z"}
    assert (Reservation.objects.get().status, seats_left(slot)) == ("cancelled", 8)
    assert FlowBooking.objects.get().released_at == NOW
    again = manage("delete", record)
    assert (again.status_code, again.content, seats_left(slot)) == (200, gone.content, 8)
    assert Event.objects.filter(type="reservation.cancelled").count() == 1
    assert manage("get", record).json()["status"] == "cancelled"


@pytest.mark.exhaustive
def test_without_the_right_token_a_booking_is_as_if_it_were_not(place: Restaurant) -> None:
    base.table(place.listing.venue, "T2")
    slot = builders.slot(place)
    record = post(slot).json()
    other = post(slot, key="other", customer_email="grace@example.com").json()
    unknown = "fb_01jd5k3v8rf8hb2m0c9t6w4y7z"
    wrong = [
        manage("get", record, token=""),
        manage("get", record, token="\xe9"),
        manage("get", record, token=other["manage_token"]),
        manage("get", record, token=record["manage_token"] + "a"),
        manage("get", record, of=unknown),
        manage("get", record, of="fb_1"),
        manage("delete", record, token=other["manage_token"]),
        manage("delete", record, of=unknown),
    ]
    errors = [(response.status_code, response.json()["error"] | {"request_id": ""}) for response in wrong]
    assert errors == [errors[0]] * len(errors)
    assert (errors[0][0], errors[0][1]["code"]) == (404, "not_found")
    assert Reservation.objects.filter(status="confirmed").count() == 2
    assert manage("get", record).status_code == 200


def test_it_is_too_late_to_cancel_once_the_guests_are_expected(place: Restaurant) -> None:
    slot = builders.slot(place)
    record = post(slot).json()
    with time_machine.travel(slot.starts_at, tick=False):
        response = manage("delete", record)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_transition")
    assert (Reservation.objects.get().status, seats_left(slot)) == ("confirmed", 6)


def test_cancelled_booking_stays_visible_as_cancelled(place: Restaurant) -> None:
    record = post(builders.slot(place)).json()
    gone = manage("delete", record)
    with time_machine.travel(NOW + timedelta(days=2), tick=False):
        again = manage("delete", record)
    assert (again.status_code, again.content) == (200, gone.content)


@pytest.mark.parametrize("by", ["staff", "guest"])
def test_what_is_cancelled_elsewhere_gives_its_seats_back_once(place: Restaurant, by: str) -> None:
    slot = builders.slot(place)
    record = post(slot).json()
    reservation = Reservation.objects.get()
    if by == "staff":
        commands.set_status(reservation, "cancelled", now=NOW, actor="staff:1")
    else:
        Client().post(record["manage_url"].removeprefix("http://127.0.0.1:8000") + "/cancel")
    assert seats_left(slot) == 6
    assert [offers.release_cancelled_bookings(now=NOW), offers.release_cancelled_bookings(now=NOW)] == [1, 0]
    assert (seats_left(slot), FlowBooking.objects.get().released_at) == (8, NOW)
    assert manage("get", record).json()["status"] == "cancelled"


def test_who_cancels_after_the_seats_came_back_gives_none_twice(place: Restaurant) -> None:
    slot = builders.slot(place)
    record = post(slot).json()
    commands.set_status(Reservation.objects.get(), "cancelled", now=NOW, actor="staff:1")
    offers.release_cancelled_bookings(now=NOW)
    assert manage("delete", record).json()["status"] == "cancelled"
    assert seats_left(slot) == 8


@pytest.mark.exhaustive
def test_a_released_seat_of_a_slot_that_shrank_is_not_sold_twice(place: Restaurant) -> None:
    for name in ("T2", "T3"):
        base.table(place.listing.venue, name)
    slot = builders.slot(place, seats=6)
    records = [post(slot, key=name, customer_email=f"{name}@example.com").json() for name in ("a", "b", "c")]
    FlowSlot.objects.update(seats=3, seats_left=0)
    manage("delete", records[0])
    assert seats_left(slot) == 0
    manage("delete", records[1])
    assert seats_left(slot) == 1


def test_bookings_of_moments_that_are_over_are_left_alone(place: Restaurant) -> None:
    slot = builders.slot(place)
    post(slot)
    Reservation.objects.update(status="cancelled", cancelled_at=NOW)
    over: datetime = slot.starts_at + timedelta(minutes=1)
    assert (offers.release_cancelled_bookings(now=over), seats_left(slot)) == (0, 6)
