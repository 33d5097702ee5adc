"""The development chain through web3.py and eth-account."""

import secrets
import time
from typing import Any

from eth_account import Account
from web3 import Web3
from web3.contract import Contract
from web3.types import TxReceipt

from payments.chain.evm import to_checksum_address
from payments.devchain.addresses import PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.wallets import Wallet
from tests.support import contracts

# A time in the past, and one that no test reaches.
LONG_AGO, FAR = 0, 2**40
AUTHORIZATION = [
    *({"name": name, "type": "address"} for name in ("from", "to")),
    *({"name": name, "type": "uint256"} for name in ("value", "validAfter", "validBefore")),
    {"name": "nonce", "type": "bytes32"},
]


def usdc(node: Web3) -> Contract:
    """The USDC of the chain."""
    return _contract(node, USDC, "Usdc")


def token(node: Web3) -> Contract:
    """The utility token of the chain."""
    return _contract(node, UTILITY_TOKEN, "UtilityToken")


def price_feed(node: Web3) -> Contract:
    """The price feed of the chain."""
    return _contract(node, PRICE_FEED, "PriceFeed")


def _contract(node: Web3, address: str, name: str) -> Contract:
    # As they come from the compiler; web3 declares narrower dictionaries.
    abi: Any = contracts.load_artifact(name).abi
    return node.eth.contract(address=Web3.to_checksum_address(address), abi=abi)


def send(node: Web3, sender: Wallet, call: Any = None, **fields: Any) -> TxReceipt:
    """Sign a transaction with the fields that web3.py fills in, send it, and return how it ended.

    `call` is a call of a contract's function.
    """
    address = Web3.to_checksum_address(sender.address)
    common = {"from": address, "nonce": node.eth.get_transaction_count(address)}
    if call is not None:
        transaction = call.build_transaction({**common, "gas": 300_000, **fields})
    else:
        transaction = {**common, "chainId": 84532, "gas": 300_000, "gasPrice": node.eth.gas_price, **fields}
    raw = Account.sign_transaction(transaction, sender.private_key).raw_transaction
    return node.eth.wait_for_transaction_receipt(node.eth.send_raw_transaction(raw), timeout=5)


def signed(signer: Wallet, kind: str, types: list[dict[str, str]], message: dict[str, Any]) -> bytes:
    """The EIP-712 signature of a message to USDC."""
    domain = {"name": "USDC", "version": "2", "chainId": 84532, "verifyingContract": to_checksum_address(USDC)}
    return bytes(Account.sign_typed_data(signer.private_key, domain, {kind: types}, message).signature)


def authorization(sender: str, to: str, value: int, **changed: Any) -> dict[str, Any]:
    """The message of a transfer by authorization, valid now."""
    message = {
        "from": to_checksum_address(sender),
        "to": to_checksum_address(to),
        "value": value,
        "validAfter": LONG_AGO,
        "validBefore": FAR,
        "nonce": secrets.token_bytes(32),
    }
    return message | changed


def parts(signature: bytes) -> tuple[int, bytes, bytes]:
    """A signature as v, r, s."""
    return signature[64], signature[:32], signature[32:64]


def soon() -> int:
    """A time in an hour, in Unix seconds."""
    return int(time.time()) + 3600
