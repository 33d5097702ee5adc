"""Reconciliation of payments whose outcome is not known.

After each test what we have received on the chain is the sum of the ledger.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import httpx
import pytest
from django.conf import LazySettings
from django.utils import timezone

from config.celery import app
from payments.chain import evm, reads, usdc
from payments.chain.networks import payment_network
from payments.checkout.context import SettlementPending
from payments.devchain.wallets import Wallet
from payments.ledger import reconcile, transitions
from payments.models import Payment, PaymentEvent
from payments.tasks import reconcile_payments
from payments.tiers.definitions import FREE
from payments.x402.challenges import PaymentRejected
from tests.payments.buyer import (
    abandoned,
    aged,
    at_once,
    buy,
    paid_by,
    proven,
    reason,
    refused,
    resigned,
    settled_by_third_party,
    signed_by,
)
from tests.payments.chain.test_reads import cancellation
from tests.payments.facilitators import hangs_up, node_answering, says, serving, settles_and
from tests.payments.transfers import CANCEL, front_run, send

State = Payment.State
MINUTE = timedelta(seconds=61)
JSON = {"Content-Type": "application/json"}
NOWHERE = "http://127.0.0.1:1"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def ahead(settings: LazySettings) -> Iterator[list[timedelta]]:
    """By how much the chain's clock is ahead of what it really is; nothing until a test says so."""
    real, by = settings.RPC_URL, [timedelta(0)]

    def script(content: bytes) -> tuple[int, bytes]:
        asked, answered = json.loads(content), httpx.post(real, content=content, headers=JSON).json()
        for question, answer in zip(asked, answered, strict=True) if isinstance(asked, list) else ():
            if question["params"][0] == {"data": reads.CLOCK}:
                answer["result"] = f"0x{int(answer['result'], 16) + int(by[0].total_seconds()):064x}"
        return 200, json.dumps(answered).encode()

    with serving(script) as server:
        settings.RPC_URL = server.url
        yield by
    settings.RPC_URL = real


def test_an_unknown_payment_that_arrived_is_found_on_the_chain_and_waits_for_its_payer(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.FACILITATOR_URL, paid_by(wallets["free"])
    with serving(settles_and(hangs_up)) as server:
        settings.FACILITATOR_URL = server.url
        refused(headers)
    settings.FACILITATOR_URL = real
    assert reconcile.sweep(now=timezone.now()) == 0
    aged()
    assert reconcile.sweep(now=timezone.now()) == 1
    row = Payment.objects.get()
    assert (row.state, row.error, row.block is not None) == (State.SETTLED, "", True)
    assert buy(headers).payment == row.pk
    assert Payment.objects.get().attempts == row.attempts


def test_a_payment_whose_time_passed_unused_expires(wallets: Mapping[str, Wallet], ahead: list[timedelta]) -> None:
    headers = signed_by(wallets["free"])
    abandoned(headers)
    now = timezone.now()
    reconcile.sweep(now=now)
    row = Payment.objects.get()
    assert (row.state, row.error) == (State.UNKNOWN, "How the settlement ended is not known.")
    assert row.valid_before is not None
    # The chain's clock may be behind ours.
    reconcile.sweep(now=row.valid_before + timedelta(seconds=59))
    assert Payment.objects.get().state == State.UNKNOWN
    aged()
    ahead[0] = MINUTE
    assert reconcile.sweep(now=row.valid_before + MINUTE) == 1
    assert Payment.objects.get().state == State.EXPIRED
    ahead[0] = timedelta(0)
    refusal = refused(headers)
    assert isinstance(refusal, PaymentRejected)
    assert reason(refusal) == "expired"


@pytest.mark.exhaustive
def test_money_that_arrives_for_an_expired_payment_is_found(
    wallets: Mapping[str, Wallet], ahead: list[timedelta]
) -> None:
    headers = signed_by(wallets["free"])
    row = abandoned(headers)
    assert row.valid_before is not None
    late, ahead[0] = row.valid_before + MINUTE, MINUTE
    assert reconcile.sweep(now=late) == 1
    assert Payment.objects.get().state == State.EXPIRED
    transaction = settled_by_third_party(headers)
    reconcile.sweep(now=late + timedelta(minutes=9))
    assert Payment.objects.get().state == State.EXPIRED
    reconcile.sweep(now=late + timedelta(minutes=11))
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.error) == (State.SETTLED, transaction, "")
    assert buy(headers).payment == row.pk


