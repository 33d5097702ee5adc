"""Refunds due: for payments that were never delivered, and never for money that has not arrived.

After each test that moves money at the gate, what we have received on the chain is the sum of the ledger.
"""

import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.utils import timezone

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit, reconcile, refunds, transitions
from payments.ledger.refunds import PaymentNotOnChain
from payments.models import Payment, PaymentEvent, Refund
from payments.tiers.definitions import FREE
from tests.payments.buyer import abandoned, buy, paid_by, proven, refused, resigned, signed_by
from tests.payments.facilitators import says, serving
from tests.payments.ledger_builders import NOW, payment, refund_due
from tests.payments.transfers import front_run, send
from tests.support.wallets import transfer_usdc

State = Payment.State
GOODWILL = Payment.RefundReason.GOODWILL
NOWHERE = "http://127.0.0.1:1"
DAY = timedelta(hours=24)
MINUTE = timedelta(minutes=1)
LIE = {"success": True, "transaction": "0x" + "cd" * 32, "network": "eip155:84532"}
NOT_THERE = "The facilitator says that it is settled; the chain does not know of it."

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _by_the_facilitators_word(settings: LazySettings) -> None:
    """Payments are served before the chain has shown them."""
    settings.PAYMENT_CONFIRMATIONS = 0


def only() -> Payment:
    """The one line as it is written."""
    return Payment.objects.get()


# Paid for, and never delivered
@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_payment_that_was_not_delivered_for_a_day_is_refund_due(wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["pro"])
    abandoned(headers)
    front_run(headers, sender=wallets["free"])
    now = timezone.now()
    assert reconcile.sweep(now=now) == 1
    assert (only().state, only().readable_until) == (State.SETTLED, now + DAY)
    reconcile.sweep(now=now + DAY)
    assert only().state == State.SETTLED
    # An answer may just be on its way.
    reconcile.sweep(now=now + DAY + MINUTE)
    row = only()
    assert (row.state, row.error) == (State.REFUND_DUE, "not_delivered")
    assert row.is_refundable(now + DAY)
    assert not transitions.spend_refund_due(row, now=now)
    assert row.events.latest("pk").actor == "system"
    assert refused(headers, now=now + DAY + MINUTE).message == "The money of this payment goes back to you."
    events = PaymentEvent.objects.count()
    reconcile.sweep(now=now + DAY + 2 * MINUTE)
    assert PaymentEvent.objects.count() == events


def test_delivered_and_unconfirmed_payments_are_not_marked_undelivered() -> None:
    later = NOW + DAY + MINUTE
    unchanged = [
        payment(1, state=State.DELIVERED, delivered_at=NOW),
        payment(2, settled_at=NOW + timedelta(seconds=1)),
        # Reported by a facilitator only: no refund is due before the chain shows it.
        payment(3, block=None, error=NOT_THERE),
    ]
    late = payment(4)
    assert transitions.mark_undelivered_refund_due(before=later - DAY - MINUTE) == 1
    assert {row.pk: row.state for row in Payment.objects.exclude(pk=late.pk)} == {
        row.pk: row.state for row in unchanged
    }
    late.refresh_from_db()
    assert (late.state, late.error) == (State.REFUND_DUE, Payment.RefundReason.NOT_DELIVERED)


# Money that never arrived
@pytest.fixture
def invented(wallets: Mapping[str, Wallet], settings: LazySettings, prices: None) -> Payment:
    """A payment that a facilitator says it has settled, and has not."""
    real, headers = settings.FACILITATOR_URL, signed_by(wallets["free"])
    with serving(says(200, LIE)) as server:
        settings.FACILITATOR_URL = server.url
        buy(headers, caller=proven(wallets["free"], FREE))
    settings.FACILITATOR_URL = real
    return only()


@pytest.mark.parametrize("is_checked", [False, True])
def test_staff_cannot_refund_money_that_never_arrived(invented: Payment, is_checked: bool) -> None:
    if is_checked:
        reconcile.sweep(now=timezone.now() + timedelta(minutes=2))
    with pytest.raises(PaymentNotOnChain, match="The chain does not show"):
        refunds.mark_refund_due(invented.pk, reason=GOODWILL, by="staff:ada", now=timezone.now())
    assert (only().state, only().error) == (State.SETTLED, NOT_THERE)
    assert not transitions.mark_refund_due(invented.pk, reason=GOODWILL, by="job")
    assert only().error == NOT_THERE


