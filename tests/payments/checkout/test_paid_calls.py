"""Buying from a running product, as anybody would: official clients, a real chain, a real facilitator.

Amounts are in USDC. When the product stops, its ledger and its chain are compared (tests/support/live_stack.py).
"""

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from django.conf import settings
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_typing import HexStr
from web3 import Web3
from x402 import x402Client, x402ClientSync
from x402.extensions.sign_in_with_x import CreateSIWxClientExtensionOptions, create_siwx_client_extension
from x402.http import x402HTTPClient, x402HTTPClientSync
from x402.http.clients.httpx import x402HttpxClient
from x402.http.clients.requests import x402_requests
from x402.http.utils import decode_payment_response_header
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

from tests.payments.buyer import is_quote_of
from tests.support.live_stack import Up, eventually, ledger, manage

pytestmark = pytest.mark.stack

ERC20 = [
    {
        "type": "function",
        "name": "balanceOf",
        "stateMutability": "view",
        "inputs": [{"name": "account", "type": "address"}],
        "outputs": [{"name": "", "type": "uint256"}],
    },
    {
        "type": "function",
        "name": "transfer",
        "stateMutability": "nonpayable",
        "inputs": [{"name": "to", "type": "address"}, {"name": "value", "type": "uint256"}],
        "outputs": [{"name": "", "type": "bool"}],
    },
]
addresses = (f"198.51.{number // 250}.{number % 250 + 1}" for number in itertools.count())


@dataclass(frozen=True)
class Shop:
    """The data API of a running product, its chain, and its demo wallets."""

    up: Up

    @property
    def chain(self) -> Web3:
        """The chain, by a client that we have not written."""
        return Web3(Web3.HTTPProvider(self.up.record["chain"]["rpc_url"]))

    def is_mined(self, transaction: str) -> bool:
        """Whether the chain has carried the transaction out."""
        return self.chain.eth.get_transaction_receipt(HexStr(transaction))["status"] == 1

    @property
    def usdc(self) -> Any:
        """The asset."""
        return self.chain.eth.contract(address=self.up.record["chain"]["usdc"], abi=ERC20)

    def wallet(self, name: str) -> Mapping[str, str]:
        """A demo wallet."""
        return next(wallet for wallet in self.up.record["wallets"] if wallet["name"] == name)

    def balance(self, name: str) -> Decimal:
        """What a demo wallet holds."""
        return Decimal(self.usdc.functions.balanceOf(self.wallet(name)["address"]).call()) / 10**6

    def income(self) -> Decimal:
        """What we have received."""
        return Decimal(self.usdc.functions.balanceOf(self.up.record["chain"]["pay_to"]).call()) / 10**6

    def url(self, fields: str, *, number: int = 0) -> str:
        """The address of these fields of a restaurant that has many reviews."""
        found = self.ask(f"{self.up.record['base_url']}/v1/restaurants?market=copenhagen&sort=reviews&limit=5").json()
        return f"{self.up.record['base_url']}/v1/restaurants/{found['data'][number]['slug']}?fields={fields}"

    def ask(self, url: str, **headers: str) -> httpx.Response:
        """Ask from an address that has not asked before."""
        return httpx.get(url, headers={"X-Forwarded-For": next(addresses)} | headers, timeout=30)

    def send(self, name: str, amount: Decimal) -> str:
        """A plain transfer to the address that is paid; returns the transaction's hash."""
        chain, wallet = self.chain, self.wallet(name)
        call = self.usdc.functions.transfer(self.up.record["chain"]["pay_to"], int(amount * 10**6))
        made = call.build_transaction(
            {
                "from": wallet["address"],
                "nonce": chain.eth.get_transaction_count(Web3.to_checksum_address(wallet["address"])),
            }
        )
        signed = Account.from_key(wallet["private_key"]).sign_transaction(made)
        return "0x" + bytes(chain.eth.send_raw_transaction(signed.raw_transaction)).hex().removeprefix("0x")


@pytest.fixture(scope="session")
def shop(up: Up) -> Shop:
    """The shop."""
    return Shop(up)


