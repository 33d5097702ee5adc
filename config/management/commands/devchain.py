"""`manage.py devchain`: the status of the development chain, and transfers to its wallets."""

import argparse
import json
import os
import re
import secrets
import signal
import time
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from config.dev_stack.servers import free_port
from config.dev_stack.wsgi_servers import Chain
from framework.cli.arguments import port_number
from framework.state_directory import RECORD, StackError, lock_state_directory, read_json, write_private
from payments.chain.evm import ZERO_ADDRESS, to_checksum_address
from payments.devchain import client
from payments.devchain.addresses import USDC, UTILITY_TOKEN
from payments.devchain.client import (
    AmountTooPrecise,
    DevchainClient,
    NotDevelopmentChain,
    TransactionRefused,
    to_atomic,
)
from payments.devchain.wallets import Wallet

ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
CONTRACTS = {"usdc": USDC, "tokens": UTILITY_TOKEN}
DECIMALS = {"usdc": client.USDC_DECIMALS, "tokens": client.TOKEN_DECIMALS, "ether": client.ETHER_DECIMALS}
POLL_S = 0.2
COLUMNS = ("usdc", "tokens", "staked", "ether")


def amount(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("must be a number") from error
    if not number.is_finite() or not 0 < number <= 10**12:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


class Command(BaseCommand):
    """Subcommands for the development chain; any other chain is refused, because its money has a value."""

    help = "The development chain: status, fund, mint, stake, unstake, price, run."
    # The command calls the chain only.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        common = CommandParser(add_help=False)
        common.add_argument(
            "--state-dir", type=Path, default=settings.STATE_DIR, help="of `manage.py up`, or of `run`"
        )
        common.add_argument("--json", action="store_true", help="print JSON")
        subcommands = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        subcommands.add_parser("status", parents=[common], help="block, contracts, wallets and their balances")
        fund = subcommands.add_parser("fund", parents=[common], help="send coins to an address or a demo wallet")
        fund.add_argument("address", metavar="WALLET", help="a name such as pro, or 0x and 40 hexadecimal digits")
        fund.add_argument("--usdc", type=amount, help="(default 100, without any amount)")
        fund.add_argument("--tokens", type=amount, help="of the utility token")
        fund.add_argument("--ether", type=amount, help="(default 1, without any amount)")
        mint = subcommands.add_parser("mint", parents=[common], help="mint USDC or utility tokens")
        mint.add_argument("coin", choices=tuple(CONTRACTS))
        mint.add_argument("address", metavar="WALLET")
        mint.add_argument("amount", type=amount)
        for name in ("stake", "unstake"):
            part = subcommands.add_parser(name, parents=[common], help=f"{name} tokens of a wallet of this chain")
            part.add_argument("wallet", metavar="NAME")
            part.add_argument("amount", type=amount)
        price = subcommands.add_parser("price", parents=[common], help="set the utility token's price")
        price.add_argument("usd", type=amount)
        run = subcommands.add_parser("run", help="run a node by itself until Ctrl-C")
        run.add_argument("--home", type=Path, required=True, help="directory of its own for transactions and keys")
        run.add_argument(
            "--port", type=port_number, default=0, help="0 = any free one, the same each time (default 0)"
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            if options["subcommand"] == "run":
                self.run(options["home"].resolve(), options["port"])
                return
            chain = client.connect(options["state_dir"].resolve(), rpc_url=os.environ.get("RPC_URL") or None)
            result: dict[str, Any] = getattr(self, options["subcommand"])(chain, options)
        except (NotDevelopmentChain, AmountTooPrecise, TransactionRefused, StackError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            self.print(result)

    # Each subcommand returns the result that is printed.
    def status(self, chain: DevchainClient, _: dict[str, Any]) -> dict[str, Any]:
        return chain.get_status()

    def fund(self, chain: DevchainClient, options: dict[str, Any]) -> dict[str, Any]:
        to = self.find_address(chain, options["address"])
        amounts = {name: options[name] for name in DECIMALS if options[name]}
        return self.send(chain, to, amounts or {"usdc": Decimal(100), "ether": Decimal(1)})

    def mint(self, chain: DevchainClient, options: dict[str, Any]) -> dict[str, Any]:
        return self.send(chain, self.find_address(chain, options["address"]), {options["coin"]: options["amount"]})

    def send(self, chain: DevchainClient, to: str, amounts: dict[str, Decimal]) -> dict[str, Any]:
        # All are converted before the first is sent, so that an invalid amount sends nothing.
        atomic_amounts = {name: to_atomic(whole, DECIMALS[name]) for name, whole in amounts.items()}
        for name, number in atomic_amounts.items():
            if name == "ether":
                chain.send_from_faucet(to, value=number)
            else:
                chain.mint(CONTRACTS[name], to, number)
        return self.balances(chain, to)

    def stake(self, chain: DevchainClient, options: dict[str, Any]) -> dict[str, Any]:
        owner, number = self.find_wallet(chain, options["wallet"]), to_atomic(options["amount"], client.TOKEN_DECIMALS)
        try:
            chain.stake(owner, number, function=options["subcommand"])
        except TransactionRefused as error:
            held = chain.get_balances(owner.address)
            has = f"{held['tokens']} tokens that are free, {held['staked']} staked, {held['ether']} ether"
            raise CommandError(f"{error} {owner.name} has {has}.") from error
        return self.balances(chain, owner.address)

    unstake = stake

    def price(self, chain: DevchainClient, options: dict[str, Any]) -> dict[str, Any]:
        chain.set_price(to_atomic(options["usd"], client.PRICE_DECIMALS))
        return {"token_price_usd": chain.get_price()}

    def balances(self, chain: DevchainClient, address: str) -> dict[str, Any]:
        return {"address": to_checksum_address(address), **chain.get_balances(address)}

    def find_wallet(self, chain: DevchainClient, name: str) -> Wallet:
        wallets = {wallet.name: wallet for wallet in chain.list_wallets()}
        if name not in wallets:
            raise CommandError(f"There is no wallet {name!r}. There are {', '.join(wallets)}.")
        return wallets[name]

    def find_address(self, chain: DevchainClient, text: str) -> str:
        if text.lower() == ZERO_ADDRESS:
            raise CommandError(f"{ZERO_ADDRESS} is the zero address: the contracts refuse it.")
        return text.lower() if ADDRESS.fullmatch(text) else self.find_wallet(chain, text).address

    def print(self, result: dict[str, Any]) -> None:
        out = cast(IO[str], self.stdout)
        console = Console(file=out, highlight=False, soft_wrap=True)
        for name, value in result.items():
            if isinstance(value, dict):
                for inner, text in value.items():
                    console.print(f"{inner}  {text}", markup=False)
            elif not isinstance(value, list):
                console.print(f"{name}  {value}", markup=False)
        if "wallets" in result:
            table = Table("wallet", "address", *COLUMNS)
            for wallet in result["wallets"]:
                table.add_row(wallet["name"], wallet["address"], *(wallet[name] for name in COLUMNS))
            Console(file=out, width=140).print(table)

    def run(self, home: Path, port: int) -> None:
        """Run a node until a signal ends it. Raises StackError."""
        with lock_state_directory(home):
            record = (read_json(home / RECORD) or {}).get("chain") or {
                "port": free_port(),
                "password": secrets.token_urlsafe(24),
            }
            record["port"] = port or record["port"]
            write_private(home / RECORD, json.dumps({"chain": record}))
            (home / "logs").mkdir(mode=0o700, exist_ok=True)
            chain = Chain(home=home / "chain", log=home / "logs" / "chain.log", **record)
            signals = []
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: signals.append(True))
            chain.start()
            try:
                self.stdout.write(chain.url)
                self.stdout.flush()
                while not signals and chain.is_running():
                    time.sleep(POLL_S)
            finally:
                chain.stop()
