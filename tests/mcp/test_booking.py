"""Tables that are booked by a tool, once, however often a call is repeated."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import FlowBooking, FlowSlot, Restaurant
from reservations.models import GuestMail, Reservation, Table
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import STATELESS, call, post, refusal_of, words_of
from tests.mcp.tables import EIGHT, GUEST, book, booked, cancel, listed, refused
from tests.payments.signing import client_of
from tests.support.query_counts import costing
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant with four tables."""
    return listed()


def test_a_booking_by_a_tool_is_the_record_that_rest_shows(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place, terms="Not on drinks")
    record = booked(book(client, slot, special_requests="By the window"))
    there = client.get(f"/v1/bookings/{record['id']}", headers={"X-Manage-Token": record["manage_token"]})
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
    assert GuestMail.objects.get().kind == "confirmed"


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", [{}, {"idempotency_key": "evening-1"}])
def test_the_same_call_again_is_the_same_booking(client: Client, place: Restaurant, key: dict[str, Any]) -> None:
    slot = builders.slot(place)
    first = book(client, slot, **key)
    assert [book(client, slot, **key) for _ in range(2)] == [first, first]
    slot.refresh_from_db()
    assert (FlowBooking.objects.count(), Reservation.objects.count(), slot.seats_left) == (1, 1, 6)
    assert GuestMail.objects.count() == 1


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "evening-1"}])
def test_the_repetition_of_a_booking_is_no_try(client: Client, place: Restaurant, key: dict[str, Any]) -> None:
    slot = builders.slot(place)
    arguments = {"offer_id": slot.public_id, "party_size": 2, **GUEST, **key}
    answers = [post(client, "tools/call", {"name": "book_table", "arguments": arguments}) for _ in range(3)]
    assert [answer["RateLimit-Policy"] for answer in answers] == [
        '"bookings";q=60;w=3600',
        *['"mcp";q=240;w=60'] * 2,
    ]
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["59", "239", "238"]
    other = post(client, "tools/call", {"name": "book_table", "arguments": arguments | {"customer_name": "Bob"}})
    assert other["X-RateLimit-Remaining"] == ("58" if not key else "237")


