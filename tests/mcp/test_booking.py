"""Offers by tools, and tables that are booked there once, however often a call is repeated."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, IdempotentCall
from catalogue.models import FlowBooking, FlowSlot, Restaurant
from reservations.models import Notice, Reservation, Table
from tests import make as base
from tests.catalogue import make
from tests.catalogue.make import NOW
from tests.mcp.calling import STATELESS, call, refusal_of, rpc, words_of

pytestmark = pytest.mark.django_db

GUEST: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
# At eight on the restaurant's clock, in an hour.
EIGHT: dict[str, Any] = {"date": "2026-11-21", "time": "20:00"}


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant with four tables."""
    place = make.listing(make.restaurant(slug="fiskebar", name="Fiskebar")).restaurant
    for number in (2, 3, 4):
        base.table(place.listing.venue, f"T{number}")
    return place


def book(client: Client, slot: FlowSlot | None = None, **arguments: Any) -> Any:
    """The result of book_table for two, at this offer or as it is said."""
    at = {} if slot is None else {"offer_id": slot.public_id}
    return call(client, "book_table", **{**at, "party_size": 2, **GUEST, **arguments})


def booked(result: Any) -> dict[str, Any]:
    """The record of a booking."""
    assert "isError" not in result, result
    record: dict[str, Any] = result["structuredContent"]
    return record


def cancel(record: dict[str, Any]) -> None:
    address = f"/v1/flow/bookings/{record['id']}"
    assert Client().delete(address, headers={"X-Manage-Token": record["manage_token"]}).status_code == 200


def refused(result: Any, code: str, *, param: str | None = None) -> str:
    """The words of a refusal; nothing was stored."""
    error = refusal_of(result)
    assert (error["code"], error["param"]) == (code, param)
    stored = [model.objects.count() for model in (FlowBooking, Reservation, Event, Notice, IdempotentCall)]
    assert stored == [0, 0, 0, 0, 0]
    assert not FlowSlot.objects.filter(seats_left__lt=8).exists()
    return words_of(result)


# Offers
def test_the_offers_of_a_restaurant_are_those_of_rest(client: Client, place: Restaurant) -> None:
    for days in (0, 1, 2):
        make.slot(place, starts_at=NOW + timedelta(days=days, hours=1))
    asked: dict[str, Any] = {"party_size": 2, "limit": 2}
    told = call(client, "list_offers", slug="fiskebar", **asked)["structuredContent"]
    there = client.get("/v1/restaurants/fiskebar/flow", asked).json()
    # A cursor is sealed anew each time.
    further = (told["pagination"].pop("next_cursor"), there["pagination"].pop("next_cursor"))
    assert told == there
    assert len(told["data"]) == 2
    rest = call(client, "list_offers", slug="fiskebar", **asked, cursor=further[0])["structuredContent"]
    assert rest["data"] == client.get("/v1/restaurants/fiskebar/flow", {**asked, "cursor": further[1]}).json()["data"]
    assert len(rest["data"]) == 1


def test_the_offers_around_a_place_are_those_of_rest(client: Client, place: Restaurant) -> None:
    make.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    make.slot(place)
    asked: dict[str, Any] = {"near": "Tivoli", **EIGHT, "party_size": 2, "percent_min": 30}
    told = call(client, "list_offers", **asked)["structuredContent"]
    assert told == client.get("/v1/flow/offers", {**asked, "limit": 10}).json()
    assert [offer["restaurant"]["slug"] for offer in told["data"]] == ["fiskebar"]


@pytest.mark.parametrize("name", ["near", "ll", "radius", "market", "time", "percent_min"])
def test_what_does_not_go_with_a_restaurant_is_refused_by_its_name(
    client: Client, place: Restaurant, name: str
) -> None:
    values: dict[str, Any] = {
        "near": "Tivoli",
        "ll": "55.6,12.5",
        "radius": 100,
        "market": "copenhagen",
        "time": "19:00",
    }
    words = refused(
        call(client, "list_offers", slug="fiskebar", **{name: values.get(name, 30)}), "invalid_request", param=name
    )
    assert words.startswith(f"`{name}` does not go with `slug`: leave it out")


def test_offers_of_an_unknown_restaurant_say_where_slugs_are_found(client: Client) -> None:
    result = call(client, "list_offers", slug="nowhere")
    assert words_of(result) == "There is no restaurant of this slug. Find the slug with search_restaurants."
    assert refusal_of(result)["code"] == "not_found"


