"""Our own facilitator within this process, on nodes that fail: what it refuses, what it sends, what it says of it."""

import json
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from functools import partial
from operator import not_
from typing import Any

import httpx
import pytest
from django.conf import settings

from framework.resilience.deadline import Deadline
from payments.chain.evm import to_checksum_address
from payments.facilitator_server import error_codes
from payments.facilitator_server import server as facilitating
from payments.facilitator_server.settlement import Attempt, NotSent, Settler, build_sdk
from tests.payments.buyer import signed_by
from tests.payments.facilitator_server.policies import JSON, call, gas_of, interrupted, policy, settle_body, settled
from tests.payments.facilitators import Script, hangs_up, node_answering, says, serving
from tests.payments.transfers import contract_wallet
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"asset": "0x" + 40 * "1"}, error_codes.WRONG_ASSET),
        ({"payTo": "0x" + 40 * "1"}, error_codes.WRONG_PAY_TO),
    ],
)
def test_a_payment_outside_the_policy_is_refused_before_the_chain_is_read(changed: dict[str, Any], why: str) -> None:
    body = settle_body(signed_by(fresh_wallet(Decimal(1))), **changed)
    with serving(says(500, {})) as node:
        verified, answer = settled(policy(node.url), body)
        assert node.asked == []
    assert (verified.is_valid, verified.invalid_reason) == (False, why)
    assert (answer.success, answer.error_reason, answer.transaction) == (False, why, "")


@pytest.mark.parametrize("names", [(), ("authorization",), ("authorization", "signature")])
def test_another_way_to_transfer_is_refused_before_the_chain_is_read(names: tuple[str, ...]) -> None:
    body = settle_body(signed_by(fresh_wallet(Decimal(1))))
    payment = body["paymentPayload"]["payload"]
    body["paymentPayload"]["payload"] = {
        "signature": "0x11",
        **{name: payment[name] for name in names},
        "permit2Authorization": {},
    }
    with serving(says(500, {})) as node:
        _, answer = settled(policy(node.url), body)
        assert node.asked == []
    assert (answer.success, answer.error_reason) == (False, error_codes.WRONG_TRANSFER)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("named", "why"),
    [({"max_gas_price": 999_999}, error_codes.GAS_PRICE_TOO_HIGH), ({"max_gas": 30_000}, error_codes.TOO_MUCH_GAS)],
)
def test_a_settlement_above_the_gas_limits_is_not_sent(named: dict[str, Any], why: str) -> None:
    payer, terms = fresh_wallet(Decimal(1)), policy(**named)
    before = gas_of(terms)
    verified, answer = settled(terms, settle_body(signed_by(payer)))
    assert verified.is_valid
    assert (answer.success, answer.error_reason, answer.transaction) == (False, why, "")
    assert (gas_of(terms), usdc_balance(payer.address)) == (before, Decimal(1))


def test_a_payer_without_money_costs_no_gas() -> None:
    payer, terms = fresh_wallet(Decimal("0.001")), policy()
    before = gas_of(terms)
    _, answer = settled(terms, settle_body(signed_by(payer)))
    assert (answer.success, answer.error_reason) == (False, "invalid_exact_evm_insufficient_balance")
    assert (gas_of(terms), usdc_balance(payer.address)) == (before, Decimal("0.001"))


def test_without_ether_it_sends_nothing_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    payer, terms = fresh_wallet(Decimal(1)), policy(private_key="0x" + secrets.token_hex(32))
    _, answer = settled(terms, settle_body(signed_by(payer)))
    assert (answer.success, answer.error_reason) == (False, error_codes.NO_GAS_LEFT)
    assert "has ether for 0 more settlements" in caplog.text
    assert usdc_balance(payer.address) == Decimal(1)


