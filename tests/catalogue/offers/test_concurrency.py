"""Many guests at once at one offer, over HTTP: seats, tables and bookings agree."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from accounts.models import Event, IdempotentCall
from catalogue.models import FlowBooking, FlowSlot
from reservations.models import Reservation, Seating
from tests.accounts.test_served import wait_until_it_serves_again
from tests.catalogue import builders
from tests.mcp.client import message
from tests.support import builders as base
from tests.support.live_server import served

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

GUESTS = 16
# Each guest has an address of the own: one address has ten tries an hour.
PROXY = {"TRUSTED_PROXIES": "1"}


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server."""
    with served(tmp_path_factory.mktemp("offers") / "web.log", **PROXY) as base_url:
        yield base_url


@pytest.fixture
def mortal(django_db_setup: None, tmp_path: Path) -> Iterator[str]:
    """Another, whose worker dies when it is told to, and is started again: once, for granian gives up on one that dies
    twice in a few seconds.
    """
    again = {"GRANIAN_RESPAWN_FAILED_WORKERS": "true", "GRANIAN_RESPAWN_INTERVAL": "0.1"}
    with served(
        tmp_path / "web.log", application="tests.accounts.crash_app:application", **PROXY, **again
    ) as base_url:
        yield base_url


@pytest.fixture
def slot() -> FlowSlot:
    """Twenty seats tomorrow evening, at a venue with more tables than that."""
    venue = base.venue(timezone="Europe/Copenhagen")
    for number in range(24):
        base.table(venue, f"T{number}", seats_max=2)
    base.period(venue, first="17:00", last="22:00")
    place = builders.listing(builders.restaurant(), venue).restaurant
    tomorrow = datetime.now(ZoneInfo("Europe/Copenhagen")).date() + timedelta(days=1)
    starts_at = datetime.combine(tomorrow, time(19), ZoneInfo("Europe/Copenhagen")).astimezone(UTC)
    return builders.slot(place, starts_at=starts_at, seats=20)


def post(client: httpx.Client, web: str, slot: FlowSlot, guest: str, **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": guest, "X-Forwarded-For": f"2001:db8:{hash(guest) & 0xFFFF:x}::1"}
    body = {"party_size": more.pop("party_size", 1), "customer_name": guest, "customer_email": f"{guest}@example.com"}
    url = f"{web}/v1/flow/offers/{slot.public_id}/bookings"
    return client.post(url, json=body, headers=headers | more, timeout=30)


@pytest.mark.parametrize(("party_size", "sold"), [(1, 20), (2, 10)])
def test_sixteen_threads_on_twenty_seats_sell_exactly_twenty_and_book_as_many_tables(
    web: str, slot: FlowSlot, party_size: int, sold: int
) -> None:
    with httpx.Client() as client, ThreadPoolExecutor(GUESTS) as threads:

        def book(number: int) -> httpx.Response:
            return post(client, web, slot, f"guest{number}", party_size=party_size)

        answers = list(threads.map(book, range(40)))
    body = Counter((answer.status_code, answer.json().get("error", {}).get("code")) for answer in answers)
    assert body == {(201, None): sold, (409, "slot_full"): 40 - sold}
    slot.refresh_from_db()
    assert slot.seats_left == 20 - sold * party_size
    assert FlowBooking.objects.count() == IdempotentCall.objects.count() == sold
    assert Counter(Reservation.objects.values_list("status", "party_size")) == {("confirmed", party_size): sold}
    assert Seating.objects.values("table").distinct().count() == sold
    assert Event.objects.filter(type="reservation.confirmed").count() == sold


def test_guests_who_book_and_cancel_at_once_leave_every_seat_where_it_was(web: str, slot: FlowSlot) -> None:
    with httpx.Client() as client, ThreadPoolExecutor(GUESTS) as threads:

        def come_and_go(number: int) -> tuple[int, ...]:
            booked = post(client, web, slot, f"guest{number}", party_size=2)
            if booked.status_code != 201:
                return (booked.status_code,)
            record = booked.json()
            headers = {"X-Manage-Token": record["manage_token"], "X-Forwarded-For": f"198.51.100.{number}"}
            url = f"{web}/v1/flow/bookings/{record['id']}"
            return tuple(client.delete(url, headers=headers, timeout=30).status_code for _ in range(2))

        message = Counter(threads.map(come_and_go, range(48)))
    assert set(message) <= {(200, 200), (409,)}
    assert message[200, 200] >= 10
    slot.refresh_from_db()
    assert slot.seats_left == 20
    assert not FlowBooking.objects.filter(released_at=None).exists()
    assert set(Reservation.objects.values_list("status", flat=True)) == {"cancelled"}
    assert not Seating.objects.exists()


def test_contact_that_books_concurrently_at_many_venues_gets_three_tables(web: str, slot: FlowSlot) -> None:
    later = [
        builders.slot(slot.restaurant, starts_at=slot.starts_at + timedelta(days=day), seats=20) for day in range(1, 8)
    ]
    with httpx.Client() as client, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda its: post(client, web, its, "ada"), [slot, *later]))
    body = Counter((answer.status_code, answer.json().get("error", {}).get("code")) for answer in answers)
    assert body == {(201, None): 3, (409, "too_many_bookings"): 5}
    assert (FlowBooking.objects.count(), Reservation.objects.count()) == (3, 3)


def test_twins_with_one_key_are_one_booking_and_the_same_bytes(web: str, slot: FlowSlot) -> None:
    with httpx.Client() as client, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: post(client, web, slot, "ada"), range(8)))
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    slot.refresh_from_db()
    assert (slot.seats_left, FlowBooking.objects.count(), Reservation.objects.count()) == (19, 1, 1)


def test_repeated_request_returns_the_booking_of_a_process_that_died_before_responding(
    mortal: str, slot: FlowSlot, tmp_path: Path
) -> None:
    last_words = tmp_path / "last words"
    with httpx.Client() as client:
        with pytest.raises(httpx.TransportError):
            post(client, mortal, slot, "ada", Die=str(last_words))
        wait_until_it_serves_again(mortal)
        answers = [post(client, mortal, slot, "ada") for _ in range(2)]
    assert [(answer.status_code, answer.content) for answer in answers] == [(201, last_words.read_bytes())] * 2
    assert [answer.headers["Idempotent-Replayed"] for answer in answers] == ["true", "true"]
    slot.refresh_from_db()
    assert (slot.seats_left, FlowBooking.objects.count(), Reservation.objects.count()) == (19, 1, 1)


def test_repeated_call_without_a_key_returns_the_booking_of_a_process_that_died(
    mortal: str, slot: FlowSlot, tmp_path: Path
) -> None:
    last_words = tmp_path / "last words"
    wish = {"offer_id": slot.public_id, "party_size": 1, "customer_name": "Ada", "customer_email": "ada@example.com"}
    body, headers = message("tools/call", {"name": "book_table", "arguments": wish})
    headers["X-Forwarded-For"] = "2001:db8:ada::1"
    with httpx.Client(headers=headers, timeout=30) as client:
        with pytest.raises(httpx.TransportError):
            client.post(f"{mortal}/mcp", json=body, headers={"Die": str(last_words)})
        wait_until_it_serves_again(mortal)
        answers = [client.post(f"{mortal}/mcp", json=body).content for _ in range(2)]
    assert answers == [last_words.read_bytes()] * 2
    slot.refresh_from_db()
    assert (slot.seats_left, FlowBooking.objects.count(), Reservation.objects.count()) == (19, 1, 1)