# Booking
def test_a_booking_by_a_tool_is_the_record_that_rest_shows(client: Client, place: Restaurant) -> None:
    slot = make.slot(place, terms="Not on drinks")
    record = booked(book(client, slot, special_requests="By the window"))
    there = client.get(f"/v1/flow/bookings/{record['id']}", headers={"X-Manage-Token": record["manage_token"]})
    assert record == there.json()
    taken = Reservation.objects.get()
    assert (record["status"], record["reservation_code"], record["customer_name"]) == (
        "confirmed",
        taken.code,
        "Ada Lovelace",
    )
    assert (taken.status, taken.party_size, taken.special_requests) == ("confirmed", 2, "By the window")
    assert taken.customer_email == "ada@example.com"
    slot.refresh_from_db()
    assert slot.seats_left == 6
    assert Notice.objects.get().kind == "confirmed"


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "evening-1"}])
def test_the_same_call_again_is_the_same_booking(client: Client, place: Restaurant, key: dict[str, Any]) -> None:
    slot = make.slot(place)
    first = book(client, slot, **key)
    assert [book(client, slot, **key) for _ in range(2)] == [first, first]
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), Reservation.objects.count(), slot.seats_left) == (1, 1, 6)
    assert Notice.objects.count() == 1


def test_a_cancelled_booking_is_booked_anew_by_the_same_call_and_then_once(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    first = booked(book(client, slot))
    cancel(first)
    again = booked(book(client, slot))
    assert (again["status"], again["id"] != first["id"]) == ("confirmed", True)
    assert booked(book(client, slot)) == again
    cancel(again)
    third = booked(book(client, slot))
    assert third["id"] not in (first["id"], again["id"])
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), slot.seats_left) == (3, 6)


def test_a_cancelled_booking_of_a_key_is_told_as_cancelled_and_not_booked_anew(
    client: Client, place: Restaurant
) -> None:
    slot = make.slot(place)
    first = booked(book(client, slot, idempotency_key="evening-1"))
    cancel(first)
    again = booked(book(client, slot, idempotency_key="evening-1"))
    assert again == {**first, "status": "cancelled", "cancelled_at": "2026-11-21T18:00:00Z"}
    assert FlowBooking.objects.count() == 1
    assert booked(book(client, slot, idempotency_key="evening-2"))["status"] == "confirmed"


