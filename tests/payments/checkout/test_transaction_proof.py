"""Paying with a transaction that was sent already: its hash is public, so it is bound to what it first bought.

After each test what we have received on the chain is the sum of the ledger.
"""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.conf import settings as project
from django.utils import timezone

from framework.errors import Refusal
from payments import checkout, x402
from payments.checkout.context import public_id
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, Price
from payments.pricing import price_list
from payments.tiers.definitions import FREE, PRO
from tests.payments.buyer import ANYBODY, CONTEXT, REVIEWS, asked, at_once, buy, paid_by, proven, reason, refused
from tests.payments.transfers import together
from tests.support.wallets import fresh_wallet, transfer_usdc

State = Payment.State

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("books")]


def sent(wallet: Wallet, amount: str = "0.002") -> dict[str, str]:
    """The header of a plain transfer that is on the chain."""
    return {"X-Payment": transfer_usdc(wallet, project.PAY_TO, Decimal(amount))}


def test_a_plain_transfer_buys_one_answer(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    row = Payment.objects.get()
    assert receipt == x402.receipt_of(row)
    assert (receipt.payer, receipt.transaction) == (wallets["free"].address, headers["X-Payment"])
    assert (row.form, row.state, row.amount_usdc) == (Payment.Form.TX, State.SETTLED, Decimal("0.002"))
    assert row.proof_key == f"tx:{row.tx_hash}:{row.log_index}"
    assert (row.block is not None, row.valid_before) == (True, None)


def test_more_than_the_price_is_taken(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sent(wallets["free"], "0.05")).amount == Decimal("0.05")


def test_a_wallet_pays_the_price_of_its_tier(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sent(wallets["pro"], "0.003"), asked(fields="reviews"), products=REVIEWS).amount == Decimal("0.003")


# Whom it serves again
def test_a_stranger_with_the_hash_is_not_served(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    for stranger in ({}, {"receipt_token": receipt.token[:-1]}, {"caller": proven(wallets["pro"], PRO)}):
        assert isinstance(refused(headers, **stranger), x402.PaymentAlreadyUsed)


def test_the_holder_of_the_receipt_is_served_again(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    x402.Paid({}, receipt).close()
    now = timezone.now()
    assert buy(headers, receipt_token=receipt.token, now=now + timedelta(minutes=9)) == receipt
    refusal = refused(headers, receipt_token=receipt.token, now=now + transitions.READ_AGAIN)
    assert isinstance(refusal, x402.PaymentAlreadyUsed)


def test_the_wallet_that_has_paid_is_served_again(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    assert buy(headers, caller=proven(wallets["free"], FREE)) == buy(headers, caller=proven(wallets["free"], FREE))


def test_a_hash_does_not_buy_something_else_even_for_its_payer(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    receipt = buy(headers)
    for theirs in ({"receipt_token": receipt.token}, {"caller": proven(wallets["free"], FREE)}):
        assert isinstance(refused(headers, asked("geranium"), **theirs), x402.PaymentAlreadyUsed)
    assert Payment.objects.get().purchase == asked().key


def test_of_two_who_present_a_hash_at_once_one_is_served(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    found = at_once(2, lambda: buy(headers))
    assert sorted(type(each).__name__ for each in found) == ["PaymentAlreadyUsed", "Receipt"]
    assert Payment.objects.count() == 1


def test_a_wallet_that_presents_its_hash_twice_at_once_is_served_twice_for_one_payment(
    wallets: Mapping[str, Wallet],
) -> None:
    headers, caller = sent(wallets["free"]), proven(wallets["free"], FREE)
    found = at_once(2, lambda: buy(headers, caller=caller))
    assert not any(isinstance(each, Refusal) for each in found)
    assert found[0] == found[1]


# What is no payment
def test_an_unknown_transaction_is_to_be_shown_again_soon() -> None:
    refusal = refused({"X-Payment": "0x" + "5a" * 32})
    assert isinstance(refusal, x402.TransactionNotFound)
    assert (refusal.status, refusal.code, refusal.headers["Retry-After"]) == (402, "transaction_not_found", "2")
    assert "PAYMENT-REQUIRED" in refusal.headers


def test_a_transfer_to_somebody_else_is_no_payment(wallets: Mapping[str, Wallet]) -> None:
    transaction = transfer_usdc(wallets["free"], wallets["pro"].address, Decimal("0.002"))
    refusal = refused({"X-Payment": transaction})
    assert isinstance(refusal, x402.PaymentRejected)
    assert reason(refusal) == "not_a_payment"
    assert Payment.objects.count() == 0


def test_while_the_chain_is_away_nothing_is_said_of_a_hash(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
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
def owed(refusal: Refusal, why: str) -> Payment:
    """The one payment that is owed back, which the refusal names."""
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.REFUND_DUE, why)
    told = refusal.own_body if refusal.own_body is not None else refusal.extra
    assert told["refund"] == public_id(row)
    assert "owed back to you" in refusal.message
    return row


def test_too_little_is_owed_back(wallets: Mapping[str, Wallet]) -> None:
    refusal = refused(sent(wallets["free"], "0.001999"))
    assert reason(refusal) == "wrong_amount"
    assert owed(refusal, "wrong_amount").payer == wallets["free"].address


def test_the_money_of_a_tier_to_which_it_is_not_sold_is_owed_back(wallets: Mapping[str, Wallet]) -> None:
    refusal = refused(sent(wallets["free"], "0.004"), asked(fields="reviews"), products=REVIEWS)
    assert isinstance(refusal, checkout.TierRequired)
    assert (refusal.status, refusal.extra["tier_required"]) == (403, "pro")
    owed(refusal, "tier_required")


def test_what_is_too_much_for_somebody_unproven_is_owed_back(wallets: Mapping[str, Wallet]) -> None:
    owed(refused(sent(wallets["free"], "0.100001")), "anonymous_proof_too_large")


def test_the_cap_itself_is_taken(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sent(wallets["free"], "0.1")).amount == Decimal("0.1")


def test_bare_hashes_of_somebody_unproven_can_be_turned_off(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.ANONYMOUS_PROOF_MOST_USDC = Decimal(0)
    owed(refused(sent(wallets["free"])), "anonymous_proof_too_large")


def test_a_proven_wallet_may_have_sent_any_amount(wallets: Mapping[str, Wallet]) -> None:
    assert buy(sent(wallets["free"], "2"), caller=proven(wallets["free"], FREE)).amount == Decimal(2)


def test_a_transfer_of_a_quarter_of_an_hour_ago_is_owed_back(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"])
    owed(refused(headers, now=timezone.now() + timedelta(minutes=15, seconds=2)), "too_old")


def test_what_is_owed_back_is_told_again_and_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.001")
    row = owed(refused(headers), "wrong_amount")
    refusal = refused(headers)
    assert owed(refusal, "wrong_amount").pk == row.pk
    # Of another wallet it is neither the money nor the business.
    refusal = refused(headers, caller=proven(wallets["pro"], PRO))
    assert isinstance(refusal, x402.PaymentAlreadyUsed)
    assert refusal.own_body is not None
    assert (refusal.own_body["refund"], reason(refusal)) == (public_id(row), "refund_due")


@pytest.mark.parametrize(("fields", "products"), [("reviews", REVIEWS), ("context,reviews", (*CONTEXT, *REVIEWS))])
def test_what_a_stranger_has_spoilt_still_buys_what_it_was_sent_for(
    wallets: Mapping[str, Wallet], fields: str, products: tuple[str, ...]
) -> None:
    headers = sent(wallets["free"])
    assert refused(headers, asked(fields=fields), products=products).status in (402, 403)
    receipt = buy(headers)
    assert (receipt.amount, Payment.objects.get().products) == (Decimal("0.002"), ["context"])
    assert buy(headers, receipt_token=receipt.token) == receipt
    assert isinstance(refused(headers), x402.PaymentAlreadyUsed)


def test_what_is_too_much_for_somebody_unproven_stays_too_much(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.2")
    refused(headers, asked(fields="reviews"), products=REVIEWS)
    assert reason(refused(headers)) == "anonymous_proof_too_large"


def test_what_was_too_old_does_not_become_young(wallets: Mapping[str, Wallet]) -> None:
    headers, late = sent(wallets["free"]), timezone.now() + timedelta(minutes=16)
    for caller in (ANYBODY, ANYBODY, proven(wallets["free"], FREE)):
        assert reason(refused(headers, caller=caller, now=late)) == "too_old"
    assert reason(refused(headers)) == "too_old"


def test_what_a_stranger_has_spoilt_still_buys_for_the_wallet_that_sent_it(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.2")
    row = owed(refused(headers, asked("geranium")), "anonymous_proof_too_large")
    caller = proven(wallets["free"], FREE)
    receipt = buy(headers, caller=caller)
    assert receipt.payment == row.pk
    row = Payment.objects.get()
    assert (row.state, row.error, row.purchase) == (State.SETTLED, "", asked().key)
    assert buy(headers, caller=caller) == receipt
    assert isinstance(refused(headers, asked("geranium"), caller=caller), x402.PaymentAlreadyUsed)


def test_of_equal_requests_at_once_for_what_a_stranger_has_spoilt_none_is_told_that_it_goes_back() -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    headers = sent(wallet)
    refused(headers, asked("geranium", fields="reviews"), products=REVIEWS)
    found = at_once(6, lambda: buy(headers, caller=proven(wallet, FREE)))
    assert {type(each) for each in found} == {x402.Receipt}
    assert len(set(found)) == 1
    assert Payment.objects.get().state == State.SETTLED


def test_what_is_owed_back_buys_no_more_than_it_could_have(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.001")
    refused(headers)
    owed(refused(headers, caller=proven(wallets["free"], FREE)), "wrong_amount")


def test_what_was_sent_back_buys_nothing(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["free"], "0.2")
    row = owed(refused(headers), "anonymous_proof_too_large")
    assert row.settled_at is not None
    later = row.settled_at + transitions.SPENDABLE
    assert transitions.refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=later)
    assert not transitions.refund(row.pk, tx_hash="0x" + "5b" * 32, by="staff:ada", now=later)
    for caller in (None, proven(wallets["free"], FREE)):
        refusal = refused(headers, **({"caller": caller} if caller else {}))
        assert isinstance(refusal, x402.PaymentAlreadyUsed)
        assert reason(refusal) == "refunded"
    assert Payment.objects.get().refund.tx_hash == "0x" + "5a" * 32


def test_money_is_either_spent_or_sent_back(wallets: Mapping[str, Wallet]) -> None:
    row = owed(refused(sent(wallets["free"], "0.2")), "anonymous_proof_too_large")
    assert row.settled_at is not None
    before, after = (
        row.settled_at + transitions.SPENDABLE - timedelta(seconds=1),
        row.settled_at + transitions.SPENDABLE,
    )
    assert not transitions.refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=before)
    assert not transitions.spend_after_all(row, now=after)
    assert transitions.spend_after_all(row, now=before)
    assert not transitions.refund(row.pk, tx_hash="0x" + "5a" * 32, by="staff:ada", now=after)


# What transactions may hold
def test_nothing_pays_for_nothing(wallets: Mapping[str, Wallet]) -> None:
    assert reason(refused(sent(wallets["free"], "0"))) == "not_a_payment"
    assert Payment.objects.count() == 0


def test_more_than_there_is_is_written_down(wallets: Mapping[str, Wallet]) -> None:
    wallet = fresh_wallet(usdc=Decimal(10) ** 20)
    headers = sent(wallet, "1" + "0" * 20)
    owed(refused(headers), "anonymous_proof_too_large")
    assert buy(headers, caller=proven(wallet, FREE)).headers["PAYMENT-RESPONSE"]


def test_all_transfers_of_a_transaction_are_in_the_books(wallets: Mapping[str, Wallet]) -> None:
    free, pro = wallets["free"], wallets["pro"]
    headers = {
        "X-Payment": together((free, project.PAY_TO, 1000), (pro, project.PAY_TO, 4000), (free, project.PAY_TO, 1000))
    }
    receipt = buy(headers, asked(fields="reviews"), products=REVIEWS)
    assert (receipt.payer, receipt.amount) == (pro.address, Decimal("0.004"))
    other = Payment.objects.get(payer=free.address)
    assert (other.state, other.amount_usdc, other.error) == (State.REFUND_DUE, Decimal("0.002"), "another_payer")
    assert buy(headers, caller=proven(free, FREE)).payment == other.pk


def test_a_transfer_beside_an_authorization_is_in_the_books(wallets: Mapping[str, Wallet]) -> None:
    signed = paid_by(wallets["pro"])
    plain = (wallets["free"], project.PAY_TO, 2000)
    headers = {"X-Payment": together(plain, beside=signed)}
    assert buy(headers, asked("geranium")).payer == wallets["free"].address
    assert buy(signed).payer == wallets["pro"].address


def test_a_hash_is_not_asked_about_where_there_is_no_price(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    Price.objects.filter(product="context", rate="standard").delete()
    settings.RPC_URL, real = "http://127.0.0.1:1", settings.RPC_URL
    refusal = refused({"X-Payment": "0x" + "5a" * 32})
    settings.RPC_URL = real
    assert isinstance(refusal, price_list.NotSold)


def test_a_replay_of_a_hash_brings_nothing_that_was_not_paid_for(wallets: Mapping[str, Wallet]) -> None:
    headers = sent(wallets["pro"], "0.05")
    receipt = buy(headers)
    transitions.deliver(receipt.payment, now=timezone.now())
    refusal = refused(headers, products=("context", "reviews"), receipt_token=receipt.token)
    assert isinstance(refusal, x402.PaymentAlreadyUsed)
    assert buy(headers, receipt_token=receipt.token) == receipt
