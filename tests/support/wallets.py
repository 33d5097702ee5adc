"""Wallets on the run's development chain: the demo wallets and new ones, what they hold and what they send."""

import secrets
import threading
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

import pytest
from django.conf import settings

from config.dev_stack.servers import HOST
from framework.state_directory import RECORD, read_json
from payments.chain import rpc
from payments.chain.evm import decode_words, encode_call, to_checksum_address
from payments.chain.networks import payment_network
from payments.devchain import wallets as devchain
from payments.devchain.addresses import CHAIN_ID, UTILITY_TOKEN
from payments.devchain.wallets import Wallet

ETHER_DECIMALS = TOKEN_DECIMALS = 18
faucet_turn = threading.Lock()


@pytest.fixture(scope="session")
def wallets() -> Mapping[str, Wallet]:
    """The demo wallets by the name of their tier, with USDC and ether for gas. Other tests spend from them too."""
    return MappingProxyType({wallet.name: wallet for wallet in devchain.derive_demo_wallets(chain_secret())})


@cache
def chain_secret() -> str:
    """What the keys of the run's chain derive from. Skips the test on a chain of somebody else (RPC_URL)."""
    record = read_json(settings.STATE_DIR / RECORD) or {}
    if f"http://{HOST}:{record['chain']['port']}" != settings.RPC_URL:
        pytest.skip("RPC_URL names a chain whose wallets are not ours")
    secret: str = record["chain"]["password"]
    return secret


def usdc_balance(address: str) -> Decimal:
    """The USDC of an address, in whole USDC."""
    call = {"to": payment_network().asset, "data": encode_call("balanceOf(address)", address)}
    return payment_network().to_decimal(decode_words(rpc.call("eth_call", call, "latest"))[0])


def transfer_usdc(sender: Wallet, to: str, amount: Decimal) -> str:
    """Transfer in the plain way, paying gas, and return the hash of the transaction, which is on the chain by then."""
    return send(
        sender,
        to=payment_network().asset,
        data=encode_call("transfer(address,uint256)", to, payment_network().to_atomic(amount)),
    )


def fresh_wallet(usdc: Decimal = Decimal(100), *, tokens: Decimal = Decimal(0)) -> Wallet:
    """A wallet that nobody has used, with this much USDC and of the utility token, and an ether for gas."""
    wallet = devchain.from_key("fresh", secrets.token_bytes(32))
    faucet = devchain.derive_wallet(chain_secret(), devchain.FAUCET)
    mint = "mint(address,uint256)"
    token = encode_call(mint, wallet.address, int(tokens.scaleb(TOKEN_DECIMALS)))
    # Two of them at once would take the same number for their transactions.
    with faucet_turn:
        send(
            faucet,
            to=payment_network().asset,
            data=encode_call(mint, wallet.address, payment_network().to_atomic(usdc)),
        )
        send(faucet, to=UTILITY_TOKEN, data=token)
        send(faucet, to=wallet.address, value=10**ETHER_DECIMALS)
    return wallet


def send(sender: Wallet, *, to: str | None, data: str = "0x", value: int = 0) -> str:
    """Sign a transaction as a wallet does, send it and return its hash. `value` in wei; to nobody makes a contract."""
    # Its import takes a second, which most runs can do without.
    from eth_account import Account

    count, price = rpc.batch([("eth_getTransactionCount", [sender.address, "latest"]), ("eth_gasPrice", [])])
    transaction = {
        "chainId": CHAIN_ID,
        "nonce": int(count, 16),
        "gas": 200_000,
        "gasPrice": int(price, 16),
        **({"to": to_checksum_address(to)} if to else {}),
        "data": data,
        "value": value,
    }
    raw = Account.sign_transaction(transaction, sender.private_key).raw_transaction
    transaction_hash: str = rpc.call("eth_sendRawTransaction", "0x" + raw.hex())
    return transaction_hash
