"""Client of the development chain: its wallets and balances, and transfers from its faucet."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from framework.http_client import NO_PROXY_TO_LOOPBACK
from framework.state_directory import RECORD, read_json
from payments.chain.evm import decode_words, encode_call, to_checksum_address, to_int256
from payments.devchain import wallets
from payments.devchain.addresses import CHAIN_ID, MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.wallets import Wallet

CLIENT = "tablewire-devchain"
USDC_DECIMALS, TOKEN_DECIMALS, ETHER_DECIMALS, PRICE_DECIMALS = 6, 18, 18, 8
MAX_GAS = 300_000
TIMEOUT_S = 10.0


class NotDevelopmentChain(Exception):
    """No development chain of this product runs here. The message says what is missing."""


class TransactionRefused(Exception):
    """The chain rejected or reverted a transaction. The message says why."""


class AmountTooPrecise(ValueError):
    """An amount is not a multiple of the coin's smallest unit. The message names the unit."""


@dataclass(frozen=True)
class DevchainClient:
    """Calls a development chain on this machine. Its keys derive from `secret`."""

    url: str
    secret: str

    def request(self, method: str, *params: Any) -> Any:
        """Return the result of an RPC method. Raises NotDevelopmentChain or, for an error, TransactionRefused."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            with httpx.Client(mounts=NO_PROXY_TO_LOOPBACK, timeout=TIMEOUT_S) as client:
                response = client.post(self.url, json=request).json()
        except (httpx.HTTPError, ValueError) as error:
            raise NotDevelopmentChain(f"Nothing answers at {self.url}: start it with `manage.py up`.") from error
        if "error" in response:
            raise TransactionRefused(str(response["error"]["message"]))
        return response["result"]

    def send_transaction(self, sender: Wallet, to: str, data: str = "0x", *, value: int = 0) -> str:
        """Sign and send a transaction and return its hash. Raises TransactionRefused, also where it was reverted."""
        # A large library, which the web processes never import.
        from eth_account import Account

        transaction = {
            "chainId": CHAIN_ID,
            "nonce": int(self.request("eth_getTransactionCount", sender.address, "latest"), 16),
            "gas": MAX_GAS,
            "gasPrice": int(self.request("eth_gasPrice"), 16),
            "to": to_checksum_address(to),
            "data": data,
            "value": value,
        }
        raw = Account.sign_transaction(transaction, sender.private_key).raw_transaction
        tx_hash: str = self.request("eth_sendRawTransaction", "0x" + raw.hex())
        if self.request("eth_getTransactionReceipt", tx_hash)["status"] != "0x1":
            raise TransactionRefused(f"The transaction {tx_hash} was reverted.")
        return tx_hash

    def call_contract(self, contract: str, function: str, *arguments: int | str) -> list[int]:
        call = {"to": contract, "data": encode_call(function, *arguments)}
        return decode_words(self.request("eth_call", call, "latest"))

    def list_wallets(self) -> list[Wallet]:
        names = (*wallets.DEMO, wallets.MERCHANT, wallets.FACILITATOR, wallets.FAUCET)
        return [wallets.derive_wallet(self.secret, name) for name in names]

    def get_balances(self, address: str) -> dict[str, str]:
        usdc = self.call_contract(USDC, "balanceOf(address)", address)[0]
        tokens = self.call_contract(UTILITY_TOKEN, "balanceOf(address)", address)[0]
        staked = self.call_contract(UTILITY_TOKEN, "stakedOf(address)", address)[0]
        wei = int(self.request("eth_getBalance", address, "latest"), 16)
        return {
            "usdc": format_amount(usdc, USDC_DECIMALS),
            "tokens": format_amount(tokens, TOKEN_DECIMALS),
            "staked": format_amount(staked, TOKEN_DECIMALS),
            "ether": format_amount(wei, ETHER_DECIMALS),
        }

    def get_price(self) -> str:
        return format_amount(to_int256(self.call_contract(PRICE_FEED, "latestRoundData()")[1]), PRICE_DECIMALS)

    def get_status(self) -> dict[str, Any]:
        return {
            "rpc_url": self.url,
            "chain_id": CHAIN_ID,
            "block": int(self.request("eth_blockNumber"), 16),
            "contracts": {
                "usdc": to_checksum_address(USDC),
                "token": to_checksum_address(UTILITY_TOKEN),
                "price_feed": to_checksum_address(PRICE_FEED),
                "multicall": to_checksum_address(MULTICALL),
            },
            "token_price_usd": self.get_price(),
            "wallets": [
                {
                    "name": wallet.name,
                    "address": to_checksum_address(wallet.address),
                    **self.get_balances(wallet.address),
                }
                for wallet in self.list_wallets()
            ],
        }

    def mint(self, contract: str, to: str, amount: int) -> str:
        """Mint this amount of a coin, in its smallest unit; the faucet pays the gas."""
        return self.send_from_faucet(contract, encode_call("mint(address,uint256)", to, amount))

    def set_price(self, amount: int) -> str:
        """Set the price of the feed, in its smallest unit of USD."""
        return self.send_from_faucet(PRICE_FEED, encode_call("set(int256)", amount))

    def stake(self, owner: Wallet, amount: int, *, function: str = "stake") -> str:
        """Stake tokens of the owner, in their smallest unit, or `unstake` them."""
        return self.send_transaction(owner, UTILITY_TOKEN, encode_call(f"{function}(uint256)", amount))

    def send_from_faucet(self, to: str, data: str = "0x", *, value: int = 0) -> str:
        return self.send_transaction(wallets.derive_wallet(self.secret, wallets.FAUCET), to, data, value=value)


def connect(home: Path, *, rpc_url: str | None) -> DevchainClient:
    """Return a client of the chain that runs in this state directory. Raises NotDevelopmentChain for any other.

    `rpc_url` is RPC_URL of the environment, if it is set: it must name this chain, so that no real money is moved.
    """
    record = (read_json(home / RECORD) or {}).get("chain")
    if record is None:
        raise NotDevelopmentChain(f"{home} has no development chain: start one with `manage.py up`.")
    chain = DevchainClient(url=f"http://127.0.0.1:{record['port']}", secret=record["password"])
    if rpc_url is not None and _host_and_port(rpc_url) != _host_and_port(chain.url):
        raise NotDevelopmentChain("RPC_URL names another chain. This command is for the development chain only.")
    if chain.request("web3_clientVersion") != CLIENT or int(chain.request("eth_chainId"), 16) != CHAIN_ID:
        raise NotDevelopmentChain(f"What answers at {chain.url} is no development chain of ours.")
    return chain


def _host_and_port(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port


def to_atomic(amount: Decimal, decimals: int) -> int:
    """Return whole coins in their smallest unit. Raises AmountTooPrecise for a fraction of it."""
    units = Fraction(amount) * 10**decimals
    if units < 1 or units.denominator != 1:
        raise AmountTooPrecise(f"{amount:f} is no whole number of the smallest unit, {format_amount(1, decimals)}.")
    return int(units)


def format_amount(amount: int, decimals: int) -> str:
    return f"{Decimal(f'{amount}e-{decimals}').normalize():f}"
