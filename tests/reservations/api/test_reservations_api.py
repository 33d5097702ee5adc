"""The reservations' part of the management API."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from reservations.models import Reservation
from reservations.models.reservations import CODE_ALPHABET
from tests.support import builders

RESERVATIONS = "/api/v1/reservations"
NOON = datetime(2026, 11, 21, 12, 0, 0, 987654, tzinfo=UTC)


def post(api: Client, **changes: Any) -> Any:
    return api.post(RESERVATIONS, builders.reservation_body(**changes), content_type="application/json")


def problems(response: Any) -> list[tuple[str, str]]:
    """All that is wrong, of which nothing was stored."""
    assert not Reservation.objects.exists()
    return builders.problems_of(response)


# The record
@pytest.mark.django_db
def test_a_reservation_is_answered_as_its_whole_record(api: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        response = post(
            api,
            customer_phone="+1 (555) 010-0999",
            date="2026-11-28",
            time="19:30",
            special_requests="By the window, please\nand quiet",
            metadata={"campaign": "autumn"},
        )
    record = response.json()
    assert response.status_code == 201
    assert re.fullmatch(r"res_[0-7][0-9a-hjkmnp-tv-z]{25}", record["id"])
    assert re.fullmatch(f"[{CODE_ALPHABET}]{{6}}", record["code"])
    assert record == {
        "id": record["id"],
        "object": "reservation",
        "code": record["code"],
        "status": "pending",
        "pending_reason": "manual",
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
        "customer_phone": "+15550100999",
        "date": "2026-11-28",
        "time": "19:30",
        "party_size": 4,
        "special_requests": "By the window, please\nand quiet",
        "starts_at": "2026-11-28T18:30:00Z",
        "ends_at": "2026-11-28T20:15:00Z",
        "tables": [],
        "area": None,
        "arrival": None,
        "metadata": {"campaign": "autumn"},
        "version": 1,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
        "cancelled_at": None,
    }
    assert api.get(RESERVATIONS).json()["data"] == [record]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("customer_name", "N"),
        ("customer_name", "Ærø 🍕 " * 33),
        ("customer_email", "ada+pizza@münchen.example"),
        ("customer_phone", "+1234567"),
        ("customer_phone", "+123456789012345"),
        ("time", "00:00"),
        ("time", "23:59"),
        ("party_size", 1),
        ("party_size", 500),
        ("special_requests", ""),
        ("special_requests", "x" * 2000),
        ("metadata", {}),
        ("metadata", {str(number): "x" * 500 for number in range(50)}),
    ],
)
@pytest.mark.django_db
def test_what_is_accepted_is_echoed_as_it_was_sent(api: Client, field: str, value: Any) -> None:
    response = post(api, **{field: value})
    assert response.status_code == 201
    assert response.json()[field] == value
    assert api.get(RESERVATIONS).json()["data"][0][field] == value


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("+15550100999", "+15550100999"),
        ("+1 (555) 010-0999", "+15550100999"),
        ("+1.555.010.0999", "+15550100999"),
        (" +39 06 1234-567 ", "+39061234567"),
        ("+15551234567", "+15551234567"),
    ],
)
@pytest.mark.django_db
def test_a_phone_number_is_stored_without_separators(api: Client, written: str, stored: str) -> None:
    assert post(api, customer_phone=written).json()["customer_phone"] == stored


@pytest.mark.parametrize(
    ("given", "left_out"), [("customer_email", "customer_phone"), ("customer_phone", "customer_email")]
)
@pytest.mark.parametrize("as_null", [False, True])
@pytest.mark.django_db
def test_one_contact_is_enough(api: Client, given: str, left_out: str, as_null: bool) -> None:
    body = builders.reservation_body(customer_email="ada@example.com", customer_phone="+15550100999")
    del body[left_out]
    response = api.post(RESERVATIONS, body | ({left_out: None} if as_null else {}), content_type="application/json")
    assert response.status_code == 201
    assert (response.json()[given], response.json()[left_out]) == (body[given], None)


# Refusals
DATE = "This must be a date written YYYY-MM-DD."
NO_DAY = "There is no such day in the calendar."
TIME = "This must be a time written HH:MM, 00:00 to 23:59."
PHONE = "This must be a phone number in international form with a leading plus: +15550100999."
EMAIL = "This must be an email address."
STRING = "This must be a string."
INTEGER = "This must be an integer."
CONTROL = "This holds a control character."
WRONG: list[tuple[str, Any, str]] = [
    *[("date", value, DATE) for value in ("2026-2-3", "20260203", "2027-01-0\u0661", "27-01-01", "2027-01-01T00:00")],
    *[("date", value, DATE) for value in (" 2027-01-01", "2027-W01-1", "01/02/2027", "-2027-01-01", "12027-01-01")],
    *[("date", value, NO_DAY) for value in ("2027-02-30", "2027-02-29", "2027-13-01", "2027-00-10", "0000-01-01")],
    ("date", 20270101, STRING),
    ("date", None, "This must not be null."),
    ("date", "", "This must not be empty."),
    ("date", "2027-01-01\n", CONTROL),
    *[("time", value, TIME) for value in ("7:30", "24:00", "19:60", "19:30:00", "1930", "19.30", "19:3\u0660")],
    *[("time", value, TIME) for value in ("19:30Z", "7:30 pm", " 19:30", "19:30+01:00")],
    ("time", 1930, STRING),
    ("party_size", 0, "This must be at least 1."),
    ("party_size", 501, "This must be at most 500."),
    *[("party_size", value, INTEGER) for value in ("4", 4.0, True, [4])],
    ("customer_name", "", "This must not be empty."),
    ("customer_name", "\u3000", "This must not be empty."),
    ("customer_name", "x" * 201, "This must be at most 200 characters long."),
    ("customer_name", "Ada\nLovelace", CONTROL),
    ("customer_name", "Ada\n", CONTROL),
    *[("customer_email", value, EMAIL) for value in ("ada", "ada@", "@example.com", "ada@b", "a b@example.com")],
    *[("customer_email", value, EMAIL) for value in ("Ada <ada@example.com>", "ada@example.com,b@example.com")],
    # Domains that become too long, or another address, when they are written in ASCII.
    *[("customer_email", value, EMAIL) for value in (f"a@{'ü' * 60}.de", "ada@eve\uff20example.com")],
    # The one letter beyond ASCII that Django takes for one of its own.
    ("customer_email", "\u017f@example.com", "What stands before the @ must be ASCII"),
    ("customer_email", "", "This must not be empty."),
    ("customer_email", "ada@example.com\n", CONTROL),
    ("customer_email", "a" * 64 + "@" + ".".join(["b" * 60] * 4), "This must be at most 254 characters long."),
    *[("customer_phone", value, PHONE) for value in ("15550100999", "0039061234567", "+0123456789", "+123456")],
    *[("customer_phone", value, PHONE) for value in ("+1234567890123456", "+1 555 010 0999 ext 5", "++15550100999")],
    *[("customer_phone", value, PHONE) for value in ("+3906123456\u0667", "tel:+15550100999", "+1/555/0100999", "+")],
    ("customer_phone", 15550100999, STRING),
    ("special_requests", "x" * 2001, "This must be at most 2000 characters long."),
    ("special_requests", None, "This must not be null."),
    ("metadata", {"a": None}, "The text of `a` must be a string of at most 500 characters."),
    ("party", 4, "Unknown field `party`. Did you mean `party_size`?"),
    ("status", "confirmed", "Unknown field `status`. Known: customer_name,"),
    ("tables", ["T1"], "Unknown field `tables`."),
]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("field", "value", "message"), WRONG)
@pytest.mark.django_db
def test_a_wrong_reservation_is_refused_by_name(api: Client, field: str, value: Any, message: str) -> None:
    ((param, page_text),) = problems(post(api, **{field: value}))
    assert (param, page_text[: len(message)]) == (field, message)


@pytest.mark.parametrize("field", ["customer_name", "date", "time", "party_size"])
@pytest.mark.django_db
def test_what_is_required_is_named(api: Client, field: str) -> None:
    body = builders.reservation_body()
    del body[field]
    response = api.post(RESERVATIONS, body, content_type="application/json")
    assert problems(response) == [(field, "This is required.")]


@pytest.mark.parametrize("contacts", [{}, {"customer_email": None}, {"customer_email": None, "customer_phone": None}])
@pytest.mark.django_db
def test_a_guest_can_be_reached(api: Client, contacts: dict[str, Any]) -> None:
    body = builders.reservation_body()
    del body["customer_email"]
    response = api.post(RESERVATIONS, body | contacts, content_type="application/json")
    assert problems(response) == [("customer_email", "Enter an email address or a phone number.")]


@pytest.mark.django_db
def test_all_errors_of_the_body_come_together_and_before_those_of_time(api: Client) -> None:
    body = {"customer_name": 5, "date": "2020-01-01", "time": "7:30", "party_size": "4", "phone": "+1"}
    found = problems(api.post(RESERVATIONS, body, content_type="application/json"))
    assert [param for param, _ in found] == ["phone", "customer_name", "time", "party_size"]


@pytest.mark.parametrize(
    ("date", "time", "param", "message"),
    [
        (
            "2026-11-20",
            "19:30",
            "date",
            "2026-11-20 is in the past. The current date at the restaurant is 2026-11-21.",
        ),
        (
            "0001-01-01",
            "00:00",
            "date",
            "0001-01-01 is in the past. The current date at the restaurant is 2026-11-21.",
        ),
        ("2026-11-21", "13:00", "time", "13:00 is in the past."),
        ("2027-11-22", "19:30", "date", "Reservations are taken at most 365 days ahead."),
        ("9999-12-31", "23:59", "date", "Reservations are taken at most 365 days ahead."),
        ("2027-03-28", "02:30", "time", "On 2027-03-28 the clocks in Europe/Rome skip 02:30."),
    ],
)
@pytest.mark.django_db
def test_a_moment_that_cannot_be_is_refused_by_name(
    api: Client, date: str, time: str, param: str, message: str
) -> None:
    with time_machine.travel(NOON, tick=False):
        assert problems(post(api, date=date, time=time)) == [(param, message)]
