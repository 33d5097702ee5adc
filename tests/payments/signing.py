"""Wallets that sign in."""

import base64
import json
from typing import Any, Protocol

from django.test import Client
from eth_account import Account
from eth_account.messages import encode_defunct

from payments.chain.evm import to_checksum_address

CHALLENGE = "/v1/auth/challenge"
SESSION = "/v1/auth/session"


class Signer(Protocol):
    """A wallet of the tests (tests/support/wallets.py)."""

    @property
    def address(self) -> str: ...

    @property
    def private_key(self) -> str: ...


def signature_of(wallet: Signer, text: str) -> str:
    """The signature of a text, as a wallet's personal_sign gives it."""
    signed = Account.sign_message(encode_defunct(text=text), wallet.private_key)
    return f"0x{bytes(signed.signature).hex()}"


def signed_challenge(client: Client, wallet: Signer) -> dict[str, str]:
    """The body that opens a session."""
    text = client.get(CHALLENGE, {"address": wallet.address}).json()["message"]
    return {"message": text, "signature": signature_of(wallet, text)}


def header_of(wallet: Signer, *, of: str | None = None) -> dict[str, str]:
    """A fresh challenge, signed as x402 clients send it; `of` is the address of a contract that the wallet owns."""
    address = to_checksum_address(of or wallet.address)
    challenge = Client(REMOTE_ADDR="192.0.2.200").get(CHALLENGE, {"address": address}).json()
    signature = signature_of(wallet, challenge.pop("message"))
    fields = challenge | {
        "address": address,
        "chainId": f"eip155:{challenge['chainId']}",
        "type": "eip191",
        "signature": signature,
    }
    return {"sign-in-with-x": base64.b64encode(json.dumps(fields).encode()).decode()}


def sign_in(client: Client, wallet: Signer) -> Any:
    """The answer to a wallet that signs in."""
    return client.post(SESSION, signed_challenge(client, wallet), content_type="application/json")


def client_of(wallet: Signer, *, address: str = "127.0.0.1") -> Client:
    """A caller with a fresh session of the wallet, who calls from this address."""
    client = Client(REMOTE_ADDR=address)
    token = sign_in(client, wallet).json()["token"]
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client