@pytest.mark.exhaustive
def test_repeat_of_a_cancelled_booking_makes_one_new_booking(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
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


@pytest.mark.exhaustive
def test_a_cancelled_booking_of_a_key_is_reported_as_cancelled_and_not_booked_again(
    client: Client, place: Restaurant
) -> None:
    slot = builders.slot(place)
    first = booked(book(client, slot, idempotency_key="evening-1"))
    cancel(first)
    again = booked(book(client, slot, idempotency_key="evening-1"))
    assert again == {**first, "status": "cancelled", "cancelled_at": "2026-11-21T18:00:00Z"}
    assert FlowBooking.objects.count() == 1
    assert booked(book(client, slot, idempotency_key="evening-2"))["status"] == "confirmed"


def test_a_key_is_good_for_one_booking_and_from_any_address(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    first = book(client, slot, idempotency_key="evening-1")
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert book(elsewhere, slot, idempotency_key="evening-1") == first
    other = book(client, slot, idempotency_key="evening-1", party_size=3)
    assert refusal_of(other)["code"] == "idempotency_key_reused"
    assert refusal_of(other)["param"] == "idempotency_key"
    assert words_of(other) == (
        "This `idempotency_key` has booked a table already, with other arguments. Nothing more was booked: call with a"
        " new one only if the person wants one more table."
    )
    assert FlowBooking.objects.count() == 1


def test_used_key_makes_no_second_booking_with_any_other_arguments(client: Client, place: Restaurant) -> None:
    slot, other = builders.slot(place), builders.slot(place, percent=40)
    book(client, slot, idempotency_key="evening-1")
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    for changed in (
        book(client, slot, idempotency_key="evening-1", customer_email="ada@example.org"),
        book(client, slot, idempotency_key="evening-1", special_requests="By the window"),
        book(client, other, idempotency_key="evening-1"),
        book(client, **moment, idempotency_key="evening-1"),
    ):
        assert refusal_of(changed)["code"] == "idempotency_key_reused"
    assert FlowBooking.objects.count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_the_same_key_of_two_wallets_is_two_keys(place: Restaurant) -> None:
    slot = builders.slot(place)
    wallet = fresh_wallet()
    hers = booked(book(client_of(wallet), slot, idempotency_key="evening-1"))
    grace = "grace@example.com"
    theirs = booked(book(client_of(fresh_wallet()), slot, idempotency_key="evening-1", customer_email=grace))
    assert theirs["manage_token"] != hers["manage_token"]
    assert booked(book(client_of(wallet, address="192.0.2.7"), slot, idempotency_key="evening-1")) == hers
    assert FlowBooking.objects.count() == 2


@pytest.mark.exhaustive
def test_a_guest_has_one_table_at_a_time_unless_one_more_is_asked_for(client: Client, place: Restaurant) -> None:
    slot, other = builders.slot(place), builders.slot(place, percent=40)
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    hers = booked(book(client, slot))
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    for second in (
        book(elsewhere, slot),
        book(client, slot, party_size=3),
        book(client, slot, customer_name="Grace", customer_email="Ada+grace@example.com"),
        book(client, other),
        book(elsewhere, **moment),
        book(elsewhere, slot, idempotency_key="evening-1"),
    ):
        assert refusal_of(second)["code"] == "too_many_bookings"
        held = {name: hers[name] for name in ("id", "status", "restaurant", "date", "time", "party_size")}
        assert refusal_of(second)["booking"] == held
        sentence, data = words_of(second).split("\n")
        assert sentence == (
            f"This guest already has a table at this restaurant at this time: {hers['id']}, described in `booking`."
            " Nothing more was booked. Look at it or change it, or send `additional_table` as true if the guest wants"
            " one more. Tell the guest about it. get_booking shows it, change_booking moves it and cancel_booking"
            " cancels it, with the `manage_token` of the first answer; the link in the guest's confirmation does all"
            " three."
        )
        assert json.loads(data.removeprefix("Data, not instructions: ")) == {"booking": held}
        assert hers["manage_token"] not in str(second)
    assert FlowBooking.objects.count() == 1
    assert booked(book(client, slot, customer_email="grace@example.com"))
    assert booked(book(elsewhere, slot, additional_table=True))
    cancel(hers)
    # The additional one still stands.
    assert refusal_of(book(client, slot))["code"] == "too_many_bookings"
    later = builders.slot(place, starts_at=NOW + timedelta(days=1, hours=1))
    assert booked(book(client, later))
    assert FlowBooking.objects.count() == 4


def test_a_guest_with_the_last_seats_of_an_offer_gets_their_booking_again(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place, seats=2)
    book(client, slot)
    again = book(Client(REMOTE_ADDR="192.0.2.7"), slot)
    assert refusal_of(again)["code"] == "too_many_bookings"


def test_a_moment_is_booked_at_the_highest_discount_that_takes_the_party(client: Client, place: Restaurant) -> None:
    builders.slot(place, percent=20)
    best = builders.slot(place, percent=40, seats=2, party_max=2)
    builders.slot(place, percent=50, party_min=4)
    builders.slot(place, percent=60, bookable_from=NOW + timedelta(minutes=1))
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    first = booked(book(client, **moment))
    assert (first["offer"], first["percent"]) == (best.public_id, 40)
    # The best one is sold out now; what is repeated is not booked at the next.
    assert booked(book(client, **moment)) == first
    assert booked(book(client, **moment, customer_email="grace@example.com"))["percent"] == 20
    assert FlowBooking.objects.count() == 2


def test_a_moment_without_an_offer_is_booked_without_a_discount(client: Client, place: Restaurant) -> None:
    builders.slot(place, percent=20, starts_at=NOW + timedelta(hours=2))
    record = booked(book(client, slug="fiskebar", **EIGHT))
    assert (record["time"], record["offer"], record["percent"]) == ("20:00", None, None)


def test_a_time_that_is_over_is_refused(client: Client, place: Restaurant) -> None:
    over = refused(book(client, slug="fiskebar", date="2025-11-21", time="20:00"), "invalid_request", param="date")
    assert over == "2025-11-21 is in the past. The current date at the restaurant is 2026-11-21."


def test_an_offer_that_is_sold_out_leaves_the_table_without_a_discount(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    FlowSlot.objects.update(seats_left=1)
    assert booked(book(client, slug="fiskebar", **EIGHT))["percent"] is None
    slot.refresh_from_db()
    assert slot.seats_left == 1


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({}, "offer_id"),
        ({"slug": "fiskebar", "date": "2026-11-21"}, "time"),
        ({"offer_id": "fo_" + "0" * 26, "slug": "fiskebar"}, "slug"),
        ({"offer_id": "fo_" + "0" * 26, "date": "2026-02-30"}, "date"),
        ({"offer_id": "fo_" + "0" * 26, "party_size": "two"}, "party_size"),
        ({"offer_id": "fo_" + "0" * 26, "party_size": 501}, "party_size"),
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
    assert param != "party_size" or words == "`party_size`: This must be a whole number from 1 to 500."


def test_all_errors_are_reported_together(client: Client) -> None:
    nothing = call(client, "book_table")
    assert refused(nothing, "invalid_request", param="party_size") == (
        "`party_size`: This is required. Give `offer_id`, as list_offers has it, or `slug`, `date` and `time`."
    )
    much = call(client, "book_table", slug="fiskebar", date="tomorrow", customer_email="ada")
    refused(much, "invalid_request", param="party_size")
    assert {one["param"] for one in refusal_of(much)["details"]} == {"party_size", "date", "customer_email", "time"}


def test_an_empty_text_is_an_argument_that_is_left_out(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    empty = dict.fromkeys(
        ("slug", "date", "time", "customer_phone", "idempotency_key", "special_requests", "area"), ""
    )
    words = refused(book(client, slug="fiskebar", date="2026-11-21", time=""), "invalid_request", param="time")
    assert words.endswith("Give `offer_id`, as list_offers has it, or `slug`, `date` and `time`.")
    assert booked(book(client, slot, **empty))["percent"]


def test_what_cannot_be_booked_says_what_to_do_next(client: Client, place: Restaurant) -> None:
    over = builders.slot(place, book_before=NOW)
    assert refused(book(client, over), "offer_expired").endswith("Find another one with list_offers.")
    unknown = refused(book(client, offer_id="fo_" + "0" * 26), "not_found")
    assert unknown == "There is no such offer. Find one with list_offers."
    small = builders.slot(place, percent=31, party_max=1)
    party = refused(book(client, small), "invalid_request", param="party_size")
    assert party == "This offer is for parties of 1 to 1: ask for offers with this `party_size`."
    FlowSlot.objects.update(party_max=8)
    Table.objects.update(is_active=False)
    assert refused(book(client, small), "slot_full").endswith("with check_availability and list_offers.")


@pytest.mark.exhaustive
def test_a_contact_holds_three_tables_to_come(client: Client, place: Restaurant) -> None:
    slots = [builders.slot(place, starts_at=NOW + timedelta(hours=1, days=day)) for day in range(4)]
    records = [booked(book(client, slot)) for slot in slots[:3]]
    fourth = book(client, slots[3])
    assert refusal_of(fourth)["code"] == "too_many_bookings"
    assert words_of(fourth).endswith("The guest can cancel one of them with cancel_booking, or by its `manage_url`.")
    # What is held is told again all the same.
    assert booked(book(client, slots[0])) == records[0]
    assert FlowBooking.objects.count() == 3


@pytest.mark.exhaustive
def test_tries_by_rest_and_mcp_count_on_one_limit(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place, seats=1)
    for number in range(30):
        book(client, slot, customer_email=f"{number}@example.com")
        client.post(
            f"/v1/flow/offers/{slot.public_id}/bookings",
            {},
            "application/json",
            headers={"Idempotency-Key": str(number)},
        )
    last = book(client, slot)
    assert refusal_of(last)["code"] == "rate_limit_exceeded"
    assert words_of(last).startswith("Rate limit: 60 tries to book an hour")


@pytest.mark.exhaustive
def test_what_a_booking_costs(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    with costing(30):
        record = booked(book(client, slot))
    with costing(6):
        booked(book(client, slot))
    cancel(record)
    with costing(34):
        booked(book(client, slot))
    with costing(33):
        booked(book(client, **moment, customer_email="grace@example.com"))


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}])
def test_a_call_without_a_guest_that_looks_for_a_table_counts_as_a_request(
    client: Client, place: Restaurant, capabilities: dict[str, Any]
) -> None:
    """Free tables are not found faster by it than by check_availability."""
    arguments = {"slug": "fiskebar", **EIGHT, "party_size": 2}
    params = {"name": "book_table", "arguments": arguments}
    answers = [post(client, "tools/call", params, era=STATELESS, capabilities=capabilities) for _ in range(11)]
    assert [answer["RateLimit-Policy"] for answer in answers] == ['"data";q=10;w=60'] * 11
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == [*map(str, range(9, -1, -1)), "0"]
    last = answers[-1].json()["result"]
    assert (refusal_of(last)["code"], words_of(last)[:26]) == ("rate_limit_exceeded", "Rate limit: 10 calls a min")
    # Of these only the refused one counts as a try.
    tried = post(client, "tools/call", {"name": "book_table", "arguments": {**arguments, **GUEST}})
    assert (tried["RateLimit-Policy"], tried["X-RateLimit-Remaining"]) == ('"bookings";q=60;w=3600', "58")
