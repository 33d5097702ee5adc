"""The facilitator, through the official x402 client."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from eth_account import Account
from web3 import Web3
from web3.contract import Contract
from web3.logs import DISCARD
from x402 import x402ClientSync
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.schemas import PaymentRequired, PaymentRequirements
from x402.schemas.v1 import PaymentRequiredV1, PaymentRequirementsV1

from payments.chain.evm import to_checksum_address
from payments.devchain.addresses import USDC
from payments.devchain.wallets import Wallet
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

VERSIONS = [1, 2]
SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
EXTRA = {"name": "USDC", "version": "2"}


@pytest.fixture
def client() -> Any:
    """The official client of the run's facilitator."""
    with HTTPFacilitatorClientSync(FacilitatorConfig(url=settings.FACILITATOR_URL)) as client:
        yield client


def asked(version: int, to: Wallet, *, value: int = 2500, **changed: Any) -> Any:
    """The payment requirements of a seller, in a version of the protocol."""
    common = {
        "scheme": "exact",
        "asset": to_checksum_address(USDC),
        "pay_to": to_checksum_address(to.address),
        "max_timeout_seconds": 60,
    }
    if version == 2:
        kind: Any = PaymentRequirements
        words = {**common, "network": "eip155:84532", "amount": str(value), "extra": EXTRA}
    else:
        kind = PaymentRequirementsV1
        words = {**common, "network": "base-sepolia", "max_amount_required": str(value), "extra": EXTRA}
        words |= {"resource": "https://example.com/a", "description": "", "mime_type": "application/json"}
    return kind.model_validate(words | changed)


def paid(payer: Wallet, required: Any) -> Any:
    """The payment that the official client signs for them."""
    client = x402ClientSync()
    register_exact_evm_client(client, Account.from_key(payer.private_key))
    kind: Any = PaymentRequired if isinstance(required, PaymentRequirements) else PaymentRequiredV1
    return client.create_payment_payload(kind(accepts=[required]))


def height(node: Web3, address: str) -> int:
    """How many transactions the facilitator has sent."""
    return node.eth.get_transaction_count(Web3.to_checksum_address(address))


@pytest.fixture
def settler(client: HTTPFacilitatorClientSync) -> str:
    """The address that settles."""
    (address,) = client.get_supported().signers["eip155:*"]
    return address


