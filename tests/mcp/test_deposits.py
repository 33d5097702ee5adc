"""Deposits over MCP: the person consents to the table and its terms, and the client pays with the same call."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from catalogue.models import FlowBooking
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from reservations.models import Reservation
from tests.catalogue import builders
from tests.catalogue.bookings.deposit_builders import evening, has_hold, restaurant, send, tool, tool_payment
from tests.mcp.client import STATELESS, call, content_of, refusal_of, rpc, words_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


@pytest.mark.exhaustive
def test_an_unpaid_call_tells_the_deposit_and_a_paid_one_books(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    asked = tool(place, body)
    assert (asked["isError"], asked["structuredContent"]["accepts"][0]["amount"]) == (True, "20000000")
    assert refusal_of(asked)["code"] == "payment_required"
    record = content_of(tool(place, body, meta={PAYMENT_META: tool_payment(wallet, asked)}))
    assert (record["status"], record["deposit"]["status"]) == ("confirmed", "held")
    assert record["cancellation"]["text"].startswith("The deposit of 20 USDC is returned when you come")
    assert Payment.objects.get().channel == "mcp"
    assert not has_hold()


@pytest.mark.exhaustive
def test_the_same_call_is_the_same_booking_and_charged_once(wallet: Wallet) -> None:
    place, body = restaurant(tables=2), evening()
    paid = {PAYMENT_META: tool_payment(wallet, tool(place, body))}
    first, again, unpaid = (content_of(tool(place, body, meta=meta)) for meta in (paid, paid, None))
    assert first["id"] == again["id"] == unpaid["id"]
    assert Payment.objects.count() == FlowBooking.objects.count() == 1


@pytest.mark.exhaustive
def test_a_guest_who_has_a_table_then_pays_for_no_second_one(wallet: Wallet) -> None:
    place, body = restaurant(tables=2), evening()
    tool(place, body, meta={PAYMENT_META: tool_payment(wallet, tool(place, body))})
    other = body | {"special_requests": "By the window"}
    paid = {PAYMENT_META: tool_payment(wallet, tool(place, other))}
    refused = tool(place, other, meta=paid)
    assert refusal_of(refused)["code"] == "too_many_bookings"
    assert Payment.objects.count() == 1
    assert not has_hold()


@pytest.mark.exhaustive
def test_a_tool_cancels_by_the_terms(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    record = content_of(tool(place, body, meta={PAYMENT_META: tool_payment(wallet, tool(place, body))}))
    named = {"booking_id": record["id"], "manage_token": record["manage_token"]}
    cancelled = content_of(call(Client(), "cancel_booking", **named))
    assert (cancelled["status"], cancelled["deposit"]["status"]) == ("cancelled", "refund_due")
    assert content_of(call(Client(), "get_booking", **named))["deposit"]["status"] == "refund_due"
    assert send("get", record).json()["deposit"]["status"] == "refund_due"


@pytest.mark.exhaustive
def test_a_change_to_a_higher_deposit_says_what_to_do(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    record = content_of(tool(place, body, meta={PAYMENT_META: tool_payment(wallet, tool(place, body))}))
    named = {"booking_id": record["id"], "manage_token": record["manage_token"]}
    refused = call(Client(), "change_booking", **named, party_size=4)
    assert refusal_of(refused)["code"] == "deposit_required"
    assert "cancel this booking and book again" in words_of(refused)


def test_the_availability_names_the_deposit_of_each_time() -> None:
    place, body = restaurant(), evening()
    found = content_of(call(Client(), "check_availability", slug=place.slug, date=body["date"], party_size=2))
    slot = found["days"][0]["slots"][8]
    assert (slot["time"], slot["terms"]["deposit"]) == ("19:00", {"amount": "20", "currency": "USDC"})


def ask(
    arguments: dict[str, Any], *, before: Any = None, answer: Any = None, meta: Mapping[str, Any] | None = None
) -> Any:
    """A round of book_table by a client that shows forms; `before` is the result of the round before."""
    params: dict[str, Any] = {"name": "book_table", "arguments": arguments}
    if before is not None:
        params |= {"requestState": before["requestState"], "inputResponses": {"guest": answer}}
    return rpc(Client(), "tools/call", params, era=STATELESS, capabilities={"elicitation": {}}, meta=meta)["result"]


def asked_for(result: Any) -> str:
    message: str = result["inputRequests"]["guest"]["params"]["message"]
    return message


@pytest.mark.exhaustive
def test_a_form_asks_consent_to_restaurant_day_time_party_and_terms_before_anything_is_paid(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    arguments = {"slug": place.slug, **body}
    form = ask(arguments)
    text = asked_for(form)
    assert text.startswith('A table for 2 at "Fiskebar" on ')
    assert " at 19:00. The deposit of 20 USDC is returned when you come, or if you cancel until 19:00 on " in text
    assert text.endswith(
        " If you cancel later or do not come, the restaurant keeps it. The deposit is paid with this booking."
        " Book it for this guest?"
    )
    accepted = {"action": "accept", "content": {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}}
    challenge = ask(arguments, before=form, answer=accepted)
    assert challenge["structuredContent"]["accepts"][0]["amount"] == "20000000"
    paid = {PAYMENT_META: tool_payment(wallet, challenge)}
    record = ask(arguments, before=form, answer=accepted, meta=paid)["structuredContent"]
    assert (record["status"], record["deposit"]["status"]) == ("confirmed", "held")
    # The state is spent once: the same answer is the same booking, whatever comes with it.
    again = ask(arguments, before=form, answer=accepted)["structuredContent"]
    assert again["id"] == record["id"]
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_who_declines_pays_nothing(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    arguments = {"slug": place.slug, **body}
    form = ask(arguments)
    refused = ask(arguments, before=form, answer={"action": "decline"}, meta={})
    assert refused["isError"]
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_two_guests_of_the_same_arguments_have_payments_of_their_own(wallets: Mapping[str, Wallet]) -> None:
    place, body = restaurant(tables=2), evening()
    arguments = {"slug": place.slug, **{name: body[name] for name in ("date", "time", "party_size")}}
    records = []
    for name in ("free", "pro"):
        form = ask(arguments)
        guest = {"customer_name": name, "customer_email": f"{name}@example.com"}
        accepted = {"action": "accept", "content": guest}
        challenge = ask(arguments, before=form, answer=accepted)
        paid = {PAYMENT_META: tool_payment(wallets[name], challenge)}
        records.append(ask(arguments, before=form, answer=accepted, meta=paid)["structuredContent"])
    assert records[0]["id"] != records[1]["id"]
    assert Payment.objects.count() == Reservation.objects.count() == 2


@pytest.mark.exhaustive
def test_the_form_names_the_discount_and_the_terms_of_an_offer() -> None:
    place = restaurant(free_hours=24)
    at = datetime.fromisoformat(f"{evening()['date']}T19:00").replace(tzinfo=ZoneInfo("Europe/Copenhagen"))
    slot = builders.slot(place, starts_at=at, terms="Not on the terrace.")
    arguments = {
        "offer_id": slot.public_id,
        "party_size": 2,
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
    }
    text = asked_for(ask(arguments))
    assert ', with 30 % off. The terms of the offer: "Not on the terrace.". ' in text
    # A booking at an offer takes no deposit.
    assert "deposit" not in text