def test_money_that_arrives_for_an_expired_payment_is_found_when_its_payer_returns(
    wallets: Mapping[str, Wallet], ahead: list[timedelta]
) -> None:
    headers = signed_by(wallets["free"])
    row = abandoned(headers)
    assert row.valid_before is not None
    ahead[0] = MINUTE
    assert reconcile.sweep(now=row.valid_before + MINUTE) == 1
    settled_by_third_party(headers)
    assert buy(headers).payment == row.pk


@pytest.mark.exhaustive
def test_a_spent_authorization_stays_open_until_the_chain_shows_its_use(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.RPC_URL, paid_by(wallets["free"])
    row = abandoned(headers)
    transaction = settled_by_third_party(headers)
    for method in ("eth_getLogs", "eth_getTransactionReceipt"):
        with serving(node_answering({method: [] if method == "eth_getLogs" else None})) as server:
            settings.RPC_URL = server.url
            for later in (timedelta(0), timedelta(hours=1), timedelta(hours=30)):
                assert reconcile.sweep(now=timezone.now() + later) == 0
                aged()
            assert isinstance(refused(headers), SettlementPending)
        assert Payment.objects.get().state == State.UNKNOWN
        aged()
    settings.RPC_URL = real
    assert reconcile.sweep(now=timezone.now()) == 1
    assert (Payment.objects.get().state, Payment.objects.get().tx_hash) == (State.SETTLED, transaction)
    assert Payment.objects.get().pk == row.pk


# What the node says
def test_a_node_that_lags_behind_expires_nothing(wallets: Mapping[str, Wallet], ahead: list[timedelta]) -> None:
    row = abandoned(signed_by(wallets["free"]))
    assert row.valid_before is not None
    late = row.valid_before + timedelta(hours=2)
    ahead[0] = row.valid_before - timezone.now() - timedelta(seconds=2)
    assert reconcile.sweep(now=late) == 0
    assert Payment.objects.get().state == State.UNKNOWN
    ahead[0] += timedelta(seconds=4)
    aged()
    assert reconcile.sweep(now=late) == 1
    assert Payment.objects.get().state == State.EXPIRED


LOG = {
    "address": payment_network().asset,
    "topics": [usdc.AUTHORIZATION_CANCELED, evm.encode_topic("0x" + "0c" * 20), "0x" + "5a" * 32],
    "data": "0x",
    "logIndex": "0x0",
    "transactionHash": "0x" + "5a" * 32,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "results",
    [
        {"eth_call": None},
        {"eth_call": "0x"},
        {"eth_call": 7},
        {"eth_call": "0x" + "00" * 31 + "02"},
        {"eth_call": "0x" + "ff" * 32},
        {"eth_call": ["0x01"]},
        {"eth_getLogs": "nonsense"},
        {"eth_getLogs": [{}]},
        {"eth_getLogs": [None]},
        {"eth_getLogs": [LOG]},
        {"eth_getLogs": [LOG | {"topics": []}]},
        {"eth_blockNumber": "soon"},
        {"eth_getTransactionReceipt": {"blockNumber": "0x1"}},
        {"eth_getTransactionReceipt": {"blockNumber": "0x1", "logs": [{"logIndex": None}]}},
        {"eth_getTransactionReceipt": {"blockNumber": "0x1", "logs": []}},
        {"eth_getBlockByNumber": []},
    ],
)
def test_a_node_that_answers_nonsense_ends_no_payment(
    wallets: Mapping[str, Wallet], settings: LazySettings, results: Mapping[str, Any]
) -> None:
    real, headers = settings.RPC_URL, signed_by(wallets["free"])
    abandoned(headers)
    transaction = settled_by_third_party(headers)
    with serving(node_answering(results)) as server:
        settings.RPC_URL = server.url
        assert reconcile.sweep(now=timezone.now()) == 0
        assert Payment.objects.get().state == State.UNKNOWN
        assert isinstance(refused(headers), SettlementPending)
    settings.RPC_URL = real
    aged()
    assert reconcile.sweep(now=timezone.now()) == 1
    assert (Payment.objects.get().state, Payment.objects.get().tx_hash) == (State.SETTLED, transaction)


def test_a_cancelled_authorization_expires_with_that_reason(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"])
    row = abandoned(headers)
    nonce = reconcile.nonce_of(row)
    send(wallets["free"], payment_network().asset, CANCEL, *cancellation(wallets["free"], nonce))
    assert reconcile.sweep(now=timezone.now()) == 1
    assert (Payment.objects.get().state, Payment.objects.get().error) == (State.EXPIRED, "It was cancelled.")


@pytest.mark.exhaustive
def test_concurrent_sweeps_check_each_payment_once(wallets: Mapping[str, Wallet]) -> None:
    for _ in range(6):
        abandoned(signed_by(wallets["free"]))
    assert at_once(4, lambda: reconcile.sweep(now=timezone.now())) == [0, 0, 0, 0]
    assert {(row.state, row.attempts) for row in Payment.objects.all()} == {(State.UNKNOWN, 2)}
    assert PaymentEvent.objects.count() == 18


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_away", [False, True])
def test_sweeps_that_change_nothing_write_no_events_and_back_off(
    wallets: Mapping[str, Wallet], settings: LazySettings, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    real, checked = reconcile.check_chain, []
    valid_for = timedelta(hours=20).total_seconds()
    row = abandoned(signed_by(wallets["free"], max_timeout_seconds=int(valid_for)))
    start = row.created_at

    def check_chain(row: Payment, *, now: datetime) -> reconcile.AuthorizationStatus:
        checked.append(now - start)
        return real(row, now=now)

    monkeypatch.setattr(reconcile, "check_chain", check_chain)
    if is_away:
        settings.RPC_URL, was = NOWHERE, settings.RPC_URL
    for seconds in (*range(20, 600, 15), *range(600, 2 * 3600, 60)):
        reconcile.sweep(now=start + timedelta(seconds=seconds))
    if is_away:
        settings.RPC_URL = was
    row = Payment.objects.get()
    assert (row.state, row.attempts, PaymentEvent.objects.count()) == (State.UNKNOWN, 2, 3)
    minutes = [each.total_seconds() / 60 for each in checked]
    assert len([each for each in minutes if each < 5]) > 6
    assert 20 < len(minutes) < 30
    assert all(
        later - sooner <= max(sooner / 4, 0.25) + (1 if later > 10 else 0.25) and later - sooner <= 11
        for sooner, later in pairwise(minutes)
    )
    # Who cannot wait does not.
    front = PaymentEvent.objects.count()
    reconcile.sweep(now=start + timedelta(hours=2), is_urgent=True)
    assert len(checked) == len(minutes) + 1
    assert PaymentEvent.objects.count() == front


def test_a_sweep_does_not_end_a_payment_that_its_payer_has_taken_over(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = abandoned(signed_by(wallets["free"]))
    reconcile.sweep(now=timezone.now())
    aged()

    def check_chain(row: Payment, *, now: datetime) -> reconcile.AuthorizationStatus:
        assert transitions.take_over(Payment.objects.get(), now=now)
        transitions.mark_expired(row, reason="Its time has passed and it was not used.")
        return reconcile.AuthorizationStatus.UNUSED

    monkeypatch.setattr(reconcile, "check_chain", check_chain)
    reconcile.sweep(now=timezone.now())
    row = Payment.objects.get()
    assert (row.state, row.attempts, row.error) == (State.CLAIMED, 3, "How the settlement ended is not known.")


# By the word of the facilitator
def test_a_settlement_that_was_served_unconfirmed_is_confirmed_later(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.PAYMENT_CONFIRMATIONS = 0
    receipt = buy(paid_by(wallets["free"]))
    reconcile.sweep(now=timezone.now())
    assert Payment.objects.get().block is None
    reconcile.sweep(now=timezone.now() + timedelta(seconds=61))
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.error) == (State.SETTLED, receipt.transaction, "")
    assert (row.block is not None, row.log_index is not None) == (True, True)


@pytest.mark.parametrize("has_paid", [False, True])
def test_a_settlement_that_the_chain_does_not_show_is_an_error(
    wallets: Mapping[str, Wallet], settings: LazySettings, caplog: pytest.LogCaptureFixture, has_paid: bool
) -> None:
    settings.PAYMENT_CONFIRMATIONS = 0
    real, headers = settings.FACILITATOR_URL, signed_by(wallets["free"])
    lie = {"success": True, "transaction": "0x" + "5a" * 32, "network": "eip155:84532"}
    if has_paid:
        front_run(resigned(wallets["free"], headers, value=5), sender=wallets["pro"])
    with serving(says(200, lie)) as server:
        settings.FACILITATOR_URL = server.url
        buy(headers, caller=proven(wallets["free"], FREE))
    settings.FACILITATOR_URL = real
    for minutes in (2, 20):
        reconcile.sweep(now=timezone.now() + timedelta(minutes=minutes))
    row = Payment.objects.get()
    expected = "less has arrived" if has_paid else "the chain does not know of it"
    assert (row.state, expected in row.error) == (State.SETTLED, True)
    assert [expected in record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [True]
    if has_paid:
        assert row.amount_usdc == Decimal("0.000005")
    else:
        # The payment is flagged; the sums agree without it.
        row.delete()


def test_a_sweep_skips_a_payment_that_a_request_is_settling(wallets: Mapping[str, Wallet]) -> None:
    abandoned(paid_by(wallets["free"]), ago=timedelta(seconds=14))
    assert reconcile.sweep(now=timezone.now()) == 0
    assert (Payment.objects.get().state, Payment.objects.get().attempts) == (State.CLAIMED, 1)


def test_a_sweep_while_the_chain_is_unavailable_ends_nothing(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real = settings.RPC_URL
    abandoned(paid_by(wallets["free"]))
    settings.RPC_URL = NOWHERE
    assert reconcile.sweep(now=timezone.now() + timedelta(days=1)) == 0
    settings.RPC_URL = real
    assert Payment.objects.get().state == State.UNKNOWN


def test_the_task_sweeps(wallets: Mapping[str, Wallet]) -> None:
    headers = paid_by(wallets["free"])
    abandoned(headers)
    transaction = settled_by_third_party(headers)
    reconcile_payments()
    assert (Payment.objects.get().state, Payment.objects.get().tx_hash) == (State.SETTLED, transaction)


def test_a_request_cannot_undo_a_take_over_of_its_payment(wallets: Mapping[str, Wallet]) -> None:
    first = abandoned(paid_by(wallets["free"]))
    second = Payment.objects.get()
    assert transitions.take_over(second, now=timezone.now())
    assert not transitions.take_over(
        Payment(pk=first.pk, state=first.state, attempts=1, claimed_at=first.claimed_at), now=timezone.now()
    )
    transitions.release_claim(first)
    transitions.mark_unknown(first, reason="too late")
    transitions.mark_expired(first, reason="too late")
    row = Payment.objects.get()
    assert (row.state, row.attempts, row.error) == (State.CLAIMED, 2, "")


def test_the_beat_knows_its_tasks() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)
    assert app.conf.beat_schedule["reconcile-payments"]["schedule"] == 15


def test_a_payment_that_was_claimed_while_the_clock_was_ahead_is_found_on_the_chain(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = paid_by(wallets["free"])
    abandoned(headers, ago=timedelta(days=-1))
    settled_by_third_party(headers)
    assert reconcile.sweep(now=timezone.now()) == 1
    row = Payment.objects.get()
    assert (row.state, row.error, row.block is not None) == (State.SETTLED, "", True)
    assert buy(headers).payment == row.pk


def test_a_payment_that_was_claimed_while_the_clock_was_ahead_is_settled_when_its_payer_returns(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = paid_by(wallets["free"])
    row = abandoned(headers, ago=timedelta(days=-1))
    assert buy(headers).payment == row.pk
    assert Payment.objects.get().state == State.SETTLED


def test_an_unknown_payment_that_was_checked_while_the_clock_was_ahead_is_checked_when_it_is_right(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = paid_by(wallets["free"])
    abandoned(headers)
    Payment.objects.update(state=State.UNKNOWN, claimed_at=timezone.now() + timedelta(days=1))
    settled_by_third_party(headers)
    assert reconcile.sweep(now=timezone.now()) == 1
    assert Payment.objects.get().state == State.SETTLED