def test_it_supports_both_versions_of_the_protocol_on_the_development_network(
    client: HTTPFacilitatorClientSync,
) -> None:
    supported = client.get_supported()
    assert [(kind.x402_version, kind.scheme, kind.network) for kind in supported.kinds] == [
        (2, "exact", "eip155:84532"),
        (1, "exact", "base-sepolia"),
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", VERSIONS)
def test_it_verifies_without_moving_anything_and_settles_once(
    node: Web3, usdc: Contract, client: HTTPFacilitatorClientSync, settler: str, version: int
) -> None:
    payer, seller = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(0))
    required = asked(version, seller)
    payment = paid(payer, required)

    verified = client.verify(payment, required)
    assert (verified.is_valid, (verified.payer or "").lower()) == (True, payer.address)
    assert usdc_balance(seller.address) == 0

    settled = client.settle(payment, required)
    assert (settled.success, settled.error_reason) == (True, None)
    assert settled.network == required.network
    receipt = node.eth.get_transaction_receipt(settled.transaction)  # type: ignore[arg-type]
    (moved,) = usdc.events.Transfer().process_receipt(receipt, errors=DISCARD)
    assert moved["args"] == {
        "from": to_checksum_address(payer.address),
        "to": to_checksum_address(seller.address),
        "value": 2500,
    }
    assert receipt["from"] == settler

    again = client.settle(payment, required)
    assert (again.success, again.error_reason) == (False, "invalid_exact_evm_nonce_already_used")
    assert (usdc_balance(payer.address), usdc_balance(seller.address)) == (Decimal("0.9975"), Decimal("0.0025"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", VERSIONS)
def test_insufficient_funds_are_refused_without_gas(
    node: Web3, client: HTTPFacilitatorClientSync, settler: str, version: int
) -> None:
    payer, seller = fresh_wallet(Decimal("0.002499")), fresh_wallet(Decimal(0))
    required = asked(version, seller)
    payment = paid(payer, required)
    before = node.eth.get_balance(Web3.to_checksum_address(settler))
    verified = client.verify(payment, required)
    assert (verified.is_valid, verified.invalid_reason) == (False, "invalid_exact_evm_insufficient_balance")
    settled = client.settle(payment, required)
    assert (settled.success, settled.error_reason) == (False, "invalid_exact_evm_insufficient_balance")
    assert settled.transaction == ""
    assert node.eth.get_balance(Web3.to_checksum_address(settler)) == before


@pytest.mark.exhaustive
def test_of_concurrent_copies_one_is_settled_and_the_others_cost_no_gas(
    node: Web3, client: HTTPFacilitatorClientSync, settler: str
) -> None:
    payer, seller = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(0))
    required = asked(2, seller)
    payment = paid(payer, required)
    before = height(node, settler)
    with ThreadPoolExecutor(8) as pool:
        settled = list(pool.map(lambda _: client.settle(payment, required), range(8)))
    assert sorted(one.success for one in settled) == [False] * 7 + [True]
    assert usdc_balance(seller.address) == Decimal("0.0025")
    assert height(node, settler) == before + 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", VERSIONS)
def test_funds_that_were_spent_after_verification_are_refused(client: HTTPFacilitatorClientSync, version: int) -> None:
    payer, seller = fresh_wallet(Decimal(1)), fresh_wallet(Decimal(0))
    required = asked(version, seller, value=600_000)
    payment = paid(payer, required)
    assert client.verify(payment, required).is_valid
    transfer_usdc(payer, seller.address, Decimal("0.5"))
    settled = client.settle(payment, required)
    assert (settled.success, settled.error_reason) == (False, "invalid_exact_evm_insufficient_balance")
    assert usdc_balance(seller.address) == Decimal("0.5")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_payment_to_another_seller_is_not_valid(client: HTTPFacilitatorClientSync, version: int) -> None:
    payer, seller, other = (fresh_wallet(Decimal(1)) for _ in range(3))
    verified = client.verify(paid(payer, asked(version, other)), asked(version, seller))
    assert (verified.is_valid, verified.invalid_reason) == (False, "invalid_exact_evm_payload_recipient_mismatch")


def test_a_chain_of_another_kind_is_not_supported() -> None:
    seller = fresh_wallet(Decimal(0))
    required = asked(2, seller, network=SOLANA)
    payment = paid(fresh_wallet(), asked(2, seller)).model_dump(by_alias=True)
    payment["accepted"]["network"] = SOLANA
    body = {"x402Version": 2, "paymentPayload": payment, "paymentRequirements": required.model_dump(by_alias=True)}
    verified, settled = (httpx.post(f"{settings.FACILITATOR_URL}/{path}", json=body) for path in ("verify", "settle"))
    assert (verified.status_code, verified.json()) == (
        200,
        {"isValid": False, "invalidReason": "unsupported_scheme"},
    )
    assert (settled.status_code, settled.json()) == (
        200,
        {"success": False, "errorReason": "unsupported_scheme", "transaction": "", "network": SOLANA},
    )


@pytest.mark.parametrize("path", ["/verify", "/settle"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "Expecting property name"),
        (b"[" * 100_000, "recursion"),
        (b"[]", "the body is {x402Version, paymentPayload, paymentRequirements}"),
        (b'{"paymentPayload": {}}', "Missing x402Version field"),
        (b'{"paymentPayload": {"x402Version": 3}}', "Invalid x402Version: 3"),
        (b'{"paymentPayload": {"x402Version": 2}}', "payload: Field required"),
    ],
)
def test_a_malformed_payment_is_refused_with_the_reason(path: str, content: bytes, message: str) -> None:
    answer = httpx.post(settings.FACILITATOR_URL + path, content=content)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_large_bodies_and_unknown_paths_are_refused() -> None:
    assert httpx.post(f"{settings.FACILITATOR_URL}/verify", content=b" " * (1 << 18) + b"{}").status_code == 413
    assert httpx.get(f"{settings.FACILITATOR_URL}/verify").status_code == 404
    assert httpx.get(f"{settings.FACILITATOR_URL}/livez").json() == {"status": "ok"}


@pytest.mark.exhaustive
def test_the_x402_conformance_checks_pass(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("x402conf")
    done = subprocess.run(
        [program, "live", settings.FACILITATOR_URL, "--fail-on-error", "--evidence", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
