"""Each move of a payment is an event, in the transaction of the move; an event never changes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from payments.chain.reads import Transfer
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, PaymentEvent
from tests.payments.buyer import buy, paid_by, reason, refused, signed_by
from tests.payments.ledger_builders import NOW, payment, refund_due

pytestmark = pytest.mark.django_db
State = Payment.State
HASH = "0x" + "5a" * 32


def moves(row: Payment) -> list[tuple[str, str, int, str]]:
    """Before, after, attempt and actor of each event, the oldest first."""
    events = PaymentEvent.objects.filter(payment_id=row.pk).order_by("pk")
    return list(events.values_list("before", "after", "attempt", "actor"))


def claimed(number: int = 0) -> Payment:
    """A payment that was just claimed."""
    return payment(number, state=State.CLAIMED, settled_at=None, tx_hash=None, attempts=1)


@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.django_db(transaction=True)
def test_a_payment_at_the_gate_leaves_its_whole_story(wallets: Mapping[str, Wallet]) -> None:
    receipt = buy(paid_by(wallets["free"]))
    transitions.mark_delivered(receipt.payment, now=NOW)
    row = Payment.objects.get()
    assert [move[:2] for move in moves(row)] == [("", "claimed"), ("claimed", "settled"), ("settled", "delivered")]
    last = row.events.latest("pk")
    assert (last.payer, last.amount_usdc, last.tx_hash) == (row.payer, row.amount_usdc, receipt.transaction)


def test_what_was_let_go_leaves_only_its_events() -> None:
    row = claimed()
    transitions.release_claim(row)
    assert not Payment.objects.exists()
    assert moves(row) == [("", "claimed", 1, "system"), ("claimed", "", 1, "system")]
    assert set(PaymentEvent.objects.values_list("payer", "amount_usdc")) == {(row.payer, Decimal("0.002"))}


def test_a_take_over_and_what_follows_are_events() -> None:
    row = claimed()
    transitions.mark_unknown(row, reason="a timeout", tx_hash=HASH)
    row.refresh_from_db()
    assert transitions.take_over(row, now=NOW)
    assert not transitions.take_over(row, now=NOW + transitions.CLAIM_TIMEOUT)
    # Taken over: only the number of attempts has changed.
    assert transitions.take_over(row, now=NOW + transitions.CLAIM_TIMEOUT + timedelta(seconds=1))
    transitions.mark_expired(row, reason="It was cancelled.")
    assert moves(row) == [
        ("", "claimed", 1, "system"),
        ("claimed", "unknown", 1, "system"),
        ("unknown", "claimed", 2, "system"),
        ("claimed", "claimed", 3, "system"),
        ("claimed", "expired", 3, "system"),
    ]
    assert list(row.events.order_by("pk").values_list("error", flat=True))[1:2] == ["a timeout"]


def test_money_that_arrives_too_little_and_is_spent_after_all_is_recorded() -> None:
    row = claimed()
    found = Transfer(
        payer=row.payer, pay_to=row.pay_to, amount=Decimal("0.001"), tx_hash=HASH, log_index=0, block=7, mined_at=NOW
    )
    transitions.record_transfer(row, found, now=NOW)
    assert transitions.spend_refund_due(row, now=NOW)
    assert [move[:2] for move in moves(row)] == [
        ("", "claimed"),
        ("claimed", "refund_due"),
        ("refund_due", "settled"),
    ]
    assert list(row.events.order_by("pk").values_list("amount_usdc", "error")) == [
        (Decimal("0.002"), ""),
        (Decimal("0.001"), "wrong_amount"),
        (Decimal("0.001"), ""),
    ]


def test_the_actors_of_a_refund_are_recorded() -> None:
    row = payment(state=State.DELIVERED, delivered_at=NOW)
    transitions.mark_refund_due(row.pk, reason=Payment.RefundReason.GOODWILL, by="staff:ada")
    transitions.record_refund(row.pk, tx_hash=HASH, by="staff:bob", now=NOW)
    transitions.withdraw_refund(row.pk, by="staff:eve")
    assert moves(row) == [
        ("", "delivered", 0, "system"),
        ("delivered", "refund_due", 0, "staff:ada"),
        ("refund_due", "refunded", 0, "staff:bob"),
        ("refunded", "refund_due", 0, "staff:eve"),
    ]


def test_what_does_not_move_a_payment_is_no_event() -> None:
    row = refund_due()
    Payment.objects.update(rechecked_at=NOW, claimed_at=NOW, block=9)
    transitions.record_refund(row.pk, tx_hash=HASH, by="staff:ada", now=NOW - timedelta(days=1))
    assert len(moves(row)) == 2
    assert not transitions.record_refund(row.pk, tx_hash=HASH, by="staff:ada", now=NOW)
    assert len(moves(row)) == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"amount_usdc": Decimal("0.001")}, (Decimal("0.001"), "0x" + 64 * "0", "")),
        ({"tx_hash": HASH}, (Decimal("0.002"), HASH, "")),
        ({"error": "Less has arrived."}, (Decimal("0.002"), "0x" + 64 * "0", "Less has arrived.")),
    ],
)
def test_another_amount_transaction_or_trouble_is_an_event(change: dict[str, Any], expected: tuple[Any, ...]) -> None:
    row = payment()
    Payment.objects.update(**change)
    assert moves(row)[1:] == [("settled", "settled", 0, "system")]
    last = row.events.latest("pk")
    assert (last.amount_usdc, last.tx_hash, last.error) == expected


def test_what_the_chain_shows_of_a_settlement_is_recorded_where_it_differs() -> None:
    first, second = payment(1, block=None), payment(2, block=None)
    found = Transfer(
        payer=first.payer,
        pay_to=first.pay_to,
        amount=Decimal("0.002"),
        tx_hash=first.tx_hash or "",
        log_index=0,
        block=7,
        mined_at=NOW,
    )
    assert transitions.confirm_transfer(first, found)
    assert transitions.confirm_transfer(
        second, replace(found, amount=Decimal("0.001"), tx_hash=HASH), error="Less has arrived."
    )
    assert not transitions.confirm_transfer(second, found)
    assert len(moves(first)) == 1
    last = second.events.latest("pk")
    assert (last.before, last.after, last.amount_usdc, last.error) == (
        "settled",
        "settled",
        Decimal("0.001"),
        "Less has arrived.",
    )


def test_a_move_that_is_undone_leaves_no_event() -> None:
    row = claimed()
    with transaction.atomic():
        transitions.mark_settled(row, tx_hash=HASH, now=NOW)
        transaction.set_rollback(True)
    assert len(moves(row)) == 1


def test_events_are_neither_changed_nor_deleted() -> None:
    row = claimed()
    for change in (
        lambda: PaymentEvent.objects.update(actor="nobody"),
        lambda: PaymentEvent.objects.all()._raw_delete("default"),  # noqa: SLF001  # as straight as SQL
        PaymentEvent.objects.all().delete,
    ):
        with pytest.raises(IntegrityError, match="events of payments are never changed"), transaction.atomic():
            change()
    assert len(moves(row)) == 1
    transitions.release_claim(row)
    # Of a payment that is gone they may be forgotten (payments.retention), and not be changed all the same.
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        PaymentEvent.objects.update(actor="nobody")
    assert PaymentEvent.objects.all().delete()[0] == 2


@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.django_db(transaction=True)
def test_a_payment_that_is_refused_before_it_is_claimed_leaves_no_event(wallets: Mapping[str, Wallet]) -> None:
    assert reason(refused(signed_by(wallets["free"], value=1))) == "wrong_amount"
    assert PaymentEvent.objects.count() == 0