def test_a_refund_by_staff_checks_the_chain_first(
    wallets: Mapping[str, Wallet], settings: LazySettings, ledger_matches_chain: None
) -> None:
    buy(paid_by(wallets["free"]))
    row = only()
    assert row.block is None
    real, settings.RPC_URL = settings.RPC_URL, NOWHERE
    with pytest.raises(PaymentNotOnChain, match="cannot be read"):
        refunds.mark_refund_due(row.pk, reason=GOODWILL, by="staff:ada", now=timezone.now())
    settings.RPC_URL = real
    assert refunds.mark_refund_due(row.pk, reason=GOODWILL, message="Blurred.", by="staff:ada", now=timezone.now())
    row = only()
    assert (row.state, row.error, row.block is not None) == (State.REFUND_DUE, "goodwill: Blurred.", True)
    assert not refunds.mark_refund_due(row.pk, reason=GOODWILL, by="staff:ada", now=timezone.now())


def test_no_refund_is_recorded_for_money_that_never_arrived(wallets: Mapping[str, Wallet], invented: Payment) -> None:
    # As an earlier version has recorded it.
    Payment.objects.update(state=State.REFUND_DUE, error="goodwill")
    assert not only().is_refundable(timezone.now() + DAY)
    assert not Payment.objects.refundable(now=timezone.now() + DAY).exists()
    tx_hash = transfer_usdc(wallets["pro"], wallets["free"].address, Decimal("0.005"))
    (result,) = refunds.record([invented.pk], tx_hash=tx_hash, by="staff:ada", now=timezone.now())
    assert result.refusal == "The chain has not shown this payment itself: there is nothing to send back yet."
    assert not transitions.record_refund(invented.pk, tx_hash=tx_hash, by="staff:ada", now=timezone.now())
    assert (only().state, only().error, Refund.objects.count()) == (State.REFUND_DUE, "goodwill", 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("state", [State.REFUND_DUE, State.REFUNDED])
def test_an_audit_finds_refunds_of_money_that_never_arrived(
    wallets: Mapping[str, Wallet], invented: Payment, state: str
) -> None:
    Payment.objects.update(state=state, error="goodwill", refunded_at=timezone.now())
    # Blocks know whole seconds only.
    time.sleep(1.1)
    transfer_usdc(wallets["free"], wallets["pro"].address, Decimal("0.001"))
    Payment.objects.update(settled_at=reads.read_block_time(reads.read_latest_block_number()))
    (audit,) = chain_audit.run(now=timezone.now() + timedelta(minutes=31), from_block=reads.read_latest_block_number())
    assert [difference.partition(": ")[2] for difference in audit.differences] == [NOT_THERE]
    assert (only().error, only().block) == ("goodwill", None)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.parametrize("state", [State.REFUND_DUE, State.REFUNDED])
def test_an_unconfirmed_refund_due_is_confirmed_and_keeps_its_reason(
    wallets: Mapping[str, Wallet], state: str
) -> None:
    buy(paid_by(wallets["free"]))
    assert transitions.mark_refund_due(only().pk, reason=GOODWILL, by="job")
    Payment.objects.update(state=state, refunded_at=timezone.now())
    reconcile.sweep(now=timezone.now() + timedelta(minutes=2))
    assert (only().state, only().error, only().block is not None) == (state, "goodwill", True)


@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_refund_of_too_little_is_of_the_amount_that_arrived(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    real, headers = settings.FACILITATOR_URL, signed_by(wallets["free"])
    front_run(resigned(wallets["free"], headers, value=5), sender=wallets["pro"])
    with serving(says(200, LIE)) as server:
        settings.FACILITATOR_URL = server.url
        buy(headers, caller=proven(wallets["free"], FREE))
    settings.FACILITATOR_URL = real
    assert refunds.mark_refund_due(only().pk, reason=GOODWILL, by="staff:ada", now=timezone.now())
    assert (only().amount_usdc, only().error) == (Decimal("0.000005"), "goodwill")
    events = list(PaymentEvent.objects.order_by("pk").values_list("before", "after", "amount_usdc"))
    assert events[-2:] == [
        ("settled", "settled", Decimal("0.000005")),
        ("settled", "refund_due", Decimal("0.000005")),
    ]


def test_a_transaction_from_before_the_payment_refunds_nothing_however_late_the_payment_was_confirmed(
    wallets: Mapping[str, Wallet], prices: None
) -> None:
    older = transfer_usdc(wallets["pro"], wallets["free"].address, Decimal("0.005"))
    buy(paid_by(wallets["free"]))
    assert transitions.mark_refund_due(only().pk, reason=GOODWILL, by="job")
    (result,) = refunds.record([only().pk], tx_hash=older, by="staff:ada", now=timezone.now())
    assert result.refusal == "The transaction is older than the payment."
    # The payment was confirmed first.
    assert only().block is not None


def test_a_refund_recorded_before_its_payment_was_confirmed_waits_for_it(
    wallets: Mapping[str, Wallet], invented: Payment
) -> None:
    now = timezone.now()
    tx_hash = transfer_usdc(wallets["pro"], wallets["free"].address, Decimal("0.005"))
    Payment.objects.update(state=State.REFUNDED, refunded_at=now, error="goodwill")
    Refund.objects.create(
        payment=invented,
        amount_usdc=invented.amount_usdc,
        to=invented.payer,
        tx_hash=tx_hash,
        by="staff:ada",
        created_at=now,
    )
    for _ in range(2):
        assert refunds.confirm_recorded(now=now) == 0
        assert Refund.objects.get().error == refunds.PAYMENT_NOT_SHOWN
    Payment.objects.update(block=1)
    assert refunds.confirm_recorded(now=now) == 1


# Who has sent it
def test_minted_money_refunds_nothing(wallets: Mapping[str, Wallet]) -> None:
    row = refund_due(payer=wallets["free"].address)
    tx_hash = send(wallets["pro"], payment_network().asset, "mint(address,uint256)", row.payer, 4000)
    (result,) = refunds.record([row.pk], tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)
    assert result.refusal == "The transaction has sent 0 USDC to the payer; 0.002 is due."


def test_a_refund_names_the_senders_of_its_money(wallets: Mapping[str, Wallet]) -> None:
    row, pro = refund_due(payer="0x" + "a1" * 20), wallets["pro"].address
    tx_hash = transfer_usdc(wallets["pro"], row.payer, Decimal("0.002"))
    sent = refunds.read_transfer(tx_hash)
    assert sent is not None
    assert (sent.senders_to(row.payer), sent.amount_to(row.payer)) == ([pro], Decimal("0.002"))
    assert {receiver for _, receiver, _ in sent.transfers} == {row.payer}
    refunds.record([row.pk], tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)
    assert Refund.objects.get().senders == [pro]
    later = refund_due(2, payer=row.payer)
    unseen = transfer_usdc(wallets["free"], row.payer, Decimal("0.002"))
    assert transitions.record_refund(later.pk, tx_hash=unseen, by="staff:ada", now=NOW + DAY)
    assert refunds.confirm_recorded(now=NOW + DAY) == 1
    assert Refund.objects.get(payment=later).senders == [wallets["free"].address]


# Stretches
@pytest.fixture
def away(settings: LazySettings) -> Iterator[None]:
    """The chain is away."""
    real, settings.RPC_URL = settings.RPC_URL, NOWHERE
    yield
    settings.RPC_URL = real


def test_the_gap_of_a_withdrawn_refund_is_filled(wallets: Mapping[str, Wallet], settings: LazySettings) -> None:
    rows = [refund_due(number) for number in range(3)]
    keys = [row.pk for row in rows]
    tx_hash = transfer_usdc(wallets["pro"], rows[0].payer, Decimal("0.006"))
    real, settings.RPC_URL = settings.RPC_URL, NOWHERE
    assert [each.refusal for each in refunds.record(keys, tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)] == [
        None
    ] * 3
    settings.RPC_URL = real
    assert transitions.withdraw_refund(keys[1], by="staff:ada")
    (result,) = refunds.record([keys[1]], tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)
    assert (result.refusal, result.is_confirmed) == (None, True)
    assert refunds.confirm_recorded(now=NOW + DAY) == 2
    stretches = Refund.objects.order_by("offset_usdc").values_list("payment", "offset_usdc", "error")
    assert list(stretches) == [
        (keys[0], Decimal(0), ""),
        (keys[1], Decimal("0.002"), ""),
        (keys[2], Decimal("0.004"), ""),
    ]


def test_a_gap_that_is_too_small_is_skipped(away: None) -> None:
    amounts = [Decimal("0.002"), Decimal("0.001"), Decimal(10**30)]
    rows = [refund_due(number, amount_usdc=amount) for number, amount in enumerate([*amounts, Decimal("0.002")])]
    tx_hash = "0x" + "5a" * 32
    for row in rows[:3]:
        assert transitions.record_refund(row.pk, tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)
    assert transitions.withdraw_refund(rows[1].pk, by="staff:ada")
    assert transitions.record_refund(rows[3].pk, tx_hash=tx_hash, by="staff:ada", now=NOW + DAY)
    assert Refund.objects.get(payment=rows[3]).offset_usdc == Decimal(f"{10**30}.003")
