"""Authorizations that are not what they seem: other deeds under one nonce, sent past us, by contracts, too late.

After each test what we have received on the chain is the sum of the ledger.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from payments.checkout.context import SettlementPending, TierRequired
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment
from payments.tiers.definitions import FREE, PREMIUM
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected
from tests.payments.buyer import (
    REVIEWS,
    STRANGER,
    buy,
    paid_by,
    proven,
    purchase_for,
    read,
    reason,
    refused,
    resigned,
    signed_by,
    tampered,
)
from tests.payments.facilitators import node_answering, says, serving
from tests.payments.transfers import contract_wallet, front_run
from tests.support.wallets import fresh_wallet

State = Payment.State
NOWHERE = "http://127.0.0.1:1"
# Of nobody who takes part.
STRANGER_ADDRESS = "0x" + "ab" * 20

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


# Other deeds under one nonce
def test_a_smaller_amount_under_the_same_nonce_buys_nothing_and_a_refund_is_due(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = signed_by(wallets["free"], value=2000)
    front_run(resigned(wallets["free"], headers, value=1), sender=wallets["pro"])
    caller = proven(wallets["free"], FREE)
    for refusal in (refused(headers, caller=caller), refused(headers, caller=caller)):
        row = Payment.objects.get()
        assert isinstance(refusal, PaymentAlreadyUsed)
        assert (row.state, row.amount_usdc, row.error) == (State.REFUND_DUE, Decimal("0.000001"), "wrong_amount")
        assert refusal.body_override is not None
        assert refusal.body_override["refund"] == row.public_id


def test_an_amount_of_zero_under_the_same_nonce_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"], value=2000)
    front_run(resigned(wallets["free"], headers, value=0), sender=wallets["pro"])
    caller = proven(wallets["free"], FREE)
    for refusal in (refused(headers, caller=caller), refused(headers, caller=caller)):
        assert isinstance(refusal, PaymentRejected)
        assert (reason(refusal), Payment.objects.get().state) == ("expired", State.EXPIRED)


def test_a_payment_to_another_address_under_the_same_nonce_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"], value=2000)
    elsewhere = resigned(wallets["free"], headers, value=2000, to=wallets["pro"].address)
    front_run(elsewhere, sender=wallets["pro"])
    assert reason(refused(headers, caller=proven(wallets["free"], FREE))) == "expired"


@pytest.mark.parametrize("deed", [{"value": 0}, {"value": 2000, "to": STRANGER_ADDRESS}], ids=["nothing", "elsewhere"])
def test_an_authorization_that_was_used_for_something_else_is_refused_to_others(
    wallets: Mapping[str, Wallet], deed: dict[str, Any]
) -> None:
    headers = signed_by(wallets["free"], value=2000)
    front_run(resigned(wallets["free"], headers, **deed), sender=wallets["pro"])
    assert reason(refused(headers)) == "used"
    assert not Payment.objects.exists()


def test_a_larger_amount_under_the_same_nonce_is_recorded(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"], value=2000)
    front_run(resigned(wallets["free"], headers, value=5000), sender=wallets["pro"])
    assert buy(headers, caller=proven(wallets["free"], FREE)).amount == Decimal("0.005")


def test_another_amount_under_the_nonce_of_an_unknown_payment_is_another_payment(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.FACILITATOR_URL, signed_by(wallets["free"], value=2000)
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers), SettlementPending)
    settings.FACILITATOR_URL = real
    cheap = resigned(wallets["free"], headers, value=1)
    assert isinstance(refused(cheap), PaymentAlreadyUsed)
    assert Payment.objects.get().state == State.UNKNOWN
    assert buy(headers).amount == Decimal("0.002")
    assert isinstance(refused(cheap), PaymentAlreadyUsed)


# Sent to the chain before we saw them
def test_an_expired_authorization_that_a_third_party_has_sent_is_served(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    transaction = front_run(headers, sender=wallets["pro"])
    now = timezone.now() + timedelta(minutes=5)
    caller = proven(wallets["free"], FREE)
    receipt = buy(headers, caller=caller, now=now)
    assert receipt.transaction == transaction
    assert buy(headers, caller=caller, now=now) == receipt
    assert Payment.objects.get().state == State.SETTLED


@pytest.mark.parametrize("late", [timedelta(0), timedelta(minutes=5)], ids=["valid", "expired"])
def test_an_authorization_on_the_chain_serves_its_proven_payer_and_no_stranger(
    wallets: Mapping[str, Wallet], late: timedelta
) -> None:
    headers, now = paid_by(wallets["free"]), timezone.now() + late
    front_run(headers, sender=wallets["pro"])
    for caller, purchase in ((STRANGER, purchase_for()), (STRANGER, purchase_for("geranium"))):
        assert reason(refused(headers, purchase, caller=caller, now=now)) == "unproven_sender"
    row = Payment.objects.get()
    assert (row.state, row.error, row.payer) == (State.REFUND_DUE, "unproven_sender", wallets["free"].address)
    receipt = buy(headers, caller=proven(wallets["free"], FREE), now=now)
    assert receipt.payment == row.pk
    assert reason(refused(headers, caller=STRANGER, now=now)) == "unproven_sender"


def test_the_hash_of_an_authorization_with_a_refund_due_is_not_said_to_have_bought_an_answer(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = paid_by(wallets["free"])
    transaction = front_run(headers, sender=wallets["pro"])
    assert reason(refused(headers, caller=STRANGER)) == "unproven_sender"
    refusal = refused({"X-Payment": transaction})
    assert (refusal.code, refusal.message) == (
        "payment_already_used", "The money of this transaction goes back to its sender, or was sent back.",
    )  # fmt: skip
    buy(headers, caller=proven(wallets["free"], FREE))
    assert refused({"X-Payment": transaction}).message == "This transaction has paid for an answer."


def test_a_client_of_version_2_repeats_its_payment_from_another_address(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    assert buy(headers, caller=STRANGER) == buy(headers)
    other = tampered(headers, accepted={"extra": {"name": "USDC", "version": "2", "quote": "guessed"}})
    assert reason(refused(other, caller=replace(STRANGER, origin="far away"))) == "unproven_sender"


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", [1, 2])
def test_a_settled_payment_rebuilt_from_the_chain_is_not_answered(wallets: Mapping[str, Wallet], version: int) -> None:
    headers = paid_by(wallets["free"], version=version)
    receipt = buy(headers)
    # The chain shows the authorization and its signature, and everybody gets a 402.
    rebuilt = headers if version == 1 else tampered(headers, accepted={"extra": {"name": "USDC", "version": "2"}})
    refusal = refused(rebuilt, caller=STRANGER)
    assert reason(refusal) == "unproven_sender"
    assert "X-Receipt" not in refusal.headers
    # Its payer, from where it was paid, with its receipt, or with the wallet.
    assert buy(headers) == receipt
    assert buy(rebuilt, caller=STRANGER, receipt_token=receipt.token) == receipt
    assert buy(headers, caller=proven(wallets["free"], FREE)) == receipt


def test_an_authorization_sent_by_a_third_party_too_long_ago_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    front_run(headers, sender=wallets["pro"])
    caller = proven(wallets["free"], FREE)
    refusal = refused(headers, caller=caller, now=timezone.now() + timedelta(minutes=16))
    assert reason(refusal) == "too_old"
    assert Payment.objects.get().state == State.REFUND_DUE


def test_an_authorization_of_the_wrong_amount_sent_by_a_third_party_is_refund_due(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = signed_by(wallets["free"], value=1)
    front_run(headers, sender=wallets["pro"])
    refusal = refused(headers, caller=proven(wallets["free"], FREE))
    assert reason(refusal) == "wrong_amount"
    assert refusal.body_override is not None
    assert refusal.body_override["refund"] == Payment.objects.get().public_id


def test_an_authorization_of_too_low_a_tier_sent_by_a_third_party_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"], products=REVIEWS)
    front_run(headers, sender=wallets["pro"])
    refusal = refused(headers, products=REVIEWS, caller=proven(wallets["free"], FREE))
    assert isinstance(refusal, TierRequired)
    assert refusal.extra["refund"] == Payment.objects.get().public_id


def test_a_spent_authorization_is_pending_until_the_chain_shows_its_use(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.RPC_URL, paid_by(wallets["free"])
    front_run(headers, sender=wallets["pro"])
    now = timezone.now() + timedelta(minutes=5)
    with serving(node_answering({"eth_getLogs": []})) as server:
        settings.RPC_URL = server.url
        assert isinstance(refused(headers, now=now), SettlementPending)
        refusal = refused(headers, now=now + timedelta(hours=6))
        assert (reason(refusal), "Nothing was charged" in refusal.message) == ("expired", False)
    settings.RPC_URL = real
    buy(headers, caller=proven(wallets["free"], FREE), now=now)


# What came into the answer later
def test_a_replay_serves_nothing_that_was_not_paid_for(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["pro"])
    receipt = buy(headers)
    transitions.mark_delivered(receipt.payment, now=timezone.now())
    refusal = refused(headers, products=("context", "reviews"))
    assert isinstance(refusal, PaymentAlreadyUsed)
    assert buy(headers) == receipt


def test_a_replay_serves_a_part_of_what_was_paid_for(wallets: Mapping[str, Wallet]) -> None:
    both = ("context", "reviews")
    headers = paid_by(wallets["pro"], products=both)
    assert buy(headers, products=both) == buy(headers, products=REVIEWS)


def test_an_unknown_payment_is_not_settled_for_more_than_it_was_for(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.FACILITATOR_URL, paid_by(wallets["pro"])
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL = server.url
        refused(headers)
    settings.FACILITATOR_URL = real
    assert isinstance(refused(headers, products=("context", "reviews")), SettlementPending)
    assert buy(headers).amount == Decimal("0.002")


# Signatures that are no key's
@pytest.mark.sample(2)
@pytest.mark.parametrize("length", [1, 64, 65, 66, 200])
def test_a_signature_that_is_no_keys_is_refused_where_the_payer_is_no_contract(
    wallets: Mapping[str, Wallet], settings: LazySettings, length: int
) -> None:
    with serving(says(500, {})) as server:
        settings.FACILITATOR_URL = server.url
        refusal = refused(with_signature(paid_by(wallets["free"]), b"\x11" * length))
        assert server.asked == []
    assert reason(refusal) == "invalid_signature"
    assert Payment.objects.count() == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("length", [65, 66])
def test_a_contract_wallet_judges_its_signatures_itself(length: int) -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer = contract_wallet(owner, usdc=Decimal(1))
    named: dict[str, Any] = {"from": payer}
    headers = with_signature(tampered(paid_by(owner), **named), b"\x11" * length)
    receipt = buy(headers)
    assert (receipt.payer, receipt.amount) == (payer, Decimal("0.002"))
    assert buy(headers) == receipt
    # Its nonce is to be read on the chain: who has not the same signature is not served.
    assert isinstance(refused(with_signature(headers, b"\x12" * length)), PaymentAlreadyUsed)


def with_signature(headers: Mapping[str, str], signature: bytes) -> dict[str, str]:
    """The same payment with these bytes as its signature."""
    payment = read(headers)
    payment["payload"]["signature"] = "0x" + signature.hex()
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


# Without the chain, and under another's session
def test_free_tier_products_are_sold_while_the_chain_is_unavailable(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, wallet = settings.RPC_URL, fresh_wallet(usdc=Decimal(1))
    standard, cheap = paid_by(wallet), signed_by(wallet, value=1500)
    reviews = paid_by(wallet, products=REVIEWS)
    settings.RPC_URL = NOWHERE
    assert buy(standard).amount == Decimal("0.002")
    assert refused(cheap).code == "service_unavailable"
    assert refused(reviews, products=REVIEWS).code == "service_unavailable"
    settings.RPC_URL = real
    assert Payment.objects.get().tier == "free"


@pytest.mark.exhaustive
def test_the_price_of_a_session_is_for_its_own_wallet(wallets: Mapping[str, Wallet]) -> None:
    premium = proven(wallets["premium"], PREMIUM)
    refusal = refused(signed_by(wallets["free"], value=1000), caller=premium)
    assert reason(refusal) == "wrong_amount"
    assert "the price is 0.002. You have not proven the wallet that pays" in refusal.message
    assert buy(signed_by(wallets["free"], value=2000), caller=premium).amount == Decimal("0.002")
    assert buy(signed_by(wallets["premium"], value=1000), purchase_for("geranium"), caller=premium).amount == Decimal(
        "0.001"
    )


def test_a_session_that_was_quoted_before_its_tier_fell_may_still_pay_the_standard_price(
    wallets: Mapping[str, Wallet],
) -> None:
    assert buy(paid_by(wallets["premium"]), caller=proven(wallets["premium"], FREE)).amount == Decimal("0.002")