def signed(shop: Shop, name: str, asked: httpx.Response, *, version: int = 2) -> dict[str, str]:
    """The header that pays what a 402 asks for, made by the official client from the header or from the body."""
    client = x402ClientSync()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(shop.wallet(name)["private_key"])))
    read = dict(asked.headers) if version == 2 else {}
    headers, _ = x402HTTPClientSync(client).handle_402_response(read, asked.content, str(asked.url))
    return headers


def test_the_official_client_with_requests_pays_and_is_served(shop: Shop) -> None:
    before, income = shop.balance("pro"), shop.income()
    client = x402ClientSync()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(shop.wallet("pro")["private_key"])))
    with x402_requests(client) as session:
        response = session.get(shop.url("core,reviews"), headers={"X-Forwarded-For": next(addresses)})
    assert response.status_code == 200
    assert len(response.json()["reviews"]["items"]) == 3
    receipt = decode_payment_response_header(response.headers["PAYMENT-RESPONSE"])
    assert receipt.success
    assert shop.is_mined(receipt.transaction)
    assert (before - shop.balance("pro"), shop.income() - income) == (Decimal("0.004"), Decimal("0.004"))


def test_the_official_client_with_httpx_pays_and_is_served(shop: Shop) -> None:
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(shop.wallet("pro")["private_key"])))

    async def buy() -> httpx.Response:
        async with x402HttpxClient(client) as session:
            return await session.get(shop.url("core,reviews"), headers={"X-Forwarded-For": next(addresses)})

    before = shop.balance("pro")
    response = asyncio.run(buy())
    assert response.status_code == 200
    assert response.json()["reviews"]["summary"]["count"] > 3
    assert before - shop.balance("pro") == Decimal("0.004")


def client_that_signs_in(shop: Shop, name: str) -> x402Client:
    """The official client of a demo wallet with the official extension."""
    account = Account.from_key(shop.wallet(name)["private_key"])
    client = register_exact_evm_client(x402Client(), EthAccountSigner(account))
    return client.register_extension(create_siwx_client_extension(CreateSIWxClientExtensionOptions(signers=[account])))


def test_a_wallet_that_signs_in_by_the_extension_of_the_402_pays_the_price_of_its_tier(shop: Shop) -> None:
    url, before = shop.url("core,reviews"), shop.balance("pro")
    client = x402HTTPClient(client_that_signs_in(shop, "pro"))

    async def answer(asked: httpx.Response) -> dict[str, str]:
        headers, _ = await client.handle_402_response(dict(asked.headers), asked.content, str(asked.url))
        return headers

    sign_in = asyncio.run(answer(shop.ask(url)))
    assert list(sign_in) == ["sign-in-with-x"]
    quoted = shop.ask(url, **sign_in)
    assert (quoted.status_code, quoted.headers["X-Tier"]) == (402, "pro")
    assert json.loads(quoted.headers["x402"])["amount"] == "0.003"
    paid = shop.ask(url, **signed(shop, "pro", quoted))
    assert (paid.status_code, len(paid.json()["reviews"]["items"])) == (200, 3)
    assert before - shop.balance("pro") == Decimal("0.003")
    # A challenge is spent by its first use.
    assert shop.ask(url, **sign_in).status_code == 401


def test_the_stock_wrapper_signs_in_and_pays_what_it_read_before(shop: Shop) -> None:
    """docs/paying.md says so, and how to get the price of the tier."""

    async def buy() -> httpx.Response:
        async with x402HttpxClient(client_that_signs_in(shop, "pro")) as session:
            return await session.get(shop.url("core,reviews"), headers={"X-Forwarded-For": next(addresses)})

    before = shop.balance("pro")
    assert asyncio.run(buy()).status_code == 200
    assert before - shop.balance("pro") == Decimal("0.004")


