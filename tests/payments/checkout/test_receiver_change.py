"""PAY_TO may change at any moment: what was on its way to the former address is charged once and served, or owed.

After each test what the former address has received on the chain is the sum of the ledger.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.utils import timezone

from framework.errors import ApiError
from payments.chain import reads
from payments.chain.networks import payment_network
from payments.checkout.context import SettlementPending
from payments.devchain.wallets import Wallet, from_key
from payments.ledger import chain_audit, receivers, reconcile
from payments.models import Payment
from payments.tiers.definitions import FREE
from payments.x402.challenges import PaymentRejected
from tests.payments.buyer import abandoned, aged, buy, paid_by, proven, reason, refused, settled_by_third_party
from tests.payments.facilitators import says, serving, settles_and
from tests.support.wallets import transfer_usdc, usdc_balance

State = Payment.State
PRICE = Decimal("0.002")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@contextmanager
def other_receiver(settings: LazySettings) -> Iterator[str]:
    """PAY_TO is another address, as after a restart with another setting; gives the former one."""
    former = settings.PAY_TO
    settings.PAY_TO = from_key("other shop", secrets.token_bytes(32)).address
    try:
        yield former
    finally:
        settings.PAY_TO = former


def pending(headers: Mapping[str, str], settings: LazySettings) -> ApiError:
    """The refusal of a payment whose money has moved, but whose facilitator could not say so."""
    real = settings.FACILITATOR_URL
    with serving(settles_and(says(502, {"error": "bad gateway"}))) as server:
        settings.FACILITATOR_URL = server.url
        try:
            return refused(headers)
        finally:
            settings.FACILITATOR_URL = real


def test_a_pending_payment_is_charged_once_and_served_after_pay_to_has_changed(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    before, headers = usdc_balance(wallets["free"].address), paid_by(wallets["free"])
    assert isinstance(pending(headers, settings), SettlementPending)
    with other_receiver(settings) as former:
        aged()
        receipt = buy(headers)
        assert receipt.settled.success
        row = Payment.objects.get()
        assert (row.pay_to, row.state, row.amount_usdc) == (former, State.SETTLED, PRICE)
    assert before - usdc_balance(wallets["free"].address) == PRICE


def test_the_sweep_finds_a_pending_payment_to_the_former_pay_to(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    headers = paid_by(wallets["free"])
    assert isinstance(pending(headers, settings), SettlementPending)
    with other_receiver(settings):
        aged()
        reconcile.sweep(now=timezone.now(), is_urgent=True)
        assert Payment.objects.get().state == State.SETTLED
        assert buy(headers).settled.success


def test_a_payment_that_was_served_just_before_pay_to_changed_is_served_again(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    before, headers = usdc_balance(wallets["free"].address), paid_by(wallets["free"])
    first = buy(headers)
    Payment.objects.update(state=State.DELIVERED, delivered_at=timezone.now())
    with other_receiver(settings):
        assert buy(headers).settled.transaction == first.settled.transaction
    assert before - usdc_balance(wallets["free"].address) == PRICE


def test_a_claim_whose_process_died_is_served_if_its_money_had_moved_before_pay_to_changed(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    headers = paid_by(wallets["free"])
    receivers.remember(payment_network().caip2, settings.PAY_TO)
    abandoned(headers)
    transaction = settled_by_third_party(headers)
    with other_receiver(settings):
        assert buy(headers).settled.transaction == transaction
        assert Payment.objects.get().state == State.SETTLED


def test_an_authorization_for_the_former_pay_to_that_has_not_moved_is_refused_and_not_charged(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    before, headers = usdc_balance(wallets["free"].address), paid_by(wallets["free"])
    with other_receiver(settings):
        refusal = refused(headers)
    assert (type(refusal), reason(refusal)) == (PaymentRejected, "wrong_pay_to")
    assert not Payment.objects.exists()
    assert usdc_balance(wallets["free"].address) == before


@pytest.mark.exhaustive
def test_the_former_pay_to_stays_watched_and_what_arrives_there_is_owed(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    buy(paid_by(wallets["free"]))
    block = reads.read_latest_block_number()
    with other_receiver(settings) as former:
        assert receivers.receivers() == {former, settings.PAY_TO}
        transfer_usdc(wallets["pro"], former, PRICE)
        (audit,) = [
            each
            for each in chain_audit.run(now=timezone.now() + chain_audit.MIN_AGE * 2, from_block=block + 1)
            if each.pay_to == former and each.orphans
        ]
        assert audit.orphans == 1
        owed = Payment.objects.get(payer=wallets["pro"].address)
        assert (owed.state, owed.pay_to, owed.amount_usdc) == (State.REFUND_DUE, former, PRICE)
        refusal = refused({"X-Payment": str(owed.tx_hash)}, caller=proven(wallets["pro"], FREE))
        assert refusal.body_override is not None
        assert refusal.body_override["reason"] in ("refund_due", "too_old")
