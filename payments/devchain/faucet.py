"""Money of the development chain for whoever asks, and a look at what is there."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from config.dev_stack import read_json
from config.dev_stack.chain import CHAIN_ID, MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from config.dev_stack.servers import HOST
from config.dev_stack.state import RECORD
from framework.http_client import DIRECT
from payments.chain.evm import call_data, checksummed, signed, words
from payments.devchain import wallets
from payments.devchain.wallets import Wallet

CLIENT = "tablewire-devchain"
USDC_DECIMALS, TOKEN_DECIMALS, ETHER_DECIMALS, PRICE_DECIMALS = 6, 18, 18, 8
MOST_GAS = 300_000
TIMEOUT_S = 10.0


class NotOurChain(Exception):
    """There is no development chain of ours here; the message says what was looked for."""


class TransactionRefused(Exception):
    """The chain has not done what it was asked; the message says why."""


class TooFine(ValueError):
    """An amount is no whole number of what a coin is counted in; the message says what that is."""


@dataclass(frozen=True)
class DevelopmentChain:
    """A development chain that runs on this machine, whose secret we know."""

    url: str
    secret: str

    def ask(self, method: str, *params: Any) -> Any:
        """The result of one call. Raises NotOurChain when nobody answers, TransactionRefused with the node's words."""
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            with httpx.Client(mounts=DIRECT, timeout=TIMEOUT_S) as client:
                answer = client.post(self.url, json=question).json()
        except (httpx.HTTPError, ValueError) as error:
            raise NotOurChain(f"Nothing answers at {self.url}: start it with `manage.py up`.") from error
        if "error" in answer:
            raise TransactionRefused(str(answer["error"]["message"]))
        return answer["result"]

    def send(self, sender: Wallet, to: str, data: str = "0x", *, value: int = 0) -> str:
        """Sign and send a transaction, see it done, and return its hash. Raises TransactionRefused."""
        # Signing needs what the web processes never import.
        from eth_account import Account

        transaction = {
            "chainId": CHAIN_ID,
            "nonce": int(self.ask("eth_getTransactionCount", sender.address, "latest"), 16),
            "gas": MOST_GAS,
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
        """The words that a contract answers."""
        answer = self.ask("eth_call", {"to": contract, "data": call_data(function, *arguments)}, "latest")
        return words(answer)

    # What is there
    def wallets(self) -> list[Wallet]:
        """Everybody whose key comes of the secret: the demo wallets, who is paid, who settles, who gives."""
        names = (wallets.MERCHANT, wallets.FACILITATOR, wallets.FAUCET)
        return [*wallets.demo(self.secret), *(wallets.derive(self.secret, name) for name in names)]

    def wallet(self, name: str) -> Wallet | None:
        """The one of this name."""
        return next((wallet for wallet in self.wallets() if wallet.name == name), None)

    def holdings(self, address: str) -> dict[str, str]:
        """What an address has, in whole coins."""
        return {
            "usdc": coins(self.read(USDC, "balanceOf(address)", address)[0], USDC_DECIMALS),
            "tokens": coins(self.read(UTILITY_TOKEN, "balanceOf(address)", address)[0], TOKEN_DECIMALS),
            "staked": coins(self.read(UTILITY_TOKEN, "stakedOf(address)", address)[0], TOKEN_DECIMALS),
            "ether": coins(int(self.ask("eth_getBalance", address, "latest"), 16), ETHER_DECIMALS),
        }

    def price(self) -> str:
        """The utility token's price in USD, as the feed has it."""
        return coins(signed(self.read(PRICE_FEED, "latestRoundData()")[1]), PRICE_DECIMALS)

    def status(self) -> dict[str, Any]:
        """All of it."""
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

    # What is given
    def mint(self, contract: str, to: str, amount: int) -> str:
        """Make so many of a coin's smallest units for somebody; the faucet pays the gas."""
        faucet = wallets.derive(self.secret, wallets.FAUCET)
        return self.send(faucet, contract, call_data("mint(address,uint256)", to, amount))

    def give(self, to: str, wei: int) -> str:
        """Send ether from the faucet."""
        return self.send(wallets.derive(self.secret, wallets.FAUCET), to, value=wei)

    def stake(self, owner: Wallet, amount: int) -> str:
        """Put aside so many of the owner's tokens, in their smallest unit."""
        return self.send(owner, UTILITY_TOKEN, call_data("stake(uint256)", amount))

    def unstake(self, owner: Wallet, amount: int) -> str:
        """Take them back."""
        return self.send(owner, UTILITY_TOKEN, call_data("unstake(uint256)", amount))

    def set_price(self, amount: int) -> str:
        """Set the feed to so many of its smallest unit of USD."""
        return self.send(wallets.derive(self.secret, wallets.FAUCET), PRICE_FEED, call_data("set(int256)", amount))


def found_in(home: Path, *, rpc_url: str | None) -> DevelopmentChain:
    """The chain whose record is in this state directory. Raises NotOurChain for any other.

    `rpc_url` is what the environment names, if it does: money that is worth something is not touched here.
    """
    known = (read_json(home / RECORD) or {}).get("chain")
    if known is None:
        raise NotOurChain(f"{home} has no development chain: start one with `manage.py up`.")
    chain = DevelopmentChain(url=f"http://{HOST}:{known['port']}", secret=known["password"])
    if rpc_url is not None and same(rpc_url) != same(chain.url):
        raise NotOurChain("RPC_URL names another chain. This command is for the development chain only.")
    if chain.ask("web3_clientVersion") != CLIENT or int(chain.ask("eth_chainId"), 16) != CHAIN_ID:
        raise NotOurChain(f"What answers at {chain.url} is no development chain of ours.")
    return chain


def same(url: str) -> tuple[str, int | None]:
    """Host and port."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port


def atomic(amount: Decimal, decimals: int) -> int:
    """Whole coins in their smallest unit. Raises TooFine for less than one of it, and for parts of it."""
    units = Fraction(amount) * 10**decimals
    if units < 1 or units.denominator != 1:
        raise TooFine(f"{amount:f} is no whole number of the smallest unit, {coins(1, decimals)}.")
    return int(units)


def coins(amount: int, decimals: int) -> str:
    """So many of the smallest unit in whole coins, without zeros at the end."""
    return f"{Decimal(f'{amount}e-{decimals}').normalize():f}"
