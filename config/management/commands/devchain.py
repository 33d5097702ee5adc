"""`manage.py devchain`: look at the development chain, and give wallets what they need to try things."""

import argparse
import json
import os
import re
import secrets
import signal
import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from config.dev_stack.chain import Chain
from config.dev_stack.servers import free_port
from framework.cli.arguments import port_number
from framework.state_directory import RECORD, StackError, lock_state_directory, read_json, write_private
from payments.chain.evm import checksummed
from payments.devchain import faucet
from payments.devchain.addresses import USDC, UTILITY_TOKEN
from payments.devchain.faucet import DevelopmentChain, NotOurChain, TooFine, TransactionRefused, atomic
from payments.devchain.wallets import Wallet

ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
NO_WALLET = f"0x{'0' * 40}"
COINS = {"usdc": USDC, "tokens": UTILITY_TOKEN}
DECIMALS = {"usdc": faucet.USDC_DECIMALS, "tokens": faucet.TOKEN_DECIMALS, "ether": faucet.ETHER_DECIMALS}
POLL_S = 0.2
COLUMNS = ("usdc", "tokens", "staked", "ether")


def amount(text: str) -> Decimal:
    """Read an amount of whole coins."""
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("must be a number") from error
    if not number.is_finite() or not 0 < number <= 10**12:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


