"""Exports under attack: goods that are made after they were paid for, on two processes, by wallets that cheat."""

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from catalogue.exports.requests import payment_state
from catalogue.models import Export
from payments.devchain.wallets import Wallet
from payments.ledger import reconcile, transitions
from payments.models import Payment, Plan, Price, Product
from payments.models import Wallet as Known
from tests.payments.buyer import aged, signed_by
from tests.payments.signing import client_of
from tests.security.live_product import Shop, kill, opened, the_one_payment, workers
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

State = Payment.State
PRICE = Decimal("0.5")


@pytest.fixture
def key(attacked: Shop) -> Wallet:
    """A wallet with 20 USDC whose plan is Enterprise."""
    wallet = fresh_wallet(Decimal(20))
    enterprise(wallet)
    return wallet


def enterprise(wallet: Wallet) -> None:
    """Agree on the Enterprise tier with this wallet."""
    known, _ = Known.objects.get_or_create(address=wallet.address)
    Plan.objects.create(name="Contract", wallet=known, valid_from=timezone.now())


def session_of(wallet: Wallet) -> dict[str, str]:
    return {"Authorization": client_of(wallet).defaults["HTTP_AUTHORIZATION"]}


def order(shop: Shop, headers: Mapping[str, str], *, web: int = 0, **wanted: Any) -> httpx.Response:
    """The answer of one of the processes to an order."""
    body = {"dataset": "restaurants", **wanted}
    return httpx.post(f"{shop.webs[web % len(shop.webs)]}/v1/exports", json=body, headers=dict(headers), timeout=40)


def all_at_once(shop: Shop, several: list[Mapping[str, str]]) -> list[httpx.Response]:
    with ThreadPoolExecutor(len(several)) as threads:
        return list(threads.map(lambda each: order(shop, each[1], web=each[0]), enumerate(several)))


def paid(key: Wallet, *, value: int = 500_000) -> dict[str, str]:
    return signed_by(key, value=value)


def test_a_hundred_copies_of_one_payment_on_two_processes_buy_one_export(attacked: Shop, key: Wallet) -> None:
    headers = {**session_of(key), **paid(key)}
    answers = all_at_once(attacked, [headers] * 100)
    assert {answer.status_code for answer in answers} <= {202, 503}
    assert {answer.json()["id"] for answer in answers if answer.status_code == 202} == {Export.objects.get().public_id}
    assert len(attacked.facilitator.asked) == 1
    for web in range(2):
        assert order(attacked, headers, web=web).status_code == 202
    assert eventually(lambda: the_one_payment().state == State.DELIVERED)
    assert (Export.objects.get().payment, Export.objects.get().status) == (the_one_payment(), "queued")
    assert usdc_balance(key.address) == 20 - PRICE


def test_of_ten_concurrent_payments_on_two_processes_one_is_settled(attacked: Shop, key: Wallet) -> None:
    session = session_of(key)
    answers = all_at_once(attacked, [{**session, **paid(key)} for _ in range(10)])
    assert {answer.status_code for answer in answers} <= {202, 402, 503}
    export = Export.objects.get()
    assert export.payment is not None
    stored = Payment.objects.filter(state__in=Payment.EARNED)
    assert (list(stored), export.status) == ([export.payment], "queued")
    others = Payment.objects.exclude(pk=export.payment.pk)
    assert Counter(others.values_list("state", "error")) == Counter(
        {(State.REFUND_DUE, f"not_delivered: {payment_state.PAID_TWICE}"): len(others)} if others else {}
    )
    assert usdc_balance(key.address) == 20 - PRICE * (1 + len(others))


@pytest.fixture
def mortal(attacked: Shop, tmp_path: Path) -> Iterator[Shop]:
    """A third process of the product, which may be killed."""
    with opened(tmp_path, processes=1) as shop:
        yield shop


