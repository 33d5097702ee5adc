"""What happens between our check of a payment and its settlement, and between its settlement and our answer."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
import time_machine

from payments.chain import rpc
from payments.devchain import wallets as devchain
from payments.devchain.wallets import Wallet
from payments.models import Payment, Price
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected
from tests.payments.buyer import aged, buy, purchase_for, read, reason, refused, signed_by
from tests.payments.facilitator_server.test_settlement import cancelled
from tests.payments.facilitators import Script
from tests.payments.transfers import FICKLE, contract_wallet, front_run
from tests.security.live_product import (
    CONTEXT,
    ELSEWHERE,
    PRICE,
    Shop,
    an_address,
    kill,
    opened,
    the_one_payment,
    workers,
)
from tests.support import wallets
from tests.support.live_stack import eventually
from tests.support.wallets import chain_secret, fresh_wallet, transfer_usdc, usdc_balance

pytestmark = pytest.mark.django_db(transaction=True)

State = Payment.State


def after(first: Any, shop: Shop) -> Script:
    """A facilitator to whom this happens before it settles."""
    settles = shop.facilitator.script

    def script(content: bytes) -> tuple[int, bytes] | None:
        first()
        return settles(content)

    return script


# The payer changes its mind
@pytest.mark.stack
def test_an_authorization_cancelled_after_our_check_buys_nothing(attacked: Shop) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    headers = signed_by(wallet)
    attacked.facilitator.script = after(lambda: cancelled(wallet, headers), attacked)
    answer = attacked.ask(CONTEXT, headers)
    assert (answer.status_code, answer.json()["error"]) == (402, "payment_rejected")
    assert "context" not in answer.json()
    assert usdc_balance(wallet.address) == Decimal(1)
    # Nor does it later, elsewhere.
    assert attacked.ask(CONTEXT, headers, web=1).status_code == 402
    assert Payment.objects.exclude(state=State.EXPIRED).count() == 0


@pytest.mark.stack
def test_money_spent_after_our_check_buys_nothing(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    wallet = fresh_wallet(usdc=Decimal(PRICE))
    attacked.facilitator.script = after(
        lambda: transfer_usdc(wallet, wallets["pro"].address, Decimal(PRICE)), attacked
    )
    answer = attacked.ask(CONTEXT, signed_by(wallet))
    assert (answer.status_code, answer.json()["reason"]) == (402, "invalid_exact_evm_insufficient_balance")
    assert Payment.objects.count() == 0


@pytest.mark.stack
def test_an_authorization_sent_by_a_third_party_after_our_check_counts_as_paid_once(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    headers, before = signed_by(wallets["free"]) | an_address(), usdc_balance(wallets["free"].address)
    attacked.facilitator.script = after(lambda: front_run(headers, sender=wallets["pro"]), attacked)
    assert attacked.ask(CONTEXT, headers).status_code == 200
    assert attacked.ask(ELSEWHERE, headers, web=1).json()["error"] == "payment_already_used"
    assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)
    assert the_one_payment().block is not None


# Our gas
def facilitators_ether() -> int:
    """What our facilitator has for gas, in wei."""
    address = devchain.derive_wallet(chain_secret(), devchain.FACILITATOR).address
    return int(rpc.call("eth_getBalance", address, "latest"), 16)


@pytest.mark.stack
@pytest.mark.parametrize("usdc", ["0", "0.001999"])
def test_a_payer_without_money_burns_none_of_our_gas(attacked: Shop, usdc: str) -> None:
    poor, before = fresh_wallet(usdc=Decimal(usdc)), facilitators_ether()
    for _ in range(3):
        answer = attacked.ask(CONTEXT, signed_by(poor))
        assert (answer.status_code, answer.json()["reason"]) == (402, "invalid_exact_evm_insufficient_balance")
    assert facilitators_ether() == before
    assert Payment.objects.count() == 0


@pytest.mark.stack
def test_copies_of_a_payment_burn_gas_once(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    headers = signed_by(wallets["free"]) | an_address()
    assert attacked.ask(CONTEXT, headers).status_code == 200
    before = facilitators_ether()
    for web in range(6):
        assert attacked.ask(CONTEXT, headers, web=web).status_code == 200
    assert attacked.ask(ELSEWHERE, headers).status_code == 402
    assert facilitators_ether() == before


# The process dies
@pytest.fixture
def mortal(attacked: Shop, tmp_path: Path) -> Iterator[Shop]:
    """A third process of the product, which may be killed."""
    with opened(tmp_path, processes=1) as shop:
        yield shop


@pytest.mark.stack
@pytest.mark.parametrize("has_settled", [True, False], ids=["after settling", "before settling"])
def test_a_process_killed_before_it_could_answer_leaves_a_payment_that_is_served_and_charged_once(
    attacked: Shop, mortal: Shop, wallets: Mapping[str, Wallet], has_settled: bool
) -> None:
    headers, before = signed_by(wallets["free"]) | an_address(), usdc_balance(wallets["free"].address)
    settles = mortal.facilitator.script

    def script(content: bytes) -> tuple[int, bytes] | None:
        body = settles(content) if has_settled else None
        kill(mortal.webs[0])
        return body

    mortal.facilitator.script = script
    with pytest.raises(httpx.TransportError, match=r"disconnected|reset|closed"):
        mortal.ask(CONTEXT, headers)
    assert eventually(lambda: workers(mortal.webs[0]) == [])
    # Nobody knows yet how it ended: to the other process it looks as if it were being settled.
    assert the_one_payment().state == State.CLAIMED
    answer = attacked.ask(CONTEXT, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "settlement_pending")
    aged()
    assert attacked.ask(CONTEXT, headers, web=1).status_code == 200
    assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)
    assert len(attacked.facilitator.asked) == (0 if has_settled else 1)
    assert attacked.ask(ELSEWHERE, headers).json()["error"] == "payment_already_used"
    assert eventually(lambda: the_one_payment().state == State.DELIVERED)


# Clocks that differ
@pytest.mark.sample(2)
@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (timedelta(seconds=-50), None),
        (timedelta(seconds=-58), "expired"),
        (timedelta(hours=-1), "expired"),
        (timedelta(minutes=9), None),
        (timedelta(hours=23), None),
        (timedelta(days=2), "valid_too_long"),
    ],
    ids=str,
)
def test_a_payer_with_a_skewed_clock_pays_once_or_gets_the_reason(
    wallets: Mapping[str, Wallet], ahead: timedelta, expected: str | None
) -> None:
    before = usdc_balance(wallets["free"].address)
    with time_machine.travel(datetime.now(UTC) + ahead, tick=True):
        headers = signed_by(wallets["free"])
    if expected is None:
        assert buy(headers) == buy(headers)
        assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)
        return
    refusal = refused(headers)
    assert isinstance(refusal, PaymentRejected)
    assert (reason(refusal), Payment.objects.count()) == (expected, 0)
    assert usdc_balance(wallets["free"].address) == before


@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_server_clock_that_is_behind_charges_once(wallets: Mapping[str, Wallet]) -> None:
    before, headers = usdc_balance(wallets["free"].address), signed_by(wallets["free"])
    Price.objects.update(valid_from=datetime.now(UTC) - timedelta(days=1))
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=5), tick=True):
        receipt = buy(headers)
        assert buy(headers) == receipt
    assert buy(headers) == receipt
    assert isinstance(refused(headers, purchase_for("geranium")), PaymentAlreadyUsed)
    assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)


@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_server_clock_that_is_ahead_charges_nothing_unserved(wallets: Mapping[str, Wallet]) -> None:
    before, headers = usdc_balance(wallets["free"].address), signed_by(wallets["free"])
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5), tick=True):
        assert reason(refused(headers)) == "expired"
    assert (usdc_balance(wallets["free"].address), Payment.objects.count()) == (before, 0)


# Contracts that pay
def by_contract(payer: str, owner: Wallet) -> dict[str, str]:
    """The header of a payment in the name of this contract."""
    text = read(signed_by(owner))
    text["payload"]["authorization"]["from"] = payer
    text["payload"]["signature"] = "0x" + "11" * 65
    return {"PAYMENT-SIGNATURE": json.dumps(text)}


@pytest.mark.stack
def test_a_contract_that_has_paid_and_agrees_no_more_keeps_its_answer_and_buys_no_other(attacked: Shop) -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer = contract_wallet(owner, usdc=Decimal(1), code=FICKLE)
    first, second = by_contract(payer, owner), by_contract(payer, owner)
    home = an_address()
    assert attacked.ask(CONTEXT, first | home).status_code == 200
    send_nothing(owner, payer)
    assert attacked.ask(CONTEXT, first | home, web=1).status_code == 200
    refused_now = attacked.ask(ELSEWHERE, second)
    assert (refused_now.status_code, refused_now.json()["error"]) == (402, "payment_rejected")
    assert usdc_balance(payer) == Decimal(1) - Decimal(PRICE)
    assert the_one_payment().payer == payer


@pytest.mark.stack
def test_a_contract_that_stops_agreeing_after_our_check_buys_nothing(attacked: Shop) -> None:
    owner = fresh_wallet(usdc=Decimal(1))
    payer = contract_wallet(owner, usdc=Decimal(1), code=FICKLE)
    headers = by_contract(payer, owner)
    attacked.facilitator.script = after(lambda: send_nothing(owner, payer), attacked)
    answer = attacked.ask(CONTEXT, headers)
    assert (answer.status_code, answer.json()["error"]) == (402, "payment_rejected")
    assert (usdc_balance(payer), Payment.objects.count()) == (Decimal(1), 0)


def send_nothing(sender: Wallet, contract: str) -> None:
    """Call the contract without a question."""
    wallets.send(sender, to=contract)