def test_a_key_is_good_for_one_booking_and_from_any_address(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    first = book(client, slot, idempotency_key="evening-1")
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert book(elsewhere, slot, idempotency_key="evening-1") == first
    other = book(client, slot, idempotency_key="evening-1", party_size=3)
    assert refusal_of(other)["code"] == "idempotency_key_reused"
    assert refusal_of(other)["param"] == "idempotency_key"
    assert words_of(other) == "This `idempotency_key` came with another body before. Use a new one."
    assert FlowBooking.objects.count() == 1


def test_a_key_that_rest_has_used_books_nothing_by_a_tool(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    address = f"/v1/flow/offers/{slot.public_id}/bookings"
    body = {"party_size": 2, **GUEST}
    assert client.post(address, body, "application/json", headers={"Idempotency-Key": "one"}).status_code == 201
    assert refusal_of(book(client, slot, idempotency_key="one"))["code"] == "idempotency_key_reused"
    assert FlowBooking.objects.count() == 1


def test_who_says_all_that_a_guest_has_said_does_not_get_the_guests_token(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    hers = booked(book(client, slot))
    strangers = booked(book(Client(REMOTE_ADDR="192.0.2.7"), slot))
    assert strangers["manage_token"] != hers["manage_token"]
    assert FlowBooking.objects.count() == 2


def test_another_wish_is_another_booking(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    ids = {
        booked(book(client, slot, **changes))["id"] for changes in ({}, {"party_size": 3}, {"customer_name": "Grace"})
    }
    assert len(ids) == FlowBooking.objects.count() == 3


def test_a_moment_is_booked_at_the_highest_discount_that_takes_the_party(client: Client, place: Restaurant) -> None:
    make.slot(place, percent=20)
    best = make.slot(place, percent=40, seats=2, party_max=2)
    make.slot(place, percent=50, party_min=4)
    make.slot(place, percent=60, bookable_from=NOW + timedelta(minutes=1))
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    first = booked(book(client, **moment))
    assert (first["offer"], first["percent"]) == (best.public_id, 40)
    # The best one is sold out now; what is repeated is not booked at the next.
    assert booked(book(client, **moment)) == first
    assert booked(book(client, **moment, customer_email="grace@example.com"))["percent"] == 20
    assert FlowBooking.objects.count() == 2


def test_a_moment_without_an_offer_says_what_there_is_on_that_day(client: Client, place: Restaurant) -> None:
    make.slot(place, percent=20, starts_at=NOW + timedelta(hours=2))
    make.slot(place, percent=30, starts_at=NOW + timedelta(hours=3))
    words = refused(book(client, slug="fiskebar", **EIGHT), "not_found")
    assert words == (
        "There is no offer for 2 at 20:00 on 2026-11-21. On that day there is 21:00 (20 %), 22:00 (30 %)."
    )
    nothing = refused(book(client, slug="fiskebar", date="2026-11-25", time="20:00"), "not_found")
    assert nothing == "There is no offer for 2 at 20:00 on 2026-11-25. There is none on that day."


def test_a_moment_that_is_sold_out_says_so(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    FlowSlot.objects.update(seats_left=1)
    result = book(client, slug="fiskebar", **EIGHT)
    assert refusal_of(result)["code"] == "slot_full"
    assert words_of(result).startswith("There is no table for 2 at 20:00 on 2026-11-21. There is none on that day.")
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), slot.seats_left) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({}, "offer_id"),
        ({"slug": "fiskebar", "date": "2026-11-21"}, "time"),
        ({"offer_id": "fo_" + "0" * 26, "slug": "fiskebar"}, "slug"),
        ({"offer_id": "fo_" + "0" * 26, "date": "2026-02-30"}, "date"),
        ({"offer_id": "fo_" + "0" * 26, "party_size": "2"}, "party_size"),
        ({"offer_id": "fo_" + "0" * 26, "customer_phone": "12"}, "customer_phone"),
        ({"offer_id": "fo_" + "0" * 26, "idempotency_key": "ø"}, "idempotency_key"),
        ({"offer_id": "fo_" + "0" * 26, "seats": 2}, "seats"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(
    client: Client, place: Restaurant, arguments: dict[str, Any], param: str
) -> None:
    words = refused(book(client, **arguments), "invalid_request", param=param)
    assert f"`{param}`" in words


def test_what_cannot_be_booked_says_what_to_do_next(client: Client, place: Restaurant) -> None:
    over = make.slot(place, book_before=NOW)
    assert refused(book(client, over), "offer_expired").endswith("Find another one with list_offers.")
    unknown = refused(book(client, offer_id="fo_" + "0" * 26), "not_found")
    assert unknown == "There is no such offer. Find one with list_offers."
    small = make.slot(place, percent=31, party_max=1)
    assert "parties of 1 to 1" in refused(book(client, small), "invalid_request", param="party_size")
    FlowSlot.objects.update(party_max=8)
    Table.objects.update(is_active=False)
    assert refused(book(client, small), "slot_full").endswith("See what else there is with list_offers.")


def test_a_contact_holds_three_tables_to_come(client: Client, place: Restaurant) -> None:
    slots = [make.slot(place, starts_at=NOW + timedelta(hours=1, days=day)) for day in range(4)]
    records = [booked(book(client, slot)) for slot in slots[:3]]
    fourth = book(client, slots[3])
    assert refusal_of(fourth)["code"] == "too_many_bookings"
    assert words_of(fourth).endswith("The guest can cancel one of them by its `manage_url`.")
    # What is held is told again all the same.
    assert booked(book(client, slots[0])) == records[0]
    assert FlowBooking.objects.count() == 3


def test_tries_of_both_doors_count_on_one_limit(client: Client, place: Restaurant) -> None:
    slot = make.slot(place)
    for number in range(5):
        book(client, slot)
        client.post(
            f"/v1/flow/offers/{slot.public_id}/bookings",
            {},
            "application/json",
            headers={"Idempotency-Key": str(number)},
        )
    last = book(client, slot)
    assert refusal_of(last)["code"] == "rate_limit_exceeded"
    assert words_of(last).startswith("Rate limit: 10 tries to book an hour")
    assert FlowBooking.objects.count() == 1


# The person
def ask(client: Client, arguments: dict[str, Any], *, before: Any = None, answer: Any = None) -> Any:
    """A round of a call by a client that shows forms; `before` is the result of the round before."""
    params: dict[str, Any] = {"name": "book_table", "arguments": arguments}
    if before is not None:
        params |= {"requestState": before["requestState"], "inputResponses": {"guest": answer}}
    return rpc(client, "tools/call", params, era=STATELESS, capabilities={"elicitation": {}})["result"]


def question(result: Any) -> dict[str, Any]:
    """What a person is asked."""
    assert result["resultType"] == "input_required"
    (asked,) = result["inputRequests"].values()
    assert asked["method"] == "elicitation/create"
    params: dict[str, Any] = asked["params"]
    return params


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def test_a_person_is_asked_who_comes_and_what_is_answered_is_booked(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": make.slot(place).public_id, "party_size": 2}
    first = ask(client, wish)
    form = question(first)["requestedSchema"]
    assert list(form["properties"]) == ["customer_name", "customer_email", "customer_phone"]
    assert form["required"] == ["customer_name"]
    assert {member["type"] for member in form["properties"].values()} == {"string"}
    assert form["properties"]["customer_email"]["format"] == "email"
    assert not FlowBooking.objects.exists()

    answer = accepted(customer_name="Ada Lovelace", customer_email="ada@example.com", customer_phone="")
    record = booked(ask(client, wish, before=first, answer=answer))
    taken = Reservation.objects.get()
    assert (taken.customer_name, taken.customer_email, taken.customer_phone) == (*GUEST.values(), None)
    # The answer was lost: the round is sent again, or the whole is told at once.
    assert booked(ask(client, wish, before=first, answer=answer)) == record
    assert booked(book(client, **wish)) == record
    # Another person's answer is another booking.
    other = accepted(customer_name="Grace Hopper", customer_phone="+45 12 34 56 78")
    assert booked(ask(client, wish, before=first, answer=other))["id"] != record["id"]
    assert set(Reservation.objects.values_list("customer_phone", flat=True)) == {None, "+4512345678"}


def test_an_answer_that_cannot_be_used_is_asked_for_again(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": make.slot(place).public_id, "party_size": 2, "customer_name": "Ada Lovelace"}
    first = ask(client, wish)
    assert question(first)["requestedSchema"]["properties"]["customer_name"]["default"] == "Ada Lovelace"
    for content, words in (
        ({"customer_name": "Ada"}, "`customer_email`: Give an e-mail address or a phone number."),
        ({"customer_name": "Ada", "customer_email": "ada"}, "`customer_email`: This must be an e-mail address."),
        ({"customer_name": ["Ada"], "customer_email": "a@example.com"}, "`customer_name`: This must be a string."),
    ):
        again = ask(client, wish, before=first, answer=accepted(**content))
        assert question(again)["message"].startswith(words)
    assert not FlowBooking.objects.exists()
    assert booked(ask(client, wish, before=again, answer=accepted(customer_phone="+4512345678")))
    taken = Reservation.objects.get()
    assert (taken.customer_name, taken.customer_phone) == ("Ada Lovelace", "+4512345678")


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_does_not_want_to_answer_books_nothing(client: Client, place: Restaurant, action: str) -> None:
    wish: dict[str, Any] = {"offer_id": make.slot(place).public_id, "party_size": 2}
    refused(ask(client, wish, before=ask(client, wish), answer={"action": action}), "invalid_request")


def test_an_answer_cannot_change_what_was_asked_for(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": make.slot(place).public_id, "party_size": 2}
    booked(ask(client, wish, before=ask(client, wish), answer=accepted(**GUEST, party_size=8)))
    assert Reservation.objects.get().party_size == 2


def test_nobody_is_asked_about_an_offer_that_nobody_can_book(client: Client, place: Restaurant) -> None:
    over = make.slot(place, book_before=NOW)
    refused(ask(client, {"offer_id": over.public_id, "party_size": 2}), "offer_expired")
    refused(ask(client, {"offer_id": "fo_" + "0" * 26, "party_size": 2}), "not_found")


@pytest.mark.parametrize(
    ("told", "param", "wanted"),
    [
        ({}, "customer_name", "`customer_name` and `customer_email` or `customer_phone`."),
        ({"customer_name": "Ada"}, "customer_email", "`customer_email` or `customer_phone`."),
        ({"customer_phone": "+4512345678"}, "customer_name", "`customer_name`."),
    ],
)
def test_where_nobody_can_be_asked_the_refusal_names_what_is_missing(
    client: Client, place: Restaurant, told: dict[str, Any], param: str, wanted: str
) -> None:
    result = call(client, "book_table", offer_id=make.slot(place).public_id, party_size=2, **told)
    assert refused(result, "invalid_request", param=param) == (
        f"Nothing was booked: ask the guest, and call again with {wanted}"
    )
