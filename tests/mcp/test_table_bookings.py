"""The tools for tables without an offer: seen free, booked, looked at, changed, cancelled and listed."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import FlowBooking, Restaurant
from reservations.models import Area, Reservation
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import call, content_of, refusal_of, words_of
from tests.mcp.tables import EIGHT, book, booked, listed
from tests.support import builders as base

pytestmark = pytest.mark.django_db

NINE: dict[str, Any] = {"slug": "fiskebar", "date": "2026-11-22", "time": "21:00"}


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    return listed()


def platform() -> Client:
    """A client with the API key of an account."""
    return base.client(base.venue("Platform"))


def of(record: dict[str, Any]) -> dict[str, Any]:
    """The arguments that name the booking."""
    return {"booking_id": record["id"], "manage_token": record["manage_token"]}


@pytest.mark.exhaustive
def test_an_agent_sees_books_moves_and_cancels_a_table(client: Client, place: Restaurant) -> None:
    day = content_of(call(client, "check_availability", slug="fiskebar", date="2026-11-22", party_size=2))["days"][0]
    assert {slot["time"]: slot["state"] for slot in day["slots"]}["21:00"] == "free"
    record = booked(book(client, **NINE))
    assert (record["offer"], record["percent"], record["date"], record["time"]) == (None, None, "2026-11-22", "21:00")
    assert content_of(call(client, "get_booking", **of(record))) == record
    moved = content_of(call(client, "change_booking", **of(record), time="19:30", party_size=4))
    assert moved == record | {"time": "19:30", "party_size": 4}
    cancelled = [content_of(call(client, "cancel_booking", **of(record))) for _ in range(2)]
    assert cancelled == [moved | {"status": "cancelled", "cancelled_at": "2026-11-21T18:00:00Z"}] * 2
    assert Reservation.objects.get().status == "cancelled"


def test_a_table_at_a_time_with_an_offer_has_its_discount(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    record = booked(book(client, slug="fiskebar", **EIGHT))
    assert (record["offer"], record["percent"]) == (slot.public_id, 30)


@pytest.mark.exhaustive
def test_a_table_of_an_area_is_booked_with_and_without_an_offer(client: Client, place: Restaurant) -> None:
    terrace = Area.objects.create(venue=place.listing.venue, name="Terrace")
    base.table(place.listing.venue, "T9", area=terrace)
    record = booked(book(client, **NINE, area="terrace"))
    assert (record["area"], Reservation.objects.get().tables) == ("Terrace", ["T9"])
    assert booked(book(client, **NINE, area="terrace")) == record
    slot = builders.slot(place)
    offered = booked(book(client, slot, area="Terrace", customer_email="bob@example.com"))
    assert (offered["area"], offered["percent"]) == ("Terrace", 30)
    full = book(client, **NINE, area="Terrace", customer_email="carl@example.com")
    assert refusal_of(full)["code"] == "slot_full"
    asked = call(client, "book_table", **NINE, area="Terrace", party_size=2)
    assert refusal_of(asked)["code"] == "slot_full"
    unknown = book(client, **NINE, area="Roof", customer_email="carl@example.com")
    assert (refusal_of(unknown)["code"], refusal_of(unknown)["param"]) == ("invalid_request", "area")


def test_the_same_call_again_is_the_same_table(client: Client, place: Restaurant) -> None:
    first = book(client, **NINE)
    assert [book(client, **NINE) for _ in range(2)] == [first, first]
    assert FlowBooking.objects.count() == 1


def test_other_words_for_the_same_guest_and_time_book_no_second_table(client: Client, place: Restaurant) -> None:
    record = booked(book(client, **NINE))
    again = book(client, **NINE, special_requests="By the window")
    assert refusal_of(again)["booking"]["id"] == record["id"]
    assert FlowBooking.objects.count() == 1


def test_a_full_time_is_refused_with_others(client: Client, place: Restaurant) -> None:
    place.listing.venue.tables.exclude(name="T1").update(is_active=False)
    booked(book(client, **NINE))
    full = book(client, **NINE, customer_email="bob@example.com")
    assert refusal_of(full)["code"] == "slot_full"
    assert words_of(full) == (
        "There is no table for 2 at 21:00 on 2026-11-22. There is room at 18:45, 19:00, 19:15, 19:30."
        " See what else there is with check_availability and list_offers."
    )


def test_nothing_is_asked_of_the_guest_about_a_table_that_is_not_free(client: Client, place: Restaurant) -> None:
    place.listing.venue.tables.update(seats_max=2)
    full = call(client, "book_table", **NINE, party_size=4)
    assert refusal_of(full)["code"] == "slot_full"
    closed = call(client, "book_table", **(NINE | {"time": "12:00"}), party_size=2)
    assert refusal_of(closed)["code"] == "slot_full"
    large = call(client, "book_table", **NINE, party_size=9)
    assert (refusal_of(large)["code"], refusal_of(large)["param"]) == ("slot_full", "party_size")
    free = call(client, "book_table", **NINE, party_size=2)
    assert words_of(free).startswith("Nothing was booked: ask the guest, and call again with ")


def test_a_restaurant_that_takes_no_bookings_says_so(client: Client) -> None:
    builders.restaurant(slug="fiskebar")
    for result in (
        call(client, "check_availability", slug="fiskebar", date="2026-11-22", party_size=2),
        book(client, **NINE),
    ):
        assert words_of(result) == (
            "This restaurant takes no bookings here; its record may have a phone number."
            " search_restaurants with `bookable_at` finds restaurants that have a free table."
        )


@pytest.mark.exhaustive
def test_a_search_for_a_party_without_a_time_is_refused(client: Client, place: Restaurant) -> None:
    refused = call(client, "search_restaurants", q="Fiskebar", party_size=2)
    assert (refusal_of(refused)["code"], refusal_of(refused)["param"]) == ("invalid_request", "party_size")
    assert words_of(refused) == (
        "`party_size` is for `bookable_at`, or for the discounts of `sort` offer: add one of them, or leave it out."
    )
    assert content_of(call(client, "search_restaurants", q="Fiskebar", party_size=2, sort="offer"))["data"] == []
    builders.slot(place)
    others: list[dict[str, Any]] = [{"sort": "offer"}, {"bookable_at": "2026-11-22T21:00"}]
    for more in others:
        found = content_of(call(client, "search_restaurants", q="Fiskebar", party_size=2, **more))
        assert [hit["slug"] for hit in found["data"]] == ["fiskebar"]


@pytest.mark.parametrize("days", [{"date": "9999-12-31"}, {"date": "9999-12-20", "until": "9999-12-31"}])
def test_a_date_that_the_restaurant_takes_no_bookings_for_is_refused(
    client: Client, place: Restaurant, days: dict[str, Any]
) -> None:
    refusal = refusal_of(call(client, "check_availability", slug="fiskebar", party_size=2, **days))
    assert (refusal["code"], refusal["param"]) == ("invalid_request", "date")


@pytest.mark.parametrize("party_size", [9, 500])
@pytest.mark.parametrize("guest", [{}, {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}])
def test_no_time_is_named_to_a_party_that_the_restaurant_confirms(
    client: Client, place: Restaurant, party_size: int, guest: dict[str, str]
) -> None:
    asked = NINE | {"time": "03:00", "party_size": party_size} | guest
    refused = refusal_of(call(client, "book_table", **asked))
    assert (refused["code"], refused["param"], refused["alternatives"]) == ("slot_full", "party_size", [])
    assert refused["message"] == (
        f"The restaurant confirms parties of {party_size} itself, or has no table then. Please call it."
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", ["get_booking", "change_booking", "cancel_booking"])
def test_a_booking_is_for_the_holder_of_its_token(client: Client, place: Restaurant, tool: str) -> None:
    record = booked(book(client, **NINE))
    other = booked(book(client, **(NINE | {"time": "19:00"}), customer_email="bob@example.com"))
    changes: dict[str, Any] = {"time": "19:30"} if tool == "change_booking" else {}
    tokens: list[dict[str, Any]] = [{}, {"manage_token": "x"}, {"manage_token": other["manage_token"]}]
    for token in tokens:
        for caller in (client, platform()):
            result = call(caller, tool, booking_id=record["id"], **token, **changes)
            assert refusal_of(result)["code"] == "not_found"
    assert content_of(call(client, "get_booking", **of(record))) == record


@pytest.mark.exhaustive
def test_an_account_lists_sees_and_changes_what_it_booked(place: Restaurant) -> None:
    agent = platform()
    record = booked(book(agent, **NINE))
    assert content_of(call(agent, "list_my_bookings"))["data"] == [record]
    moved = content_of(call(agent, "change_booking", booking_id=record["id"], special_requests="A cake"))
    assert moved == record | {"special_requests": "A cake"}
    assert content_of(call(platform(), "list_my_bookings"))["data"] == []


def test_an_anonymous_caller_is_told_how_to_find_a_booking(client: Client) -> None:
    result = call(client, "list_my_bookings")
    assert words_of(result) == (
        "Connect with a wallet session or an API key to list bookings. Without one, get_booking takes the `booking_id`"
        " and `manage_token` that book_table gave."
    )


def test_a_change_without_a_change_is_refused(client: Client, place: Restaurant) -> None:
    record = booked(book(client, **NINE))
    assert refusal_of(call(client, "change_booking", **of(record)))["code"] == "invalid_request"
