"""The chain audit: the differences that it finds, the refunds that it records, and what it leaves unchanged.

After each test the sum of the ledger equals the transfers on the chain.
"""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.conf import LazySettings, settings
from django.db import connection
from django.utils import timezone

from payments.chain import reads, rpc
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit, transitions
from payments.models import Audit, Payment, PaymentEvent
from payments.tasks import audit_payments
from payments.tiers.definitions import FREE
from tests.payments.buyer import abandoned, buy, paid_by, proven, reason, refused, settled_by_third_party, signed_by
from tests.payments.facilitators import Script, Server, node_answering, says, serving
from tests.payments.transfers import front_run, send, together
from tests.support import wallets as purse

State = Payment.State
HALF_AN_HOUR = timedelta(minutes=30, seconds=5)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("since")]


@pytest.fixture
def since(ledger_matches_chain: None) -> Iterator[int]:
    """Mark all earlier blocks as audited; after the test, check that a second audit changes nothing."""
    head = reads.read_latest_block_number()
    Audit.objects.create(
        network=payment_network().caip2,
        pay_to=settings.PAY_TO,
        first_block=0,
        last_block=head,
        started_at=timezone.now(),
        ended_at=timezone.now(),
    )
    yield head
    # A second audit changes nothing.
    before = list(Payment.objects.order_by("pk").values())
    events = PaymentEvent.objects.count()
    if before:
        chain_audit.run(now=later(), from_block=head + 1)
    assert list(Payment.objects.order_by("pk").values()) == before
    assert PaymentEvent.objects.count() == events


def later() -> datetime:
    """A time at which every block so far is old enough for an audit."""
    return timezone.now() + HALF_AN_HOUR


def audit_once() -> Audit:
    """Run the audit, and return its single span."""
    (only,) = chain_audit.run(now=later())
    return only


@contextmanager
def read_from(settings: LazySettings, script: Script) -> Iterator[Server]:
    """Have the product read from a scripted node."""
    real = settings.RPC_URL
    with serving(script) as server:
        settings.RPC_URL = server.url
        yield server
    settings.RPC_URL = real


def transfer(payer: Wallet, amount: str) -> str:
    return purse.transfer_usdc(payer, settings.PAY_TO, Decimal(amount))


def hash_of(tx_hash: str) -> dict[str, str]:
    return {"X-Payment": tx_hash}


# Money that bought something
@pytest.mark.exhaustive
def test_payments_of_each_form_match_the_chain(wallets: Mapping[str, Wallet], since: int) -> None:
    buy(paid_by(wallets["free"]))
    buy(hash_of(transfer(wallets["pro"], "0.002")), caller=proven(wallets["pro"], FREE))
    audit = audit_once()
    assert (audit.first_block, audit.last_block) == (since + 1, reads.read_latest_block_number())
    assert (audit.transfers, audit.orphans, audit.differences) == (2, 0, [])
    assert (audit.arrived_usdc, audit.ledger_usdc) == (Decimal("0.004"), Decimal("0.004"))
    assert audit.ended_at is not None


def test_transfers_of_the_last_half_hour_wait_for_the_next_audit(wallets: Mapping[str, Wallet], since: int) -> None:
    transfer(wallets["free"], "0.002")
    assert chain_audit.run(now=timezone.now() + timedelta(minutes=29)) == []
    assert Payment.objects.count() == 0
    assert audit_once().orphans == 1
    assert chain_audit.run(now=later()) == []


@pytest.mark.exhaustive
def test_the_audit_of_a_busy_span_costs_three_trips_and_none_for_each_payment(
    wallets: Mapping[str, Wallet], settings: LazySettings, since: int
) -> None:
    for _ in range(3):
        buy(hash_of(transfer(wallets["free"], "0.002")), caller=proven(wallets["free"], FREE))
    with read_from(settings, node_answering({})) as server:
        chain_audit.audit_span(settings.PAY_TO, since + 1, reads.read_latest_block_number(), now=later())
    asked = [json.loads(question)["method"] for question in server.asked]
    assert sorted(asked) == ["eth_blockNumber", "eth_getBlockByNumber", "eth_getBlockByNumber", "eth_getLogs"]


