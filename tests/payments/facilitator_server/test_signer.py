"""Our facilitator's transactions, on nodes that lose them or leave them in the mempool."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.conf import settings

from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet
from payments.facilitator_server import error_codes, journal, signer
from payments.facilitator_server import server as facilitating
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.settlement import Settler, build_sdk
from tests.payments.buyer import signed_by
from tests.payments.facilitator_server.mempool import mempool
from tests.payments.facilitator_server.policies import GWEI, JSON, gas_of, policy, settle_body
from tests.payments.facilitators import serving
from tests.payments.transfers import WAVERS, contract_wallet, front_run
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, send, usdc_balance

PRICE = Decimal("0.002")


def ready(terms: Policy) -> Settler:
    """A settler whose imports are done."""
    settler = Settler(terms, build_sdk)
    settler.supported()
    return settler


def parts(payer: Any, **changed: Any) -> tuple[Any, Any]:
    """A payment by this wallet and its requirements, as the server passes them on."""
    return facilitating.parse(json.dumps(settle_body(signed_by(payer, **changed))).encode())


@pytest.mark.sample(1)
@pytest.mark.parametrize("queues", [True, False])
def test_one_lost_transaction_delays_no_payment_for_longer_than_its_answer(queues: bool) -> None:
    payers = [fresh_wallet(Decimal(1)) for _ in range(6)]
    with mempool(to_lose=1, queues=queues) as node:
        settler = ready(terms := policy(node.url))
        payments = [parts(payer) for payer in payers]
        with ThreadPoolExecutor(len(payers)) as threads:
            answers = list(threads.map(lambda payment: settler.settle(*payment), payments))
    assert [(answer.success, answer.error_reason) for answer in answers] == [(True, None)] * 6
    assert {usdc_balance(payer.address) for payer in payers} == {1 - PRICE}
    assert gas_of(terms)[1] == 6


@pytest.mark.exhaustive
def test_a_payment_that_is_presented_again_while_it_is_lost_is_sent_in_the_same_transaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signer, "CONFIRMED_WITHIN_S", 0.5)
    payer = fresh_wallet(Decimal(1))
    with mempool(to_lose=1_000) as node:
        settler = ready(terms := policy(node.url))
        payment = parts(payer)
        lost = [settler.settle(*payment) for _ in range(2)]
        assert usdc_balance(payer.address) == 1
        node.to_lose = 0
        assert eventually(lambda: usdc_balance(payer.address) < 1, within_s=5)
        found = settler.settle(*payment)
        assert len(set(node.received)) == 1
    assert [(answer.success, answer.error_reason) for answer in lost] == [(False, error_codes.PENDING)] * 2
    assert (found.success, found.transaction) == (True, lost[0].transaction)
    assert {answer.transaction for answer in lost} == set(node.received)
    assert (usdc_balance(payer.address), gas_of(terms)[1]) == (1 - PRICE, 1)


@pytest.mark.exhaustive
def test_a_transaction_that_offers_too_little_is_replaced_by_its_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer, "CONFIRMED_WITHIN_S", 0.5)
    monkeypatch.setattr(signer, "REPLACED_AFTER_S", 1.0)
    payer, other = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(1))
    with mempool() as node:
        settler = ready(terms := policy(node.url))
        node.min_gas_price = GWEI
        payment = parts(payer)
        waiting = settler.settle(*payment)
        node.gas_price = GWEI
        after = settler.settle(*parts(other))
        assert eventually(lambda: usdc_balance(other.address) < 1, within_s=10)
        found = settler.settle(*payment)
    assert (waiting.error_reason, after.error_reason) == (error_codes.PENDING, error_codes.PENDING)
    assert (found.success, found.transaction != waiting.transaction) == (True, True)
    assert {usdc_balance(payer.address), usdc_balance(other.address)} == {1 - PRICE}
    assert gas_of(terms)[1] == 2


@pytest.mark.stack
def test_no_replacement_offers_more_than_the_policy_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer, "CONFIRMED_WITHIN_S", 0.5)
    monkeypatch.setattr(signer, "REPLACED_AFTER_S", 0.5)
    payer, cap = fresh_wallet(Decimal(1)), 2_000_000
    with mempool() as node:
        settler = ready(policy(node.url, max_gas_price=cap))
        node.min_gas_price = GWEI
        settler.settle(*parts(payer))
        node.gas_price = GWEI
        assert eventually(lambda: len(set(node.received)) == 2, within_s=5)
        time.sleep(3)
        assert len(set(node.received)) == 2
        assert max(transaction.max_fee for transaction, _ in node.queued.values()) == cap
        node.min_gas_price = cap
        node.gas_price = cap
        assert eventually(lambda: usdc_balance(payer.address) < 1, within_s=10)


@pytest.mark.exhaustive
def test_while_a_node_loses_everything_the_number_of_unmined_transactions_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signer, "CONFIRMED_WITHIN_S", 0.1)
    monkeypatch.setattr(signer, "MAX_UNMINED", 3)
    payers = [fresh_wallet(Decimal(1)) for _ in range(5)]
    with mempool(to_lose=1_000) as node:
        settler = ready(terms := policy(node.url))
        reasons = [settler.settle(*parts(payer)).error_reason for payer in payers]
        assert len(set(node.received)) == 3
        node.to_lose = 0
        assert eventually(lambda: gas_of(terms)[1] == 3, within_s=10)
    assert reasons == [error_codes.PENDING] * 3 + [error_codes.CHAIN_UNAVAILABLE] * 2
    assert [usdc_balance(payer.address) for payer in payers] == [1 - PRICE] * 3 + [Decimal(1)] * 2


# Payers whose settlements are reverted
def contract_payment(owner: Wallet, contract: str) -> tuple[Any, Any]:
    """A payment by a contract wallet that accepts this signature until it changes its mind."""
    body = settle_body(signed_by(owner))
    body["paymentPayload"]["payload"]["authorization"]["from"] = to_checksum_address(contract)
    body["paymentPayload"]["payload"]["signature"] = "0x" + 66 * "11"
    return facilitating.parse(json.dumps(body).encode())


@pytest.mark.stack
def test_a_wallet_whose_settlements_revert_is_refused_for_longer_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "FIRST_REFUSAL_S", 2.0)
    owner, other = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(1))
    contract = contract_wallet(owner, usdc=Decimal(1), code=WAVERS)
    real = settings.RPC_URL
    attacked: set[str | None] = set()

    def overtaken(content: bytes) -> tuple[int, bytes]:
        request = json.loads(content)
        raw = request["params"][0] if isinstance(request, dict) and "Raw" in request["method"] else None
        is_new = is_attacking and raw is not None and raw not in attacked
        attacked.add(raw)
        if is_new:
            send(owner, to=contract)
        answer = httpx.post(real, content=content, headers=JSON).content
        if is_new:
            send(owner, to=contract)
        return 200, answer

    is_attacking = True
    with serving(overtaken) as node:
        settler = ready(terms := policy(node.url))
        reasons = []
        for pause_s in (0, 0, 2.0, 2.0):
            time.sleep(pause_s)
            answer = settler.settle(*contract_payment(owner, contract))
            reasons.append((answer.success, answer.error_reason, answer.transaction != ""))
        assert (gas_of(terms)[1], usdc_balance(contract)) == (2, Decimal(1))
        assert settler.verify(*contract_payment(owner, contract)).invalid_reason == error_codes.PAYER_REVERTS
        assert settler.find_problems() == {"refused_payers": 1}
        is_attacking = False
        assert settler.settle(*parts(other)).success
    failed, refused = (False, error_codes.REVERTED, True), (False, error_codes.PAYER_REVERTS, False)
    assert reasons == [failed, refused, failed, refused]


@pytest.mark.exhaustive
def test_a_payer_is_not_blamed_for_a_payment_that_another_sender_has_settled() -> None:
    payer, other = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(1))
    headers, real = signed_by(payer), settings.RPC_URL
    overtaken: list[str] = []

    def front_runs(content: bytes) -> tuple[int, bytes]:
        if b"eth_sendRawTransaction" in content and not overtaken:
            overtaken.append(front_run(headers, sender=other))
        return 200, httpx.post(real, content=content, headers=JSON).content

    with serving(front_runs) as node:
        settler = ready(terms := policy(node.url))
        first = settler.settle(*facilitating.parse(json.dumps(settle_body(headers)).encode()))
        second = settler.settle(*parts(payer))
    assert (first.error_reason, second.success, gas_of(terms)[1]) == (error_codes.REVERTED, True, 2)
    assert settler.find_problems() == {}


def test_a_settlement_is_simulated_with_its_gas_price_right_before_it_is_sent() -> None:
    with mempool() as node, serving(node) as recorder:
        ready(policy(recorder.url)).settle(*parts(fresh_wallet(Decimal(1))))
        requests = [json.loads(content) for content in recorder.asked]
    calls = [call for call in requests if isinstance(call, dict) and call["method"] != "eth_chainId"]
    methods = [call["method"] for call in calls]
    last = methods.index("eth_sendRawTransaction") - 1
    assert (methods[last], int(calls[last]["params"][0]["gasPrice"], 16)) == ("eth_estimateGas", 1_250_000)
