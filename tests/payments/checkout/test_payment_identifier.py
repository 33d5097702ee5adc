"""A payment identifier names one payment of its payer: who signs anew under it is served, and not charged again.

After each test what we have received on the chain is the sum of the ledger.
"""

import json
import threading
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import Sum
from django.utils import timezone
from x402.extensions.payment_identifier import (
    PAYMENT_IDENTIFIER,
    append_payment_identifier_to_extensions,
    is_payment_identifier_required,
    validate_payment_identifier,
)
from x402.http.utils import decode_payment_required_header, encode_payment_signature_header
from x402.schemas import PaymentRequired as RequiredV2

from payments import checkout, x402
from payments.checkout import PaymentIdentifierReused
from payments.checkout.context import public_id
from payments.devchain.wallets import Wallet
from payments.ledger import reconcile, transitions
from payments.models import Payment
from payments.x402 import Receipt
from tests.payments.buyer import (
    REVIEWS,
    abandoned,
    aged,
    asked,
    at_once,
    buy,
    client_of,
    paid_by,
    read,
    reason,
    refused,
    sent_by_somebody,
    signed_by,
    tampered,
)
from tests.payments.facilitators import never_answers, refuses, says, serving, settles_and
from tests.payments.transfers import contract_wallet, front_run
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance

State = Payment.State
NAME = "pay_7d5d747be160e280504c099d984bcfe0"
PRICE = Decimal("0.002")
NOWHERE = "http://127.0.0.1:1"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("books")]


def called(headers: Mapping[str, str], name: Any = NAME) -> dict[str, str]:
    """The same payment under this identifier."""
    payment = read(headers)
    extension = {"info": {"required": False, "id": name}, "schema": {}}
    payment["extensions"] = {PAYMENT_IDENTIFIER: extension}
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


def anew(wallet: Wallet, name: Any = NAME, **rest: Any) -> dict[str, str]:
    """A newly signed payment under this identifier."""
    return called(paid_by(wallet, **rest), name)


def lost(wallet: Wallet, settings: LazySettings) -> dict[str, str]:
    """A payment that a facilitator has not settled and of which it said nothing: its outcome is unknown."""
    real, headers = settings.FACILITATOR_URL, anew(wallet)
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), checkout.SettlementPending)
    settings.FACILITATOR_URL = real
    assert Payment.objects.get().state == State.UNKNOWN
    return headers