def test_the_stock_wrapper_with_a_session_pays_the_price_of_its_tier(shop: Shop) -> None:
    base, wallet = shop.up.record["base_url"], shop.wallet("pro")
    challenge = shop.ask(f"{base}/v1/auth/challenge?address={wallet['address']}").json()
    signature = Account.sign_message(encode_defunct(text=challenge["message"]), wallet["private_key"]).signature
    proof = {"message": challenge["message"], "signature": f"0x{bytes(signature).hex()}"}
    session_token = httpx.post(f"{base}/v1/auth/session", json=proof, timeout=30).json()["token"]
    client = register_exact_evm_client(
        x402ClientSync(), EthAccountSigner(Account.from_key(shop.wallet("pro")["private_key"]))
    )
    before = shop.balance("pro")
    with x402_requests(client) as session:
        response = session.get(shop.url("core,reviews"), headers={"Authorization": f"Bearer {session_token}"})
    assert response.status_code == 200
    assert before - shop.balance("pro") == Decimal("0.003")


def test_a_client_of_version_1_pays_by_the_body_of_the_402(shop: Shop) -> None:
    url, before = shop.url("context"), shop.balance("free")
    header = signed(shop, "free", shop.ask(url), version=1)
    assert list(header) == ["X-PAYMENT"]
    response = shop.ask(url, **header)
    assert response.status_code == 200
    assert decode_payment_response_header(response.headers["X-PAYMENT-RESPONSE"]).success
    assert before - shop.balance("free") == Decimal("0.002")


def test_the_402_names_asset_amount_receiver_and_network(shop: Shop) -> None:
    asked = shop.ask(shop.url("reviews"))
    assert asked.status_code == 402
    challenge = json.loads(asked.headers["x402"])
    assert is_quote_of("0.004", challenge["amount"])
    assert {name: challenge[name] for name in ("asset", "pay_to", "network")} == {
        "asset": "USDC",
        "pay_to": shop.up.record["chain"]["pay_to"],
        "network": "base-sepolia",
    }
    assert asked.headers["Cache-Control"] == "no-store"


def test_a_free_wallet_is_refused_reviews_with_nothing_charged_and_buys_context(shop: Shop) -> None:
    before, url = shop.balance("free"), shop.url("core,reviews")
    refused = shop.ask(url, **signed(shop, "free", shop.ask(url)))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tier_required")
    assert shop.balance("free") == before
    url = shop.url("core,context")
    served = shop.ask(url, **signed(shop, "free", shop.ask(url)))
    assert served.status_code == 200
    assert before - shop.balance("free") == Decimal("0.002")


def test_one_payment_does_not_buy_a_second_record(shop: Shop) -> None:
    first, second = shop.url("reviews", number=1), shop.url("reviews", number=2)
    payment, before = signed(shop, "pro", shop.ask(first)), shop.balance("pro")
    assert shop.ask(first, **payment).status_code == 200
    refused = shop.ask(second, **payment)
    assert (refused.status_code, refused.json()["error"]) == (402, "payment_already_used")
    assert before - shop.balance("pro") == Decimal("0.004")


def test_twenty_copies_at_once_are_charged_once(shop: Shop) -> None:
    url = shop.url("reviews", number=1)
    payment, before, recorded = signed(shop, "pro", shop.ask(url)), shop.balance("pro"), ledger(shop.up)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: shop.ask(url, **payment), range(20)))
    statuses = [answer.status_code for answer in answers]
    assert 200 in statuses
    # A copy that came while the first was being settled gets a retryable error.
    assert set(statuses) <= {200, 503}
    assert shop.ask(url, **payment).status_code == 200
    assert before - shop.balance("pro") == ledger(shop.up) - recorded == Decimal("0.004")


def test_the_hash_of_a_plain_transfer_buys_one_answer(shop: Shop) -> None:
    url, before = shop.url("core,context", number=1), shop.balance("free")
    home = {"X-Forwarded-For": next(addresses)}
    amount = Decimal(json.loads(shop.ask(url, **home).headers["x402"])["amount"])
    proof = shop.send("free", amount)
    served = shop.ask(url, **home, **{"X-Payment": proof})
    assert served.status_code == 200
    assert served.json()["context"]["entries"]
    again = shop.ask(shop.url("core,context", number=2), **home, **{"X-Payment": proof})
    assert (again.status_code, again.json()["error"]) == (402, "payment_already_used")
    # Everybody can read the hash on the chain; who was quoted the amount or has the receipt reads the answer again.
    stranger = shop.ask(url, **{"X-Payment": proof})
    assert (stranger.status_code, stranger.json()["error"]) == (402, "payment_rejected")
    payer = shop.ask(url, **{"X-Payment": proof, "X-Receipt": served.headers["X-Receipt"]})
    assert payer.json()["context"] == served.json()["context"]
    assert before - shop.balance("free") == amount


