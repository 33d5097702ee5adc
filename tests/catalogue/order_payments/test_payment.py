"""Orders that guests pay in USDC by an x402 client: once, and only where it is offered."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import Event, Venue
from catalogue.order_payments import payment as order_payment
from orders import commands
from orders.models import Order
from orders.ordering_page import links
from payments.checkout import admission
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue.order_payments.payment_builders import (
    AMOUNT,
    address_of,
    enter,
    findings,
    paid,
    payment,
    place,
    placed,
    post,
    shown_amount,
    states,
    words,
)
from tests.payments.buyer import at_once, signed_by
from tests.payments.facilitators import hangs_up, serving
from tests.support import builders
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def test_without_a_payment_the_answer_is_the_exact_amount_of_the_order(db: None) -> None:
    order = placed()
    answer = post(order)
    body = answer.json()
    assert (answer.status_code, body["error"], body["accepts"][0]["scheme"]) == (402, "payment_required", "exact")
    assert body["accepts"][0]["maxAmountRequired"] == "8636364"
    # The facilitator gets it too, and the link is a secret of the guest.
    assert body["accepts"][0]["resource"] == f"{links.page_url(order.venue)}#{order.public_id}"
    assert body["detail"].startswith(f"Order 1 of {order.business_date} at Pizzeria.")
    assert not Payment.objects.exists()


def test_an_x402_client_pays_an_order_once_and_its_record_says_so(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    first, again = post(order, headers), post(order, headers)
    assert first.json() == again.json()
    assert first.json() == {
        "order": order.public_id,
        "number": 1,
        "payment": {"state": "paid", "amount": AMOUNT, "currency": "USDC"},
    }
    assert first.headers["PAYMENT-RESPONSE"]
    # Also without a payment.
    assert post(order).json() == first.json()
    row = Payment.objects.get()
    assert (row.state, row.products, row.amount_usdc) == ("delivered", ["order"], Decimal(AMOUNT))
    # The link is a secret of the guest.
    assert links.token_of(order.public_id) not in row.resource
    record = builders.client(order.venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["payment"] == {"state": "paid", "amount": AMOUNT, "currency": "USDC"}
    event = Event.objects.filter(subject=order.pk).latest("created_at", "id")
    assert event.type == "order.updated"
    assert findings() == []


@pytest.mark.exhaustive
def test_another_amount_is_refused_and_charges_nothing(wallet: Wallet) -> None:
    order = placed()
    answer = post(order, signed_by(wallet, value=8_636_363))
    assert (answer.status_code, answer.json()["reason"]) == (402, "wrong_amount")
    assert states(order) == ("due", [])


@pytest.mark.exhaustive
def test_a_second_authorization_for_a_paid_order_is_refused_and_charges_nothing(wallets: Mapping[str, Wallet]) -> None:
    order = placed()
    second = payment(wallets["pro"], order)
    paid(order, wallets["free"])
    answer = post(order, second)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_a_payment_pays_no_other_order(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    post(order, headers)
    other = place(order.venue)
    answer = post(other, headers)
    assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used")
    assert states(other) == ("due", ["delivered"])


@pytest.mark.exhaustive
def test_of_four_payments_at_once_one_is_charged() -> None:
    order = placed()
    several = [payment(fresh_wallet(), order) for _ in range(4)]
    waiting = list(several)

    def call() -> int:
        return int(post(Order.objects.select_related("venue").get(), waiting.pop()).status_code)

    answers = at_once(4, call)
    assert answers.count(200) == 1
    order_payment.reconcile(now=timezone.now() + timedelta(minutes=1))
    state, ledger = states(order)
    assert (state, ledger) == ("paid", ["delivered"])
    assert findings() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_settled", [True, False])
def test_a_payment_that_was_checked_before_another_was_claimed_charges_nothing(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch, is_settled: bool
) -> None:
    order = placed()
    first, second = payment(wallets["free"], order), payment(wallets["pro"], order)
    admit = admission.admit

    def other_first(*args: Any) -> Any:
        monkeypatch.setattr(admission, "admit", admit)
        if is_settled:
            assert post(order, first).status_code == 200
        else:
            with serving(hangs_up) as server, override_settings(FACILITATOR_URL=server.url):
                assert post(order, first).status_code == 503
        return admit(*args)

    monkeypatch.setattr(admission, "admit", other_first)
    answer = post(order, second)
    expected = (400, "invalid_transition") if is_settled else (503, "settlement_pending")
    assert (answer.status_code, answer.json()["error"]["code"]) == expected
    assert post(order, first).status_code == 200
    assert states(order) == ("paid", ["delivered"])


@pytest.mark.exhaustive
def test_one_payment_sent_eight_times_at_once_is_charged_once(wallet: Wallet) -> None:
    order = placed()
    headers = payment(wallet, order)
    answers = at_once(8, lambda: post(Order.objects.select_related("venue").get(), headers).status_code)
    assert set(answers) <= {200, 503}
    assert post(order, headers).status_code == 200
    assert states(order) == ("paid", ["delivered"])


def test_the_page_of_an_order_that_cannot_be_paid_in_usdc_offers_nothing() -> None:
    order = placed()
    offered = Client().get(f"{address_of(order)}?lang=en")
    assert "You pay at the restaurant: Cash. Pay 8.636364 USDC now" in words(offered)
    with override_settings(PAY_TO=""):
        assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
    # Handed over: perhaps paid at the counter.
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
    assert post(order).status_code == 400


@pytest.mark.exhaustive
def test_a_completed_order_takes_no_payment_and_a_transfer_for_it_is_refund_due(wallet: Wallet) -> None:
    order, sender = placed(), fresh_wallet()
    headers, amount = payment(wallet, order), shown_amount(order)
    commands.change_status(order, "completed", now=timezone.now(), actor="staff")
    answer = post(order, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_transition")
    assert states(order) == ("due", [])
    assert enter(order, transfer_usdc(sender, settings.PAY_TO, amount)).status_code == 409
    assert states(order) == ("due", ["refund_due"])
    # Reopened, it is due again.
    commands.reopen_order(order, now=timezone.now(), actor="staff")
    assert post(order, headers).status_code == 200


def test_a_sandbox_takes_usdc_of_the_development_chain_only() -> None:
    order = placed()
    Venue.objects.update(is_sandbox=True)
    assert "USDC now" in words(Client().get(f"{address_of(order)}?lang=en"))
    with override_settings(PAYMENT_NETWORK="eip155:8453"):
        assert "USDC now" not in words(Client().get(f"{address_of(order)}?lang=en"))
        assert post(order).status_code == 400
        Venue.objects.update(is_sandbox=False)
        assert post(order).status_code == 402


def test_a_wrong_link_leads_to_no_payment(db: None) -> None:
    order = placed()
    wrong = address_of(order)[:-2] + "xx"
    assert Client().get(f"{wrong}/pay").status_code == 404
    assert Client().post(f"{wrong}/pay").status_code == 404


@pytest.mark.exhaustive
def test_one_address_gets_sixty_prices_a_minute() -> None:
    order = placed()
    with time_machine.travel(timezone.now(), tick=False):
        answers = [post(order) for _ in range(61)]
        elsewhere = post(order, client=Client(REMOTE_ADDR="192.0.2.7"))
    assert [answer.status_code for answer in answers] == [402] * 60 + [429]
    assert answers[-1].json()["error"]["code"] == "rate_limit_exceeded"
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert elsewhere.status_code == 402


@pytest.mark.exhaustive
def test_signed_challenges_count_as_attempts_to_pay_an_order() -> None:
    """The chain may be asked about each."""
    order, headers = placed(), {"SIGN-IN-WITH-X": "e30="}
    answers = [post(order, headers, client=Client(REMOTE_ADDR=f"192.0.2.{number}")) for number in range(61)]
    assert [answer.status_code for answer in answers] == [401] * 60 + [429]
    # Who only asks for the price gets it.
    assert post(order).status_code == 402
