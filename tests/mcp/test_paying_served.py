"""Paid tools of real processes: many copies at once on two of them, one that is killed, a facilitator that hangs."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from tests.mcp.client import ENDPOINT, RECEIPT, message, payment_for, price_of, refusal_of
from tests.payments.buyer import aged
from tests.payments.facilitators import never_answers
from tests.security.live_product import MAX_RESPONSE_S, Shop, addresses, kill, opened, the_one_payment, workers
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

PRICE = Decimal("0.002")


def call(shop: Shop, payment: Any = None, *, slug: str = "noma", web: int = 0) -> Any:
    """The result that one of the processes gives, to an address that has not asked before."""
    body, headers = message(
        "tools/call",
        {"name": "get_surroundings", "arguments": {"slug": slug}},
        meta={PAYMENT_META: payment} if payment else None,
    )
    url = shop.webs[web % len(shop.webs)] + ENDPOINT
    answer = httpx.post(url, json=body, headers={**headers, "X-Forwarded-For": next(addresses)}, timeout=40)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def quoted(shop: Shop, wallet: Wallet) -> Any:
    """The payment for what lies around noma."""
    return payment_for(wallet, price_of(call(shop)))


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Shop]:
    """One more process, with a facilitator of its own, that may be killed."""
    with opened(tmp_path, processes=1) as shop:
        yield shop


def test_100_copies_at_once_on_two_processes_are_charged_once(attacked: Shop) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    payment = quoted(attacked, wallet)
    with ThreadPoolExecutor(100) as threads:
        results = list(threads.map(lambda number: call(attacked, payment, web=number), range(100)))
    served = [result for result in results if "isError" not in result]
    assert len({result["_meta"][RECEIPT]["transaction"] for result in served}) == 1
    # A copy that came while the first was being settled may be told to come again.
    assert {refusal_of(result)["code"] for result in results if "isError" in result} <= {"settlement_pending"}
    assert len(attacked.facilitator.asked) == 1
    for web in range(2):
        assert "isError" not in call(attacked, payment, web=web)
        assert refusal_of(call(attacked, payment, slug="geranium", web=web))["code"] == "payment_already_used"
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
    assert eventually(lambda: the_one_payment().state == Payment.State.DELIVERED)
    assert (the_one_payment().attempts, the_one_payment().channel) == (1, "mcp")


@pytest.mark.parametrize("has_settled", [True, False], ids=["after settling", "before settling"])
def test_a_process_killed_before_it_could_answer_leaves_a_payment_that_is_served_and_charged_once(
    attacked: Shop, mortal: Shop, has_settled: bool
) -> None:
    wallet = fresh_wallet(usdc=Decimal(1))
    payment, settles = quoted(attacked, wallet), mortal.facilitator.script

    def script(content: bytes) -> tuple[int, bytes] | None:
        reply = settles(content) if has_settled else None
        kill(mortal.webs[0])
        return reply

    mortal.facilitator.script = script
    with pytest.raises(httpx.TransportError, match=r"disconnected|reset|closed"):
        call(mortal, payment)
    assert eventually(lambda: workers(mortal.webs[0]) == [])
    # To the other process it looks as if it were being settled: never a price, for which a client would sign again.
    waiting = call(attacked, payment)
    assert refusal_of(waiting)["code"] == "settlement_pending"
    assert "structuredContent" not in waiting
    aged()
    assert "isError" not in call(attacked, payment, web=1)
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
    assert len(attacked.facilitator.asked) == (0 if has_settled else 1)


def test_a_hanging_facilitator_is_reported_within_the_deadline(attacked: Shop) -> None:
    wallet, over = fresh_wallet(usdc=Decimal(1)), Event()
    payment = quoted(attacked, wallet)
    attacked.facilitator.script = never_answers(over)
    began = time.monotonic()
    result = call(attacked, payment)
    assert time.monotonic() - began < MAX_RESPONSE_S
    assert refusal_of(result)["code"] == "settlement_pending"
    assert usdc_balance(wallet.address) == Decimal(1)
    over.set()
    attacked.mend()
    aged()
    assert "isError" not in call(attacked, payment)
    assert Decimal(1) - usdc_balance(wallet.address) == PRICE
