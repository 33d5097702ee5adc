"""Orders paid in USDC that are cancelled: refund due, then refunded."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.lifecycle import closure
from catalogue.order_payments import payment as order_payment
from orders import commands
from orders.models import Order
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment
from tests.catalogue.order_payments.payment_builders import (
    address_of,
    cancel,
    enter,
    findings,
    paid,
    payment,
    placed,
    post,
    shown_amount,
    states,
    words,
)
from tests.payments.buyer import at_once
from tests.support import builders
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


@pytest.mark.exhaustive
def test_a_cancelled_order_that_was_paid_is_refund_due_and_then_refunded(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    cancel(order)
    assert states(order) == ("refund_due", ["refund_due"])
    assert Payment.objects.get().error == "order_cancelled"
    assert "Your 8.636364 USDC go back to the wallet that sent them." in words(
        Client().get(f"{address_of(order)}?lang=en")
    )
    row = Payment.objects.get()
    Payment.objects.update(block=row.block or 1)
    sent = "0x" + "cd" * 32
    assert transitions.record_refund(row.pk, tx_hash=sent, by="staff", now=timezone.now())
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refunded", ["refunded"])
    assert findings() == []
    # It was not sent after all.
    assert transitions.withdraw_refund(row.pk, by="staff")
    assert findings() == [f"order_payments: {row.public_id}: the payment is refund_due, and its order is refunded"]
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refund_due", ["refund_due"])
    assert findings() == []


@pytest.mark.exhaustive
def test_an_order_that_is_cancelled_while_it_is_due_takes_no_payment(wallet: Wallet) -> None:
    order, sender = placed(), fresh_wallet()
    headers, amount = payment(wallet, order), shown_amount(order)
    cancel(order)
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    # Money that was sent is not lost.
    answer = enter(order, transfer_usdc(sender, settings.PAY_TO, amount))
    assert answer.status_code == 409
    assert states(order) == ("", ["refund_due"])
    record = builders.client(order.venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["payment"] is None


@pytest.mark.exhaustive
def test_an_order_that_is_cancelled_while_its_payment_is_settled_makes_it_refund_due(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers = payment(wallet, order)
    record = order_payment.record

    def cancelled_first(*args: Any, **options: Any) -> bool:
        cancel(Order.objects.select_related("venue").get())
        return record(*args, **options)

    monkeypatch.setattr(order_payment, "record", cancelled_first)
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["refund"]) == (400, Payment.objects.get().public_id)
    assert states(order) == ("", ["refund_due"])


def call_next(calls: list[Callable[[], Any]]) -> Any:
    return calls.pop()()


@pytest.mark.exhaustive
def test_a_cancellation_and_a_payment_at_once_never_keep_the_money_of_a_cancelled_order() -> None:
    for _ in range(5):
        order = placed()
        headers = payment(fresh_wallet(), order)
        calls: list[Callable[[], Any]] = [
            partial(post, order, headers),
            partial(cancel, Order.objects.select_related("venue").get(pk=order.pk)),
        ]
        at_once(2, partial(call_next, calls))
        order.refresh()
        kept = Payment.objects.filter(purchase=order.public_id, state__in=Payment.EARNED)
        assert (order.status, order.payment_state in ("", "refund_due"), kept.exists()) == ("cancelled", True, False)
    assert findings() == []


@pytest.mark.exhaustive
def test_goodwill_of_the_operator_is_shown_on_the_order(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    row = Payment.objects.get()
    assert transitions.mark_refund_due(row.pk, reason=Payment.RefundReason.GOODWILL, by="staff")
    order_payment.reconcile(now=timezone.now())
    assert states(order) == ("refund_due", ["refund_due"])


@pytest.mark.exhaustive
def test_an_account_with_a_paid_order_that_is_not_handed_over_is_not_closed(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    account = order.venue.account
    with pytest.raises(closure.CannotClose, match=r"Open orders that guests have paid in USDC: 1\. Complete or"):
        closure.close_account(account, name=account.name, now=timezone.now())
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    closure.close_account(account, name=account.name, now=timezone.now())


@pytest.mark.exhaustive
def test_the_payment_of_a_deleted_order_is_no_finding(wallet: Wallet) -> None:
    order = paid(placed(), wallet)
    row = Payment.objects.get()
    Order.objects.update(payment_state="due", usdc_payment=None)
    assert findings() == [
        f"order_payments: {row.public_id}: the payment is delivered, and its order names none or another"
    ]
    closure.delete_account(order.venue.account)
    assert findings() == []
