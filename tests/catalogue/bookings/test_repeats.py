"""A guest has one table at a time at a restaurant, however a request is repeated, unless one more is asked for."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import FlowBooking, Restaurant
from reservations.models import GuestMail, Reservation
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import call, content_of, refusal_of, words_of
from tests.mcp.test_booking_concurrency import at_once
from tests.support import builders as base

pytestmark = pytest.mark.django_db

ADA: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
EIGHT: dict[str, Any] = {"date": "2026-11-22", "time": "20:00", "party_size": 2}


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with eight tables, whose parties of two stay for 90 minutes."""
    place = builders.listing(builders.restaurant(slug="fiskebar")).restaurant
    for number in range(2, 9):
        base.table(place.listing.venue, f"T{number}")
    return place


def post(key: str, *, slug: str = "fiskebar", **changes: Any) -> Any:
    path, body = f"/v1/restaurants/{slug}/bookings", EIGHT | ADA | changes
    return Client().post(path, body, "application/json", headers={"Idempotency-Key": key})


def post_offer(key: str, offer: str, **changes: Any) -> Any:
    path, body = f"/v1/flow/offers/{offer}/bookings", {"party_size": 2} | ADA | changes
    return Client().post(path, body, "application/json", headers={"Idempotency-Key": key})


def refused(response: Any, record: dict[str, Any]) -> None:
    """The refusal of a second table, which describes the first one."""
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (409, "too_many_bookings", "additional_table")
    shown = ("id", "status", "restaurant", "date", "time", "party_size")
    assert error["booking"] == {name: record[name] for name in shown}
    assert error["message"] == (
        f"This guest already has a table at this restaurant at this time: {record['id']}, described in `booking`."
        " Nothing more was booked. Look at it or change it, or send `additional_table` as true if the guest wants one"
        " more."
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"party_size": 3},
        {"time": "20:30"},
        {"time": "18:45"},
        {"customer_name": "A. Lovelace", "special_requests": "By the window"},
        {"customer_email": "Ada+table@Example.com"},
    ],
)
def test_a_new_key_and_other_words_book_no_second_table_at_that_time(
    place: Restaurant, changes: dict[str, Any]
) -> None:
    record = post("first").json()
    refused(post("second", **changes), record)
    assert (FlowBooking.objects.count(), Reservation.objects.count(), GuestMail.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize("time", ["18:30", "21:30"])
def test_a_table_before_or_after_the_stay_is_booked(place: Restaurant, time: str) -> None:
    post("first")
    assert post("second", time=time).status_code == 201


def test_the_same_time_elsewhere_is_booked_and_nothing_is_told_about_the_first_table(place: Restaurant) -> None:
    builders.listing(builders.restaurant(slug="noma"))
    post("first")
    assert post("second", slug="noma").status_code == 201


def test_an_additional_table_is_booked_on_request(place: Restaurant) -> None:
    post("first")
    assert post("second", additional_table=True).status_code == 201
    refused(post("third", additional_table=False), post("first").json())
    for value in ("true", 1, None):
        error = post("third", additional_table=value).json()["error"]
        assert (error["code"], error["param"]) == ("invalid_request", "additional_table")
    assert FlowBooking.objects.count() == 2


def test_offers_and_any_table_have_one_rule(place: Restaurant) -> None:
    tonight = builders.slot(place)
    offered = post_offer("first", tonight.public_id).json()
    refused(post("second", date="2026-11-21", time="20:30"), offered)
    any_table = post("third").json()
    tomorrow = builders.slot(place, starts_at=NOW.replace(day=22, hour=19, minute=30))
    refused(post_offer("fourth", tomorrow.public_id), any_table)
    assert post_offer("fourth", tomorrow.public_id, additional_table=True).status_code == 201


PHONE: dict[str, Any] = {"customer_email": None, "customer_phone": "+4512345678"}
BOTH: dict[str, Any] = {"customer_phone": "+4512345678"}


@pytest.mark.parametrize(("first", "second"), [(PHONE, BOTH), (BOTH, PHONE), (BOTH, {}), ({}, BOTH)])
def test_a_guest_is_known_by_the_address_and_by_the_number(
    place: Restaurant, first: dict[str, Any], second: dict[str, Any]
) -> None:
    record = post("first", **first).json()
    refused(post("second", **second), record)
    assert FlowBooking.objects.count() == 1


def test_a_guest_who_took_the_last_table_learns_of_it(place: Restaurant) -> None:
    place.listing.venue.tables.exclude(name="T1").update(is_active=False)
    record = post("first").json()
    refused(post("second"), record)


def test_a_cancelled_table_does_not_count(place: Restaurant) -> None:
    record = post("first").json()
    Client().delete(f"/v1/bookings/{record['id']}", headers={"X-Manage-Token": record["manage_token"]})
    assert post("second").status_code == 201


@pytest.mark.exhaustive
def test_a_tool_names_the_first_booking_whatever_the_key(client: Client, place: Restaurant) -> None:
    moment = EIGHT | ADA | {"slug": "fiskebar"}
    record = content_of(call(client, "book_table", **moment))
    for again in ({"idempotency_key": "another"}, {"time": "20:15"}, {"special_requests": "A cake"}):
        refusal = call(client, "book_table", **(moment | again))
        assert refusal_of(refusal)["code"] == "too_many_bookings"
        assert refusal_of(refusal)["booking"]["id"] == record["id"]
        assert words_of(refusal).partition("\n")[0] == (
            f"This guest already has a table at this restaurant at this time: {record['id']}, described in `booking`."
            " Nothing more was booked. Look at it or change it, or send `additional_table` as true if the guest wants"
            " one more. Tell the guest about it. get_booking shows it, change_booking moves it and cancel_booking"
            " cancels it, with the `manage_token` of the first answer; the link in the guest's confirmation does all"
            " three."
        )
    one_more = [content_of(call(client, "book_table", **moment, additional_table=True)) for _ in range(2)]
    assert one_more[0] == one_more[1]
    assert FlowBooking.objects.count() == 2


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", ["rest", "mcp", "both"])
def test_of_eight_repeats_at_once_with_other_keys_and_words_one_books(place: Restaurant, door: str) -> None:
    def rest(number: int) -> str:
        contact = PHONE if number % 4 == 1 else BOTH
        answer = post(f"key-{number}", time=f"20:{15 * (number % 4):02}", **contact).json()
        return str(answer["error"]["code"] if "error" in answer else answer["status"])

    def mcp(number: int) -> str:
        moment = EIGHT | ADA | BOTH | {"slug": "fiskebar", "special_requests": f"Wish {number}"}
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        result = call(client, "book_table", **moment, idempotency_key=f"key-{number}")
        return str(refusal_of(result)["code"] if "isError" in result else content_of(result)["status"])

    doors: dict[str, Callable[[int], str]] = {
        "rest": rest,
        "mcp": mcp,
        "both": lambda number: (rest, mcp)[number % 2](number),
    }
    outcomes = at_once(8, doors[door])
    assert sorted(outcomes) == ["confirmed"] + ["too_many_bookings"] * 7
    assert (FlowBooking.objects.count(), Reservation.objects.count()) == (1, 1)


def test_a_repeat_by_another_caller_does_not_get_the_token_of_the_booking(place: Restaurant) -> None:
    mine, headers = base.client(base.venue("Platform")), {"Idempotency-Key": "order-1"}
    path, body = "/v1/restaurants/fiskebar/bookings", EIGHT | ADA
    first = mine.post(path, body, "application/json", headers=headers)
    for stranger in (Client(), base.client(base.venue("Another"))):
        answer = stranger.post(path, body, "application/json", headers=headers)
        refused(answer, first.json())
        assert "manage_token" not in answer.content.decode()
    again = mine.post(path, body, "application/json", headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again["Idempotent-Replayed"] == "true"


def change(record: dict[str, Any], **changes: Any) -> Any:
    headers = {"X-Manage-Token": record["manage_token"]}
    return Client().patch(f"/v1/bookings/{record['id']}", changes, "application/json", headers=headers)


@pytest.mark.exhaustive
def test_a_change_does_not_give_a_guest_two_tables_at_one_time(place: Restaurant) -> None:
    late = post("late", time="21:30").json()
    early = post("early", time="18:30").json()
    answer = change(late, time="19:30")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (409, "too_many_bookings", "time")
    assert error["message"] == (
        f"This guest already has a table at this restaurant at this time: {early['id']}, described in `booking`."
        " Nothing was changed. Change or cancel that one first."
    )
    # It may overlap what it was.
    assert change(late, time="21:00").json()["time"] == "21:00"
    assert change(late, special_requests="A cake").status_code == 200


def test_two_tables_that_were_wanted_at_one_time_can_both_be_changed(place: Restaurant) -> None:
    post("first")
    second = post("second", additional_table=True).json()
    assert change(second, time="20:30").json()["time"] == "20:30"
