"""Money that is sent back: noted once, against the chain, and never more than a transaction has moved."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError
from django.utils import timezone
from pytest_django import Settings

from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from payments.ledger import refunds, transitions
from payments.ledger.refunds import TRANSACTION_NOT_FOUND, RefundNotOnChain
from payments.models import Payment, PaymentEvent, Refund
from tests.payments.buyer import at_once
from tests.payments.ledger_builders import NOW, payment, refund_due
from tests.payments.transfers import send, together
from tests.support.wallets import transfer_usdc

pytestmark = pytest.mark.django_db
State = Payment.State
PAYER, OTHER = "0x" + "a1" * 20, "0x" + "b2" * 20
UNKNOWN = "0x" + "5a" * 32
LATER = NOW + timedelta(days=1)


def note(*rows: Payment, tx_hash: str, by: str = "staff:ada") -> list[str | None]:
    """Note these as sent back; for each why it was not."""
    noted = refunds.record([row.pk for row in rows], tx_hash=tx_hash, by=by, now=LATER)
    return [each.refusal for each in noted]


def state(row: Payment) -> str:
    """The state that is written down."""
    return Payment.objects.get(pk=row.pk).state


def test_a_refund_that_the_chain_shows_is_recorded_and_confirmed_at_once(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER)
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal("0.002"))
    assert note(row, tx_hash=tx_hash) == [None]
    written = Refund.objects.get()
    assert (written.amount_usdc, written.to, written.tx_hash, written.by) == (
        Decimal("0.002"),
        PAYER,
        tx_hash,
        "staff:ada",
    )
    assert (written.offset_usdc, written.moved_usdc) == (Decimal(0), Decimal("0.002"))
    assert (written.confirmed_at, written.error) == (LATER, "")
    assert state(row) == State.REFUNDED
    event = PaymentEvent.objects.get(payment=row, after="refunded")
    assert (event.before, event.actor) == ("refund_due", "staff:ada")


def test_a_transaction_that_sends_too_little_or_to_others_is_refused(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER)
    too_little = transfer_usdc(wallets["pro"], PAYER, Decimal("0.001999"))
    to_others = transfer_usdc(wallets["pro"], OTHER, Decimal(1))
    assert note(row, tx_hash=too_little) == ["The transaction has sent 0.001999 USDC to the payer; 0.002 is due."]
    assert note(row, tx_hash=to_others) == ["The transaction has sent 0 USDC to the payer; 0.002 is due."]
    assert (state(row), Refund.objects.count()) == (State.REFUND_DUE, 0)


def test_a_transfer_to_oneself_refunds_nothing(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=wallets["pro"].address)
    tx_hash = transfer_usdc(wallets["pro"], wallets["pro"].address, Decimal(1))
    assert note(row, tx_hash=tx_hash) == ["The transaction has sent 0 USDC to the payer; 0.002 is due."]


def test_a_reverted_transaction_refunds_nothing(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER)
    tx_hash = send(wallets["pro"], payment_network().asset, "transfer(address,uint256)", PAYER, 10**30)
    with pytest.raises(RefundNotOnChain, match="reverted"):
        note(row, tx_hash=tx_hash)
    assert (state(row), Refund.objects.count()) == (State.REFUND_DUE, 0)


def test_a_transaction_from_before_the_payment_refunds_nothing(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER, block=10**9)
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal(1))
    assert note(row, tx_hash=tx_hash) == ["The transaction is older than the payment."]


def test_one_transaction_refunds_several_payments_and_no_more_than_it_has_moved(
    wallets: Mapping[str, Wallet],
) -> None:
    pro = wallets["pro"]
    tx_hash = together((pro, PAYER, 3000), (pro, PAYER, 1000), (pro, OTHER, 2000))
    rows = [refund_due(number, payer=payer) for number, payer in enumerate([PAYER, PAYER, OTHER, PAYER])]
    results = note(*rows, tx_hash=tx_hash)
    assert results == [None, None, None, "This transaction has sent less to the payer than is recorded for it."]
    stretches = Refund.objects.order_by("to", "offset_usdc").values_list("to", "offset_usdc", "moved_usdc")
    assert list(stretches) == [
        (PAYER, 0, Decimal("0.004")),
        (PAYER, Decimal("0.002"), Decimal("0.004")),
        (OTHER, 0, Decimal("0.002")),
    ]
    assert state(rows[3]) == State.REFUND_DUE


def test_the_database_refuses_overlapping_claims_of_a_transaction() -> None:
    for number in range(2):
        row = refund_due(number, payer=PAYER)
        values = {"amount_usdc": row.amount_usdc, "to": PAYER, "tx_hash": UNKNOWN, "by": "x", "created_at": NOW}
        if not number:
            Refund.objects.create(payment=row, **values)
        else:
            with pytest.raises(IntegrityError, match="nothing_that_was_moved_is_claimed_twice"):
                Refund.objects.create(payment=row, offset_usdc=Decimal("0.001"), **values)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_twenty_concurrent_refunds_by_a_transaction_as_many_succeed_as_it_covers(
    wallets: Mapping[str, Wallet],
) -> None:
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal("0.006"))
    rows = [refund_due(number, payer=PAYER) for number in range(10)]
    # Each payment is noted by two.
    waiting = [*rows, *rows]
    results = at_once(20, lambda: note(waiting.pop(), tx_hash=tx_hash))
    assert sum(each == [None] for each in results) == 3
    assert sum(state(row) == State.REFUNDED for row in rows) == Refund.objects.count() == 3
    assert PaymentEvent.objects.filter(after="refunded").count() == 3


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_refunds_of_a_payment_succeeds(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER)
    hashes = [transfer_usdc(wallets["pro"], PAYER, Decimal("0.002")) for _ in range(2)]
    waiting = list(hashes)
    results = at_once(2, lambda: note(row, tx_hash=waiting.pop()))
    assert sorted(results, key=str) == [["A refund is already recorded."], [None]]
    assert Refund.objects.get().tx_hash in hashes


# Seen later
def test_a_refund_that_is_not_mined_is_recorded_and_confirmed_later(
    wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    row = refund_due(payer=PAYER)
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal("0.002"))
    real, settings.RPC_URL = settings.RPC_URL, "http://127.0.0.1:1"
    assert note(row, tx_hash=tx_hash) == [None]
    assert refunds.confirm_recorded(now=LATER) == 0
    unseen = Refund.objects.get()
    assert (state(row), unseen.confirmed_at, unseen.moved_usdc, unseen.error) == (State.REFUNDED, None, None, "")
    settings.RPC_URL = real
    assert refunds.confirm_recorded(now=LATER) == 1
    seen = Refund.objects.get()
    assert (seen.confirmed_at, seen.moved_usdc) == (LATER, Decimal("0.002"))
    assert refunds.confirm_recorded(now=LATER) == 0


def test_a_refund_that_the_chain_never_shows_is_reported_after_an_hour(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=PAYER)
    assert note(row, tx_hash=UNKNOWN) == [None]
    refunds.confirm_recorded(now=LATER + timedelta(minutes=59))
    assert Refund.objects.get().error == ""
    refunds.confirm_recorded(now=LATER + timedelta(hours=1))
    assert Refund.objects.get().error == TRANSACTION_NOT_FOUND
    # It may have been sent late.
    Refund.objects.update(tx_hash=transfer_usdc(wallets["pro"], PAYER, Decimal("0.002")))
    assert refunds.confirm_recorded(now=LATER + timedelta(hours=2)) == 1
    assert Refund.objects.get().error == ""


def test_a_refund_that_the_chain_contradicts_is_reported_and_can_be_withdrawn(wallets: Mapping[str, Wallet]) -> None:
    first, second = refund_due(1, payer=PAYER), refund_due(2, payer=PAYER)
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal("0.003"))
    for row in (first, second):
        assert transitions.record_refund(row.pk, tx_hash=tx_hash, by="staff:ada", now=LATER)
    assert refunds.confirm_recorded(now=LATER) == 1
    wrong = Refund.objects.get(payment=second)
    assert (
        wrong.error == "The transaction has sent 0.003 USDC to the payer, and other refunds claim 0.002 of it;"
        " 0.002 is due."
    )
    assert not transitions.withdraw_refund(first.pk, by="staff:bob")
    assert transitions.withdraw_refund(second.pk, by="staff:bob")
    assert (state(first), state(second)) == (State.REFUNDED, State.REFUND_DUE)
    assert PaymentEvent.objects.get(payment=second, before="refunded").actor == "staff:bob"
    assert note(second, tx_hash=transfer_usdc(wallets["pro"], PAYER, Decimal("0.002"))) == [None]


# Refunds due
@pytest.mark.parametrize("served", [State.SETTLED, State.DELIVERED])
def test_an_earned_payment_is_marked_refund_due_once_and_buys_nothing_more(served: str) -> None:
    moment = timezone.now()
    row = payment(state=served, settled_at=moment, delivered_at=moment if served == State.DELIVERED else None)
    for is_first in (True, False):
        results = transitions.mark_refund_due(
            row.pk, reason=Payment.RefundReason.FAILED_JOB, message="It broke.", by="export"
        )
        assert results is is_first
    row.refresh_from_db()
    assert (row.state, row.error, row.settled_at) == (State.REFUND_DUE, "failed_job: It broke.", moment)
    assert not transitions.spend_refund_due(row, now=moment)
    assert row.is_refundable(moment)
    assert list(Payment.objects.refundable(now=moment)) == [row]
    event = PaymentEvent.objects.get(payment=row, after="refund_due")
    assert (event.before, event.actor, event.error) == (served, "export", "failed_job: It broke.")


@pytest.mark.parametrize("other", [State.CLAIMED, State.UNKNOWN, State.EXPIRED, State.REFUND_DUE, State.REFUNDED])
def test_only_earned_payments_are_marked_refund_due(other: str) -> None:
    row = payment(state=other, refunded_at=NOW)
    assert not transitions.mark_refund_due(row.pk, reason=Payment.RefundReason.GOODWILL, by="staff:ada")
    assert state(row) == other


@pytest.mark.parametrize("error", ["wrong_amount", "too_old", "goodwill", "another_payer", ""])
@pytest.mark.parametrize("age", [timedelta(minutes=14), timedelta(minutes=15)])
@pytest.mark.parametrize("is_served", [True, False])
def test_a_refund_due_is_either_spendable_or_refundable(error: str, age: timedelta, is_served: bool) -> None:
    row = refund_due(error=error, settled_at=NOW, delivered_at=NOW if is_served else None)
    now = NOW + age
    is_due = row.is_refundable(now)
    assert is_due == (age >= Payment.SPENDABLE_FOR or is_served or error not in Payment.SPENDABLE_REASONS)
    assert Payment.objects.refundable(now=now).exists() == is_due
    assert Payment.objects.spendable(now=now).exists() != is_due


def test_only_refundable_payments_are_refunded(wallets: Mapping[str, Wallet]) -> None:
    early = refund_due(1, payer=PAYER, error="wrong_amount", settled_at=LATER)
    settled = payment(2, payer=PAYER)
    tx_hash = transfer_usdc(wallets["pro"], PAYER, Decimal(1))
    assert note(early, settled, tx_hash=tx_hash) == [
        "The payment may still be used for a few minutes.",
        "No refund is due.",
    ]
    assert Refund.objects.count() == 0
