"""The demo wallets of the embedded chain, which the server signs for. No other installation has any."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coincurve import PrivateKey
from django.conf import settings

from payments.chain.evm import hash_message, keccak
from payments.chain.networks import payment_network
from payments.models import Payment
from payments.x402.proofs import Authorization

VALID_FOR_S = 60


@dataclass(frozen=True, slots=True)
class DemoWallet:
    """A demo wallet with its address in lower case; it is named after its tier."""

    name: str
    address: str
    key: PrivateKey


def list_demo_wallets() -> list[DemoWallet]:
    """Return the demo wallets, the highest tier first; empty where the chain is not the embedded one."""
    wallets = []
    for name, private_key in reversed(settings.DEMO_WALLET_KEYS.items()):
        key = PrivateKey(bytes.fromhex(private_key.removeprefix("0x")))
        address = "0x" + keccak(key.public_key.format(compressed=False)[1:])[-20:].hex()
        wallets.append(DemoWallet(name, address, key))
    return wallets


def find_demo_wallet(addresses: Collection[str]) -> DemoWallet | None:
    """Return the demo wallet among these addresses, the one of the highest tier; None without one."""
    return next((wallet for wallet in list_demo_wallets() if wallet.address in addresses), None)


def sign_message(wallet: DemoWallet, text: str) -> str:
    """Return the signature of a text (EIP-191), as a wallet makes it."""
    return f"0x{_sign(wallet, hash_message(text)).hex()}"


def sign_payment(wallet: DemoWallet, amount: int, *, now: datetime) -> Authorization:
    """Return the payment of this amount, in atomic units, that a client with the key of the wallet would send."""
    network, now_s = payment_network(), int(now.timestamp())
    unsigned: dict[str, Any] = {
        "form": Payment.Form.V2,
        "scheme": "exact",
        "network": network.caip2,
        "asset": network.asset,
        "payer": wallet.address,
        "to": settings.PAY_TO,
        "value": amount,
        "valid_after": 0,
        "valid_before": now_s + VALID_FOR_S,
        "nonce": secrets.token_bytes(32),
    }
    digest = Authorization(**unsigned, signature=b"").digest
    return Authorization(**unsigned, signature=_sign(wallet, digest))


def _sign(wallet: DemoWallet, digest: bytes) -> bytes:
    signature = wallet.key.sign_recoverable(digest, hasher=None)
    return signature[:64] + bytes([27 + signature[64]])