def test_low_ether_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    with serving(node_answering({"eth_getBalance": hex(2 * 10**12)})) as node:
        terms = policy(node.url)
        serves = facilitating.Facilitator(terms)
        assert "gas" not in call(serves, "/livez")
        assert call(serves, "/settle", settle_body(signed_by(fresh_wallet(Decimal(1)))))["success"] is True
        assert call(serves, "/livez") == {"status": "ok", "gas": "low"}
    assert "more settlements: send it some" in caplog.text
    assert terms.private_key[2:] not in caplog.text


@pytest.mark.exhaustive
def test_a_contract_wallet_pays_through_it() -> None:
    owner = fresh_wallet(Decimal(1))
    payer = contract_wallet(owner, usdc=Decimal(1))
    body = settle_body(signed_by(owner))
    body["paymentPayload"]["payload"]["authorization"]["from"] = to_checksum_address(payer)
    body["paymentPayload"]["payload"]["signature"] = "0x" + 66 * "11"
    verified, answer = settled(policy(), body)
    assert (verified.is_valid, answer.success) == (True, True)
    assert usdc_balance(payer) == Decimal("0.998")


# A chain that fails
@pytest.mark.sample(2)
@pytest.mark.parametrize("method", [b"eth_getCode", b"eth_call", b"eth_gasPrice", b"eth_estimateGas"])
@pytest.mark.parametrize("then", [hangs_up, says(429, {}), says(200, {"error": {"code": -32005, "message": "limit"}})])
def test_nothing_is_sent_while_the_chain_is_unavailable(method: bytes, then: Script) -> None:
    payer = fresh_wallet(Decimal(1))
    with serving(interrupted(method, then)) as node:
        terms = policy(node.url)
        before = gas_of(terms)
        _, answer = settled(terms, settle_body(signed_by(payer)))
    assert (answer.success, answer.error_reason, answer.transaction) == (False, error_codes.CHAIN_UNAVAILABLE, "")
    assert (gas_of(terms), usdc_balance(payer.address)) == (before, Decimal(1))


def test_a_node_that_does_not_answer_after_accepting_is_no_failure() -> None:
    payer, real = fresh_wallet(Decimal(1)), settings.RPC_URL

    def takes(content: bytes) -> None:
        httpx.post(real, content=content, headers=JSON)

    with serving(interrupted(b"eth_sendRawTransaction", takes)) as node:
        _, answer = settled(policy(node.url), settle_body(signed_by(payer)))
    assert (answer.success, usdc_balance(payer.address)) == (True, Decimal("0.998"))


@pytest.mark.exhaustive
def test_a_node_that_refuses_the_transaction_has_sent_nothing_and_the_next_payment_is_settled() -> None:
    payer, real, refusals = fresh_wallet(Decimal(1)), settings.RPC_URL, [b"nonce too low: next nonce 7, tx nonce 0"]

    def refuses_once(content: bytes) -> tuple[int, bytes]:
        if refusals:
            error = {"code": -32000, "message": refusals.pop().decode()}
            return 200, json.dumps({"jsonrpc": "2.0", "id": json.loads(content)["id"], "error": error}).encode()
        return 200, httpx.post(real, content=content, headers=JSON).content

    with serving(interrupted(b"eth_sendRawTransaction", refuses_once)) as node:
        settler = Settler(policy(node.url), build_sdk)
        settler.supported()
        parts = facilitating.parse(json.dumps(settle_body(signed_by(payer))).encode())
        first, second = settler.settle(*parts), settler.settle(*parts)
    assert (first.success, first.error_reason, first.transaction) == (False, error_codes.CHAIN_UNAVAILABLE, "")
    assert (second.success, usdc_balance(payer.address)) == (True, Decimal("0.998"))