class Command(BaseCommand):
    """One subcommand for each thing that can be done. Never for a chain whose money is worth something."""

    help = "The development chain: status, fund, mint, stake, unstake, price, run."
    # It asks the chain only.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        common = CommandParser(add_help=False)
        common.add_argument(
            "--state-dir", type=Path, default=settings.STATE_DIR, help="of `manage.py up`, or of `run`"
        )
        common.add_argument("--json", action="store_true", help="print JSON")
        parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
        parts.add_parser("status", parents=[common], help="block, contracts, wallets and what they hold")
        fund = parts.add_parser("fund", parents=[common], help="give an address or a demo wallet all it needs")
        fund.add_argument("address", metavar="WALLET", help="a name such as pro, or 0x and 40 hexadecimal digits")
        fund.add_argument("--usdc", type=amount, help="(default 100, when no amount is named)")
        fund.add_argument("--tokens", type=amount, help="of the utility token")
        fund.add_argument("--ether", type=amount, help="(default 1, when no amount is named)")
        mint = parts.add_parser("mint", parents=[common], help="make USDC or utility tokens")
        mint.add_argument("coin", choices=tuple(COINS))
        mint.add_argument("address", metavar="WALLET")
        mint.add_argument("amount", type=amount)
        for name, help_text in (("stake", "put tokens aside"), ("unstake", "take them back")):
            part = parts.add_parser(name, parents=[common], help=f"{help_text}, with a wallet whose key is here")
            part.add_argument("wallet", metavar="NAME")
            part.add_argument("amount", type=amount)
        price = parts.add_parser("price", parents=[common], help="set the utility token's price")
        price.add_argument("usd", type=amount)
        run = parts.add_parser("run", help="a node of its own, without the rest; Ctrl-C stops it")
        run.add_argument("--home", type=Path, required=True, help="directory of its own for transactions and keys")
        run.add_argument(
            "--port", type=port_number, default=0, help="0 = any free one, the same each time (default 0)"
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            if options["part"] == "run":
                self.run(options["home"].resolve(), options["port"])
                return
            chain = faucet.found_in(options["state_dir"].resolve(), rpc_url=os.environ.get("RPC_URL") or None)
            payload = getattr(self, options["part"])(chain, options)
        except (NotOurChain, TooFine, TransactionRefused, StackError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(payload))
        else:
            self.show(payload)

    # Each returns what is printed
    def status(self, chain: DevelopmentChain, _: dict[str, Any]) -> dict[str, Any]:
        """What is there."""
        return chain.status()

    def fund(self, chain: DevelopmentChain, options: dict[str, Any]) -> dict[str, Any]:
        """Give."""
        to = self.address_of(chain, options["address"])
        wanted = {name: options[name] for name in ("usdc", "tokens", "ether") if options[name]}
        wanted = wanted or {"usdc": Decimal(100), "ether": Decimal(1)}
        # All are read before the first is sent: what cannot be given leaves nothing half done.
        units = {name: atomic(whole, DECIMALS[name]) for name, whole in wanted.items()}
        for name, number in units.items():
            if name == "ether":
                chain.give(to, number)
            else:
                chain.mint(COINS[name], to, number)
        return self.of(chain, to)

    def mint(self, chain: DevelopmentChain, options: dict[str, Any]) -> dict[str, Any]:
        """Make."""
        to, coin = self.address_of(chain, options["address"]), options["coin"]
        chain.mint(COINS[coin], to, atomic(options["amount"], DECIMALS[coin]))
        return self.of(chain, to)

    def stake(self, chain: DevelopmentChain, options: dict[str, Any]) -> dict[str, Any]:
        """Put aside."""
        owner = self.wallet_of(chain, options["wallet"])
        return self.moved(chain, owner, chain.stake, options["amount"])

    def unstake(self, chain: DevelopmentChain, options: dict[str, Any]) -> dict[str, Any]:
        """Take back."""
        owner = self.wallet_of(chain, options["wallet"])
        return self.moved(chain, owner, chain.unstake, options["amount"])

    def moved(
        self, chain: DevelopmentChain, owner: Wallet, move: Callable[[Wallet, int], str], whole: Decimal
    ) -> dict[str, Any]:
        """What a wallet has after this move. Raises CommandError with what it has where it was refused."""
        try:
            move(owner, atomic(whole, faucet.TOKEN_DECIMALS))
        except TransactionRefused as error:
            held = chain.holdings(owner.address)
            has = f"{held['tokens']} tokens that are free, {held['staked']} staked, {held['ether']} ether"
            raise CommandError(f"{error} {owner.name} has {has}.") from error
        return self.of(chain, owner.address)

    def price(self, chain: DevelopmentChain, options: dict[str, Any]) -> dict[str, Any]:
        """Set the feed."""
        chain.set_price(atomic(options["usd"], faucet.PRICE_DECIMALS))
        return {"token_price_usd": chain.price()}

    def of(self, chain: DevelopmentChain, address: str) -> dict[str, Any]:
        """What somebody has now."""
        return {"address": checksummed(address), **chain.holdings(address)}

    def wallet_of(self, chain: DevelopmentChain, name: str) -> Wallet:
        """The wallet of this name. Raises CommandError."""
        wallet = chain.wallet(name)
        if wallet is None:
            raise CommandError(
                f"There is no wallet {name!r}. There are {', '.join(one.name for one in chain.wallets())}."
            )
        return wallet

    def address_of(self, chain: DevelopmentChain, text: str) -> str:
        """An address as it stands, or that of a wallet. Raises CommandError."""
        if text.lower() == NO_WALLET:
            raise CommandError(f"{NO_WALLET} is nobody's address: the contracts give it nothing.")
        return text.lower() if ADDRESS.fullmatch(text) else self.wallet_of(chain, text).address

    def show(self, payload: dict[str, Any]) -> None:
        """Print it for people."""
        out = cast(IO[str], self.stdout)
        console = Console(file=out, highlight=False, soft_wrap=True)
        for name, value in payload.items():
            if isinstance(value, dict):
                for inner, text in value.items():
                    console.print(f"{inner}  {text}", markup=False)
            elif not isinstance(value, list):
                console.print(f"{name}  {value}", markup=False)
        if "wallets" in payload:
            table = Table("wallet", "address", *COLUMNS)
            for wallet in payload["wallets"]:
                table.add_row(wallet["name"], wallet["address"], *(wallet[name] for name in COLUMNS))
            Console(file=out, width=140).print(table)

    # A node of its own
    def run(self, home: Path, port: int) -> None:
        """Serve until a signal ends it. Raises StackError."""
        with lock_state_directory(home):
            known = (read_json(home / RECORD) or {}).get("chain") or {
                "port": free_port(),
                "password": secrets.token_urlsafe(24),
            }
            known["port"] = port or known["port"]
            write_private(home / RECORD, json.dumps({"chain": known}))
            (home / "logs").mkdir(mode=0o700, exist_ok=True)
            chain = Chain(home=home / "chain", log=home / "logs" / "chain.log", **known)
            ended = []
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: ended.append(True))
            chain.start(keep_port=True)
            try:
                self.stdout.write(chain.url)
                self.stdout.flush()
                while not ended and chain.is_running():
                    time.sleep(POLL_S)
            finally:
                chain.stop()
