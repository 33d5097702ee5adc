"""`manage.py facilitator`: our own facilitator, which settles payments to us only."""

import argparse
import json
import os
import re
import sqlite3
import sys
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from framework.cli.arguments import port_number
from framework.http_client import NO_PROXY_TO_LOOPBACK, is_loopback
from payments.chain.networks import payment_network
from payments.facilitator_server import policy
from payments.facilitator_server.journal import Journal

GWEI = 10**9
THREADS = 16
# The longest response time: a shutdown waits for requests in progress.
SHUTDOWN_TIMEOUT_S = 10


def address(text: str) -> str:
    if not re.fullmatch("0x[0-9a-fA-F]{40}", text):
        raise argparse.ArgumentTypeError("must be 0x and 40 hexadecimal digits")
    return text.lower()


def gwei(text: str) -> int:
    try:
        wei = Decimal(text) * GWEI
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("must be a number") from error
    if not wei.is_finite() or wei < 1:
        raise argparse.ArgumentTypeError("must be more than 0")
    return int(wei)


def gas(text: str) -> int:
    if not text.isdecimal() or not 21_000 <= int(text) <= 30_000_000:
        raise argparse.ArgumentTypeError("must be from 21000 to 30000000")
    return int(text)


def confirmations(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError("must be from 1 to 100")
    return int(text)


class Command(BaseCommand):
    help = "Serve a facilitator that settles payments to us, in our asset, with a key that holds gas only."
    # The facilitator needs no database.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default 127.0.0.1)")
        parser.add_argument("--port", type=port_number, default=4021, help="(default 4021)")
        parser.add_argument("--rpc-url", default=settings.RPC_URL, help="a node of the chain (default RPC_URL)")
        parser.add_argument(
            "--key-file", type=Path, required=True, help="private key that pays the gas, in a file of mode 600"
        )
        parser.add_argument(
            "--journal",
            type=Path,
            help="file for transactions that are not mined yet; keep it with the key (default KEY_FILE.journal)",
        )
        parser.add_argument(
            "--token-file", type=Path, help="bearer tokens of clients, one a line; optional on a loopback address"
        )
        parser.add_argument(
            "--pay-to", type=address, action="append", help="receiving address; may be repeated (default PAY_TO)"
        )
        parser.add_argument(
            "--asset",
            type=address,
            action="append",
            help="token contract; may be repeated (default the network's USDC)",
        )
        parser.add_argument(
            "--max-gas-price-gwei", type=gwei, default=5 * GWEI, metavar="GWEI", help="maximum gas price (default 5)"
        )
        parser.add_argument(
            "--max-gas", type=gas, default=300_000, help="maximum gas of a settlement (default 300000)"
        )
        parser.add_argument(
            "--confirmations",
            type=confirmations,
            default=max(settings.PAYMENT_CONFIRMATIONS, 1),
            help="blocks before a settlement is reported, its own included (default PAYMENT_CONFIRMATIONS)",
        )

    def handle(self, *args: object, **options: Any) -> None:
        if options["token_file"] is None and not is_loopback(options["host"]):
            raise CommandError(f"Anybody who can reach {options['host']} could spend our gas: set --token-file.")
        # The URL is not printed: it may contain a key.
        if not is_http_url(options["rpc_url"]):
            raise CommandError("--rpc-url (RPC_URL) is no address that begins with http:// or https://.")
        pay_to = options["pay_to"] or [settings.PAY_TO]
        if not all(pay_to):
            raise CommandError("There is no receiving address: set PAY_TO or --pay-to.")
        config = {
            "network": payment_network().caip2,
            "rpc_url": options["rpc_url"],
            "key_file": str(options["key_file"].absolute()),
            "token_file": str(options["token_file"].absolute()) if options["token_file"] else "",
            "pay_to": pay_to,
            "assets": options["asset"] or [payment_network().asset],
            "max_gas_price": options["max_gas_price_gwei"],
            "max_gas": options["max_gas"],
            "journal": str(
                (options["journal"] or options["key_file"].with_name(f"{options['key_file'].name}.journal")).absolute()
            ),
            "confirmations": options["confirmations"],
        }
        try:
            policy.load_policy(config)
            Journal(config["journal"]).close()
        except policy.UnsafeFile as error:
            raise CommandError(str(error)) from error
        except sqlite3.Error as error:
            raise CommandError(
                f"{config['journal']} cannot be opened ({error}): is another facilitator running with this key?"
            ) from error
        if find_spec("web3") is None:
            raise CommandError("The facilitator needs the dependency group `embedded`: uv sync --group embedded")
        self.stderr.write(self._check_node(options["rpc_url"]))
        serve(options["host"], options["port"], config)

    def _check_node(self, rpc_url: str) -> str:
        """Return a message about the node. Raises CommandError if it is of another chain."""
        # Neither the URL nor the text of the httpx error is printed: they may contain a key.
        try:
            with httpx.Client(mounts=NO_PROXY_TO_LOOPBACK, timeout=5) as client:
                call = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
                chain_id = int(client.post(rpc_url, json=call).json()["result"], 16)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            return f"The node does not answer yet ({type(error).__name__}); nothing is settled before it does."
        if chain_id != payment_network().chain_id:
            raise CommandError(
                f"The node is of chain {chain_id}; {payment_network().caip2} is {payment_network().chain_id}."
            )
        return f"Settling on {payment_network().caip2}."


def is_http_url(url: str) -> bool:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parts.scheme in ("http", "https") and bool(parts.host)


def serve(host: str, port: int, config: dict[str, Any]) -> None:
    """Replace this process by the server, so that it receives signals directly."""
    command = [
        *(sys.executable, "-m", "granian", "payments.facilitator_server.server:application", "--factory"),
        *("--interface", "wsgi", "--http", "1", "--no-ws", "--host", host, "--port", str(port)),
        *("--workers", "1", "--runtime-mode", "st", "--blocking-threads", str(THREADS)),
        *("--workers-kill-timeout", str(SHUTDOWN_TIMEOUT_S)),
    ]
    os.chdir(settings.BASE_DIR)
    os.execve(sys.executable, command, {**os.environ, policy.POLICY: json.dumps(config)})  # noqa: S606 - no user input