@pytest.mark.exhaustive
def test_a_settlement_that_is_not_mined_in_time_is_pending_and_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("payments.facilitator_server.signer.CONFIRMED_WITHIN_S", 0.3)
    payer, terms = fresh_wallet(Decimal(1)), policy()
    body = settle_body(signed_by(payer))
    hidden = {"eth_getTransactionReceipt": None}
    with serving(node_answering(hidden)) as node:
        settler = Settler(replace(terms, rpc_url=node.url), build_sdk)
        settler.supported()
        parts = facilitating.parse(json.dumps(body).encode())
        first = settler.settle(*parts)
        hidden.clear()
        second = settler.settle(*parts)
    assert (first.success, first.error_reason) == (False, error_codes.PENDING)
    assert (second.success, second.transaction) == (True, first.transaction)
    assert gas_of(terms)[1] == 1


@pytest.mark.stack
def test_a_timeout_names_the_transaction_or_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("payments.facilitator_server.settlement.ANSWERED_WITHIN_S", 1.5)
    real, over = settings.RPC_URL, threading.Event()

    def slow(content: bytes) -> tuple[int, bytes]:
        over.wait(5)
        return 200, httpx.post(real, content=content, headers=JSON).content

    answers = {}
    for method in (b"eth_getCode", b"eth_sendRawTransaction"):
        over.clear()
        payer = fresh_wallet(Decimal(1))
        with serving(interrupted(method, slow)) as node:
            terms = policy(node.url)
            settler = Settler(terms, build_sdk)
            settler.supported()
            answers[method] = settler.settle(*facilitating.parse(json.dumps(settle_body(signed_by(payer))).encode()))
            over.set()
            assert eventually(partial(not_, settler.payers))
        spent = Decimal(1) - usdc_balance(payer.address)
        assert (gas_of(terms)[1], spent) == ((0, Decimal(0)) if method == b"eth_getCode" else (1, Decimal("0.002")))
    assert (answers[b"eth_getCode"].error_reason, answers[b"eth_getCode"].transaction) == (error_codes.BUSY, "")
    pending = answers[b"eth_sendRawTransaction"]
    assert (pending.error_reason, len(pending.transaction)) == (error_codes.PENDING, 66)


@pytest.mark.exhaustive
def test_payments_of_several_at_once_are_each_settled_once() -> None:
    payers, terms = [fresh_wallet(Decimal(1)) for _ in range(6)], policy()
    settler = Settler(terms, build_sdk)
    settler.supported()
    parts = [facilitating.parse(json.dumps(settle_body(signed_by(payer))).encode()) for payer in payers] * 2
    with ThreadPoolExecutor(len(parts)) as threads:
        answers = list(threads.map(lambda one: settler.settle(*one), parts))
    assert sorted(answer.success for answer in answers) == [False] * 6 + [True] * 6
    assert {usdc_balance(payer.address) for payer in payers} == {Decimal("0.998")}
    assert gas_of(terms)[1] == 6


@pytest.mark.exhaustive
def test_either_send_or_cancel_takes_effect() -> None:
    for _ in range(200):
        attempt = Attempt(payer="a", key="b", deadline=Deadline(0.0))
        ready = threading.Barrier(2)
        with ThreadPoolExecutor(2) as threads:
            sent = threads.submit(sends, attempt, ready)
            left = threads.submit(gives_up, attempt, ready)
        assert sent.result() == left.result()


def sends(attempt: Attempt, ready: threading.Barrier) -> str | None:
    """Send unless the waiting request has ended."""
    ready.wait()
    try:
        attempt.begin("0x1")
    except NotSent:
        return None
    return "0x1"


def gives_up(attempt: Attempt, ready: threading.Barrier) -> str | None:
    """Wait no longer."""
    ready.wait()
    return attempt.cancel()


def test_a_used_authorization_is_reported_as_used() -> None:
    settler, body = Settler(policy(), build_sdk), settle_body(signed_by(fresh_wallet(Decimal(1))))
    settler.supported()
    parts = facilitating.parse(json.dumps(body).encode())
    assert [settler.settle(*parts).error_reason for _ in range(2)] == [None, error_codes.USED]
    assert error_codes.USED not in error_codes.REFUSED
