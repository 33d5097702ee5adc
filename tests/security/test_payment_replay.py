"""One payment, many times: over HTTP, on two processes, at the same moment, and after caches were emptied."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import httpx
import pytest
from django.conf import settings
from django.core.cache import caches

from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.payments.buyer import paid_by, signed_by, tampered
from tests.payments.signing import client_of
from tests.security.live_product import CONTEXT, ELSEWHERE, PRICE, Shop, an_address, the_one_payment
from tests.support.live_stack import eventually
from tests.support.wallets import transfer_usdc, usdc_balance

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

State = Payment.State


def all_at_once(shop: Shop, paths: list[str], headers: Mapping[str, str]) -> list[httpx.Response]:
    """The answers to these, asked at the same time of both processes in turn."""
    with ThreadPoolExecutor(len(paths)) as threads:
        return list(threads.map(lambda numbered: shop.ask(numbered[1], headers, web=numbered[0]), enumerate(paths)))


def pay_quote(shop: Shop, wallet: Wallet, address: Mapping[str, str]) -> dict[str, str]:
    """The header of a plain transfer of the amount that this address is quoted for CONTEXT."""
    amount = Decimal(json.loads(shop.ask(CONTEXT, address).headers["x402"])["amount"])
    return {"X-Payment": transfer_usdc(wallet, settings.PAY_TO, amount)}


@pytest.mark.parametrize("copies", [20, 100])
def test_concurrent_copies_on_two_processes_are_charged_once(
    attacked: Shop, wallets: Mapping[str, Wallet], copies: int
) -> None:
    headers, before = paid_by(wallets["free"]), usdc_balance(wallets["free"].address)
    rebuilt = tampered(headers, accepted={"extra": {"name": "USDC", "version": "2"}})
    answers = all_at_once(attacked, [CONTEXT] * copies, headers)
    # A copy that came while the first was being settled may be told to come again.
    assert {answer.status_code for answer in answers} <= {200, 503}
    served = [answer for answer in answers if answer.status_code == 200]
    assert len({answer.headers["PAYMENT-RESPONSE"] for answer in served}) == 1
    assert len(attacked.facilitator.asked) == 1
    assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)
    for web in range(2):
        assert attacked.ask(CONTEXT, headers, web=web).status_code == 200
        assert attacked.ask(CONTEXT, rebuilt, web=web).json()["reason"] == "unproven_sender"
    assert eventually(lambda: the_one_payment().state == State.DELIVERED)
    assert the_one_payment().attempts == 1


def test_one_payment_for_two_records_at_once_on_two_processes_buys_one(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    headers, before = paid_by(wallets["free"]), usdc_balance(wallets["free"].address)
    answers = all_at_once(attacked, [CONTEXT, ELSEWHERE] * 10, headers)
    by_path = {
        path: {answer.status_code for answer in answers if answer.url.path == httpx.URL(path).path}
        for path in (CONTEXT, ELSEWHERE)
    }
    assert sorted(200 in statuses for statuses in by_path.values()) == [False, True]
    refused = [answer for answer in answers if answer.status_code == 402]
    assert {answer.json()["error"] for answer in refused} == {"payment_already_used"}
    assert before - usdc_balance(wallets["free"].address) == Decimal(PRICE)


def test_eight_presentations_of_one_hash_at_once_on_two_processes_buy_what_was_quoted(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    home = an_address()
    sent = pay_quote(attacked, wallets["free"], home)
    answers = all_at_once(attacked, [CONTEXT, ELSEWHERE] * 4, sent | home)
    # Those for whom a busy node has no time within a second are told to come again.
    assert 200 in {answer.status_code for answer in answers[::2]} <= {200, 503}
    assert {answer.status_code for answer in answers[1::2]} <= {402, 503}
    assert {answer.status_code for answer in all_at_once(attacked, [CONTEXT, ELSEWHERE] * 10, sent)} <= {402, 503}
    payment = the_one_payment()
    assert (payment.payer, payment.resource.endswith(CONTEXT)) == (wallets["free"].address, True)


def test_after_the_caches_were_emptied_a_payment_still_buys_nothing_else(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    home = an_address()
    sent, signed = pay_quote(attacked, wallets["free"], home), signed_by(wallets["pro"])
    first = attacked.ask(CONTEXT, sent | home)
    assert [first.status_code, attacked.ask(CONTEXT, signed | home).status_code] == [200, 200]
    for name in ("default", "limits"):
        caches[name].clear()
    for web in range(2):
        for headers in (sent, signed):
            refused = attacked.ask(ELSEWHERE, headers | home, web=web)
            assert (refused.status_code, refused.json()["error"]) == (402, "payment_already_used")
            assert attacked.ask(CONTEXT, headers | home, web=web).status_code == 200
        # A hash is public: without the receipt it does not even buy the same once more elsewhere.
        assert attacked.ask(CONTEXT, sent, web=web).status_code == 402
        assert attacked.ask(CONTEXT, sent | {"X-Receipt": first.headers["X-Receipt"]}, web=web).status_code == 200
    assert len(attacked.facilitator.asked) == 1
    assert Payment.objects.count() == 2


# A hash that a stranger has read on the chain
def test_a_copied_hash_serves_the_caller_who_was_quoted_and_its_proven_owner(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    owner, home = wallets["free"], an_address()
    harvested = pay_quote(attacked, owner, home)
    # A stranger who is first is not served, and takes nothing from the caller who was quoted the amount.
    assert attacked.ask(CONTEXT, harvested).json()["reason"] == "unproven_sender"
    assert attacked.ask(CONTEXT, harvested | home).status_code == 200
    # Who only knows the hash is a stranger, and be it the owner.
    assert attacked.ask(CONTEXT, harvested, web=1).json()["reason"] == "unproven_sender"
    proven = {"Authorization": client_of(owner).defaults["HTTP_AUTHORIZATION"]}
    assert attacked.ask(CONTEXT, harvested | proven, web=1).status_code == 200
    assert attacked.ask(ELSEWHERE, harvested | proven, web=1).json()["error"] == "payment_already_used"
    thief = {"Authorization": client_of(wallets["pro"]).defaults["HTTP_AUTHORIZATION"]}
    assert attacked.ask(CONTEXT, harvested | thief).status_code == 402
    assert the_one_payment().payer == owner.address


def test_a_copied_hash_above_the_limit_serves_only_its_owner(attacked: Shop, wallets: Mapping[str, Wallet]) -> None:
    owner, amount = wallets["free"], settings.ANONYMOUS_PROOF_MAX_USDC + Decimal("0.01")
    harvested = {"X-Payment": transfer_usdc(owner, settings.PAY_TO, amount)}
    for web in range(2):
        refused = attacked.ask(CONTEXT, harvested, web=web)
        assert (refused.status_code, refused.json()["reason"]) == (402, "unproven_sender")
    thief = {"Authorization": client_of(wallets["pro"]).defaults["HTTP_AUTHORIZATION"]}
    assert attacked.ask(CONTEXT, harvested | thief).status_code == 402
    assert the_one_payment().state == State.REFUND_DUE
    proven = {"Authorization": client_of(owner).defaults["HTTP_AUTHORIZATION"]}
    assert attacked.ask(CONTEXT, harvested | proven).status_code == 200
    row = the_one_payment()
    assert (row.state in (State.SETTLED, State.DELIVERED), row.payer) == (True, owner.address)
    assert row.amount_usdc == amount
