"""Payment identifiers: a new authorization with the identifier of an earlier payment is served, and not charged again.

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

from payments.checkout.context import PaymentIdentifierReused, SettlementPending, TierRequired
from payments.devchain.wallets import Wallet
from payments.ledger import reconcile, transitions
from payments.models import Payment
from payments.tiers.definitions import FREE
from payments.x402.challenges import PaymentAlreadyUsed
from payments.x402.receipts import Receipt
from tests.payments.buyer import (
    REVIEWS,
    abandoned,
    aged,
    at_once,
    buy,
    client_of,
    paid_by,
    proven,
    purchase_for,
    read,
    reason,
    refused,
    settled_by_third_party,
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

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def called(headers: Mapping[str, str], name: Any = NAME) -> dict[str, str]:
    """The same payment under this identifier."""
    payment = read(headers)
    extension = {"info": {"required": False, "id": name}, "schema": {}}
    payment["extensions"] = {PAYMENT_IDENTIFIER: extension}
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


def sign(wallet: Wallet, name: Any = NAME, **rest: Any) -> dict[str, str]:
    """A newly signed payment under this identifier."""
    return called(paid_by(wallet, **rest), name)


def lost(wallet: Wallet, settings: LazySettings) -> dict[str, str]:
    """A payment that a facilitator has not settled and whose outcome it has not reported."""
    real, headers = settings.FACILITATOR_URL, sign(wallet)
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), SettlementPending)
    settings.FACILITATOR_URL = real
    assert Payment.objects.get().state == State.UNKNOWN
    return headers


# What it promises
@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_a_client_that_echoes_the_declaration_has_no_identifier(wallets: Mapping[str, Wallet]) -> None:
    for _ in range(2):
        buy(called(paid_by(wallets["free"]), None))
    assert list(Payment.objects.values_list("payment_identifier", flat=True)) == ["", ""]


def test_a_new_payment_under_the_same_identifier_is_served_and_never_settled(wallets: Mapping[str, Wallet]) -> None:
    first = buy(sign(wallets["free"]))
    with serving(says(500, {})) as server:
        assert buy(sign(wallets["free"])) == buy(sign(wallets["free"])) == first
        assert server.asked == []
    assert Payment.objects.count() == 1


def test_the_first_payment_is_served_whatever_the_new_one_would_cost(wallets: Mapping[str, Wallet]) -> None:
    first = buy(sign(wallets["free"]))
    assert buy(called(signed_by(wallets["free"], value=1))) == first


@pytest.mark.exhaustive
def test_a_repeated_header_is_recognised_whatever_its_identifier(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = sign(wallets["free"])
    first, other = buy(headers), buy(sign(wallets["free"], "another-name-000"), purchase_for("geranium"))
    assert first != other
    assert buy(called(headers, "another-name-000")) == buy(called(headers, None)) == first


@pytest.mark.exhaustive
def test_another_purchase_under_the_same_identifier_is_409_and_costs_nothing(wallets: Mapping[str, Wallet]) -> None:
    first, second = sign(wallets["free"]), sign(wallets["free"])
    buy(first)
    refusal = refused(second, purchase_for("geranium"))
    assert (refusal.status, refusal.code) == (409, "payment_identifier_reused")
    assert "Nothing was charged for this one: pay under a new identifier." in refusal.message
    assert refusal.headers["Cache-Control"] == "no-store"
    assert Payment.objects.count() == 1
    # The same authorization is still good under another name.
    buy(called(second, "another-name-000"), purchase_for("geranium"))


def test_an_answer_that_has_grown_is_409(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(sign(wallets["pro"]))
    transitions.mark_delivered(receipt.payment, now=timezone.now())
    both = ("context", "reviews")
    refusal = refused(sign(wallets["pro"], products=both), products=both)
    assert isinstance(refusal, PaymentIdentifierReused)
    assert "more in this answer" in refusal.message


def test_an_answer_whose_time_is_over_is_409(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(sign(wallets["free"]))
    transitions.mark_delivered(receipt.payment, now=timezone.now())
    Payment.objects.update(settled_at=timezone.now() - timedelta(hours=25))
    refusal = refused(sign(wallets["free"]))
    assert isinstance(refusal, PaymentIdentifierReused)
    assert "its time is over" in refusal.message


@pytest.mark.exhaustive
def test_a_refund_due_is_409_and_named(wallets: Mapping[str, Wallet]) -> None:
    buy(sign(wallets["free"]))
    Payment.objects.update(state=State.REFUND_DUE)
    refusal = refused(sign(wallets["free"]))
    assert isinstance(refusal, PaymentIdentifierReused)
    assert refusal.extra == {"refund": Payment.objects.get().public_id}


# Whose it is
def test_an_identifier_is_its_payers_own(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sign(wallets["free"])).payer == wallets["free"].address
    assert buy(sign(wallets["pro"])).payer == wallets["pro"].address


def test_an_identifier_of_another_payer_gives_no_access(wallets: Mapping[str, Wallet]) -> None:
    buy(sign(wallets["free"]))
    victim: dict[str, Any] = {"from": wallets["free"].address}
    assert reason(refused(called(tampered(paid_by(wallets["pro"]), **victim)))) == "invalid_signature"


@pytest.mark.exhaustive
def test_an_authorization_that_is_on_the_chain_gives_no_access(wallets: Mapping[str, Wallet]) -> None:
    buy(sign(wallets["free"]))
    elsewhere = paid_by(wallets["free"])
    buy(elsewhere, purchase_for("geranium"))
    assert isinstance(refused(called(elsewhere)), PaymentAlreadyUsed)


def test_an_expired_authorization_gives_no_access(wallets: Mapping[str, Wallet]) -> None:
    buy(sign(wallets["free"]))
    old = sign(wallets["free"])
    assert reason(refused(old, now=timezone.now() + timedelta(minutes=5))) == "expired"


def test_a_new_payment_that_is_on_the_chain_counts_without_its_identifier(wallets: Mapping[str, Wallet]) -> None:
    first, second, third = (sign(wallets["free"]) for _ in range(3))
    buy(first)
    for headers, later in ((second, timedelta(0)), (third, timedelta(minutes=2))):
        transaction = front_run(headers, sender=wallets["pro"])
        receipt = buy(headers, caller=proven(wallets["free"], FREE), now=timezone.now() + later)
        assert receipt.transaction == transaction
    assert Payment.objects.filter(payment_identifier=NAME).count() == 1
    assert Payment.objects.count() == 3


def test_a_payment_sent_by_a_third_party_keeps_its_identifier(wallets: Mapping[str, Wallet]) -> None:
    headers = sign(wallets["free"])
    front_run(headers, sender=wallets["pro"])
    receipt = buy(headers, caller=proven(wallets["free"], FREE), now=timezone.now() + timedelta(minutes=2))
    assert buy(sign(wallets["free"])) == receipt


@pytest.mark.exhaustive
def test_a_contract_wallet_that_approves_may_use_identifiers() -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer: dict[str, Any] = {"from": contract_wallet(owner, usdc=Decimal(1))}
    first = buy(called(tampered(paid_by(owner), **payer)))
    assert buy(called(tampered(paid_by(owner), **payer))) == first
    # Code alone is no wallet: the token has code, and approves of nothing.
    other: dict[str, Any] = {"from": Payment.objects.get().asset}
    assert reason(refused(called(tampered(paid_by(owner), **other)))) == "invalid_signature"


# While the first has not ended
@pytest.mark.exhaustive
def test_twenty_payments_under_one_identifier_at_once_are_charged_once() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    signed = [sign(wallet) for _ in range(20)]
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
    requests = iter([(sign(wallet), purchase_for("noma")), (sign(wallet), purchase_for("geranium"))])
    lock = threading.Lock()

    def one() -> Receipt:
        with lock:
            headers, purchase = next(requests)
        return buy(headers, purchase)

    found = at_once(2, one)
    assert sorted(type(each).__name__ for each in found) == ["PaymentIdentifierReused", "Receipt"]
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE


@pytest.mark.exhaustive
def test_a_second_payment_waits_for_the_first_to_be_settled(
    wallets: Mapping[str, Wallet], settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("payments.checkout.signed_authorization.MAX_WAIT_S", 0.2)
    real, over = settings.FACILITATOR_URL, threading.Event()
    first, second = sign(wallets["free"]), sign(wallets["free"])
    with serving(never_answers(over)) as server:
        settings.FACILITATOR_URL = server.url
        waiting = threading.Thread(target=at_once, args=(1, lambda: buy(first)))
        waiting.start()
        assert eventually(lambda: bool(server.asked))
        settings.FACILITATOR_URL = real
        refusal = refused(second)
        assert isinstance(refusal, SettlementPending)
        assert refusal.headers["Retry-After"] == "1"
        over.set()
        waiting.join()
    assert buy(first).amount == PRICE
    assert Payment.objects.count() == 1


def test_the_outcome_of_an_unknown_first_is_read_and_the_second_never_settled(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    first = lost(wallets["free"], settings)
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL, real = server.url, settings.FACILITATOR_URL
        refusal = refused(sign(wallets["free"]))
        assert server.asked == []
    settings.FACILITATOR_URL = real
    assert (refusal.status, refusal.code) == (503, "settlement_pending")
    assert Payment.objects.get().state == State.UNKNOWN
    transaction = settled_by_third_party(first)
    receipt = buy(sign(wallets["free"]))
    assert (receipt.transaction, Payment.objects.count()) == (transaction, 1)


@pytest.mark.exhaustive
def test_a_first_that_was_settled_and_whose_answer_was_lost_serves_the_second(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, first = settings.FACILITATOR_URL, sign(wallets["free"])
    with serving(settles_and(says(500, {}))) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(first), SettlementPending)
    settings.FACILITATOR_URL = real
    receipt = buy(sign(wallets["free"]))
    assert buy(first) == receipt
    assert Payment.objects.count() == 1


def test_a_first_whose_process_died_is_reconciled(wallets: Mapping[str, Wallet]) -> None:
    first = sign(wallets["free"])
    abandoned(first)
    assert isinstance(refused(sign(wallets["free"])), SettlementPending)
    assert buy(first).amount == PRICE
    assert buy(sign(wallets["free"])) == buy(first)


def test_an_expired_first_payment_releases_its_identifier(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    lost(wallets["free"], settings)
    Payment.objects.update(valid_before=timezone.now() - timedelta(minutes=2))
    receipt = buy(sign(wallets["free"]))
    assert Payment.objects.get(pk=receipt.payment).payment_identifier == NAME
    old = Payment.objects.exclude(pk=receipt.payment).get()
    assert (old.state, old.payment_identifier) == (State.EXPIRED, "")


@pytest.mark.exhaustive
def test_the_sweep_releases_the_identifier_of_an_expired_payment(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    lost(wallets["free"], settings)
    aged()
    Payment.objects.update(valid_before=timezone.now() - timedelta(minutes=2))
    assert reconcile.sweep(now=timezone.now()) == 1
    buy(sign(wallets["free"]))


@pytest.mark.exhaustive
def test_a_refused_first_payment_releases_its_identifier(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real = settings.FACILITATOR_URL
    for script in (refuses("insufficient_funds"), None):
        with serving(script or says(200, {})) as server:
            settings.FACILITATOR_URL = server.url if script else NOWHERE
            refused(sign(wallets["free"]))
        assert Payment.objects.count() == 0
    settings.FACILITATOR_URL = real
    buy(sign(wallets["free"]))


def test_an_identifier_is_503_while_the_chain_is_unavailable(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real = settings.RPC_URL
    buy(sign(wallets["free"]))
    second = sign(wallets["free"])
    settings.RPC_URL = NOWHERE
    assert refused(second).code == "service_unavailable"
    settings.RPC_URL = real
    assert Payment.objects.count() == 1


# How it is written
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["a" * 16, "a" * 128, "ABC-xyz_0123456789"])
def test_a_name_has_16_to_128_characters(wallets: Mapping[str, Wallet], name: str) -> None:
    buy(sign(wallets["free"], name))
    assert Payment.objects.get().payment_identifier == name


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", ["", "a" * 15, "a" * 129, "a" * 16 + "\n", "a" * 15 + "é", "a" * 15 + " ", 10**20, []]
)
def test_any_other_name_is_refused_before_anything_is_charged(wallets: Mapping[str, Wallet], name: Any) -> None:
    refusal = refused(sign(wallets["free"], name))
    assert (refusal.status, refusal.code, refusal.param) == (400, "invalid_payment", "PAYMENT-SIGNATURE")
    assert "16 to 128 letters, digits, hyphens and underscores" in refusal.message
    assert Payment.objects.count() == 0


@pytest.mark.parametrize("extension", ["a" * 16, 5, [], {"info": "a" * 16}, {"info": {"id": {"id": "a" * 16}}}])
def test_an_extension_of_another_shape_is_refused(wallets: Mapping[str, Wallet], extension: Any) -> None:
    payment = read(paid_by(wallets["free"]))
    payment["extensions"] = {PAYMENT_IDENTIFIER: extension}
    assert refused({"PAYMENT-SIGNATURE": json.dumps(payment)}).code == "invalid_payment"


@pytest.mark.sample(2)
@pytest.mark.parametrize("extensions", [None, {}, {"other": 1}, {PAYMENT_IDENTIFIER: None}, {PAYMENT_IDENTIFIER: {}}])
def test_a_payment_needs_no_name(wallets: Mapping[str, Wallet], extensions: Any) -> None:
    payment = read(paid_by(wallets["free"]))
    payment["extensions"] = extensions
    buy({"PAYMENT-SIGNATURE": json.dumps(payment)})
    assert Payment.objects.get().payment_identifier == ""


def test_reviews_with_an_identifier_need_their_tier(wallets: Mapping[str, Wallet]) -> None:
    headers = sign(wallets["free"], products=REVIEWS)
    assert isinstance(refused(headers, products=REVIEWS), TierRequired)
    assert Payment.objects.aggregate(total=Sum("amount_usdc"))["total"] is None