# Money that bought nothing
def test_an_unclaimed_transfer_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    tx_hash = transfer(wallets["free"], "0.005")
    audit = audit_once()
    row = Payment.objects.get()
    assert (audit.orphans, audit.transfers, audit.ledger_usdc) == (1, 1, Decimal("0.005"))
    assert (row.state, row.payer, row.amount_usdc, row.tx_hash, row.form, row.error) == (
        State.REFUND_DUE,
        wallets["free"].address,
        Decimal("0.005"),
        tx_hash,
        Payment.Form.TX,
        "too_old",
    )
    assert row.block == reads.find_plain_transfers(tx_hash, receivers={settings.PAY_TO})[0].block


@pytest.mark.exhaustive
def test_a_transfer_that_an_audit_recorded_cannot_be_spent(wallets: Mapping[str, Wallet]) -> None:
    tx_hash = transfer(wallets["free"], "0.002")
    audit_once()
    refusal = refused(hash_of(tx_hash), caller=proven(wallets["free"], FREE))
    assert reason(refusal) == "too_old"
    assert Payment.objects.get().state == State.REFUND_DUE


@pytest.mark.exhaustive
def test_each_payer_of_a_transaction_and_each_authorization_in_it_has_a_payment(wallets: Mapping[str, Wallet]) -> None:
    free, pro, premium = wallets["free"], wallets["pro"], wallets["premium"]
    pay_to = settings.PAY_TO
    signed = signed_by(premium, value=7000)
    tx_hash = together((free, pay_to, 2000), (pro, pay_to, 4000), (free, pay_to, 3000), beside=signed)
    audit = audit_once()
    assert (audit.orphans, audit.transfers, audit.arrived_usdc) == (3, 4, Decimal("0.016"))
    lines = {(row.payer, row.amount_usdc, row.form) for row in Payment.objects.filter(tx_hash=tx_hash)}
    assert lines == {
        (free.address, Decimal("0.005"), "tx"),
        (pro.address, Decimal("0.004"), "tx"),
        (premium.address, Decimal("0.007"), "v2"),
    }


@pytest.mark.exhaustive
def test_an_authorization_used_by_another_sender_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"])
    front_run(headers, sender=wallets["pro"])
    assert audit_once().orphans == 1
    row = Payment.objects.get()
    refusal = refused(headers, caller=proven(wallets["free"], FREE))
    assert reason(refusal) == "refund_due"
    assert Payment.objects.get().pk == row.pk


@pytest.mark.exhaustive
def test_minted_money_and_empty_transfers_are_no_orphans(wallets: Mapping[str, Wallet]) -> None:
    transfer(wallets["free"], "0")
    send(wallets["free"], payment_network().asset, "transfer(address,uint256)", wallets["pro"].address, 10)
    audit = audit_once()
    assert (audit.transfers, audit.orphans, audit.arrived_usdc) == (0, 0, Decimal(0))
    assert not Payment.objects.exists()


# Lines that were left open or given up
@pytest.mark.exhaustive
@pytest.mark.parametrize("state", [State.UNKNOWN, State.EXPIRED])
def test_what_we_left_open_or_gave_up_is_settled_when_its_money_is_there(
    wallets: Mapping[str, Wallet], state: str
) -> None:
    headers = signed_by(wallets["free"])
    row = abandoned(headers)
    Payment.objects.filter(pk=row.pk).update(state=state, created_at=timezone.now() - timedelta(days=9))
    transaction = settled_by_third_party(headers)
    audit = audit_once()
    line = Payment.objects.get()
    assert (line.pk, line.state, line.tx_hash, line.block is not None) == (row.pk, State.SETTLED, transaction, True)
    assert (audit.orphans, audit.differences, audit.ledger_usdc) == (0, [], Decimal("0.002"))


# Lines that the chain does not bear out
@pytest.mark.exhaustive
def test_a_line_whose_money_is_not_on_the_chain_is_a_difference(
    wallets: Mapping[str, Wallet], caplog: pytest.LogCaptureFixture
) -> None:
    receipt = buy(hash_of(transfer(wallets["free"], "0.002")), caller=proven(wallets["free"], FREE))
    real = Payment.objects.get()
    Payment.objects.filter(pk=real.pk).update(tx_hash="0x" + "5a" * 32, proof_key="tx:other:1")
    audit = audit_once()
    assert len(audit.differences) == 1
    assert "the chain shows no such transfer in 0x5a5a" in audit.differences[0]
    assert audit.differences[0] in caplog.text
    # The money is there all the same, and in no payment: a refund is due.
    assert audit.orphans == 1
    Payment.objects.filter(pk=real.pk).delete()
    assert receipt.payment == real.pk


