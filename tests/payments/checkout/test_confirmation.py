"""A facilitator's success is confirmed by our own node before it is served, in as many blocks as the setting says."""

import json
import time
from collections.abc import Mapping
from decimal import Decimal

import httpx
import pytest
from pytest_django import Settings

from payments.checkout import confirmation
from payments.checkout.context import SettlementPending
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.tiers.definitions import FREE, PRO
from tests.payments.buyer import buy, paid_by, proven, purchase_for, refused, settled_by_third_party
from tests.payments.facilitator_server.policies import JSON
from tests.payments.facilitators import says, serving
from tests.support.live_server import NOWHERE
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

State = Payment.State
PRICE = Decimal("0.002")
HASH = "0x" + "5a" * 32

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


def lie(transaction: str = HASH) -> bytes:
    return json.dumps({"success": True, "payer": "", "transaction": transaction, "network": "eip155:84532"}).encode()


def mine_a_block() -> None:
    """On the development chain each transaction is a block."""
    fresh_wallet(usdc=Decimal(0))


@pytest.mark.exhaustive
def test_a_settlement_that_the_chain_does_not_show_is_not_served(
    wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    headers, real = paid_by(wallets["free"]), settings.FACILITATOR_URL
    before = usdc_balance(wallets["free"].address)
    with serving(says(200, lie())) as server:
        settings.FACILITATOR_URL = server.url
        refusal = refused(headers)
    assert isinstance(refusal, SettlementPending)
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.delivered_at) == (State.UNKNOWN, HASH, None)
    assert row.error == "The facilitator says that it is settled; the chain does not show it yet."
    settings.FACILITATOR_URL = real
    buy(headers)
    assert before - usdc_balance(wallets["free"].address) == PRICE


def test_the_transaction_of_another_payment_confirms_nothing(
    wallets: Mapping[str, Wallet], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "WAIT_S", 60.0)
    payer = fresh_wallet(Decimal(1))
    other = paid_by(payer)
    transaction, headers = settled_by_third_party(other), paid_by(wallets["free"])
    buy(other, caller=proven(payer, FREE))
    started = time.monotonic()
    with serving(says(200, lie(transaction))) as server:
        settings.FACILITATOR_URL = server.url
        assert isinstance(refused(headers, purchase_for("geranium")), SettlementPending)
    # It is final: nothing is waited for.
    assert time.monotonic() - started < 10
    row = Payment.objects.get(payer=wallets["free"].address)
    assert (row.state, row.error) == (State.UNKNOWN, "The transaction that the facilitator named has not used it.")


@pytest.mark.exhaustive
def test_a_confirmed_payment_costs_one_request_to_the_node_and_needs_no_later_one(
    wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    settings.TIER_CACHE_S, real = 600, settings.RPC_URL
    buy(paid_by(wallets["pro"]))
    headers = paid_by(wallets["pro"])
    with serving(lambda content: (200, httpx.post(real, content=content, headers=JSON).content)) as node:
        settings.RPC_URL = node.url
        receipt = buy(headers, caller=proven(wallets["pro"], PRO))
        methods = [[call["method"] for call in json.loads(content)] for content in node.asked]
    assert methods == [["eth_getTransactionReceipt", "eth_getBlockByNumber"]]
    row = Payment.objects.get(tx_hash=receipt.transaction)
    assert (row.state, row.block is not None, row.log_index is not None) == (State.SETTLED, True, True)


@pytest.mark.exhaustive
def test_a_node_that_lags_is_waited_for(wallets: Mapping[str, Wallet], settings: Settings) -> None:
    settings.TIER_CACHE_S, real = 600, settings.RPC_URL
    buy(paid_by(wallets["pro"]))
    headers = paid_by(wallets["pro"])
    served_from = time.monotonic() + 0.7

    def lags(content: bytes) -> tuple[int, bytes]:
        if time.monotonic() < served_from and b"eth_getTransactionReceipt" in content:
            requests = json.loads(content)
            requests[0]["params"] = [HASH]
            content = json.dumps(requests).encode()
        return 200, httpx.post(real, content=content, headers=JSON).content

    with serving(lags) as node:
        settings.RPC_URL = node.url
        buy(headers)
        assert len(node.asked) > 1
    assert time.monotonic() > served_from


@pytest.mark.exhaustive
@pytest.mark.parametrize(("confirmations", "is_served"), [(0, True), (1, True), (2, False)])
def test_while_the_node_is_away_the_facilitators_word_is_enough_for_one_confirmation(
    wallets: Mapping[str, Wallet], settings: Settings, confirmations: int, is_served: bool
) -> None:
    settings.TIER_CACHE_S, settings.PAYMENT_CONFIRMATIONS = 600, confirmations
    headers, real = paid_by(wallets["free"]), settings.RPC_URL
    settings.RPC_URL = f"http://{NOWHERE}"
    if is_served:
        buy(headers)
    else:
        assert isinstance(refused(headers), SettlementPending)
        assert Payment.objects.get().state == State.UNKNOWN
    settings.RPC_URL, settings.PAYMENT_CONFIRMATIONS = real, 1
    buy(headers)


def test_without_confirmations_the_chain_is_not_asked(wallets: Mapping[str, Wallet], settings: Settings) -> None:
    settings.TIER_CACHE_S, settings.PAYMENT_CONFIRMATIONS, real = 600, 0, settings.RPC_URL
    buy(paid_by(wallets["pro"]))
    headers = paid_by(wallets["pro"])
    with serving(lambda content: (200, httpx.post(real, content=content, headers=JSON).content)) as node:
        settings.RPC_URL = node.url
        buy(headers, caller=proven(wallets["pro"], PRO))
        assert node.asked == []


@pytest.mark.exhaustive
def test_a_payment_is_pending_until_enough_blocks_show_it(wallets: Mapping[str, Wallet], settings: Settings) -> None:
    settings.PAYMENT_CONFIRMATIONS = 3
    headers, before = paid_by(wallets["free"]), usdc_balance(wallets["free"].address)
    refusals = [refused(headers) for _ in range(2)]
    assert {type(refusal) for refusal in refusals} == {SettlementPending}
    assert Payment.objects.get().state == State.UNKNOWN
    mine_a_block()
    receipt = buy(headers)
    row = Payment.objects.get()
    assert (row.state, row.tx_hash, row.block is not None) == (State.SETTLED, receipt.transaction, True)
    assert before - usdc_balance(wallets["free"].address) == PRICE


def test_a_plain_transfer_is_not_found_until_enough_blocks_show_it(
    wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    settings.PAYMENT_CONFIRMATIONS = 3
    headers = {"X-Payment": transfer_usdc(wallets["free"], settings.PAY_TO, PRICE)}
    assert refused(headers).code == "transaction_not_found"
    assert Payment.objects.count() == 0
    mine_a_block()
    buy(headers, caller=proven(wallets["free"], FREE))
    assert Payment.objects.get().state == State.SETTLED