def test_the_insight_is_written_by_the_worker_and_sold_to_premium(shop: Shop) -> None:
    url = shop.url("core,ai_insight")
    assert eventually(lambda: shop.ask(url).status_code == 402, within_s=90)
    refused = shop.ask(url, **signed(shop, "pro", shop.ask(url)))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tier_required")
    before = shop.balance("premium")
    served = shop.ask(url, **signed(shop, "premium", shop.ask(url)))
    assert served.status_code == 200
    assert len(served.json()["ai_insight"]) > 40
    assert before - shop.balance("premium") == Decimal("0.01")


def test_the_pay_command_turns_a_402_into_a_200_and_names_the_transaction(shop: Shop) -> None:
    url = shop.url("core,reviews", number=2)
    done = manage(shop.up.state_dir, "pay", url.removeprefix(shop.up.record["base_url"]))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"GET {url}"
    assert lines[1].startswith("402 ")
    assert any(line.startswith("200 ") for line in lines)
    (line,) = (line for line in lines if line.startswith("    transaction 0x"))
    assert shop.is_mined(line.split()[-1])


def test_the_pay_command_fails_where_it_is_refused(shop: Shop) -> None:
    before = shop.balance("free")
    done = manage(shop.up.state_dir, "pay", shop.url("reviews"), "--wallet", "free", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == 403
    assert "CommandError" in done.stderr
    assert shop.balance("free") == before


def test_the_pay_command_says_what_it_lacks(shop: Shop, tmp_path: Path) -> None:
    assert "run `manage.py up` first" in manage(tmp_path, "pay", "/v1/restaurants").stderr
    assert "There is no wallet 'poor'" in manage(shop.up.state_dir, "pay", "/", "--wallet", "poor").stderr


# The conformance suite of x402
SOLD = (
    "{slug}?fields=core,reviews",
    "{slug}?fields=context",
    "{slug}?fields=photos",
    "{slug}?fields=ai_insight,history",
    "{slug}/reviews",
    "{slug}/photos",
    "{slug}/context",
    "{slug}/insight",
    "{slug}/history",
)


def conformance(*words: str) -> None:
    """Let the suite judge; none of its checks may fail, and each address is judged."""
    command = [str(Path(sys.executable).with_name("x402conf")), *words, "--fail-on-error"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)["results"]
    assert len(found) == len(words) - 1
    assert all(each["checks"] for each in found)


def test_the_conformance_suite_finds_nothing_in_the_402_of_anything_that_is_sold(shop: Shop) -> None:
    base = shop.url("core").partition("?")[0]
    # Insights are written by the worker, and what has no content is free.
    assert eventually(lambda: shop.ask(f"{base}/insight").status_code == 402, within_s=90)
    parent, slug = base.rsplit("/", 1)
    urls = [f"{parent}/{path.format(slug=slug)}" for path in SOLD]
    sold = [url for url in urls if shop.ask(url).status_code == 402]
    assert sold == urls
    # It cannot say from which address it comes, and others call from this one too.
    counts = f"{settings.CACHES['limits']['KEY_PREFIX']}:*"
    with redis.Redis.from_url(shop.up.record["redis_url"]) as store:
        forget(store, counts)
        conformance("resource", *urls)
        forget(store, counts)


def forget(store: redis.Redis, counts: str) -> None:
    """Reset the rate limits of all addresses."""
    for name in store.scan_iter(match=counts, count=1000):
        store.delete(name)


def test_the_conformance_suite_finds_nothing_in_our_facilitator(shop: Shop) -> None:
    conformance("live", shop.up.record["facilitator_url"])
