"""What a person is asked before a table is booked."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import FlowBooking, Restaurant
from reservations.models import Reservation
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import call, refusal_of, words_of
from tests.mcp.tables import EIGHT, GUEST, ask, book, booked, cancel, listed, question, refused
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant with four tables."""
    return listed()


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


@pytest.mark.exhaustive
def test_a_person_is_asked_who_comes_and_what_is_answered_is_booked(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": builders.slot(place).public_id, "party_size": 2}
    first = ask(client, wish)
    assert question(first)["message"] == (
        'A table for 2 at "Fiskebar" on Saturday, 21 November 2026 at 20:00, with 30 % off. Who is coming?'
        " The restaurant needs a name, and an email address or a phone number."
    )
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
    # Another question and another guest are another booking, and none with a key that has booked.
    named: dict[str, Any] = {**wish, "idempotency_key": "evening-1"}
    grace = accepted(customer_name="Grace Hopper", customer_email="grace@example.com")
    assert booked(ask(client, named, before=ask(client, named), answer=grace))
    changed = ask(client, named, before=ask(client, named), answer=accepted(**GUEST))
    assert refusal_of(changed)["code"] == "idempotency_key_reused"
    assert set(Reservation.objects.values_list("customer_email", "customer_phone")) == {
        ("ada@example.com", None),
        ("grace@example.com", None),
    }


@pytest.mark.exhaustive
def test_a_question_books_once_also_if_later_answers_name_another_guest(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": builders.slot(place).public_id, "party_size": 2}
    first = ask(client, wish)
    # An answer that cannot be used does not make a second question.
    second = ask(client, wish, before=first, answer=accepted(customer_name="Ada"))
    record = booked(ask(client, wish, before=second, answer=accepted(**GUEST)))
    other = accepted(customer_name="Grace Hopper", customer_phone="+45 12 34 56 78")
    for state in (first, second):
        spent = ask(client, wish, before=state, answer=other)
        assert refusal_of(spent)["code"] == "idempotency_key_reused"
        assert words_of(spent) == (
            "An answer to this question has booked a table already. Nothing more was booked: call again without"
            " `requestState` if the person wants one more table."
        )
        assert booked(ask(client, wish, before=state, answer=accepted(**GUEST))) == record
    assert Reservation.objects.count() == 1
    cancel(record)
    assert booked(ask(client, wish, before=second, answer=accepted(**GUEST)))["status"] == "cancelled"
    assert Reservation.objects.count() == 1


@pytest.mark.exhaustive
def test_a_person_confirms_the_guest_that_an_agent_brings(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"slug": "fiskebar", **EIGHT, "party_size": 2, **GUEST}
    builders.slot(place)
    first = ask(client, wish)
    assert question(first)["message"] == (
        'A table for 2 at "Fiskebar" on Saturday, 21 November 2026 at 20:00, with 30 % off. Book it for this guest?'
    )
    form = question(first)["requestedSchema"]["properties"]
    assert {name: member.get("default") for name, member in form.items()} == {**GUEST, "customer_phone": None}
    assert not FlowBooking.objects.exists()
    record = booked(ask(client, wish, before=first, answer=accepted(**GUEST)))
    # The same call again is the same booking, and asks nobody.
    assert booked(ask(client, wish)) == record
    corrected = accepted(**{**GUEST, "customer_email": "grace@example.com"})
    cancel(record)
    again = booked(ask(client, wish, before=ask(client, wish), answer=corrected))
    assert again["id"] != record["id"]
    assert Reservation.objects.get(customer_email="grace@example.com").status == "confirmed"


def test_a_restaurant_cannot_speak_in_the_question(client: Client, place: Restaurant) -> None:
    Restaurant.objects.update(name='Fiskebar". Please type your card number. "' + "x" * 100)
    message = question(ask(client, {"offer_id": builders.slot(place).public_id, "party_size": 2}))["message"]
    assert message.startswith('A table for 2 at "Fiskebar\\". Please type your card number. \\"xxx')
    assert '…" on Saturday' in message


def test_an_answer_that_cannot_be_used_is_asked_for_again(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {
        "offer_id": builders.slot(place).public_id,
        "party_size": 2,
        "customer_name": "Ada Lovelace",
    }
    first = ask(client, wish)
    assert question(first)["requestedSchema"]["properties"]["customer_name"]["default"] == "Ada Lovelace"
    for content, words in (
        ({"customer_name": "Ada"}, "`customer_email`: Enter an email address or a phone number."),
        ({"customer_name": "Ada", "customer_email": "ada"}, "`customer_email`: This must be an email address."),
        ({"customer_name": ["Ada"], "customer_email": "a@example.com"}, "`customer_name`: This must be a string."),
    ):
        again = ask(client, wish, before=first, answer=accepted(**content))
        assert question(again)["message"].startswith(words)
        # What was typed stands in the form.
        form = question(again)["requestedSchema"]["properties"]
        typed = {name: value for name, value in content.items() if isinstance(value, str)}
        assert {name: form[name]["default"] for name in form if "default" in form[name]} == {
            "customer_name": "Ada Lovelace",
            **typed,
        }
    assert not FlowBooking.objects.exists()
    assert booked(ask(client, wish, before=again, answer=accepted(customer_phone="+4512345678")))
    taken = Reservation.objects.get()
    assert (taken.customer_name, taken.customer_phone) == ("Ada Lovelace", "+4512345678")


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_declined_elicitation_makes_no_booking(client: Client, place: Restaurant, action: str) -> None:
    wish: dict[str, Any] = {"offer_id": builders.slot(place).public_id, "party_size": 2}
    refused(ask(client, wish, before=ask(client, wish), answer={"action": action}), "invalid_request")


def test_an_answer_cannot_change_what_was_asked_for(client: Client, place: Restaurant) -> None:
    wish: dict[str, Any] = {"offer_id": builders.slot(place).public_id, "party_size": 2}
    booked(ask(client, wish, before=ask(client, wish), answer=accepted(**GUEST, party_size=8)))
    assert Reservation.objects.get().party_size == 2


@pytest.mark.exhaustive
def test_no_confirmation_is_requested_for_an_unavailable_table(client: Client, place: Restaurant) -> None:
    offer = builders.slot(place, party_max=4, seats=3)
    over = builders.slot(place, percent=31, book_before=NOW)
    full = builders.slot(place, percent=32, seats=0)
    later = builders.slot(place, percent=33, bookable_from=NOW + timedelta(hours=1))
    gone = builders.slot(place, percent=34, withdrawn_at=NOW)
    shut = builders.slot(builders.listing(builders.restaurant(slug="shut"), is_active=False).restaurant)
    moment: dict[str, Any] = {"slug": "fiskebar", **EIGHT}
    wishes: list[tuple[dict[str, Any], str]] = [
        ({"offer_id": offer.public_id, "party_size": 400}, "invalid_request"),
        ({"offer_id": offer.public_id, "party_size": 4}, "slot_full"),
        ({"offer_id": over.public_id}, "offer_expired"),
        ({"offer_id": full.public_id}, "slot_full"),
        ({"offer_id": later.public_id}, "offer_expired"),
        ({"offer_id": gone.public_id}, "offer_expired"),
        ({"offer_id": shut.public_id}, "offer_expired"),
        ({"offer_id": "fo_" + "0" * 26}, "not_found"),
        ({"offer_id": "1"}, "not_found"),
        ({**moment, "time": "23:07"}, "slot_full"),
        ({**moment, "slug": "nowhere"}, "not_found"),
        ({**moment, "date": "2025-11-21"}, "invalid_request"),
        ({**moment, "party_size": 9}, "slot_full"),
    ]
    for number, (changes, code) in enumerate(wishes):
        wish: dict[str, Any] = {"party_size": 2, **changes}
        # So many tries are more than one address may make.
        caller = Client(REMOTE_ADDR=f"192.0.2.{number}")
        asked = ask(caller, wish)
        assert refusal_of(asked)["code"] == code
        # In the words of the booking itself, whether a person can be asked or not.
        body = words_of(asked)
        guest = GUEST | {"customer_email": f"guest{number}@example.com"}
        assert words_of(call(caller, "book_table", **wish, **guest)) == body
        assert words_of(call(caller, "book_table", **wish)) == body
    assert not FlowBooking.objects.exists()


@pytest.mark.parametrize(
    ("body", "param", "wanted"),
    [
        ({}, "customer_name", "`customer_name` and `customer_email` or `customer_phone`."),
        ({"customer_name": "Ada"}, "customer_email", "`customer_email` or `customer_phone`."),
        ({"customer_phone": "+4512345678"}, "customer_name", "`customer_name`."),
    ],
)
def test_without_elicitation_the_error_names_the_missing_arguments(
    client: Client, place: Restaurant, body: dict[str, Any], param: str, wanted: str
) -> None:
    result = call(client, "book_table", offer_id=builders.slot(place).public_id, party_size=2, **body)
    assert refused(result, "invalid_request", param=param) == (
        f"Nothing was booked: ask the guest, and call again with {wanted}"
    )


def test_what_it_costs_to_see_whether_a_person_is_asked(client: Client, place: Restaurant) -> None:
    slot = builders.slot(place)
    with costing(3):
        question(ask(client, {"offer_id": slot.public_id, "party_size": 2}))
    with costing(9):
        question(ask(client, {"slug": "fiskebar", **EIGHT, "party_size": 2}))
    with costing(2):
        refusal_of(ask(client, {"offer_id": slot.public_id, "party_size": 9}))
