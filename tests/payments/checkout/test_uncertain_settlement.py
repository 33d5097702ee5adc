"""Uncertain settlements: "nothing was charged" is never answered while the money may still move.

After each test what we have received on the chain is the sum of the ledger.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings, settings
from django.db import connection
from django.utils import timezone

from framework.errors import ApiError
from payments.chain import reads
from payments.chain.networks import payment_network
from payments.checkout.context import PaymentIdentifierReused, SettlementPending
from payments.devchain.wallets import Wallet
from payments.facilitator_server import error_codes
from payments.ledger import chain_audit, reconcile, transitions
from payments.models import Payment
from payments.tiers.definitions import PRO
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected
from tests.payments.buyer import abandoned, aged, buy, paid_by, proven, read, reason, refused, resigned, signed_by
from tests.payments.facilitators import Script, node_answering, refuses, says, serving
from tests.payments.transfers import FICKLE, contract_wallet, front_run, send
from tests.support import wallets as wallets_of_tests
from tests.support.wallets import fresh_wallet, usdc_balance

State = Payment.State
PRICE = Decimal("0.002")
HASH = "0x" + "5a" * 32
UNUSED = "0x" + "0" * 64
USED = "invalid_exact_evm_nonce_already_used"
BOTH = ("context", "reviews")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def answered(script: Script, headers: Mapping[str, str], settings: LazySettings) -> ApiError:
    """The refusal that comes of a facilitator with this script; the real one stands again after it."""
    real = settings.FACILITATOR_URL
    with serving(script) as server:
        settings.FACILITATOR_URL = server.url
        try:
            return refused(headers)
        finally:
            settings.FACILITATOR_URL = real


def reverted(sender: Wallet) -> str:
    """A transaction that was mined and has moved nothing."""
    return send(sender, payment_network().asset, "transfer(address,uint256)", sender.address, 10**18)


# What may still be on its way
LATE = {
    "a receipt that did not come": refuses("invalid_exact_evm_failed_to_get_receipt", HASH),
    "a receipt that did not come, without its name": refuses("invalid_exact_evm_failed_to_get_receipt"),
    "a failure": refuses("invalid_exact_evm_transaction_failed", HASH),
    "a failure, without its name": refuses("invalid_exact_evm_transaction_failed"),
    "failed": refuses("transaction_failed", HASH),
    "a transfer that is not the one": refuses("invalid_exact_evm_transfer_event_mismatch", HASH),
    "no funds, in a transaction": refuses("invalid_exact_evm_insufficient_balance", HASH),
    "an unknown reason": refuses("invalid_settlement_of_tomorrow"),
    "a simulation that failed, for whatever reason": refuses("invalid_exact_evm_transaction_simulation_failed"),
    "a copy": refuses("duplicate_settlement"),
    "used": refuses(USED),
    "used, in a transaction": refuses(USED, HASH),
    **{f"HTTP {status}": says(status, {"error": "no"}) for status in (400, 402, 408, 409, 423, 425, 499)},
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("late", LATE)
def test_a_payment_that_may_still_arrive_is_503_and_charged_once(
    wallets: Mapping[str, Wallet], settings: LazySettings, late: str
) -> None:
    before, headers = usdc_balance(wallets["free"].address), paid_by(wallets["free"])
    refusal = answered(LATE[late], headers, settings)
    assert (refusal.status, refusal.code) == (503, "settlement_pending")
    assert Payment.objects.get().state == State.UNKNOWN
    # It comes into a block after all.
    transaction = front_run(headers, sender=wallets["pro"])
    assert buy(headers).transaction == transaction
    assert before - usdc_balance(wallets["free"].address) == PRICE
    assert Payment.objects.count() == 1


@pytest.mark.parametrize("why", ["transaction_failed", "invalid_exact_evm_transaction_failed", "of_tomorrow"])
def test_a_reverted_settlement_is_refused(wallets: Mapping[str, Wallet], settings: LazySettings, why: str) -> None:
    refusal = answered(refuses(why, reverted(wallets["pro"])), paid_by(wallets["free"]), settings)
    assert isinstance(refusal, PaymentRejected)
    assert (reason(refusal), Payment.objects.count()) == (why, 0)


def test_a_settlement_that_failed_because_the_nonce_was_used_is_not_refused(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    headers = paid_by(wallets["free"])
    refusal = answered(refuses(USED, reverted(wallets["pro"])), headers, settings)
    assert isinstance(refusal, SettlementPending)
    buy(headers)


@pytest.mark.exhaustive
def test_a_lagging_node_does_not_release_a_used_authorization(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.RPC_URL, signed_by(wallets["free"])
    # Its tier is believed for a while, so that only the authorization is asked about.
    buy(paid_by(wallets["free"]))
    transaction = front_run(headers, sender=wallets["pro"])
    with serving(node_answering({"eth_call": UNUSED})) as node:
        settings.RPC_URL = node.url
        assert isinstance(answered(refuses(USED), headers, settings), SettlementPending)
    settings.RPC_URL = real
    aged()
    assert reconcile.sweep(now=timezone.now()) == 1
    assert buy(headers).transaction == transaction


def test_a_reported_failure_is_not_final_without_its_receipt(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.RPC_URL, paid_by(wallets["free"])
    transaction = reverted(wallets["pro"])
    with serving(node_answering({"eth_getTransactionReceipt": None})) as node:
        settings.RPC_URL = node.url
        refusal = answered(refuses("transaction_failed", transaction), headers, settings)
    settings.RPC_URL = real
    assert isinstance(refusal, SettlementPending)
    buy(headers)


@pytest.mark.sample(3)
@pytest.mark.parametrize("why", sorted(error_codes.REFUSED))
def test_a_rejection_before_sending_is_refused(
    wallets: Mapping[str, Wallet], settings: LazySettings, why: str
) -> None:
    assert reason(answered(refuses(why), paid_by(wallets["free"]), settings)) == why
    assert Payment.objects.count() == 0


# While another has taken it over
@pytest.mark.exhaustive
@pytest.mark.parametrize("status", [200, 404])
def test_a_payment_that_was_taken_over_is_pending(
    wallets: Mapping[str, Wallet], settings: LazySettings, status: int
) -> None:
    headers = paid_by(wallets["free"])

    def slow(_: bytes) -> tuple[int, bytes] | None:
        aged()
        reconcile.sweep(now=timezone.now())
        connection.close()
        return (status, b"") if status == 404 else refuses("invalid_exact_evm_insufficient_balance")(b"")

    assert isinstance(answered(slow, headers, settings), SettlementPending)
    assert (Payment.objects.get().state, Payment.objects.get().attempts) == (State.UNKNOWN, 2)
    buy(headers)


@pytest.mark.exhaustive
def test_a_smaller_transfer_is_not_served_whatever_the_facilitator_says(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    headers = signed_by(wallets["free"])

    def lies(_: bytes) -> tuple[int, bytes]:
        front_run(resigned(wallets["free"], headers, value=1), sender=wallets["pro"])
        aged()
        reconcile.sweep(now=timezone.now())
        connection.close()
        return 200, json.dumps({"success": True, "transaction": HASH, "network": "eip155:84532"}).encode()

    refusal = answered(lies, headers, settings)
    row = Payment.objects.get()
    assert isinstance(refusal, PaymentAlreadyUsed)
    assert (row.state, row.amount_usdc) == (State.REFUND_DUE, Decimal("0.000001"))
    assert refusal.body_override is not None
    assert refusal.body_override["refund"] == row.public_id


# Reasons that are none
ODD = {
    "long": "invalid_" + "x" * 60_000,
    "with a NUL": "invalid_\x00nul",
    "a NUL": "\x00",
    "of two lines": "\u2028<script>",
    "a space": " ",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("why", ODD)
def test_a_reason_is_sanitized_and_truncated(
    wallets: Mapping[str, Wallet], settings: LazySettings, caplog: pytest.LogCaptureFixture, why: str
) -> None:
    headers = paid_by(wallets["free"])
    assert isinstance(answered(refuses(ODD[why]), headers, settings), SettlementPending)
    row = Payment.objects.get()
    assert 0 < len(row.error) <= 100
    assert row.error.isprintable()
    assert len(caplog.text) < 1000
    buy(headers)


# More in the answer than was paid for
@pytest.mark.exhaustive
def test_an_undelivered_payment_for_an_answer_that_has_grown_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["pro"])
    row = abandoned(headers)
    front_run(headers, sender=wallets["free"])
    reconcile.sweep(now=timezone.now())
    # Another request may be answering it.
    assert isinstance(refused(headers, products=BOTH), SettlementPending)
    Payment.objects.update(settled_at=timezone.now() - transitions.CLAIM_TIMEOUT - timedelta(seconds=1))
    for _ in range(2):
        refusal = refused(headers, products=BOTH)
        row.refresh_from_db()
        assert isinstance(refusal, PaymentAlreadyUsed)
        assert (row.state, row.error) == (State.REFUND_DUE, Payment.RefundReason.NOT_DELIVERED)
        assert refusal.body_override is not None
        assert refusal.body_override["refund"] == row.public_id
    assert isinstance(refused(headers), PaymentAlreadyUsed)


def test_an_undelivered_payment_found_by_its_identifier_is_refund_due_if_the_answer_has_grown(
    wallets: Mapping[str, Wallet],
) -> None:
    buy(named(signed_by(wallets["pro"])))
    Payment.objects.update(settled_at=timezone.now() - transitions.CLAIM_TIMEOUT - timedelta(seconds=1))
    refusal = refused(named(signed_by(wallets["pro"])), products=BOTH)
    assert isinstance(refusal, PaymentIdentifierReused)
    assert refusal.extra == {"refund": Payment.objects.get().public_id}
    assert Payment.objects.get().error == Payment.RefundReason.NOT_DELIVERED


def test_an_undelivered_transaction_for_an_answer_that_has_grown_is_refund_due(
    wallets: Mapping[str, Wallet],
) -> None:
    sent = {
        "X-Payment": send(wallets["pro"], payment_network().asset, "transfer(address,uint256)", settings.PAY_TO, 2000)
    }
    mine = proven(wallets["pro"], PRO)
    receipt = buy(sent, caller=mine)
    Payment.objects.update(settled_at=timezone.now() - transitions.CLAIM_TIMEOUT - timedelta(seconds=1))
    # A stranger moves nothing by the hash alone.
    assert isinstance(refused(sent, products=BOTH), PaymentRejected)
    assert Payment.objects.get().state == State.SETTLED
    refusal = refused(sent, products=BOTH, caller=mine)
    assert refusal.body_override is not None
    assert refusal.body_override["refund"] == Payment.objects.get(pk=receipt.payment).public_id
    assert Payment.objects.get().error == Payment.RefundReason.NOT_DELIVERED


def test_a_delivered_payment_is_not_refunded_when_the_answer_has_grown(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["pro"])
    receipt = buy(headers)
    transitions.mark_delivered(receipt.payment, now=timezone.now())
    long_ago = timezone.now() - transitions.CLAIM_TIMEOUT - timedelta(seconds=1)
    Payment.objects.update(settled_at=long_ago)
    refusal = refused(headers, products=BOTH)
    assert refusal.body_override is not None
    assert "refund" not in refusal.body_override
    assert buy(headers) == replace(receipt, settled_at=long_ago)


# Names, at the edge of a time
def named(headers: Mapping[str, str]) -> dict[str, str]:
    """The same payment under a name."""
    payment = read(headers)
    payment["extensions"] = {"payment-identifier": {"info": {"required": False, "id": "a-name-of-mine-000"}}}
    return {"PAYMENT-SIGNATURE": json.dumps(payment)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_named", [True, False])
def test_a_payment_is_not_valid_in_the_second_of_its_valid_after(
    wallets: Mapping[str, Wallet], is_named: bool
) -> None:
    buy(named(signed_by(wallets["free"])))
    now = (timezone.now() + timedelta(seconds=1)).replace(microsecond=0)
    wallet = wallets["free"]
    headers = resigned(wallet, signed_by(wallet), value=2000, valid_after=int(now.timestamp()))
    refusal = refused(named(headers) if is_named else headers, now=now)
    assert reason(refusal) == "not_yet_valid"
    assert Payment.objects.count() == 1


# Contracts
def test_the_refusal_of_a_contract_whose_payment_is_on_the_chain_does_not_say_nothing_was_charged() -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer = contract_wallet(owner, usdc=Decimal(1), code=FICKLE)
    unpaid, paid = (read(signed_by(owner)) for _ in range(2))
    for payment in (unpaid, paid):
        payment["payload"]["authorization"]["from"] = payer
    headers = {"PAYMENT-SIGNATURE": json.dumps(paid)}
    front_run(headers, sender=owner)
    # From now on it agrees with nothing.
    wallets_of_tests.send(owner, to=payer)
    refusals = [refused({"PAYMENT-SIGNATURE": json.dumps(payment)}) for payment in (unpaid, paid)]
    assert [reason(refusal) for refusal in refusals] == ["invalid_signature"] * 2
    assert ["Nothing was charged" in refusal.message for refusal in refusals] == [True, False]
    assert Payment.objects.count() == 0
    # The daily audit finds it and owes it back.
    head = reads.read_latest_block_number()
    chain_audit.audit_span(settings.PAY_TO, head - 1, head, now=timezone.now())
    assert (Payment.objects.get().payer, Payment.objects.get().state) == (payer, State.REFUND_DUE)
