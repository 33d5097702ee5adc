"""Client of the development chain: its wallets and holdings, and transfers from its faucet."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from framework.http_client import NO_PROXY_TO_LOOPBACK
from framework.state_directory import RECORD, read_json
from payments.chain.evm import call_data, checksummed, to_signed, words
from payments.devchain import wallets
from payments.devchain.addresses import CHAIN_ID, MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.wallets import Wallet

CLIENT = "tablewire-devchain"
USDC_DECIMALS, TOKEN_DECIMALS, ETHER_DECIMALS, PRICE_DECIMALS = 6, 18, 18, 8
MAX_GAS = 300_000
TIMEOUT_S = 10.0


class NotOurChain(Exception):
    """There is no development chain of ours here. The message says what is missing."""


class TransactionRefused(Exception):
    """The chain rejected or reverted a transaction. The message says why."""


class TooFine(ValueError):
    """An amount is not a multiple of the coin's smallest unit. The message names the unit."""


@dataclass(frozen=True)
class DevelopmentChain:
    """A development chain on this machine. Its keys derive from `secret`."""

    url: str
    secret: str

    def ask(self, method: str, *params: Any) -> Any:
        """Return the result of a call. Raises NotOurChain without an answer, TransactionRefused for an error."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            with httpx.Client(mounts=NO_PROXY_TO_LOOPBACK, timeout=TIMEOUT_S) as client:
                answer = client.post(self.url, json=request).json()
        except (httpx.HTTPError, ValueError) as error:
            raise NotOurChain(f"Nothing answers at {self.url}: start it with `manage.py up`.") from error
        if "error" in answer:
            raise TransactionRefused(str(answer["error"]["message"]))
        return answer["result"]

    def send(self, sender: Wallet, to: str, data: str = "0x", *, value: int = 0) -> str:
        """Sign and send a transaction and return its hash. Raises TransactionRefused, also where it was reverted."""
        # A large library, which the web processes never import.
        from eth_account import Account

        transaction = {
            "chainId": CHAIN_ID,
            "nonce": int(self.ask("eth_getTransactionCount", sender.address, "latest"), 16),
            "gas": MAX_GAS,
            "gasPrice": int(self.ask("eth_gasPrice"), 16),
            "to": checksummed(to),
            "data": data,
            "value": value,
        }
        raw = Account.sign_transaction(transaction, sender.private_key).raw_transaction
        sent: str = self.ask("eth_sendRawTransaction", "0x" + raw.hex())
        if self.ask("eth_getTransactionReceipt", sent)["status"] != "0x1":
            raise TransactionRefused(f"The transaction {sent} was reverted.")
        return sent

    def read(self, contract: str, function: str, *arguments: int | str) -> list[int]:
        """Return the words of a contract's answer."""
        answer = self.ask("eth_call", {"to": contract, "data": call_data(function, *arguments)}, "latest")
        return words(answer)

    # State
    def wallets(self) -> list[Wallet]:
        """Return all wallets of the secret: the demo wallets, the merchant, the facilitator and the faucet."""
        names = (wallets.MERCHANT, wallets.FACILITATOR, wallets.FAUCET)
        return [*wallets.demo(self.secret), *(wallets.derive(self.secret, name) for name in names)]

    def wallet(self, name: str) -> Wallet | None:
        """Return the wallet of this name."""
        return next((wallet for wallet in self.wallets() if wallet.name == name), None)

    def holdings(self, address: str) -> dict[str, str]:
        """Return what an address holds, in whole coins."""
        return {
            "usdc": coins(self.read(USDC, "balanceOf(address)", address)[0], USDC_DECIMALS),
            "tokens": coins(self.read(UTILITY_TOKEN, "balanceOf(address)", address)[0], TOKEN_DECIMALS),
            "staked": coins(self.read(UTILITY_TOKEN, "stakedOf(address)", address)[0], TOKEN_DECIMALS),
            "ether": coins(int(self.ask("eth_getBalance", address, "latest"), 16), ETHER_DECIMALS),
        }

    def price(self) -> str:
        """Return the utility token's price in USD from the feed."""
        return coins(to_signed(self.read(PRICE_FEED, "latestRoundData()")[1]), PRICE_DECIMALS)

    def status(self) -> dict[str, Any]:
        """Return the block number, contracts, price and wallets."""
        return {
            "rpc_url": self.url,
            "chain_id": CHAIN_ID,
            "block": int(self.ask("eth_blockNumber"), 16),
            "contracts": {
                "usdc": checksummed(USDC),
                "token": checksummed(UTILITY_TOKEN),
                "price_feed": checksummed(PRICE_FEED),
                "multicall": checksummed(MULTICALL),
            },
            "token_price_usd": self.price(),
            "wallets": [
                {"name": one.name, "address": checksummed(one.address), **self.holdings(one.address)}
                for one in self.wallets()
            ],
        }

    # Transactions
    def mint(self, contract: str, to: str, amount: int) -> str:
        """Mint this amount of a coin, in its smallest unit; the faucet pays the gas."""
        faucet = wallets.derive(self.secret, wallets.FAUCET)
        return self.send(faucet, contract, call_data("mint(address,uint256)", to, amount))

    def give(self, to: str, wei: int) -> str:
        """Send ether from the faucet."""
        return self.send(wallets.derive(self.secret, wallets.FAUCET), to, value=wei)

    def stake(self, owner: Wallet, amount: int) -> str:
        """Stake tokens of the owner, in their smallest unit."""
        return self.send(owner, UTILITY_TOKEN, call_data("stake(uint256)", amount))

    def unstake(self, owner: Wallet, amount: int) -> str:
        """Unstake tokens of the owner, in their smallest unit."""
        return self.send(owner, UTILITY_TOKEN, call_data("unstake(uint256)", amount))

    def set_price(self, amount: int) -> str:
        """Set the price of the feed, in its smallest unit of USD."""
        return self.send(wallets.derive(self.secret, wallets.FAUCET), PRICE_FEED, call_data("set(int256)", amount))


def found_in(home: Path, *, rpc_url: str | None) -> DevelopmentChain:
    """Return the chain that runs in this state directory. Raises NotOurChain for any other.

    `rpc_url` is RPC_URL of the environment, if it is set: it must name this chain, so that no real money is moved.
    """
    record = (read_json(home / RECORD) or {}).get("chain")
    if record is None:
        raise NotOurChain(f"{home} has no development chain: start one with `manage.py up`.")
    chain = DevelopmentChain(url=f"http://127.0.0.1:{record['port']}", secret=record["password"])
    if rpc_url is not None and host_and_port(rpc_url) != host_and_port(chain.url):
        raise NotOurChain("RPC_URL names another chain. This command is for the development chain only.")
    if chain.ask("web3_clientVersion") != CLIENT or int(chain.ask("eth_chainId"), 16) != CHAIN_ID:
        raise NotOurChain(f"What answers at {chain.url} is no development chain of ours.")
    return chain


def host_and_port(url: str) -> tuple[str, int | None]:
    """Return the host and the port of a URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port


def atomic(amount: Decimal, decimals: int) -> int:
    """Return whole coins in their smallest unit. Raises TooFine for a fraction of it."""
    units = Fraction(amount) * 10**decimals
    if units < 1 or units.denominator != 1:
        raise TooFine(f"{amount:f} is no whole number of the smallest unit, {coins(1, decimals)}.")
    return int(units)


def coins(amount: int, decimals: int) -> str:
    """Format an amount of the smallest unit in whole coins, without trailing zeros."""
    return f"{Decimal(f'{amount}e-{decimals}').normalize():f}"
