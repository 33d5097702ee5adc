"""Clients that others have written buy from a running product, with their default options.

Each takes the 402 that everybody gets, pays as it sees fit, and is served 200. When the product stops, its ledger and
its chain are compared (tests/support/live_stack.py). The versions are those of package-lock.json; viem is held back,
as later ones pin a package that not every registry has.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account
from x402 import x402ClientSync
from x402.extensions.payment_identifier import (
    append_payment_identifier_to_extensions,
    extract_payment_identifier,
    generate_payment_id,
)
from x402.http.utils import decode_payment_required_header, encode_payment_signature_header
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.schemas import PaymentPayload, PaymentRequired

from tests.payments.checkout.test_paid_calls import Shop
from tests.support.live_stack import Up, running

pytestmark = pytest.mark.outside

HERE = Path(__file__).parent
# The newest generation, and the two of version 1 that are still in use.
CLIENTS = ("@x402/fetch", "x402-fetch", "x402-axios")


@pytest.fixture(scope="session")
def shop(up: Up) -> Shop:
    """The shop."""
    return Shop(up)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the clients of npm in it, as the lock file has them."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: it brings the clients written in JavaScript")
    directory = tmp_path_factory.mktemp("npm")
    for name in ("package.json", "package-lock.json", "buy.mjs", "receipts.mjs"):
        shutil.copy(HERE / name, directory)
    words = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return directory


def bought(installed: Path, client: str, url: str, key: str) -> dict[str, Any]:
    """What the client got."""
    words = ["node", "buy.mjs", client, url, key]
    done = subprocess.run(words, cwd=installed, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_npm_pays_with_its_default_options_and_is_served(shop: Shop, installed: Path, client: str) -> None:
    wallet, before, income = shop.wallet("pro"), shop.balance("pro"), shop.income()
    url = shop.url("core,reviews", number=CLIENTS.index(client))
    assert shop.ask(url).status_code == 402
    found = bought(installed, client, url, wallet["private_key"])
    assert found["status"] == 200
    assert len(found["answer"]["reviews"]["items"]) == 3
    assert found["receipt"]["success"] is True
    assert found["receipt"]["payer"].lower() == wallet["address"].lower()
    assert shop.is_mined(found["receipt"]["transaction"])
    assert (before - shop.balance("pro"), shop.income() - income) == (Decimal("0.004"), Decimal("0.004"))


def test_npm_client_below_the_tier_is_refused_and_not_charged(shop: Shop, installed: Path) -> None:
    before = shop.balance("free")
    found = bought(installed, "@x402/fetch", shop.url("reviews"), shop.wallet("free")["private_key"])
    assert (found["status"], found["answer"]["error"]["code"]) == (403, "tier_required")
    assert shop.balance("free") == before


# payment-identifier
def identified(shop: Shop, name: str, asked: httpx.Response, identifier: str) -> Mapping[str, str]:
    """The header that pays a 402 under a name of the payer's own, made by the official client and its helper."""
    client = x402ClientSync()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(shop.wallet(name)["private_key"])))
    required = decode_payment_required_header(asked.headers["PAYMENT-REQUIRED"])
    assert isinstance(required, PaymentRequired)
    extensions = append_payment_identifier_to_extensions(dict(required.extensions or {}), identifier)
    payload = client.create_payment_payload(required).model_copy(update={"extensions": extensions})
    assert isinstance(payload, PaymentPayload)
    assert extract_payment_identifier(payload) == identifier
    return {"PAYMENT-SIGNATURE": encode_payment_signature_header(payload)}


def test_a_payment_identifier_of_the_official_helper_names_one_payment(shop: Shop) -> None:
    url, other = shop.url("context", number=1), shop.url("context", number=2)
    before, identifier = shop.balance("free"), generate_payment_id()
    headers = identified(shop, "free", shop.ask(url), identifier)
    assert [shop.ask(url, **headers).status_code for _ in range(2)] == [200, 200]
    # Another payment under the same name is no second charge, for the same answer or for another one.
    for each in (url, other):
        again = shop.ask(each, **identified(shop, "free", shop.ask(each), identifier))
        assert again.status_code in ((200, 409) if each == url else (409,))
    assert before - shop.balance("free") == Decimal("0.002")


# offer-receipt
@pytest.fixture(scope="module", params=["eip712", "jws"])
def signing_shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Shop, str]]:
    """A shop that signs in this format."""
    if request.param == "eip712":
        yield request.getfixturevalue("shop"), "eip712"
        return
    with running(tmp_path_factory.mktemp("jws") / "state", "--restaurants", "60", RECEIPT_FORMAT="jws") as started:
        yield Shop(started), "jws"


def test_the_official_extension_accepts_offers_and_receipts(signing_shop: tuple[Shop, str], installed: Path) -> None:
    shop, form = signing_shop
    wallet, url = shop.wallet("pro"), shop.url("core,context")
    words = ["node", "receipts.mjs", url, wallet["private_key"]]
    done = subprocess.run(words, cwd=installed, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["status"], found["format"]) == (200, [form, form])
    assert (found["isOfferAccepted"], found["isMatch"]) == (True, True)
    offer, receipt = found["offer"]["payload"], found["receipt"]["payload"]
    assert (offer["resourceUrl"], offer["amount"]) == (receipt["resourceUrl"], "2000") == (url, "2000")
    assert shop.is_mined(receipt["transaction"])
    if form == "eip712":
        document = httpx.get(f"{shop.up.record['base_url']}/.well-known/did.json").json()
        accounts = [method.get("blockchainAccountId") for method in document["verificationMethod"]]
        assert f"eip155:1:{found['offer']['signer']}" in accounts
        assert found["receipt"]["signer"] == found["offer"]["signer"]
