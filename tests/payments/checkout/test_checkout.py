"""Taking the money for one answer, once: on a real chain and a real facilitator.

After each test what we have received on the chain is the sum of the ledger.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings, settings
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from framework.errors import ApiError, ServiceUnavailable
from payments.chain.evm import to_checksum_address
from payments.checkout.context import SettlementPending, TierRequired
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, Price, Product
from payments.tiers.definitions import ENTERPRISE, PRO
from payments.tiers.terms import tier_terms
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected, PaymentRequired
from payments.x402.receipts import PaidResponse, Receipt
from tests.payments.buyer import (
    ANONYMOUS,
    REVIEWS,
    abandoned,
    at_once,
    buy,
    paid_by,
    proven,
    purchase_for,
    reason,
    refused,
    signed_by,
    tampered,
)
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def test_a_request_without_payment_is_quoted_the_standard_price() -> None:
    refusal = refused({}, purchase_for(fields="reviews"), products=REVIEWS)
    assert type(refusal) is PaymentRequired
    assert refusal.message == (
        "This costs 0.004 USDC: ask again with a payment."
        " It is sold from the pro tier on, which the wallet that pays must have."
        f" It takes holding 100 USD worth of the token {to_checksum_address(settings.TOKEN_ADDRESS)} on eip155:84532."
    )
    assert refusal.body_override is not None
    assert refusal.body_override["tier_required"] == "pro"
    assert Payment.objects.count() == 0


def test_a_proven_wallet_is_quoted_the_price_of_its_tier(wallets: Mapping[str, Wallet]) -> None:
    refusal = refused({}, caller=proven(wallets["enterprise"], ENTERPRISE))
    assert refusal.body_override is not None
    assert refusal.body_override["accepts"][0]["maxAmountRequired"] == "500"


def test_a_caller_without_a_proven_wallet_is_quoted_the_standard_price_whatever_the_tier(
    wallets: Mapping[str, Wallet],
) -> None:
    refusal = refused({}, caller=replace(ANONYMOUS, terms=tier_terms(PRO)))
    assert refusal.body_override is not None
    assert refusal.body_override["accepts"][0]["maxAmountRequired"] == "2000"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "form"), [(2, Payment.Form.V2), (1, Payment.Form.V1)])
def test_a_payment_of_either_version_buys_the_answer(
    wallets: Mapping[str, Wallet], version: int, form: Payment.Form
) -> None:
    before = usdc_balance(wallets["free"].address)
    began = timezone.now()
    receipt = buy(paid_by(wallets["free"], version=version))
    row = Payment.objects.get()
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.002")
    assert receipt == Receipt.for_payment(row)
    assert (receipt.payer, receipt.amount) == (wallets["free"].address, Decimal("0.002"))
    assert (row.form, row.state, row.tier, row.products) == (form, Payment.State.SETTLED, "free", ["context"])
    assert (row.tx_hash, row.attempts, row.error) == (receipt.transaction, 1, "")
    assert (row.purchase, row.resource) == (purchase_for().key, purchase_for().url)
    assert row.settled_at is not None
    assert row.settled_at >= row.claimed_at >= row.created_at >= began


def test_a_payment_counts_as_delivered_when_the_answer_is_written(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(paid_by(wallets["free"]))
    answer = PaidResponse({}, receipt)
    assert Payment.objects.get().state == Payment.State.SETTLED
    answer.close()
    row = Payment.objects.get()
    assert (row.state, row.delivered_at is not None) == (Payment.State.DELIVERED, True)
    answer.close()
    assert Payment.objects.get().delivered_at == row.delivered_at


@pytest.mark.exhaustive
def test_a_payment_costs_three_statements_beside_the_prices_once_a_second(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.TIER_CACHE_S = 600
    # Who has paid before is known by the second time.
    buy(paid_by(wallets["free"]))
    buy(paid_by(wallets["free"]))
    headers = paid_by(wallets["free"])
    with CaptureQueriesContext(connection) as queries:
        buy(headers)
    asked = [query["sql"].split()[0] for query in queries if "payments_price" not in query["sql"]]
    # The wallet, the claim, the settlement.
    assert asked == ["SELECT", "INSERT", "UPDATE"]


def test_the_payers_own_tier_may_pay_its_own_rate(wallets: Mapping[str, Wallet]) -> None:
    buy(signed_by(wallets["pro"], value=3000), products=REVIEWS)
    assert (Payment.objects.get().amount_usdc, Payment.objects.get().tier) == (Decimal("0.003"), "pro")


def test_a_payment_at_the_rate_that_was_quoted_is_taken(wallets: Mapping[str, Wallet]) -> None:
    caller = proven(wallets["enterprise"], ENTERPRISE)
    buy(paid_by(wallets["enterprise"], caller=caller), caller=caller)
    assert Payment.objects.get().amount_usdc == Decimal("0.0005")


def test_the_rate_of_a_tier_that_the_payer_does_not_have_is_too_little(wallets: Mapping[str, Wallet]) -> None:
    assert reason(refused(signed_by(wallets["free"], value=1500))) == "wrong_amount"
    assert Payment.objects.count() == 0


def test_the_old_price_is_accepted_for_a_minute_after_a_change(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    now = timezone.now()
    Price.objects.create(product_id="context", rate="standard", amount_usdc=Decimal("0.005"), valid_from=now)
    assert reason(refused(headers, now=now + timedelta(seconds=60))) == "expired"
    buy(headers)
    assert Payment.objects.get().amount_usdc == Decimal("0.002")


# Refused before anything is settled
def test_a_free_wallet_is_refused_reviews_and_charged_nothing(wallets: Mapping[str, Wallet]) -> None:
    before = usdc_balance(wallets["free"].address)
    refusal = refused(paid_by(wallets["free"], products=REVIEWS), products=REVIEWS)
    assert isinstance(refusal, TierRequired)
    assert (refusal.status, refusal.extra) == (
        403,
        {
            "tier": "free",
            "tier_required": "pro",
            "from_usd": "100",
            "from_stake": None,
            "token": {
                "address": to_checksum_address(settings.TOKEN_ADDRESS),
                "network": "eip155:84532",
                "network_name": "base-sepolia",
                "chain_id": 84532,
                "stake_function": "stake(uint256)",
            },
            "tiers": "http://127.0.0.1:8000/v1/tiers",
        },
    )
    assert usdc_balance(wallets["free"].address) == before
    assert Payment.objects.count() == 0


def test_opening_a_product_to_a_tier_sells_it_there(wallets: Mapping[str, Wallet]) -> None:
    Product.objects.filter(pk="reviews").update(from_tier="free")
    buy(paid_by(wallets["free"], products=REVIEWS), products=REVIEWS)
    assert Payment.objects.get().products == ["reviews"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"accepted": {"network": "eip155:8453"}}, "wrong_network"),
        ({"accepted": {"scheme": "upto"}}, "wrong_scheme"),
        ({"accepted": {"asset": "0x" + "12" * 20}}, "wrong_asset"),
        ({"to": "0x" + "12" * 20}, "wrong_pay_to"),
        ({"value": "1"}, "invalid_signature"),
        ({"validBefore": "1"}, "invalid_signature"),
        ({"from": "0x" + "12" * 20}, "invalid_signature"),
        ({"nonce": "0x" + "12" * 32}, "invalid_signature"),
    ],
)
def test_a_payment_that_was_tampered_with_is_refused(
    wallets: Mapping[str, Wallet], change: Mapping[str, Any], expected: str
) -> None:
    refusal = refused(tampered(paid_by(wallets["free"]), **change))
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == expected
    assert refusal.message.endswith("Nothing was charged.")
    assert "PAYMENT-REQUIRED" in refusal.headers
    assert Payment.objects.count() == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("asked_for", "expected"),
    [
        ({"value": 1999}, "wrong_amount"),
        ({"value": 2001}, "wrong_amount"),
        ({"value": 0}, "wrong_amount"),
        ({"value": 2**256 - 1}, "wrong_amount"),
        ({"max_timeout_seconds": 5}, "expired"),
        ({"max_timeout_seconds": -60}, "expired"),
        ({"max_timeout_seconds": 86_500}, "valid_too_long"),
        ({"max_timeout_seconds": 2**62}, "valid_too_long"),
        ({"pay_to": "0x" + "12" * 20}, "wrong_pay_to"),
        ({"extra": {"name": "USD Coin", "version": "2"}}, "invalid_signature"),
        ({"network": "eip155:8453"}, "wrong_network"),
    ],
)
def test_a_payment_that_was_signed_for_something_else_is_refused(
    wallets: Mapping[str, Wallet], asked_for: Mapping[str, Any], expected: str
) -> None:
    refusal = refused(signed_by(wallets["free"], **asked_for))
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == expected
    assert Payment.objects.count() == 0


def test_a_wallet_that_holds_too_little_is_refused_by_the_facilitator() -> None:
    refusal = refused(paid_by(fresh_wallet(usdc=Decimal("0.001"))))
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == "invalid_exact_evm_insufficient_balance"
    assert Payment.objects.count() == 0


def test_nothing_is_taken_inside_a_transaction(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    with transaction.atomic(), pytest.raises(RuntimeError, match="inside a transaction"):
        buy(headers)
    assert Payment.objects.count() == 0


def test_an_installation_without_an_address_to_pay_takes_no_payments(settings: LazySettings) -> None:
    settings.PAY_TO = ""
    refusal = refused({})
    assert isinstance(refusal, ServiceUnavailable)
    assert refusal.message == "This installation takes no payments: PAY_TO is not set."


# The same payment again
def test_the_same_payment_is_served_again_for_a_day_and_late_only_three_times(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    receipt = buy(headers)
    PaidResponse({}, receipt).close()
    now = timezone.now()
    for _ in range(5):
        assert buy(headers, now=now + timedelta(minutes=9)) == receipt
    for _ in range(3):
        assert buy(headers, now=now + timedelta(hours=23)) == receipt
    assert isinstance(refused(headers, now=now + timedelta(minutes=11)), PaymentAlreadyUsed)
    assert Payment.objects.get().state == Payment.State.DELIVERED


def test_an_answer_that_never_went_out_is_served_for_a_day(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    receipt = buy(headers)
    now = timezone.now()
    assert buy(headers, now=now + timedelta(hours=23)) == receipt
    assert isinstance(refused(headers, now=now + timedelta(hours=24)), PaymentAlreadyUsed)


def test_what_was_bought_is_served_again_whatever_it_costs_now(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    receipt = buy(headers)
    Price.objects.create(
        product_id="context",
        rate="standard",
        amount_usdc=Decimal(1),
        valid_from=timezone.now() - timedelta(minutes=2),
    )
    Product.objects.filter(pk="context").update(from_tier="pro")
    assert buy(headers) == receipt


def test_a_payment_does_not_buy_something_else(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    buy(headers)
    refusal = refused(headers, purchase_for("geranium"))
    assert isinstance(refusal, PaymentAlreadyUsed)
    assert refusal.status == 402
    assert Payment.objects.count() == 1


def test_twenty_copies_at_once_are_charged_once(wallets: Mapping[str, Wallet]) -> None:
    before = usdc_balance(wallets["free"].address)
    headers = paid_by(wallets["free"])
    found = at_once(20, lambda: buy(headers))
    assert before - usdc_balance(wallets["free"].address) == Decimal("0.002")
    served = {each for each in found if isinstance(each, Receipt)}
    assert len(served) == 1
    assert {each.code for each in found if isinstance(each, ApiError)} <= {"settlement_pending"}
    assert buy(headers) in served
    assert Payment.objects.get().attempts == 1


@pytest.mark.exhaustive
def test_twenty_copies_for_twenty_records_buy_one(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    records = iter([purchase_for(f"restaurant-{number}") for number in range(20)])
    found = at_once(20, lambda: buy(headers, next(records)))
    refusals = [each for each in found if isinstance(each, ApiError)]
    assert len(found) - len(refusals) == 1
    assert {type(each) for each in refusals} == {PaymentAlreadyUsed}
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_a_payment_that_another_request_is_settling_is_not_settled_twice(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    buy(headers)
    Payment.objects.update(state=Payment.State.CLAIMED, tx_hash=None, settled_at=None, claimed_at=timezone.now())
    refusal = refused(headers)
    assert isinstance(refusal, SettlementPending)
    assert (refusal.status, refusal.headers["Retry-After"]) == (503, "1")
    left_alone(headers)


def left_alone(headers: Mapping[str, str]) -> None:
    """Fifteen seconds later the one who was settling is gone, and the payment is taken up."""
    Payment.objects.update(claimed_at=timezone.now() - transitions.CLAIM_TIMEOUT - timedelta(seconds=1))
    row, receipt = Payment.objects.get(), buy(headers)
    assert receipt.payment == row.pk
    assert Payment.objects.get().attempts == row.attempts + 1


def test_a_crash_between_settling_and_recording_is_served_and_charged_once(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = paid_by(wallets["free"])
    receipt = buy(headers)
    before = usdc_balance(wallets["free"].address)
    crashed()
    again = buy(headers)
    assert usdc_balance(wallets["free"].address) == before
    row = Payment.objects.get()
    # Nobody has seen the first receipt, nor the moment in it.
    assert row.settled_at is not None
    assert again == replace(receipt, settled_at=row.settled_at)
    assert (row.state, row.tx_hash, row.attempts) == (Payment.State.SETTLED, receipt.transaction, 2)
    assert row.block is not None


def test_a_crash_before_settling_is_settled_when_the_payment_comes_back(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    abandoned(headers)
    receipt = buy(headers)
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.attempts) == (Payment.State.SETTLED, receipt.transaction, 2)


def crashed() -> None:
    """What was settled is as a process leaves it that died after settling, twenty seconds ago."""
    then = timezone.now() - timedelta(seconds=20)
    Payment.objects.update(
        state=Payment.State.CLAIMED, tx_hash=None, settled_at=None, claimed_at=then, created_at=then
    )
