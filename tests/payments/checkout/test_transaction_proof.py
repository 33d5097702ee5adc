"""Paying with a transaction that was sent already: its hash is public, so it is bound to what it first bought.

After each test what we have received on the chain is the sum of the ledger.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.conf import LazySettings
from django.conf import settings as project
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from framework.errors import ApiError
from payments.chain import reads
from payments.checkout.context import TierRequired
from payments.devchain.wallets import Wallet
from payments.identity.caller import Caller
from payments.ledger import transitions
from payments.models import Payment, Price
from payments.pricing import price_list
from payments.tiers.definitions import FREE, PRO
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected, TransactionNotFound
from payments.x402.purchase import Purchase
from payments.x402.receipts import PaidResponse, Receipt
from tests.payments.buyer import (
    ANONYMOUS,
    REVIEWS,
    STRANGER,
    at_once,
    buy,
    paid_by,
    proven,
    purchase_for,
    quoted,
    reason,
    refused,
)
from tests.payments.transfers import together
from tests.support.wallets import fresh_wallet, transfer_usdc

State = Payment.State

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def sent(wallet: Wallet, amount: str | None = None, purchase: Purchase | None = None, **rest: Any) -> dict[str, str]:
    """The header of a plain transfer that is on the chain: by default of what an anonymous caller was quoted."""
    value = quoted(purchase, **rest) if amount is None else Decimal(amount)
    return {"X-Payment": transfer_usdc(wallet, project.PAY_TO, value)}


def check_unproven(refusal: ApiError) -> None:
    """The refusal asks for the wallet, and serves nothing."""
    assert (type(refusal), reason(refusal)) == (PaymentRejected, "unproven_sender")
    assert "sign in with the wallet that sent it" in refusal.message


def test_a_plain_transfer_buys_one_answer(wallets: Mapping[str, Wallet]) -> None:
    amount = quoted()
    headers = sent(wallets["free"], str(amount))
    receipt = buy(headers)
    row = Payment.objects.get()
    assert receipt == Receipt.for_payment(row)
    assert (receipt.payer, receipt.transaction) == (wallets["free"].address, headers["X-Payment"])
    assert (row.form, row.state, row.amount_usdc) == (Payment.Form.TX, State.SETTLED, amount)
    assert row.proof_key == f"tx:{row.tx_hash}:{row.log_index}"
    assert (row.block is not None, row.valid_before) == (True, None)


def test_more_than_the_price_is_taken(wallets: Mapping[str, Wallet]) -> None:
    caller = proven(wallets["free"], FREE)
    assert buy(sent(wallets["free"], "0.05"), caller=caller).amount == Decimal("0.05")


def test_a_wallet_pays_the_price_of_its_tier(wallets: Mapping[str, Wallet]) -> None:
    headers, caller = sent(wallets["pro"], "0.003"), proven(wallets["pro"], PRO)
    assert buy(headers, purchase_for(fields="reviews"), products=REVIEWS, caller=caller).amount == Decimal("0.003")


# Quotes
def test_each_caller_is_quoted_an_amount_of_their_own() -> None:
    amounts = [quoted(), quoted(caller=STRANGER), quoted(purchase_for("geranium"))]
    assert len(set(amounts)) == 3
    assert all(Decimal("0.002") < amount <= Decimal("0.002999") for amount in amounts)
    assert quoted() == amounts[0]


def test_a_proven_wallet_is_quoted_the_price(wallets: Mapping[str, Wallet]) -> None:
    assert quoted(caller=proven(wallets["free"], FREE)) == Decimal("0.002")


@pytest.mark.exhaustive
def test_an_amount_is_free_again_when_the_purchase_was_paid_in_another_way(wallets: Mapping[str, Wallet]) -> None:
    before = quoted()
    buy(paid_by(wallets["free"]))
    headers = sent(wallets["pro"], str(before))
    check_unproven(refused(headers))


def test_a_quote_after_the_transfer_does_not_name_it(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    cache.clear()
    # A stranger who asks until the amount comes up.
    amount = reads.find_plain_transfers(headers["X-Payment"], receivers={project.PAY_TO})[0].amount
    late = timezone.now() + timedelta(minutes=1)
    quote = [STRANGER.origin, purchase_for().key, late.timestamp()]
    cache.set(f"quote-amount:{int(amount * 10**6)}", quote)
    check_unproven(refused(headers, caller=STRANGER, now=late))


def test_without_stored_quotes_the_price_is_quoted_and_the_proven_sender_is_served(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.CACHES = settings.CACHES | {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    assert quoted() == Decimal("0.002")
    headers = sent(wallets["free"], "0.002")
    check_unproven(refused(headers))
    assert buy(headers, caller=proven(wallets["free"], FREE)).amount == Decimal("0.002")


# Strangers: everybody can read a transaction's hash on the chain
def test_a_stranger_with_the_hash_is_not_served_before_its_sender(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    for purchase in (purchase_for(), purchase_for("geranium")):
        check_unproven(refused(headers, purchase, caller=STRANGER))
    assert (Payment.objects.get().state, Payment.objects.get().payer) == (State.REFUND_DUE, wallets["free"].address)
    assert buy(headers).amount == Payment.objects.get().amount_usdc


def test_the_proven_sender_is_served_after_a_stranger_has_presented_the_hash(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.002")
    check_unproven(refused(headers, caller=STRANGER))
    assert (
        buy(headers, purchase_for("geranium"), caller=proven(wallets["free"], FREE)).payer == wallets["free"].address
    )
    check_unproven(refused(headers, purchase_for("geranium"), caller=STRANGER))


def test_a_stranger_does_not_take_what_is_owed_to_the_sender(wallets: Mapping[str, Wallet]) -> None:
    reviews = purchase_for(fields="reviews")
    headers = sent(wallets["free"], purchase=reviews, products=REVIEWS)
    refusal = refused(headers, reviews, products=REVIEWS)
    assert isinstance(refusal, TierRequired)
    check_unproven(refused(headers, caller=STRANGER))
    assert (Payment.objects.get().state, Payment.objects.get().error) == (State.REFUND_DUE, "tier_required")
    assert buy(headers, caller=proven(wallets["free"], FREE)).payer == wallets["free"].address


@pytest.mark.exhaustive
def test_of_a_sender_and_a_stranger_at_once_only_the_sender_is_served(wallets: Mapping[str, Wallet]) -> None:
    for _ in range(5):
        headers, callers = sent(wallets["free"]), iter([ANONYMOUS, STRANGER, STRANGER, ANONYMOUS])
        with ThreadPoolExecutor(4) as pool:
            served = list(pool.map(partial(serve, headers), callers))
        assert served == [True, False, False, True]


def serve(headers: Mapping[str, str], caller: Caller) -> bool:
    """Whether this caller is served, in a thread of its own."""
    try:
        buy(headers, caller=caller)
    except ApiError:
        return False
    finally:
        connection.close()
    return True


# Repeated requests
def test_another_caller_with_the_hash_is_not_served(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    for stranger in ({}, {"receipt_token": receipt.token[:-1]}, {"caller": proven(wallets["pro"], PRO)}):
        check_unproven(refused(headers, **{"caller": STRANGER} | stranger))


def test_the_holder_of_the_receipt_is_served_again(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    PaidResponse({}, receipt).close()
    now = timezone.now()
    theirs: dict[str, Any] = {"caller": STRANGER, "receipt_token": receipt.token}
    for _ in range(5):
        assert buy(headers, **theirs, now=now + timedelta(minutes=9)) == receipt
    # The server does not know whether the answer has arrived: it is repeated for a day, but not without end.
    for _ in range(3):
        assert buy(headers, **theirs, now=now + timedelta(hours=23)) == receipt
    assert isinstance(refused(headers, **theirs, now=now + timedelta(hours=23)), PaymentAlreadyUsed)


def test_an_answer_is_repeated_for_a_day(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    PaidResponse({}, buy(headers)).close()
    assert isinstance(refused(headers, now=timezone.now() + timedelta(hours=24, seconds=1)), PaymentAlreadyUsed)


def test_the_wallet_that_has_paid_is_served_again(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    assert buy(headers, caller=proven(wallets["free"], FREE)) == buy(headers, caller=proven(wallets["free"], FREE))


def test_a_hash_does_not_buy_something_else_even_for_its_payer(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    for theirs in ({"receipt_token": receipt.token}, {"caller": proven(wallets["free"], FREE)}):
        assert isinstance(refused(headers, purchase_for("geranium"), **theirs), PaymentAlreadyUsed)
    assert Payment.objects.get().purchase == purchase_for().key


def test_two_concurrent_requests_of_one_caller_pay_once(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    found = at_once(2, lambda: buy(headers))
    assert found[0] == found[1]
    assert Payment.objects.count() == 1


def test_a_wallet_that_presents_its_hash_twice_at_once_is_served_twice_for_one_payment(
    wallets: Mapping[str, Wallet],
) -> None:
    headers, caller = sent(wallets["free"]), proven(wallets["free"], FREE)
    found = at_once(2, lambda: buy(headers, caller=caller))
    assert not any(isinstance(each, ApiError) for each in found)
    assert found[0] == found[1]


# What is no payment
def test_an_unknown_transaction_is_402_with_retry_after() -> None:
    refusal = refused({"X-Payment": "0x" + "5a" * 32})
    assert isinstance(refusal, TransactionNotFound)
    assert (refusal.status, refusal.code, refusal.headers["Retry-After"]) == (402, "transaction_not_found", "2")
    assert "PAYMENT-REQUIRED" in refusal.headers


def test_a_transfer_to_another_address_is_no_payment(wallets: Mapping[str, Wallet]) -> None:
    transaction = transfer_usdc(wallets["free"], wallets["pro"].address, Decimal("0.002"))
    refusal = refused({"X-Payment": transaction})
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == "not_a_payment"
    assert Payment.objects.count() == 0


def test_a_hash_is_503_while_the_chain_is_unavailable(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    real, headers = settings.RPC_URL, sent(wallets["free"])
    settings.RPC_URL = "http://127.0.0.1:1"
    refusal = refused(headers)
    assert (refusal.status, refusal.code) == (503, "service_unavailable")
    settings.RPC_URL = real
    buy(headers)


def test_a_proven_wallet_does_not_pay_with_the_transfer_of_another(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    refusal = refused(headers, caller=proven(wallets["pro"], PRO))
    assert reason(refusal) == "wrong_payer"
    assert Payment.objects.count() == 0
    buy(headers)


# Money that has arrived and buys nothing
def check_refund_due(refusal: ApiError, why: str) -> Payment:
    """Return the one payment, which is refund due and named in the refusal."""
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.REFUND_DUE, why)
    content = refusal.body_override if refusal.body_override is not None else refusal.extra
    assert content["refund"] == row.public_id
    assert why == "unproven_sender" or "A refund of what you have sent is due." in refusal.message
    return row


def test_a_transfer_of_too_little_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    refusal = refused(sent(wallets["free"], "0.001999"), caller=proven(wallets["free"], FREE))
    assert reason(refusal) == "wrong_amount"
    assert check_refund_due(refusal, "wrong_amount").payer == wallets["free"].address


def test_a_transfer_of_too_low_a_tier_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    reviews = purchase_for(fields="reviews")
    refusal = refused(sent(wallets["free"], purchase=reviews, products=REVIEWS), reviews, products=REVIEWS)
    assert isinstance(refusal, TierRequired)
    assert (refusal.status, refusal.extra["tier_required"]) == (403, "pro")
    check_refund_due(refusal, "tier_required")


def test_a_quoted_transfer_above_the_anonymous_limit_is_refund_due(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.ANONYMOUS_PROOF_MAX_USDC = Decimal("0.002")
    check_refund_due(refused(sent(wallets["free"])), "anonymous_proof_too_large")


def test_anonymous_hashes_can_be_turned_off(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    settings.ANONYMOUS_PROOF_MAX_USDC = Decimal(0)
    check_refund_due(refused(sent(wallets["free"])), "anonymous_proof_too_large")


def test_a_proven_wallet_may_have_sent_any_amount(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sent(wallets["free"], "2"), caller=proven(wallets["free"], FREE)).amount == Decimal(2)


def test_a_transfer_older_than_15_minutes_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    check_refund_due(refused(headers, now=timezone.now() + timedelta(minutes=15, seconds=2)), "too_old")


def test_a_refund_due_is_reported_again_and_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers, caller = sent(wallets["free"], "0.001"), proven(wallets["free"], FREE)
    row = check_refund_due(refused(headers, caller=caller), "wrong_amount")
    assert check_refund_due(refused(headers, caller=caller), "wrong_amount").pk == row.pk
    # Another wallet may not use it, and does not learn what it is.
    refusal = refused(headers, caller=proven(wallets["pro"], PRO))
    check_unproven(refusal)
    assert refusal.body_override is not None
    assert "refund" not in refusal.body_override


def test_a_transfer_that_was_too_old_stays_too_old(wallets: Mapping[str, Wallet]) -> None:
    headers, late = sent(wallets["free"]), timezone.now() + timedelta(minutes=16)
    for caller in (ANONYMOUS, ANONYMOUS, proven(wallets["free"], FREE)):
        assert reason(refused(headers, caller=caller, now=late)) == "too_old"
    assert reason(refused(headers)) == "too_old"
    check_unproven(refused(headers, caller=STRANGER))


def test_a_transfer_that_a_stranger_presented_first_still_buys_for_its_sender(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.2")
    row = check_refund_due(refused(headers, purchase_for("geranium")), "unproven_sender")
    caller = proven(wallets["free"], FREE)
    receipt = buy(headers, caller=caller)
    assert receipt.payment == row.pk
    row = Payment.objects.get()
    assert (row.state, row.error, row.purchase) == (State.SETTLED, "", purchase_for().key)
    assert buy(headers, caller=caller) == receipt
    assert isinstance(refused(headers, purchase_for("geranium"), caller=caller), PaymentAlreadyUsed)


@pytest.mark.exhaustive
def test_equal_concurrent_requests_for_a_spendable_refund_are_all_served() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    headers = sent(wallet, "0.002")
    check_unproven(refused(headers, purchase_for("geranium", fields="reviews"), products=REVIEWS))
    found = at_once(6, lambda: buy(headers, caller=proven(wallet, FREE)))
    assert {type(each) for each in found} == {Receipt}
    assert len(set(found)) == 1
    assert Payment.objects.get().state == State.SETTLED


def test_a_spendable_refund_buys_nothing_that_costs_more(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.001")
    check_unproven(refused(headers))
    refusal = refused(headers, caller=proven(wallets["free"], FREE))
    assert (reason(refusal), Payment.objects.get().state) == ("wrong_amount", State.REFUND_DUE)


def test_a_refunded_payment_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.2")
    row = check_refund_due(refused(headers), "unproven_sender")
    assert row.settled_at is not None
    later = row.settled_at + Payment.SPENDABLE_FOR
    assert transitions.record_refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=later)
    assert not transitions.record_refund(row.pk, tx_hash="0x" + "5b" * 32, by="staff:ada", now=later)
    refusal = refused(headers, caller=proven(wallets["free"], FREE))
    assert isinstance(refusal, PaymentAlreadyUsed)
    assert reason(refusal) == "refunded"
    check_unproven(refused(headers))
    assert Payment.objects.get().refund.tx_hash == "0x" + "5a" * 32


def test_money_is_either_spent_or_refunded(wallets: Mapping[str, Wallet]) -> None:
    row = check_refund_due(refused(sent(wallets["free"], "0.2")), "unproven_sender")
    assert row.settled_at is not None
    before, after = (
        row.settled_at + Payment.SPENDABLE_FOR - timedelta(seconds=1),
        row.settled_at + Payment.SPENDABLE_FOR,
    )
    assert not transitions.record_refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=before)
    assert not transitions.spend_refund_due(row, now=after)
    assert transitions.spend_refund_due(row, now=before)
    assert not transitions.record_refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=after)


# What transactions may hold
def test_a_transfer_of_zero_is_no_payment(wallets: Mapping[str, Wallet]) -> None:
    assert reason(refused(sent(wallets["free"], "0"))) == "not_a_payment"
    assert Payment.objects.count() == 0


def test_an_amount_of_26_digits_is_recorded(wallets: Mapping[str, Wallet]) -> None:
    wallet = fresh_wallet(usdc=Decimal(10) ** 20)
    headers = sent(wallet, "1" + "0" * 20)
    check_refund_due(refused(headers), "unproven_sender")
    assert buy(headers, caller=proven(wallet, FREE)).headers["PAYMENT-RESPONSE"]


def test_all_transfers_of_a_transaction_are_recorded(wallets: Mapping[str, Wallet]) -> None:
    free, pro = wallets["free"], wallets["pro"]
    headers = {
        "X-Payment": together((free, project.PAY_TO, 1000), (pro, project.PAY_TO, 4000), (free, project.PAY_TO, 1000))
    }
    receipt = buy(headers, purchase_for(fields="reviews"), products=REVIEWS, caller=proven(pro, PRO))
    assert (receipt.payer, receipt.amount) == (pro.address, Decimal("0.004"))
    other = Payment.objects.get(payer=free.address)
    assert (other.state, other.amount_usdc, other.error) == (State.REFUND_DUE, Decimal("0.002"), "another_payer")
    assert buy(headers, caller=proven(free, FREE)).payment == other.pk


@pytest.mark.exhaustive
def test_a_transfer_beside_an_authorization_is_recorded(wallets: Mapping[str, Wallet]) -> None:
    signed = paid_by(wallets["pro"])
    plain = (wallets["free"], project.PAY_TO, 2000)
    headers = {"X-Payment": together(plain, beside=signed)}
    assert (
        buy(headers, purchase_for("geranium"), caller=proven(wallets["free"], FREE)).payer == wallets["free"].address
    )
    assert buy(signed, caller=proven(wallets["pro"], PRO)).payer == wallets["pro"].address


def test_the_chain_is_not_read_for_a_product_without_a_price(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    Price.objects.filter(product="context", rate="standard").delete()
    settings.RPC_URL, real = "http://127.0.0.1:1", settings.RPC_URL
    refusal = refused({"X-Payment": "0x" + "5a" * 32})
    settings.RPC_URL = real
    assert isinstance(refusal, price_list.NotSold)


def test_money_that_is_owed_buys_no_product_without_a_price(wallets: Mapping[str, Wallet]) -> None:
    headers, caller = sent(wallets["free"], "0.001"), proven(wallets["free"], FREE)
    check_refund_due(refused(headers, caller=caller), "wrong_amount")
    Price.objects.filter(product="context").delete()
    price_list.cached_price_rows.clear()
    assert isinstance(refused(headers, caller=caller), price_list.NotSold)


def test_a_replay_of_a_hash_serves_nothing_that_was_not_paid_for(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["pro"], "0.05")
    receipt = buy(headers, caller=proven(wallets["pro"], PRO))
    transitions.mark_delivered(receipt.payment, now=timezone.now())
    refusal = refused(headers, products=("context", "reviews"), receipt_token=receipt.token)
    assert isinstance(refusal, PaymentAlreadyUsed)
    assert buy(headers, receipt_token=receipt.token) == receipt