# What it promises
def test_the_official_client_may_name_its_payment_and_is_charged_once_for_it(wallets: Mapping[str, Wallet]) -> None:
    wallet, receipts = wallets["free"], []
    before = usdc_balance(wallet.address)
    for _ in range(2):
        required = decode_payment_required_header(refused({}).headers["PAYMENT-REQUIRED"])
        assert isinstance(required, RequiredV2)
        assert required.extensions is not None
        declared = required.extensions[PAYMENT_IDENTIFIER]
        assert validate_payment_identifier(declared).valid
        assert not is_payment_identifier_required(declared)
        append_payment_identifier_to_extensions(required.extensions, NAME)
        payload = client_of(wallet).create_payment_payload(required, extensions=required.extensions)
        receipts.append(buy({"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}))
    assert receipts[0] == receipts[1]
    assert before - usdc_balance(wallet.address) == PRICE
    assert Payment.objects.get().payment_identifier == NAME


def test_a_client_that_sends_back_what_we_said_has_named_nothing(wallets: Mapping[str, Wallet]) -> None:
    for _ in range(2):
        buy(called(paid_by(wallets["free"]), None))
    assert list(Payment.objects.values_list("payment_identifier", flat=True)) == ["", ""]


def test_a_new_payment_under_the_same_identifier_is_served_and_never_settled(wallets: Mapping[str, Wallet]) -> None:
    first = buy(anew(wallets["free"]))
    with serving(says(500, {})) as server:
        assert buy(anew(wallets["free"])) == buy(anew(wallets["free"])) == first
        assert server.asked == []
    assert Payment.objects.count() == 1


def test_it_is_served_whatever_it_would_cost_by_now(wallets: Mapping[str, Wallet]) -> None:
    first = buy(anew(wallets["free"]))
    assert buy(called(signed_by(wallets["free"], value=1))) == first


def test_a_request_that_comes_again_is_known_by_its_own_header_whatever_it_is_called(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = anew(wallets["free"])
    first, other = buy(headers), buy(anew(wallets["free"], "another-name-000"), asked("geranium"))
    assert first != other
    assert buy(called(headers, "another-name-000")) == buy(called(headers, None)) == first


def test_another_purchase_under_the_same_identifier_is_409_and_costs_nothing(wallets: Mapping[str, Wallet]) -> None:
    first, second = anew(wallets["free"]), anew(wallets["free"])
    buy(first)
    refusal = refused(second, asked("geranium"))
    assert (refusal.status, refusal.code) == (409, "payment_identifier_reused")
    assert "Nothing was charged for this one: pay under a new identifier." in refusal.message
    assert refusal.headers["Cache-Control"] == "no-store"
    assert Payment.objects.count() == 1
    # The same authorization is still good under another name.
    buy(called(second, "another-name-000"), asked("geranium"))


def test_what_came_into_the_answer_later_is_409(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(anew(wallets["pro"]))
    transitions.deliver(receipt.payment, now=timezone.now())
    both = ("context", "reviews")
    refusal = refused(anew(wallets["pro"], products=both), products=both)
    assert isinstance(refusal, PaymentIdentifierReused)
    assert "more in this answer" in refusal.message


def test_an_answer_whose_time_is_over_is_409(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(anew(wallets["free"]))
    transitions.deliver(receipt.payment, now=timezone.now() - timedelta(minutes=11))
    refusal = refused(anew(wallets["free"]))
    assert isinstance(refusal, PaymentIdentifierReused)
    assert "its time is over" in refusal.message


def test_money_that_is_owed_back_is_409_and_named(wallets: Mapping[str, Wallet]) -> None:
    buy(anew(wallets["free"]))
    Payment.objects.update(state=State.REFUND_DUE)
    refusal = refused(anew(wallets["free"]))
    assert isinstance(refusal, PaymentIdentifierReused)
    assert refusal.extra == {"refund": public_id(Payment.objects.get())}


# Whose it is
def test_an_identifier_is_its_payers_own(wallets: Mapping[str, Wallet]) -> None:
    assert buy(anew(wallets["free"])).payer == wallets["free"].address
    assert buy(anew(wallets["pro"])).payer == wallets["pro"].address


def test_who_has_seen_an_identifier_gains_nothing_by_it(wallets: Mapping[str, Wallet]) -> None:
    buy(anew(wallets["free"]))
    victim: dict[str, Any] = {"from": wallets["free"].address}
    assert reason(refused(called(tampered(paid_by(wallets["pro"]), **victim)))) == "invalid_signature"


def test_what_everybody_can_read_on_the_chain_opens_nothing(wallets: Mapping[str, Wallet]) -> None:
    buy(anew(wallets["free"]))
    elsewhere = paid_by(wallets["free"])
    buy(elsewhere, asked("geranium"))
    assert isinstance(refused(called(elsewhere)), x402.PaymentAlreadyUsed)


def test_what_was_signed_for_another_time_opens_nothing(wallets: Mapping[str, Wallet]) -> None:
    buy(anew(wallets["free"]))
    old = anew(wallets["free"])
    assert reason(refused(old, now=timezone.now() + timedelta(minutes=5))) == "expired"


def test_a_new_payment_that_is_on_the_chain_stands_for_itself(wallets: Mapping[str, Wallet]) -> None:
    first, second, third = (anew(wallets["free"]) for _ in range(3))
    buy(first)
    for headers, later in ((second, timedelta(0)), (third, timedelta(minutes=2))):
        transaction = front_run(headers, sender=wallets["pro"])
        receipt = buy(headers, now=timezone.now() + later)
        assert receipt.transaction == transaction
    assert Payment.objects.filter(payment_identifier=NAME).count() == 1
    assert Payment.objects.count() == 3


def test_what_was_sent_past_us_keeps_its_name(wallets: Mapping[str, Wallet]) -> None:
    headers = anew(wallets["free"])
    front_run(headers, sender=wallets["pro"])
    receipt = buy(headers, now=timezone.now() + timedelta(minutes=2))
    assert buy(anew(wallets["free"])) == receipt


def test_a_contract_wallet_has_names_too_as_far_as_it_approves() -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer: dict[str, Any] = {"from": contract_wallet(owner, usdc=Decimal(1))}
    first = buy(called(tampered(paid_by(owner), **payer)))
    assert buy(called(tampered(paid_by(owner), **payer))) == first
    # Code alone is no wallet: the token has code, and approves of nothing.
    nobody: dict[str, Any] = {"from": Payment.objects.get().asset}
    assert reason(refused(called(tampered(paid_by(owner), **nobody)))) == "invalid_signature"


# While the first has not ended
def test_twenty_payments_under_one_identifier_at_once_are_charged_once() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    signed = [anew(wallet) for _ in range(20)]
    lock, left = threading.Lock(), iter(signed)

    def one() -> Receipt:
        with lock:
            headers = next(left)
        return buy(headers)

    receipts = at_once(20, one)
    assert {type(each) for each in receipts} == {Receipt}
    assert len(set(receipts)) == 1
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
    assert Payment.objects.count() == 1


def test_of_two_purchases_under_one_identifier_at_once_one_is_charged() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    wanted = iter([(anew(wallet), asked("noma")), (anew(wallet), asked("geranium"))])
    lock = threading.Lock()

    def one() -> Receipt:
        with lock:
            headers, purchase = next(wanted)
        return buy(headers, purchase)

    found = at_once(2, one)
    assert sorted(type(each).__name__ for each in found) == ["PaymentIdentifierReused", "Receipt"]
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


def test_a_second_payment_waits_for_the_first_to_be_settled(
    wallets: Mapping[str, Wallet], settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("payments.checkout.pending_settlement.TWIN_WAIT_S", 0.2)
    real, over = settings.FACILITATOR_URL, threading.Event()
    first, second = anew(wallets["free"]), anew(wallets["free"])
    with serving(never_answers(over)) as server:
        settings.FACILITATOR_URL = server.url
        waiting = threading.Thread(target=at_once, args=(1, lambda: buy(first)))
        waiting.start()
        assert eventually(lambda: bool(server.asked))
        settings.FACILITATOR_URL = real
        refusal = refused(second)
        assert isinstance(refusal, checkout.SettlementPending)
        assert refusal.headers["Retry-After"] == "1"
        over.set()
        waiting.join()
    assert buy(first).amount == PRICE
    assert Payment.objects.count() == 1


def test_an_unknown_first_is_looked_up_and_the_second_never_settled(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    first = lost(wallets["free"], settings)
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL, real = server.url, settings.FACILITATOR_URL
        refusal = refused(anew(wallets["free"]))
        assert server.asked == []
    settings.FACILITATOR_URL = real
    assert (refusal.status, refusal.code) == (503, "settlement_pending")
    assert Payment.objects.get().state == State.UNKNOWN
    transaction = sent_by_somebody(first)
    receipt = buy(anew(wallets["free"]))
    assert (receipt.transaction, Payment.objects.count()) == (transaction, 1)


def test_a_first_that_was_settled_and_whose_answer_was_lost_serves_the_second(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, first = settings.FACILITATOR_URL, anew(wallets["free"])
    with serving(settles_and(says(500, {}))) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(first), checkout.SettlementPending)
    settings.FACILITATOR_URL = real
    receipt = buy(anew(wallets["free"]))
    assert buy(first) == receipt
    assert Payment.objects.count() == 1


def test_a_first_whose_process_died_is_looked_up(wallets: Mapping[str, Wallet]) -> None:
    first = anew(wallets["free"])
    abandoned(first)
    assert isinstance(refused(anew(wallets["free"])), checkout.SettlementPending)
    assert buy(first).amount == PRICE
    assert buy(anew(wallets["free"])) == buy(first)


def test_a_first_that_can_arrive_no_more_lets_its_name_go(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    lost(wallets["free"], settings)
    Payment.objects.update(valid_before=timezone.now() - timedelta(minutes=2))
    receipt = buy(anew(wallets["free"]))
    assert Payment.objects.get(pk=receipt.payment).payment_identifier == NAME
    old = Payment.objects.exclude(pk=receipt.payment).get()
    assert (old.state, old.payment_identifier) == (State.EXPIRED, "")


def test_the_sweep_lets_the_name_of_what_it_gives_up_go(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    lost(wallets["free"], settings)
    aged()
    Payment.objects.update(valid_before=timezone.now() - timedelta(minutes=2))
    assert reconcile.sweep(now=timezone.now()) == 1
    buy(anew(wallets["free"]))


def test_a_first_that_was_refused_lets_its_name_go(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    real = settings.FACILITATOR_URL
    for script in (refuses("insufficient_funds"), None):
        with serving(script or says(200, {})) as server:
            settings.FACILITATOR_URL = server.url if script else NOWHERE
            refused(anew(wallets["free"]))
        assert Payment.objects.count() == 0
    settings.FACILITATOR_URL = real
    buy(anew(wallets["free"]))


def test_nothing_is_said_while_the_chain_is_away(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    real = settings.RPC_URL
    buy(anew(wallets["free"]))
    second = anew(wallets["free"])
    settings.RPC_URL = NOWHERE
    assert refused(second).code == "service_unavailable"
    settings.RPC_URL = real
    assert Payment.objects.count() == 1


# How it is written
@pytest.mark.parametrize("name", ["a" * 16, "a" * 128, "ABC-xyz_0123456789"])
def test_a_name_has_16_to_128_characters(wallets: Mapping[str, Wallet], name: str) -> None:
    buy(anew(wallets["free"], name))
    assert Payment.objects.get().payment_identifier == name


@pytest.mark.parametrize(
    "name", ["", "a" * 15, "a" * 129, "a" * 16 + "\n", "a" * 15 + "é", "a" * 15 + " ", 10**20, []]
)
def test_any_other_name_is_refused_before_anything_is_charged(wallets: Mapping[str, Wallet], name: Any) -> None:
    refusal = refused(anew(wallets["free"], name))
    assert (refusal.status, refusal.code, refusal.param) == (400, "invalid_payment", "PAYMENT-SIGNATURE")
    assert "16 to 128 letters, digits, hyphens and underscores" in refusal.message
    assert Payment.objects.count() == 0


@pytest.mark.parametrize("extension", ["a" * 16, 5, [], {"info": "a" * 16}, {"info": {"id": {"id": "a" * 16}}}])
def test_an_extension_of_another_shape_is_refused(wallets: Mapping[str, Wallet], extension: Any) -> None:
    payment = read(paid_by(wallets["free"]))
    payment["extensions"] = {PAYMENT_IDENTIFIER: extension}
    assert refused({"PAYMENT-SIGNATURE": json.dumps(payment)}).code == "invalid_payment"


@pytest.mark.parametrize("extensions", [None, {}, {"other": 1}, {PAYMENT_IDENTIFIER: None}, {PAYMENT_IDENTIFIER: {}}])
def test_a_payment_needs_no_name(wallets: Mapping[str, Wallet], extensions: Any) -> None:
    payment = read(paid_by(wallets["free"]))
    payment["extensions"] = extensions
    buy({"PAYMENT-SIGNATURE": json.dumps(payment)})
    assert Payment.objects.get().payment_identifier == ""


def test_reviews_are_not_served_under_a_name_to_who_is_not_of_their_tier(wallets: Mapping[str, Wallet]) -> None:
    headers = anew(wallets["free"], products=REVIEWS)
    assert isinstance(refused(headers, products=REVIEWS), checkout.TierRequired)
    assert Payment.objects.aggregate(total=Sum("amount_usdc"))["total"] is None
