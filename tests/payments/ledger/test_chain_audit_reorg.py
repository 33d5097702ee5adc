"""Audits after a reorganisation of the chain, and of amounts with more than 28 digits."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.utils import timezone

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit
from payments.models import Payment, Refund
from payments.tiers.definitions import FREE
from tests.payments.buyer import buy, proven
from tests.payments.transfers import send, together
from tests.support import wallets as purse

State = Payment.State

pytestmark = pytest.mark.django_db(transaction=True)


def paid(wallet: Wallet, amount: str = "0.002") -> str:
    """A plain transfer to us; its hash."""
    return purse.transfer_usdc(wallet, settings.PAY_TO, Decimal(amount))


def between(wallets: Mapping[str, Wallet]) -> None:
    """A block that brings us nothing."""
    purse.transfer_usdc(wallets["free"], wallets["pro"].address, Decimal("0.000001"))


def seen_elsewhere(tx_hash: str, *, blocks: int) -> Payment:
    """Change a payment to the position that its transfer had on another branch of the chain."""
    row = Payment.objects.get(tx_hash=tx_hash)
    assert row.block is not None
    assert row.log_index is not None
    place = row.log_index + 3
    Payment.objects.filter(pk=row.pk).update(
        block=row.block + blocks, log_index=place, proof_key=f"tx:{tx_hash}:{place}"
    )
    return row


@pytest.mark.sample(2)
@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.parametrize("blocks", [-1, 0, 1])
@pytest.mark.parametrize("is_one_span", [True, False])
def test_a_plain_transfer_that_moved_to_another_place_is_not_recorded_twice(
    wallets: Mapping[str, Wallet], blocks: int, is_one_span: bool
) -> None:
    # A block before it and one behind it.
    between(wallets)
    tx_hash = paid(wallets["free"])
    between(wallets)
    buy({"X-Payment": tx_hash}, caller=proven(wallets["free"], FREE))
    row = seen_elsewhere(tx_hash, blocks=blocks)
    block = row.block or 0
    first, last = block - 1, block + 1
    now = timezone.now() + timedelta(hours=1)
    # The span in which it stands now comes first, or all blocks together.
    spans = [(first, last)] if is_one_span else [(block, block), (first, first), (last, last)]
    audits = [chain_audit.audit_span(settings.PAY_TO, *span, now=now) for span in spans]
    assert [each.differences for each in audits] == [[] for _ in spans]
    line = Payment.objects.get()
    assert (line.pk, line.state, line.amount_usdc) == (row.pk, State.SETTLED, row.amount_usdc)
    if blocks and not is_one_span:
        assert (line.block, line.log_index, line.proof_key) == (row.block, row.log_index, row.proof_key)


@pytest.mark.usefixtures("ledger_matches_chain")
def test_two_payers_of_a_transaction_whose_places_have_changed_keep_their_lines(wallets: Mapping[str, Wallet]) -> None:
    free, pro = wallets["free"], wallets["pro"]
    tx_hash = together((free, settings.PAY_TO, 2000), (pro, settings.PAY_TO, 4000))
    buy({"X-Payment": tx_hash}, caller=proven(wallets["free"], FREE))
    one, other = Payment.objects.order_by("log_index")
    Payment.objects.filter(pk=one.pk).update(proof_key="tx:meanwhile", log_index=other.log_index, block=one.block)
    Payment.objects.filter(pk=other.pk).update(proof_key=one.proof_key, log_index=one.log_index)
    Payment.objects.filter(pk=one.pk).update(proof_key=other.proof_key)
    Payment.objects.update(block=(one.block or 0) + 1)
    audit = chain_audit.audit_span(
        settings.PAY_TO, one.block or 0, one.block or 0, now=timezone.now() + timedelta(hours=1)
    )
    assert (audit.differences, audit.orphans, audit.arrived_usdc, audit.ledger_usdc) == (
        [],
        0,
        Decimal("0.006"),
        Decimal("0.006"),
    )
    found = {row.pk: (row.amount_usdc, row.block, row.log_index) for row in Payment.objects.all()}
    assert found == {row.pk: (row.amount_usdc, row.block, row.log_index) for row in (one, other)}


def test_more_than_28_digits_are_summed_to_the_last(prices: None) -> None:
    whale = purse.fresh_wallet(Decimal(1))
    send(whale, payment_network().asset, "mint(address,uint256)", whale.address, 10**42)
    amount = "30000000000000000000000000007.000001"
    first, second = paid(whale, amount), paid(whale, "0.000002")
    blocks = [reads.find_plain_transfers(tx_hash, receivers={settings.PAY_TO})[0].block for tx_hash in (first, second)]
    audit = chain_audit.audit_span(settings.PAY_TO, blocks[0], blocks[1], now=timezone.now() + timedelta(hours=1))
    whole = Decimal("30000000000000000000000000007.000003")
    assert (audit.arrived_usdc, audit.ledger_usdc, audit.orphans, audit.differences) == (whole, whole, 2, [])


@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_refund_of_more_than_has_arrived_is_a_difference(wallets: Mapping[str, Wallet]) -> None:
    tx_hash = paid(wallets["free"])
    buy({"X-Payment": tx_hash}, caller=proven(wallets["free"], FREE))
    row, now = Payment.objects.get(), timezone.now()
    Payment.objects.update(state=State.REFUNDED, refunded_at=now, error="goodwill")
    Refund.objects.create(
        payment=row, amount_usdc=Decimal("0.003"), to=row.payer, tx_hash=tx_hash, by="staff:ada", created_at=now
    )
    audit = chain_audit.audit_span(settings.PAY_TO, row.block or 0, row.block or 0, now=now + timedelta(hours=1))
    assert [difference.partition(", ")[2] for difference in audit.differences] == [
        "refunded: 0.002 USDC have arrived, and 0.003 were sent back"
    ]