@pytest.mark.exhaustive
def test_a_line_of_another_amount_is_a_difference(wallets: Mapping[str, Wallet]) -> None:
    buy(hash_of(transfer(wallets["free"], "0.002")), caller=proven(wallets["free"], FREE))
    Payment.objects.update(amount_usdc=Decimal("0.003"))
    audit = audit_once()
    (difference,) = audit.differences
    assert difference.startswith("pay_")
    assert "settled: 0.003 USDC in 0x" in difference
    assert "the chain shows 0.002 in 0x" in difference
    assert (audit.arrived_usdc, audit.ledger_usdc) == (Decimal("0.002"), Decimal("0.003"))
    Payment.objects.update(amount_usdc=Decimal("0.002"))


@pytest.mark.exhaustive
def test_a_settlement_that_a_facilitator_invented_is_a_difference(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    settings.PAYMENT_CONFIRMATIONS, real = 0, settings.FACILITATOR_URL
    lie = {"success": True, "transaction": "0x" + "5a" * 32, "network": "eip155:84532"}
    with serving(says(200, lie)) as server:
        settings.FACILITATOR_URL = server.url
        buy(signed_by(wallets["free"]))
    settings.FACILITATOR_URL = real
    # Blocks know whole seconds only.
    time.sleep(1.1)
    transfer(wallets["pro"], "0.004")
    audit = audit_once()
    assert [difference.split(": ", 1)[1] for difference in audit.differences] == [
        "The facilitator says that it is settled; the chain does not know of it."
    ]
    assert audit.orphans == 1
    Payment.objects.filter(tx_hash="0x" + "5a" * 32).delete()


@pytest.mark.exhaustive
def test_a_payment_that_a_reorganised_chain_shows_in_another_block_moves_with_it(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch, since: int
) -> None:
    monkeypatch.setattr(reads, "LOG_WINDOW_BLOCKS", 1)
    buy(hash_of(transfer(wallets["free"], "0.002")), caller=proven(wallets["free"], FREE))
    block = Payment.objects.get().block
    send(wallets["free"], payment_network().asset, "transfer(address,uint256)", wallets["pro"].address, 10)
    Payment.objects.update(block=reads.read_latest_block_number())
    now = later()
    # Also if its former block is audited first.
    assert (
        chain_audit.audit_span(
            settings.PAY_TO, reads.read_latest_block_number(), reads.read_latest_block_number(), now=now
        ).differences
        == []
    )
    assert Payment.objects.get().block == block
    Payment.objects.update(block=reads.read_latest_block_number())
    audit = chain_audit.run(now=now, from_block=since + 1)
    assert [(each.arrived_usdc == each.ledger_usdc, each.differences) for each in audit] == [(True, []), (True, [])]
    assert Payment.objects.get().block == block


# Spans, kills, and several at once
@pytest.mark.exhaustive
def test_the_first_audit_begins_with_the_oldest_payment_or_a_window_ago(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch, since: int
) -> None:
    Audit.objects.all().delete()
    monkeypatch.setattr(reads, "LOG_WINDOW_BLOCKS", 2)
    for _ in range(2):
        send(wallets["free"], payment_network().asset, "transfer(address,uint256)", wallets["pro"].address, 10)
    head = reads.read_latest_block_number()
    assert chain_audit.find_first_block(settings.PAY_TO, head) == head - 1
    buy(hash_of(transfer(wallets["free"], "0.002")), caller=proven(wallets["free"], FREE))
    block = Payment.objects.get().block
    for _ in range(3):
        send(wallets["free"], payment_network().asset, "transfer(address,uint256)", wallets["pro"].address, 10)
    assert chain_audit.find_first_block(settings.PAY_TO, reads.read_latest_block_number()) == block
    assert [(each.first_block - since, each.last_block - since) for each in chain_audit.run(now=later())] == [
        (3, 4),
        (5, 6),
    ]


@pytest.mark.exhaustive
def test_an_interrupted_audit_is_continued_without_duplicates(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch, since: int
) -> None:
    monkeypatch.setattr(reads, "LOG_WINDOW_BLOCKS", 1)
    for _ in range(3):
        transfer(wallets["free"], "0.001")
    real, written = chain_audit.save_audit, []

    def dying(made: Audit) -> Audit:
        written.append(made)
        if len(written) == 2:
            raise KeyboardInterrupt
        return real(made)

    monkeypatch.setattr(chain_audit, "save_audit", dying)
    with pytest.raises(KeyboardInterrupt):
        chain_audit.run(now=later())
    # The orphan of the second span is saved, its audit is not.
    assert (Payment.objects.count(), Audit.objects.count()) == (2, 2)
    monkeypatch.setattr(chain_audit, "save_audit", real)
    audit = chain_audit.run(now=later())
    assert [(each.first_block - since, each.orphans) for each in audit] == [(2, 1), (3, 1)]
    assert Payment.objects.count() == 3


@pytest.mark.exhaustive
def test_concurrent_audits_record_each_payment_once(wallets: Mapping[str, Wallet]) -> None:
    for _ in range(4):
        transfer(wallets["free"], "0.001")
    ready = Barrier(4)
    now = later()

    def one(_: int) -> None:
        ready.wait()
        try:
            chain_audit.run(now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(one, range(4)))
    assert Payment.objects.count() == 4
    assert PaymentEvent.objects.count() == 4
    assert Audit.objects.filter(orphans=4).count() == 1


def test_a_caller_and_an_audit_at_once_make_one_line_of_a_transfer(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    tx_hash = transfer(wallets["free"], "0.002")
    real = transitions.insert
    served: list[object] = []

    def late(*rows: Payment) -> bool:
        if not served:
            served.append(True)
            served.append(buy(hash_of(tx_hash), caller=proven(wallets["free"], FREE)))
        return real(*rows)

    monkeypatch.setattr(transitions, "insert", late)
    audit = audit_once()
    assert (audit.orphans, audit.differences) == (0, [])
    assert Payment.objects.get().state == State.SETTLED


# A node that errs
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "audit",
    [
        {"eth_getLogs": "nonsense"},
        {"eth_getLogs": [{"address": 5}]},
        {"eth_getLogs": None},
        {"eth_blockNumber": None},
        {"eth_getBlockByNumber": {"timestamp": "soon"}},
        {"eth_getTransactionReceipt": None},
        {"eth_getTransactionReceipt": {"blockNumber": "0x1", "logs": [{}]}},
    ],
)
def test_a_node_that_answers_nonsense_ends_the_audit_and_changes_nothing(
    wallets: Mapping[str, Wallet], settings: LazySettings, audit: Mapping[str, Any]
) -> None:
    buy(paid_by(wallets["free"]))
    transfer(wallets["free"], "0.003")
    before = list(Payment.objects.values())
    with read_from(settings, node_answering(audit)), pytest.raises(rpc.RpcUnavailable):
        chain_audit.run(now=later())
    assert list(Payment.objects.values()) == before
    assert Audit.objects.count() == 1
    assert audit_once().orphans == 1


@pytest.mark.exhaustive
def test_a_node_that_refuses_a_long_span_is_queried_in_halves(
    wallets: Mapping[str, Wallet], settings: LazySettings, since: int
) -> None:
    for _ in range(3):
        transfer(wallets["free"], "0.001")
    whole = node_answering({})

    def bounded(content: bytes) -> tuple[int, bytes] | None:
        asked = json.loads(content)
        if asked["method"] == "eth_getLogs":
            wanted = asked["params"][0]
            if int(wanted["toBlock"], 16) - int(wanted["fromBlock"], 16) > 1:
                error = {"code": -32005, "message": "query returned more than 10000 results"}
                return 200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode()
        return whole(content)

    with read_from(settings, bounded):
        assert len(reads.read_transfer_logs(since + 1, since + 3, pay_to=settings.PAY_TO)) == 3
    audit_once()


def test_the_task_audits_and_an_installation_without_an_address_has_nothing_to_audit(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    audit_payments()
    assert Audit.objects.count() == 1
    settings.PAY_TO = ""
    assert chain_audit.run(now=later()) == []
