"""Orders paid in USDC when a process, the database or the facilitator fails: no money is lost."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import Error as DatabaseError
from django.test import override_settings
from django.utils import timezone

from catalogue.order_payments import payment as order_payment
from orders import commands
from orders.models import Order
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue.order_payments.payment_builders import (
    cancel,
    payment,
    place,
    placed,
    post,
    states,
)
from tests.payments.facilitators import hangs_up, serving

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def died(order: Order, headers: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose process is killed after the settlement, before the order is paid."""

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(order_payment, "record", killed)
        with pytest.raises(SystemExit):
            post(order, headers)
    order.refresh()
    assert (order.payment_state, Payment.objects.get(purchase=order.public_id).state) == ("due", "settled")


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_pays_the_order_by_itself(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    died(order, payment(wallet, order), monkeypatch)
    order_payment.reconcile(now=timezone.now() + timedelta(seconds=1))
    assert states(order) == ("due", ["settled"])
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_pays_the_order_at_the_next_request(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    died(order, headers, monkeypatch)
    # Another payment is not needed, and is not taken.
    assert post(order, second).status_code == 400
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_is_refund_due_if_the_order_was_cancelled(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    died(order, payment(wallet, order), monkeypatch)
    cancel(order)
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(order) == ("", ["refund_due"])


@pytest.mark.exhaustive
def test_a_database_that_fails_after_the_settlement_loses_nothing(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    headers = payment(wallet, order)

    def fails(*_: Any, **__: Any) -> bool:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(commands, "mark_paid", fails)
        answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "settlement_pending")
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_while_the_outcome_of_a_settlement_is_not_known_no_other_payment_is_taken(
    wallets: Mapping[str, Wallet],
) -> None:
    order = placed()
    headers, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    with serving(hangs_up) as server, override_settings(FACILITATOR_URL=server.url):
        assert post(order, headers).status_code == 503
    answer = post(order, second)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "settlement_pending")
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_an_order_that_cannot_be_reconciled_does_not_stop_the_next(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = placed()
    broken, other = order, place(order.venue)
    died(broken, payment(wallets["free"], broken), monkeypatch)
    died(other, payment(wallets["pro"], other), monkeypatch)
    record = order_payment.record

    def fails(each: Order, *args: Any, **options: Any) -> bool:
        if each.pk == broken.pk:
            raise DatabaseError
        return record(each, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(order_payment, "record", fails)
        order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    other.refresh()
    broken.refresh()
    assert (broken.payment_state, other.payment_state) == ("due", "paid")
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    assert states(broken) == ("paid", ["delivered", "delivered"])
