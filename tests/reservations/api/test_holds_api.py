"""Holds in the management API."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Scope, Venue
from reservations.models import Area, Hold, Reservation
from tests.support import builders

HOLDS = "/api/v1/holds"
NOON = datetime(2026, 11, 28, 11, 0, tzinfo=UTC)
BODY: dict[str, Any] = {"date": "2026-11-28", "time": "19:30", "party_size": 4}

pytestmark = pytest.mark.usefixtures("osteria")


@pytest.fixture
def osteria(venue: Venue) -> Any:
    """A venue with one table, open for dinner, at noon."""
    builders.table(venue, "T1")
    builders.period(venue)
    with time_machine.travel(NOON, tick=False):
        yield venue


def hold(api: Client, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    return api.post(HOLDS, BODY | changes, content_type="application/json", headers=headers or {})


def book(api: Client, **changes: Any) -> Any:
    body = builders.reservation_body(date="2026-11-28", **changes)
    return api.post("/api/v1/reservations", body, content_type="application/json")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_hold_is_created_listed_retrieved_and_released(api: Client, version: str) -> None:
    path = f"/api/{version}/holds"
    answer = api.post(path, BODY | {"minutes": 15}, content_type="application/json")
    record = answer.json()
    assert answer.status_code == 201
    assert re.fullmatch(r"hold_[0-7][0-9a-hjkmnp-tv-z]{25}", record["id"])
    assert record == {
        "id": record["id"],
        "object": "hold",
        "date": "2026-11-28",
        "time": "19:30",
        "party_size": 4,
        "area": None,
        "tables": ["T1"],
        "starts_at": "2026-11-28T18:30:00Z",
        "ends_at": "2026-11-28T20:15:00Z",
        "created_at": "2026-11-28T11:00:00Z",
        "expires_at": "2026-11-28T11:15:00Z",
    }
    assert answer["Location"] == f"http://testserver{path}/{record['id']}".replace(
        "http://testserver", answer["Location"].split("/api")[0]
    )
    assert api.get(path).json() == {"data": [record]}
    assert api.get(f"{path}/{record['id']}").json() == record
    released = api.delete(f"{path}/{record['id']}")
    assert (released.status_code, released.json()) == (200, record)
    for call in (api.get, api.delete):
        gone = call(f"{path}/{record['id']}")
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "not_found")
    assert api.get(path).json() == {"data": []}


def test_a_reservation_takes_the_held_table(api: Client) -> None:
    held = hold(api).json()
    refused = book(api)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "slot_unavailable")
    booked = book(api, hold_id=held["id"]).json()
    assert (booked["status"], booked["tables"]) == ("confirmed", ["T1"])
    again = book(api, hold_id=held["id"]).json()["error"]
    assert (again["code"], again["param"]) == ("hold_ended", "hold_id")


def test_a_hold_of_ten_minutes_ends_to_the_second(api: Client) -> None:
    held = hold(api).json()
    assert held["expires_at"] == "2026-11-28T11:10:00Z"
    with time_machine.travel(NOON + timedelta(minutes=9, seconds=59), tick=False):
        assert api.get(f"{HOLDS}/{held['id']}").status_code == 200
    with time_machine.travel(NOON + timedelta(minutes=10), tick=False):
        assert api.get(f"{HOLDS}/{held['id']}").status_code == 404
        assert api.get(HOLDS).json() == {"data": []}
        assert book(api, hold_id=held["id"]).json()["error"]["code"] == "hold_ended"
        assert book(api).status_code == 201


def test_a_repeated_request_with_a_key_holds_one_table(api: Client, osteria: Venue) -> None:
    builders.table(osteria, "T2")
    key = {"idempotency-key": "one"}
    first, second = hold(api, key), hold(api, key)
    assert (second.json(), second["Idempotent-Replayed"]) == (first.json(), "true")
    assert Hold.objects.count() == 1


def test_holds_of_others_are_not_found(api: Client, other_api: Client) -> None:
    held = hold(api).json()
    for call in (other_api.get, other_api.delete):
        assert call(f"{HOLDS}/{held['id']}").status_code == 404
    assert other_api.get(HOLDS).json() == {"data": []}
    assert Hold.objects.count() == 1


def test_holds_take_the_scopes_of_reservations(osteria: Venue) -> None:
    reader = builders.client_with(builders.key(osteria, scopes=[Scope.RESERVATIONS_READ]).text)
    assert reader.get(HOLDS).status_code == 200
    assert hold(reader).json()["error"]["code"] == "insufficient_scope"
    assert not Hold.objects.exists()


@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({"minutes": 0}, "minutes", "This must be at least 1."),
        ({"minutes": 16}, "minutes", "This must be at most 15."),
        ({"minutes": "5"}, "minutes", "This must be an integer."),
        ({"party_size": 0}, "party_size", "This must be at least 1."),
        ({"time": "7:30"}, "time", "This must be a time written HH:MM, 00:00 to 23:59."),
        ({"area": "Roof"}, "area", "The restaurant has no such area. It has none."),
        (
            {"date": "2026-11-27"},
            "date",
            "2026-11-27 is in the past. The current date at the restaurant is 2026-11-28.",
        ),
    ],
)
def test_what_is_wrong_is_named(api: Client, changes: dict[str, Any], param: str, message: str) -> None:
    assert builders.problems_of(hold(api, **changes)) == [(param, message)]
    assert not Hold.objects.exists()


def test_a_full_time_is_refused_with_others(api: Client) -> None:
    book(api)
    error = hold(api).json()["error"]
    assert (error["code"], error["alternatives"]) == ("slot_unavailable", ["21:15", "21:30", "21:45", "22:00"])


def test_the_size_of_a_party_is_checked_before_its_time(api: Client) -> None:
    for at in ("19:30", "03:00"):
        error = hold(api, date="2026-11-29", time=at, party_size=12).json()["error"]
        assert (error["code"], error["param"], error["alternatives"]) == ("slot_unavailable", "party_size", [])


@pytest.mark.exhaustive
def test_a_hold_is_reserved_with_its_area_or_without_naming_one(api: Client, osteria: Venue) -> None:
    for name in ("Terrace", "Garden"):
        builders.table(osteria, name, area=Area.objects.create(venue=osteria, name=name))
    held, anywhere = hold(api, area="Terrace").json(), hold(api).json()
    for body, message in (
        ({"hold_id": held["id"], "area": "Garden"}, "The hold is for the area Terrace: send this area or none."),
        ({"hold_id": anywhere["id"], "area": "Garden"}, "The hold is for no area: send none."),
    ):
        assert builders.problems_of(book(api, **body)) == [("hold_id", message)]
    assert book(api, hold_id=held["id"], area="Terrace").json()["tables"] == ["Terrace"]
    assert book(api, hold_id=anywhere["id"]).json()["tables"] == anywhere["tables"]


def test_a_hold_in_an_area_is_reserved_without_naming_it(api: Client, osteria: Venue) -> None:
    builders.table(osteria, "T2", area=Area.objects.create(venue=osteria, name="Terrace"))
    booked = book(api, hold_id=hold(api, area="Terrace").json()["id"]).json()
    assert (booked["area"], booked["tables"]) == ("Terrace", ["T2"])


def test_a_hold_cannot_be_changed(api: Client) -> None:
    held = hold(api).json()
    refused = api.put(f"{HOLDS}/{held['id']}", {}, content_type="application/json")
    assert (refused.status_code, refused["Allow"]) == (405, "GET, DELETE, HEAD")
    assert not Reservation.objects.exists()


@pytest.mark.exhaustive
def test_a_key_holds_at_most_twenty_tables(api: Client, osteria: Venue) -> None:
    for number in range(2, 22):
        builders.table(osteria, f"T{number}")
    assert [hold(api).status_code for _ in range(20)] == [201] * 20
    error = hold(api).json()["error"]
    assert (error["code"], error["message"]) == (
        "too_many_holds",
        "You hold 20 tables here, the maximum. Reserve or release one first.",
    )


@pytest.mark.exhaustive
def test_a_key_makes_at_most_sixty_holds_an_hour(api: Client, osteria: Venue) -> None:
    for _ in range(60):
        held = hold(api).json()
        # A refused one does not count.
        assert hold(api).status_code == 400
        assert api.delete(f"{HOLDS}/{held['id']}").status_code == 200
    refused = hold(api)
    wait_s, error = refused["Retry-After"], refused.json()["error"]
    assert (refused.status_code, error["code"]) == (429, "rate_limit_exceeded")
    assert error["message"] == f"Rate limit: 60 holds of a key an hour; next call in {wait_s} s."
    assert 0 < int(wait_s) <= 3600
    assert not Hold.objects.exists()
    assert hold(builders.client(osteria)).status_code == 201
