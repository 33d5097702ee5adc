"""Many calls of book_table at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Event
from catalogue.models import FlowBooking, FlowSlot
from reservations.models import GuestMail, Reservation
from tests.catalogue import builders
from tests.mcp.client import call, refusal_of
from tests.mcp.tables import ask
from tests.support import builders as base

pytestmark = pytest.mark.django_db(transaction=True)

COPENHAGEN = ZoneInfo("Europe/Copenhagen")
GUEST: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}


@pytest.fixture
def slot() -> FlowSlot:
    """Eight seats tomorrow evening, at a venue with tables for all of them."""
    venue = base.venue(timezone="Europe/Copenhagen")
    for number in range(8):
        base.table(venue, f"T{number}")
    base.period(venue, first="17:00", last="22:00")
    place = builders.listing(builders.restaurant(slug="fiskebar"), venue).restaurant
    tomorrow = datetime.now(COPENHAGEN).date() + timedelta(days=1)
    return builders.slot(place, starts_at=datetime.combine(tomorrow, time(19), COPENHAGEN))


def at_once(times: int, one: Callable[[int], Any]) -> list[Any]:
    """What so many calls give that are made at the same time."""

    def alone(number: int) -> Any:
        try:
            return one(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(alone, range(times)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", [{}, {"idempotency_key": "evening-1"}])
@pytest.mark.parametrize("by", ["offer", "moment"])
def test_ten_identical_calls_at_once_are_one_booking(slot: FlowSlot, by: str, key: dict[str, Any]) -> None:
    moment: dict[str, Any] = {"slug": "fiskebar", "date": f"{slot.date}", "time": "19:00"}
    wish: dict[str, Any] = {"offer_id": slot.public_id} if by == "offer" else moment
    results = at_once(10, lambda _: call(Client(), "book_table", **wish, **key, **GUEST, party_size=2))
    assert [result["structuredContent"] for result in results] == [results[0]["structuredContent"]] * 10
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), Reservation.objects.count(), slot.seats_left) == (1, 1, 6)
    assert (Event.objects.filter(type="reservation.confirmed").count(), GuestMail.objects.count()) == (1, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("by", ["offer", "moment"])
def test_a_guest_who_calls_from_many_addresses_at_once_has_one_table(slot: FlowSlot, by: str) -> None:
    builders.slot(slot.restaurant, starts_at=slot.starts_at, percent=slot.percent + 10)
    moment: dict[str, Any] = {"slug": "fiskebar", "date": f"{slot.date}", "time": "19:00"}
    wish: dict[str, Any] = {"offer_id": slot.public_id} if by == "offer" else moment

    def from_address(number: int) -> Any:
        return call(Client(REMOTE_ADDR=f"192.0.2.{number}"), "book_table", **wish, **GUEST, party_size=2)

    results = at_once(4, from_address)
    lost = [refusal_of(result)["code"] for result in results if result.get("isError")]
    assert lost == ["too_many_bookings"] * 3
    assert (FlowBooking.objects.count(), Reservation.objects.count(), GuestMail.objects.count()) == (1, 1, 1)


@pytest.mark.exhaustive
def test_of_ten_guests_who_want_the_last_seats_at_once_one_gets_them(slot: FlowSlot) -> None:
    FlowSlot.objects.update(seats=2, seats_left=2)

    def guest(number: int) -> Any:
        who: dict[str, Any] = {"customer_name": f"Guest {number}", "customer_email": f"guest{number}@example.com"}
        return call(Client(), "book_table", offer_id=slot.public_id, party_size=2, **who)

    results = at_once(10, guest)
    lost = [refusal_of(result)["code"] for result in results if result.get("isError")]
    assert lost == ["slot_full"] * 9
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), Reservation.objects.count(), slot.seats_left) == (1, 1, 0)


def test_of_two_answers_to_one_question_at_once_one_books(slot: FlowSlot) -> None:
    wish: dict[str, Any] = {"offer_id": slot.public_id, "party_size": 2}
    asked = ask(Client(), wish)

    def answered(number: int) -> Any:
        guest = {"customer_name": f"Guest {number}", "customer_email": f"guest{number}@example.com"}
        return ask(Client(), wish, before=asked, answer={"action": "accept", "content": guest})

    results = at_once(4, answered)
    lost = [refusal_of(result)["code"] for result in results if result.get("isError")]
    assert lost == ["idempotency_key_reused"] * 3
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), Reservation.objects.count(), slot.seats_left) == (1, 1, 6)


@pytest.mark.exhaustive
def test_of_two_concurrent_repeats_of_a_cancelled_booking_one_makes_a_new_booking(slot: FlowSlot) -> None:
    wish: dict[str, Any] = {"offer_id": slot.public_id, "party_size": 2, **GUEST}
    first = call(Client(), "book_table", **wish)["structuredContent"]
    Client().delete(f"/v1/flow/bookings/{first['id']}", headers={"X-Manage-Token": first["manage_token"]})
    ids = {result["structuredContent"]["id"] for result in at_once(4, lambda _: call(Client(), "book_table", **wish))}
    assert len(ids) == 1
    assert first["id"] not in ids
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), slot.seats_left) == (2, 6)