@pytest.mark.parametrize("by", ["the same payment", "the sweepers"])
def test_a_process_killed_after_the_settlement_leaves_an_export_that_is_queued_and_charged_once(
    attacked: Shop, mortal: Shop, key: Wallet, by: str
) -> None:
    headers = {**session_of(key), **paid(key)}
    settles = mortal.facilitator.script

    def script(content: bytes) -> tuple[int, bytes] | None:
        result = settles(content)
        kill(mortal.webs[0])
        return result

    mortal.facilitator.script = script
    with pytest.raises(httpx.TransportError, match=r"disconnected|reset|closed"):
        order(mortal, headers)
    assert eventually(lambda: workers(mortal.webs[0]) == [])
    assert (Export.objects.get().status, the_one_payment().state) == ("awaiting_payment", State.CLAIMED)
    # Nobody is asked to pay again meanwhile.
    unpaid = order(attacked, session_of(key))
    assert (unpaid.status_code, unpaid.json()["error"]["code"]) == (503, "settlement_pending")
    aged()
    if by == "the same payment":
        assert order(attacked, headers, web=1).status_code == 202
    else:
        reconcile.sweep(now=timezone.now())
        payment_state.reconcile(now=timezone.now() + transitions.CLAIM_TIMEOUT + timedelta(seconds=1))
    assert eventually(lambda: the_one_payment().state == State.DELIVERED)
    assert (Export.objects.get().status, Export.objects.get().payment) == ("queued", the_one_payment())
    assert usdc_balance(key.address) == 20 - PRICE


def test_the_payment_of_another_wallet_buys_only_what_that_wallet_may_have_and_once(
    attacked: Shop, key: Wallet, wallets: Mapping[str, Wallet]
) -> None:
    # A wallet below the tier pays for one above it.
    low = order(attacked, {**session_of(key), **paid(wallets["pro"])})
    assert (low.status_code, low.json()["error"]["code"]) == (403, "tier_required")
    # Two wallets of the tier: what has bought one's export is nothing to the other.
    other = fresh_wallet(Decimal(1))
    enterprise(other)
    theirs = paid(other, value=900_000)
    assert order(attacked, {**session_of(key), **theirs}).status_code == 202
    stolen = order(attacked, {**session_of(other), **theirs}, web=1)
    assert (stolen.status_code, stolen.json()["error"]) == (402, "payment_already_used")
    # Nor does a hash that somebody else has sent.
    sent = {"X-Payment": transfer_usdc(wallets["pro"], settings.PAY_TO, PRICE)}
    refused = order(attacked, {**session_of(other), **sent}, dataset="reviews")
    assert (refused.status_code, refused.json()["reason"]) == (402, "wrong_payer")
    assert Payment.objects.filter(state__in=Payment.EARNED).count() == 1
    assert Export.objects.exclude(status="awaiting_payment").count() == 1
    # The ledger learns of that hash by its audit: here it is sent back by hand, so that the books agree.
    served = attacked.ask(headers=sent | session_of(wallets["pro"]))
    assert served.status_code == 200


def test_a_payment_for_a_record_orders_no_export_and_one_for_an_export_reads_no_record(
    attacked: Shop, key: Wallet
) -> None:
    read, ordered, session = paid(key, value=500), paid(key), session_of(key)
    assert attacked.ask(headers=session | read).status_code == 200
    for headers in (read, read | {"X-Receipt": "pay_nothing"}):
        refused = order(attacked, session | headers)
        assert (refused.status_code, refused.json()["error"]) == (402, "payment_already_used")
    assert not Export.objects.exists()
    assert order(attacked, session | ordered).status_code == 202
    refused = attacked.ask(headers=session | ordered)
    assert (refused.status_code, refused.json()["error"]) in {(402, "payment_already_used"), (402, "payment_rejected")}
    assert Payment.objects.count() == 2


def test_an_old_price_is_accepted_for_one_minute_after_a_change(attacked: Shop, key: Wallet) -> None:
    headers = {**session_of(key), **paid(key)}
    product = Product.objects.get(slug="export_restaurants")
    risen = Price.objects.create(
        product=product,
        rate="committed",
        amount_usdc=Decimal("0.6"),
        valid_from=timezone.now() - timedelta(seconds=61),
    )
    Price.objects.filter(product=product, rate="committed").exclude(pk=risen.pk).update(
        valid_from=timezone.now() - timedelta(days=1)
    )
    refused = order(attacked, headers)
    assert (refused.status_code, refused.json()["reason"]) == (402, "wrong_amount")
    assert refused.json()["accepts"][0]["maxAmountRequired"] == "600000"
    assert (Export.objects.count(), Payment.objects.count()) == (0, 0)
    Price.objects.filter(pk=risen.pk).update(valid_from=timezone.now() - timedelta(seconds=30))
    assert order(attacked, headers).status_code == 202
    assert usdc_balance(key.address) == 20 - PRICE
