"""A payer asks for the money of a delivered answer back, once, and staff answer."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.lifecycle import closure
from accounts.models import Venue
from catalogue.models import Deposit, FlowBooking
from orders.models import Order
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, PaymentEvent
from payments.models import Wallet as WalletRow
from reservations.guests import erasure
from reservations.guests.profiles import guest_of_reservation
from reservations.models import Reservation
from tests.catalogue import builders
from tests.mcp.client import call, content_of, refusal_of
from tests.payments.ledger_builders import NOW, payment
from tests.payments.signing import client_of
from tests.support import builders as base

pytestmark = pytest.mark.django_db
State = Payment.State
REASON = {"reason": "The reviews were of another restaurant."}


@pytest.fixture
def payer(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def ask(client: Client, row: Payment, body: Any = REASON) -> Any:
    return client.post(f"/v1/payments/{row.public_id}/refund-request", body, content_type="application/json")


def delivered(payer: Wallet, **values: Any) -> Payment:
    return payment(payer=payer.address, state=State.DELIVERED, delivered_at=NOW, **values)


def test_a_refund_is_asked_for_once_and_the_first_reason_counts(payer: Wallet) -> None:
    row, client = delivered(payer), client_of(payer)
    first = ask(client, row).json()
    assert (first["state"], first["refund_declined_at"]) == ("delivered", None)
    assert ask(client, row, {"reason": "Another one."}).json()["refund_requested_at"] == first["refund_requested_at"]
    row.refresh_from_db()
    assert row.refund_request == REASON["reason"]
    assert Payment.objects.with_open_request().get() == row
    # It moves no money, so it is no event of the ledger.
    assert PaymentEvent.objects.filter(payment=row).count() == 1


def test_staff_decline_once_and_the_payer_reads_it(payer: Wallet) -> None:
    row, client = delivered(payer), client_of(payer)
    assert not transitions.decline_refund(row.pk, now=NOW)
    ask(client, row)
    assert transitions.decline_refund(row.pk, now=NOW + timedelta(days=1))
    assert not transitions.decline_refund(row.pk, now=NOW)
    assert ask(client, row).json()["refund_declined_at"] == "2026-11-22T12:00:00Z"
    assert not Payment.objects.with_open_request().exists()


def test_a_granted_request_is_no_longer_open(payer: Wallet) -> None:
    row, client = delivered(payer), client_of(payer)
    ask(client, row)
    assert transitions.mark_refund_due(row.pk, reason=Payment.RefundReason.GOODWILL, by="staff")
    assert not Payment.objects.with_open_request().exists()
    assert ask(client, row).json()["state"] == "refund_due"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"state": State.SETTLED}, "This payment is `settled`."),
        ({"state": State.EXPIRED, "settled_at": None, "tx_hash": None}, "This payment is `expired`."),
        ({"state": State.DELIVERED, "products": ["deposit"]}, "The restaurant has this money"),
    ],
)
def test_money_that_bought_nothing_or_is_a_restaurants_is_not_asked_for(
    payer: Wallet, values: dict[str, Any], words: str
) -> None:
    row = payment(payer=payer.address, **values)
    answer = ask(client_of(payer), row)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    assert words in answer.json()["error"]["message"]


def test_only_the_payer_asks(payer: Wallet, wallets: Mapping[str, Wallet]) -> None:
    row = delivered(payer)
    assert ask(Client(), row).status_code == 401
    assert ask(client_of(wallets["pro"]), row).status_code == 404
    assert ask(client_of(payer), row, {"reason": ""}).json()["error"]["param"] == "reason"


def test_an_agent_lists_payments_and_asks_for_a_refund(payer: Wallet) -> None:
    row, client = delivered(payer), client_of(payer)
    (listed,) = content_of(call(client, "list_payments", limit="5"))["data"]
    assert (listed["id"], listed["products"]) == (row.public_id, ["context"])
    asked = content_of(call(client, "request_refund", payment_id=row.public_id, reason=REASON["reason"]))
    assert asked["refund_requested_at"] is not None
    assert refusal_of(call(Client(), "list_payments"))["code"] == "missing_credentials"
    assert refusal_of(call(client, "request_refund", payment_id="pay_1", reason="Why?"))["param"] == "payment_id"


def test_the_database_refuses_half_a_request(payer: Wallet) -> None:
    rows = Payment.objects.filter(pk=delivered(payer).pk)
    for half in ({"refund_requested_at": NOW}, {"refund_request": "Why?"}, {"refund_declined_at": NOW}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**half)


# Erasure
def test_the_words_of_a_request_are_erased_with_the_account(payer: Wallet, venue: Venue) -> None:
    row, other = delivered(payer), payment(1, state=State.DELIVERED, delivered_at=NOW)
    ask(client_of(payer), row)
    Payment.objects.filter(pk=other.pk).update(refund_requested_at=NOW, refund_request="Of another account")
    WalletRow.objects.filter(pk=payer.address).update(account=venue.account)
    closure.close_account(venue.account, name=venue.account.name, now=NOW)
    row.refresh_from_db()
    # The request stays open: staff answer it.
    assert (row.refund_request, Payment.objects.with_open_request().count()) == ("(erased)", 2)
    other.refresh_from_db()
    assert other.refund_request == "Of another account"


def request_of(number: int) -> Payment:
    """A delivered payment, whose payer has asked for it back."""
    said = {"refund_requested_at": NOW, "refund_request": "I am Ada, and I was ill"}
    return payment(number, state=State.DELIVERED, delivered_at=NOW, **said)


def test_the_words_about_a_deposit_are_erased_with_the_guest() -> None:
    venue = builders.listing(builders.restaurant()).venue
    mine, others = request_of(1), request_of(2)
    for row, name in ((mine, "Ada"), (others, "Bob")):
        reservation = base.reservation(
            venue, customer_name=name, customer_email=f"{name}@example.com", status="cancelled"
        )
        booking = FlowBooking.objects.create(reservation=reservation, seats=2, created_at=NOW)
        Deposit.objects.create(booking=booking, payment=row)
    guest = guest_of_reservation(Reservation.objects.get(customer_name="Ada"))
    erasure.erase(guest, name="Ada", typed="Ada", now=NOW, actor="system")
    texts = Payment.objects.order_by("proof_key").values_list("refund_request", flat=True)
    assert list(texts) == ["(erased)", "I am Ada, and I was ill"]


def test_the_words_about_an_order_are_erased_with_the_guest(venue: Venue) -> None:
    mine, others = request_of(1), request_of(2)
    for row, phone in ((mine, "+390612345678"), (others, "+390612345679")):
        order = base.order(venue)
        path = f"/api/v1/orders/{order.public_id}/status"
        base.client(venue).put(path, {"status": "completed"}, content_type="application/json")
        paid = {"usdc_amount": 1, "payment_state": "paid", "usdc_payment": row.pk}
        Order.objects.filter(pk=order.pk).update(contact_name="Ada", contact_phone=phone, **paid)
    reservation = base.reservation(venue, customer_name="Ada", customer_phone="+390612345678", status="cancelled")
    erasure.erase(guest_of_reservation(reservation), name="Ada", typed="Ada", now=NOW, actor="system")
    texts = Payment.objects.order_by("proof_key").values_list("refund_request", flat=True)
    assert list(texts) == ["(erased)", "I am Ada, and I was ill"]
